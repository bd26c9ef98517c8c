// Upsampling by repetition.
#include "nn/nn_builder.h"

weft_val weft_upsample(weft_graph *g, weft_val x, int64_t factor)
{
    if (!wf_build_ready(g, NULL, &x, 1))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    // A factor's axis stands behind each spatial one in between.
    if (t.ndim < 3 || t.ndim > 5 || factor < 1) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "upsample: x is %s, factor is %lld, expected [n,c,spatial..] with 1 to 3 "
                      "spatial axes, and 1 or more",
                      wf_type_text(&t, text), (long long)factor);
        return WEFT_NONE;
    }
    weft_scope_push(g, "upsample");
    // [n,c,h,w] -> [n,c,h,1,w,1] -> [n,c,h,f,w,f] -> [n,c,h*f,w*f]
    int64_t apart[WEFT_MAX_DIM] = {t.dims[0], t.dims[1]}, wide[WEFT_MAX_DIM], result[WEFT_MAX_DIM];
    int32_t n = 2;
    wide[0] = result[0] = t.dims[0];
    wide[1] = result[1] = t.dims[1];
    for (int32_t i = 2; i < t.ndim; i++) {
        apart[n] = wide[n] = t.dims[i];
        apart[n + 1] = 1;
        wide[n + 1] = factor;
        result[i] = t.dims[i] * factor;
        n += 2;
    }
    const weft_val y = weft_broadcast(g, weft_reshape(g, x, apart, n), wide, n);
    const weft_val out = weft_reshape(g, y, result, t.ndim);
    weft_scope_pop(g);
    return out;
}
