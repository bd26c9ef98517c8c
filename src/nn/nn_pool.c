// Pooling over whole planes. Windows are ops: weft_max_pool, weft_mean_pool.
#include "nn/nn_builder.h"

// The spatial axes of [n,c,spatial..]; 0 after recording an error.
static size_t spatial_axes(weft_graph *g, const char *what, weft_val x, int32_t out[WEFT_MAX_DIM])
{
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    if (t.ndim < 3) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE, "%s: x is %s, expected [n,c,spatial..]", what,
                      wf_type_text(&t, text));
        return 0;
    }
    for (int32_t i = 2; i < t.ndim; i++) {
        out[i - 2] = i;
    }
    return (size_t)t.ndim - 2;
}

weft_val weft_global_mean_pool(weft_graph *g, weft_val x)
{
    int32_t axes[WEFT_MAX_DIM];
    if (!wf_graph_is_ok(g) || !x.id)
        return WEFT_NONE;
    const size_t n = spatial_axes(g, "global_mean_pool", x, axes);
    return n ? weft_mean(g, x, axes, n, false) : WEFT_NONE;
}

weft_val weft_global_max_pool(weft_graph *g, weft_val x)
{
    int32_t axes[WEFT_MAX_DIM];
    if (!wf_graph_is_ok(g) || !x.id)
        return WEFT_NONE;
    const size_t n = spatial_axes(g, "global_max_pool", x, axes);
    return n ? weft_reduce_max(g, x, axes, n, false) : WEFT_NONE;
}
