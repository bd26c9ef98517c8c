// Optimisers as graph updates: the table of kinds, options, groups of parameters, state variables.
#include <stdio.h>
#include <string.h>

#include "nn/nn_optimizer.h"

// In the order of weft_optimizer_kind.
static const wf_optimizer *const optimizers[] = {
    &wf_optimizer_sgd,     &wf_optimizer_adam, &wf_optimizer_adamw, &wf_optimizer_rmsprop,
    &wf_optimizer_adagrad, &wf_optimizer_lamb, &wf_optimizer_lion,  &wf_optimizer_muon,
};
#define N_OPTIMIZERS (int)(sizeof optimizers / sizeof optimizers[0])

static bool check(weft_graph *g, const weft_optimizer_options *o)
{
    const char *wrong = NULL;
    if (!wf_nn_options_check(g, "optimizer", o->struct_size, sizeof *o))
        return false;
    if ((int)o->kind < 0 || (int)o->kind >= N_OPTIMIZERS)
        wrong = "a kind that exists";
    else if (!(o->momentum >= 0.0 && o->momentum < 1.0))
        wrong = "0 <= momentum < 1";
    else if (o->is_nesterov && o->momentum == 0.0)
        wrong = "momentum above 0 with is_nesterov";
    else if (!(o->beta1 >= 0.0 && o->beta1 < 1.0) || !(o->beta2 >= 0.0 && o->beta2 < 1.0))
        wrong = "0 <= beta < 1";
    else if (!(o->epsilon >= 0.0) || !(o->weight_decay >= 0.0))
        wrong = "epsilon and weight_decay of 0 or more";
    else if (!(o->lr_decay >= 0.0) || !(o->initial_sum >= 0.0))
        wrong = "lr_decay and initial_sum of 0 or more";
    if (!wrong)
        return true;
    wf_graph_fail(
        g, NULL, WEFT_ERR_ATTR,
        "optimizer: kind %d, momentum %g, beta1 %g, beta2 %g, epsilon %g, weight_decay %g, "
        "expected %s",
        (int)o->kind, o->momentum, o->beta1, o->beta2, o->epsilon, o->weight_decay, wrong);
    return false;
}

weft_val wf_update_state(wf_update *u, const weft_parameter *p, const char *suffix, double value)
{
    const weft_type t = weft_val_type(u->g, p->val);
    const size_t bytes = strlen(p->name) + strlen(suffix) + 2;
    char *name = wf_arena_take(&u->g->arena, bytes);
    if (!name) {
        wf_graph_fail(u->g, NULL, WEFT_ERR_MEMORY, "memory: variable %s.%s", p->name, suffix);
        return WEFT_NONE;
    }
    snprintf(name, bytes, "%s.%s", p->name, suffix);
    return weft_variable(u->g, name, weft_fill(u->g, t.dtype, t.dims, t.ndim, value));
}

weft_val wf_update_average(wf_update *u, const weft_parameter *p, const char *suffix, double beta,
                           weft_val x)
{
    weft_graph *g = u->g;
    const weft_val old = wf_update_state(u, p, suffix, 0.0);
    const weft_val now = weft_add(g, weft_mul(g, old, wf_nn_number(g, beta)),
                                  weft_mul(g, x, wf_nn_number(g, 1.0 - beta)));
    return weft_assign(g, old, weft_flush(g, now));
}

weft_val wf_update_add_decay(wf_update *u, const weft_parameter *p, weft_val grad)
{
    if (u->decay == 0.0)
        return grad;
    return weft_add(u->g, grad, weft_mul(u->g, p->val, wf_nn_number(u->g, u->decay)));
}

weft_val wf_update_shrink(wf_update *u, const weft_parameter *p)
{
    weft_graph *g = u->g;
    if (u->decay == 0.0)
        return p->val;
    const weft_val share =
        weft_sub(g, wf_nn_number(g, 1.0), weft_mul(g, u->lr, wf_nn_number(g, u->decay)));
    return weft_mul(g, p->val, share);
}

static double or_default(double value, double by_default)
{
    return value != 0.0 ? value : by_default;
}

// The settings of a parameter: its group's where it has one.
static void choose(wf_update *u, const weft_parameter *p)
{
    const bool has_decay = p->has_decay || u->o->decay_all;
    u->decay = has_decay ? u->o->weight_decay : 0.0;
    if (p->has_own_decay)
        u->decay = p->weight_decay;
    u->lr = u->base_lr;
    if (p->lr_factor != 1.0)
        u->lr = weft_mul(u->g, u->base_lr, wf_nn_number(u->g, p->lr_factor));
}

void weft_optimizer_apply(weft_nn *nn, const weft_val *grads, weft_val lr,
                          const weft_optimizer_options *options)
{
    static const weft_optimizer_options none = WEFT_OPTIMIZER_OPTIONS_INIT;
    const weft_optimizer_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !check(g, o) || !wf_build_ready(g, NULL, &lr, 1))
        return;
    const wf_optimizer *kind = optimizers[o->kind];
    wf_update u = {.nn = nn, .g = g, .o = o, .base_lr = lr};
    u.beta1 = or_default(o->beta1, kind->beta1);
    u.beta2 = or_default(o->beta2, kind->beta2);
    u.epsilon = or_default(o->epsilon, kind->epsilon);
    u.momentum = or_default(o->momentum, kind->momentum);
    weft_scope_push(g, "optimizer");
    if (kind->prepare || o->lr_decay != 0.0) {
        const weft_val step = weft_nn_step(nn);
        u.t = weft_cast(g, weft_add(g, step, weft_scalar(g, WEFT_I64, 1.0)), WEFT_F32);
    }
    if (kind->prepare)
        kind->prepare(&u);
    size_t at = 0;
    for (size_t i = 0; i < nn->n_parameters; i++) {
        weft_parameter *p = &nn->parameters[i];
        if (!p->is_trainable)
            continue;
        choose(&u, p);
        p->next = weft_assign(g, p->val, kind->build(&u, p, grads[at++]));
    }
    weft_scope_pop(g);
}
