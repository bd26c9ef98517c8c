// A whole training step as part of the graph: gradient, guard, clipping, schedule, optimiser, counter.
#include "nn/nn_builder.h"

// The trainable parameters' values; *out_n of them, to be freed.
static weft_status trainable(const weft_nn *nn, weft_val **out_vals, size_t *out_n, weft_error *err)
{
    size_t n = 0;
    WEFT_TRY(wf_alloc(&nn->allocator, nn->n_parameters, sizeof **out_vals, out_vals, err));
    for (size_t i = 0; i < nn->n_parameters; i++) {
        if (nn->parameters[i].is_trainable)
            (*out_vals)[n++] = nn->parameters[i].val;
    }
    *out_n = n;
    return WEFT_OK;
}

weft_val weft_train_step(weft_nn *nn, weft_val loss, const weft_optimizer_options *optimizer,
                         const weft_schedule_options *schedule)
{
    weft_graph *g = wf_nn_begin(nn);
    weft_val *wrt = NULL, *grads = NULL, lr = WEFT_NONE;
    size_t n = 0;
    if (!g || !loss.id)
        return WEFT_NONE;
    if (trainable(nn, &wrt, &n, NULL) != WEFT_OK ||
        wf_alloc(&nn->allocator, n, sizeof *grads, &grads, NULL) != WEFT_OK) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: gradients of %zu parameters", n);
        goto done;
    }
    if (n == 0) {
        wf_graph_fail(g, NULL, WEFT_ERR_USAGE, "train_step: no parameter is trainable");
        goto done;
    }
    weft_guard(g, loss);
    weft_grad(g, loss, wrt, n, grads);
    if (optimizer && optimizer->clip_value != 0.0)
        weft_clip_value(g, grads, n, optimizer->clip_value);
    if (optimizer && optimizer->clip_norm != 0.0)
        weft_guard(g, weft_clip_norm(g, grads, n, optimizer->clip_norm));
    const weft_val step = weft_nn_step(nn);
    lr = weft_schedule(g, step, schedule);
    weft_optimizer_apply(nn, grads, lr, optimizer);
    weft_assign(g, step, weft_add(g, step, weft_scalar(g, WEFT_I64, 1.0)));
    if (!wf_graph_is_ok(g))
        lr = WEFT_NONE;
done:
    wf_free(&nn->allocator, grads);
    wf_free(&nn->allocator, wrt);
    return lr;
}
