// Optimisers as graph updates: SGD (I. Sutskever et al., ICML 2013, as PyTorch writes it), Adam (D. Kingma,
// J. Ba, ICLR 2015), AdamW (I. Loshchilov, F. Hutter, ICLR 2019).
#include <stdio.h>
#include <string.h>

#include "math/weft_math.h"
#include "nn/nn_builder.h"

// What all parameters share: scalars [] of this step.
typedef struct update {
    weft_nn *nn;
    weft_graph *g;
    const weft_optimizer_options *o;
    weft_val lr;
    double beta1, beta2, epsilon;
    weft_val step_size;       // Adam: lr / (1 - beta1^t)
    weft_val root_correction; // Adam: sqrt(1 - beta2^t)
} update;

static bool check(weft_graph *g, const weft_optimizer_options *o)
{
    const char *wrong = NULL;
    if (!wf_nn_options_check(g, "optimizer", o->struct_size, sizeof *o))
        return false;
    if (o->kind < WEFT_OPTIMIZER_SGD || o->kind > WEFT_OPTIMIZER_ADAMW)
        wrong = "a kind that exists";
    else if (!(o->momentum >= 0.0 && o->momentum < 1.0))
        wrong = "0 <= momentum < 1";
    else if (o->is_nesterov && o->momentum == 0.0)
        wrong = "momentum above 0 with is_nesterov";
    else if (!(o->beta1 >= 0.0 && o->beta1 < 1.0) || !(o->beta2 >= 0.0 && o->beta2 < 1.0))
        wrong = "0 <= beta < 1";
    else if (!(o->epsilon >= 0.0) || !(o->weight_decay >= 0.0))
        wrong = "epsilon and weight_decay of 0 or more";
    if (!wrong)
        return true;
    wf_graph_fail(
        g, NULL, WEFT_ERR_ATTR,
        "optimizer: kind %d, momentum %g, beta1 %g, beta2 %g, epsilon %g, weight_decay %g, "
        "expected %s",
        (int)o->kind, o->momentum, o->beta1, o->beta2, o->epsilon, o->weight_decay, wrong);
    return false;
}

// 1 - beta^t = -expm1(t log(beta)), which keeps its relative accuracy at small t. log(beta) is a constant.
static weft_val correction(weft_graph *g, weft_val t, double beta)
{
    const float log_beta = wf_log1p(-(float)(1.0 - beta));
    const weft_val power = weft_mul(g, t, wf_nn_number(g, (double)log_beta));
    return weft_neg(g, weft_expm1(g, power));
}

static void prepare_adam(update *u)
{
    weft_graph *g = u->g;
    const weft_val step = weft_nn_step(u->nn);
    const weft_val t = weft_cast(g, weft_add(g, step, weft_scalar(g, WEFT_I64, 1.0)), WEFT_F32);
    u->step_size = weft_div(g, u->lr, correction(g, t, u->beta1));
    u->root_correction = weft_sqrt(g, correction(g, t, u->beta2));
}

// The variable "<parameter>.<suffix>" of zeros.
static weft_val state_variable(update *u, const weft_parameter *p, const char *suffix)
{
    const weft_type t = weft_val_type(u->g, p->val);
    const size_t bytes = strlen(p->name) + strlen(suffix) + 2;
    char *name = wf_arena_take(&u->g->arena, bytes);
    if (!name) {
        wf_graph_fail(u->g, NULL, WEFT_ERR_MEMORY, "memory: variable %s.%s", p->name, suffix);
        return WEFT_NONE;
    }
    snprintf(name, bytes, "%s.%s", p->name, suffix);
    return weft_variable(u->g, name, weft_fill(u->g, t.dtype, t.dims, t.ndim, 0.0));
}

// grad + decay * parameter
static weft_val add_decay(update *u, const weft_parameter *p, weft_val grad, double decay)
{
    if (decay == 0.0)
        return grad;
    return weft_add(u->g, grad, weft_mul(u->g, p->val, wf_nn_number(u->g, decay)));
}

static weft_val sgd(update *u, const weft_parameter *p, weft_val grad, double decay)
{
    weft_graph *g = u->g;
    weft_val d = add_decay(u, p, grad, decay);
    if (u->o->momentum != 0.0) {
        const weft_val momentum = wf_nn_number(g, u->o->momentum);
        const weft_val old = state_variable(u, p, "momentum");
        const weft_val velocity =
            weft_assign(g, old, weft_flush(g, weft_add(g, weft_mul(g, old, momentum), d)));
        d = u->o->is_nesterov ? weft_add(g, d, weft_mul(g, velocity, momentum)) : velocity;
    }
    return weft_sub(g, p->val, weft_mul(g, u->lr, d));
}

// beta * old + (1 - beta) * x, flushed and assigned.
static weft_val average(update *u, const weft_parameter *p, const char *suffix, double beta,
                        weft_val x)
{
    weft_graph *g = u->g;
    const weft_val old = state_variable(u, p, suffix);
    const weft_val now = weft_add(g, weft_mul(g, old, wf_nn_number(g, beta)),
                                  weft_mul(g, x, wf_nn_number(g, 1.0 - beta)));
    return weft_assign(g, old, weft_flush(g, now));
}

static weft_val adam(update *u, const weft_parameter *p, weft_val grad, double decay)
{
    weft_graph *g = u->g;
    const bool is_decoupled = u->o->kind == WEFT_OPTIMIZER_ADAMW;
    const weft_val d = is_decoupled ? grad : add_decay(u, p, grad, decay);
    const weft_val m = average(u, p, "m", u->beta1, d);
    const weft_val v = average(u, p, "v", u->beta2, weft_mul(g, d, d));
    const weft_val root = weft_div(g, weft_sqrt(g, v), u->root_correction);
    const weft_val below = weft_add(g, root, wf_nn_number(g, u->epsilon));
    const weft_val move = weft_mul(g, u->step_size, weft_div(g, m, below));
    weft_val start = p->val;
    if (is_decoupled && decay != 0.0) {
        const weft_val shrink =
            weft_sub(g, wf_nn_number(g, 1.0), weft_mul(g, u->lr, wf_nn_number(g, decay)));
        start = weft_mul(g, start, shrink);
    }
    return weft_sub(g, start, move);
}

void weft_optimizer_apply(weft_nn *nn, const weft_val *grads, weft_val lr,
                          const weft_optimizer_options *options)
{
    static const weft_optimizer_options none = WEFT_OPTIMIZER_OPTIONS_INIT;
    const weft_optimizer_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !check(g, o) || !wf_build_ready(g, NULL, &lr, 1))
        return;
    update u = {.nn = nn, .g = g, .o = o, .lr = lr};
    u.beta1 = o->beta1 != 0.0 ? o->beta1 : 0.9;
    u.beta2 = o->beta2 != 0.0 ? o->beta2 : 0.999;
    u.epsilon = o->epsilon != 0.0 ? o->epsilon : 1e-8;
    weft_scope_push(g, "optimizer");
    if (o->kind != WEFT_OPTIMIZER_SGD)
        prepare_adam(&u);
    size_t at = 0;
    for (size_t i = 0; i < nn->n_parameters; i++) {
        const weft_parameter *p = &nn->parameters[i];
        if (!p->is_trainable)
            continue;
        const double decay = p->has_decay || o->decay_all ? o->weight_decay : 0.0;
        const weft_val next = o->kind == WEFT_OPTIMIZER_SGD ? sgd(&u, p, grads[at], decay)
                                                            : adam(&u, p, grads[at], decay);
        weft_assign(g, p->val, next);
        at++;
    }
    weft_scope_pop(g);
}
