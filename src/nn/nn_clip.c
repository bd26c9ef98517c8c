// Clipping of gradients, by value and by the norm of all together.
#include "nn/nn_builder.h"

// PyTorch's, so that a norm of 0 divides.
#define CLIP_EPSILON 1e-6

void weft_clip_value(weft_graph *g, weft_val *grads, size_t n, double limit)
{
    if (!(limit > 0.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "clip_value: limit is %g, expected above 0", limit);
        return;
    }
    weft_scope_push(g, "clip_value");
    const weft_val high = wf_nn_number(g, limit), low = wf_nn_number(g, -limit);
    for (size_t i = 0; i < n; i++) {
        grads[i] = weft_min(g, weft_max(g, grads[i], low), high);
    }
    weft_scope_pop(g);
}

weft_val weft_clip_norm(weft_graph *g, weft_val *grads, size_t n, double max_norm)
{
    if (!(max_norm > 0.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "clip_norm: max_norm is %g, expected above 0",
                      max_norm);
        return WEFT_NONE;
    }
    weft_scope_push(g, "clip_norm");
    weft_val total = wf_nn_number(g, 0.0);
    for (size_t i = 0; i < n; i++) {
        const weft_val squares = weft_mul(g, grads[i], grads[i]);
        total = weft_add(g, total, weft_sum(g, squares, NULL, 0, false));
    }
    const weft_val norm = weft_sqrt(g, total);
    const weft_val below = weft_add(g, norm, wf_nn_number(g, CLIP_EPSILON));
    const weft_val share = weft_div(g, wf_nn_number(g, max_norm), below);
    const weft_val scale = weft_min(g, share, wf_nn_number(g, 1.0));
    for (size_t i = 0; i < n; i++) {
        grads[i] = weft_mul(g, grads[i], scale);
    }
    weft_scope_pop(g);
    return norm;
}
