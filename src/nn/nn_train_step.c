// A whole training step as part of the graph: gradient, guard, clipping, schedule, optimiser, counter. In
// one program, or as micro-batches that add up their gradients and a program that ends the step.
#include <stdio.h>
#include <string.h>

#include "nn/nn_builder.h"

// The trainable parameters' places in the list; values and gradients by place in it. To be freed.
typedef struct trained {
    const wf_allocator *a;
    size_t n;
    size_t *idx;
    weft_val *vals, *grads;
} trained;

static bool trained_init(trained *t, weft_nn *nn, const char *what)
{
    weft_graph *g = nn->g;
    const wf_allocator *a = &nn->allocator;
    *t = (trained){.a = a};
    if (wf_alloc(a, nn->n_parameters, sizeof *t->idx, &t->idx, NULL) != WEFT_OK ||
        wf_alloc(a, nn->n_parameters, sizeof *t->vals, &t->vals, NULL) != WEFT_OK ||
        wf_alloc(a, nn->n_parameters, sizeof *t->grads, &t->grads, NULL) != WEFT_OK) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: gradients of %zu parameters",
                      nn->n_parameters);
        return false;
    }
    for (size_t i = 0; i < nn->n_parameters; i++) {
        if (!nn->parameters[i].is_trainable)
            continue;
        t->idx[t->n] = i;
        t->vals[t->n++] = nn->parameters[i].val;
    }
    if (t->n == 0)
        wf_graph_fail(g, NULL, WEFT_ERR_USAGE, "%s: no parameter is trainable", what);
    return t->n > 0;
}

static void trained_deinit(trained *t)
{
    wf_free(t->a, t->grads);
    wf_free(t->a, t->vals);
    wf_free(t->a, t->idx);
}

// From gradients to the end of the step. Returns lr.
static weft_val finish(weft_nn *nn, trained *t, const weft_optimizer_options *optimizer,
                       const weft_schedule_options *schedule)
{
    weft_graph *g = nn->g;
    if (optimizer && optimizer->clip_value != 0.0)
        weft_clip_value(g, t->grads, t->n, optimizer->clip_value);
    if (optimizer && optimizer->clip_norm != 0.0)
        weft_guard(g, weft_clip_norm(g, t->grads, t->n, optimizer->clip_norm));
    for (size_t i = 0; i < t->n; i++) {
        nn->parameters[t->idx[i]].grad = t->grads[i];
    }
    const weft_val step = weft_nn_step(nn);
    const weft_val lr = weft_schedule(g, step, schedule);
    weft_optimizer_apply(nn, t->grads, lr, optimizer);
    weft_assign(g, step, weft_add(g, step, weft_scalar(g, WEFT_I64, 1.0)));
    return wf_graph_is_ok(g) ? lr : WEFT_NONE;
}

weft_val weft_train_step(weft_nn *nn, weft_val loss, const weft_optimizer_options *optimizer,
                         const weft_schedule_options *schedule)
{
    weft_graph *g = wf_nn_begin(nn);
    weft_val lr = WEFT_NONE;
    trained t;
    if (!g || !loss.id)
        return WEFT_NONE;
    if (trained_init(&t, nn, "train_step")) {
        weft_guard(g, loss);
        weft_grad(g, loss, t.vals, t.n, t.grads);
        lr = finish(nn, &t, optimizer, schedule);
    }
    trained_deinit(&t);
    return lr;
}

// ---- in micro-batches
// The variable "<parameter>.grad", zero between steps.
static weft_val sum_variable(weft_nn *nn, const weft_parameter *p)
{
    weft_graph *g = nn->g;
    const weft_type t = weft_val_type(g, p->val);
    const size_t bytes = strlen(p->name) + sizeof ".grad";
    char *name = wf_arena_take(&g->arena, bytes);
    if (!name) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: variable %s.grad", p->name);
        return WEFT_NONE;
    }
    snprintf(name, bytes, "%s.grad", p->name);
    return weft_variable(g, name, weft_fill(g, t.dtype, t.dims, t.ndim, 0.0));
}

static weft_val scalar_variable(weft_graph *g, const char *name)
{
    return weft_variable(g, name, wf_nn_number(g, 0.0));
}

void weft_accumulate_step(weft_nn *nn, weft_val loss, weft_val weight)
{
    weft_graph *g = wf_nn_begin(nn);
    trained t;
    if (!g || !loss.id || !weight.id)
        return;
    if (!nn->is_accumulating) {
        wf_graph_fail(g, NULL, WEFT_ERR_USAGE,
                      "accumulate_step: the model was not made with is_accumulating");
        return;
    }
    if (trained_init(&t, nn, "accumulate_step")) {
        weft_scope_push(g, "accumulate");
        // The mean of a micro-batch becomes its sum, so that big and small ones weigh what they hold.
        const weft_val sum = weft_mul(g, loss, weight);
        weft_guard(g, loss);
        weft_grad(g, sum, t.vals, t.n, t.grads);
        for (size_t i = 0; i < t.n; i++) {
            const weft_val so_far = sum_variable(nn, &nn->parameters[t.idx[i]]);
            weft_assign(g, so_far, weft_flush(g, weft_add(g, so_far, t.grads[i])));
        }
        const weft_val losses = scalar_variable(g, "accumulated.loss");
        const weft_val weights = scalar_variable(g, "accumulated.weight");
        const weft_val micro = wf_nn_micro(nn);
        weft_assign(g, losses, weft_add(g, losses, sum));
        weft_assign(g, weights, weft_add(g, weights, weight));
        weft_assign(g, micro, weft_add(g, micro, weft_scalar(g, WEFT_I64, 1.0)));
        weft_scope_pop(g);
    }
    trained_deinit(&t);
}

weft_val weft_update_step(weft_nn *nn, const weft_optimizer_options *optimizer,
                          const weft_schedule_options *schedule, weft_val *out_loss)
{
    weft_graph *g = wf_nn_begin(nn);
    weft_val lr = WEFT_NONE;
    trained t;
    if (out_loss)
        *out_loss = WEFT_NONE;
    if (!g)
        return WEFT_NONE;
    if (trained_init(&t, nn, "update_step")) {
        weft_scope_push(g, "accumulate");
        const weft_val losses = scalar_variable(g, "accumulated.loss");
        const weft_val weights = scalar_variable(g, "accumulated.weight");
        const weft_val zero = wf_nn_number(g, 0.0), one = wf_nn_number(g, 1.0);
        // Nothing counted: everything is 0, and stays it.
        const weft_val count = weft_select(g, weft_equal(g, weights, zero), one, weights);
        const weft_val loss = weft_div(g, losses, count);
        weft_guard(g, loss);
        for (size_t i = 0; i < t.n; i++) {
            const weft_val sum = sum_variable(nn, &nn->parameters[t.idx[i]]);
            const weft_type type = weft_val_type(g, sum);
            t.grads[i] = weft_div(g, sum, count);
            weft_assign(g, sum, weft_fill(g, type.dtype, type.dims, type.ndim, 0.0));
        }
        weft_assign(g, losses, zero);
        weft_assign(g, weights, zero);
        weft_assign(g, wf_nn_micro(nn), weft_scalar(g, WEFT_I64, 0.0));
        weft_scope_pop(g);
        lr = finish(nn, &t, optimizer, schedule);
        if (out_loss)
            *out_loss = loss;
    }
    trained_deinit(&t);
    return lr;
}
