// Root mean square norm. B. Zhang, R. Sennrich, NeurIPS 2019. Stage: nn.
#include "nn/nn_builder.h"
#include "weft/transformer.h"

weft_val weft_rms_norm(weft_nn *nn, const char *name, weft_val x, double epsilon)
{
    static const weft_init ones = {WEFT_INIT_ONES, 0, 0, 0};
    static const int32_t last = -1;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id)
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    if (t.ndim < 1 || !(epsilon >= 0.0)) {
        wf_graph_fail(g, NULL, t.ndim < 1 ? WEFT_ERR_SHAPE : WEFT_ERR_ATTR,
                      "rms_norm: x is %s, epsilon %g, expected 1 dim or more, 0 or more",
                      wf_type_text(&t, text), epsilon);
        return WEFT_NONE;
    }
    weft_scope_push(g, name);
    const weft_val mean = weft_mean(g, weft_mul(g, x, x), &last, 1, true);
    const weft_val inverse =
        weft_rsqrt(g, weft_add(g, mean, wf_nn_number(g, epsilon != 0.0 ? epsilon : 1e-5)));
    const weft_val weight =
        wf_nn_parameter_init(nn, "weight", &ones, &t.dims[t.ndim - 1], 1, false);
    const weft_val y = weft_mul(g, weft_mul(g, x, inverse), weight);
    weft_scope_pop(g);
    return y;
}
