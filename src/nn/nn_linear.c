// The linear layer.
#include "nn/nn_builder.h"

weft_val weft_linear(weft_nn *nn, const char *name, weft_val x, int64_t out,
                     const weft_linear_options *options)
{
    static const weft_linear_options none = WEFT_LINEAR_OPTIONS_INIT;
    const weft_linear_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "linear", o->struct_size, sizeof *o))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    if (t.ndim < 1 || out < 0) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "linear: x is %s, out is %lld, expected [..,in] and 0 or more",
                      wf_type_text(&t, text), (long long)out);
        return WEFT_NONE;
    }
    const int64_t in = t.dims[t.ndim - 1];
    const int64_t dims[] = {out, in};
    weft_scope_push(g, name);
    const weft_val weight = wf_nn_parameter_init(nn, "weight", &o->weight, dims, 2, true);
    // One product over all leading axes: the gradient of the weight is then one product, too.
    int64_t rows = 1;
    for (int32_t i = 0; i + 1 < t.ndim; i++) {
        rows *= t.dims[i];
    }
    const int64_t flat[] = {rows, in};
    const weft_val rows_of_x = wf_build_reshape(g, wf_nn_store(nn, x), 2, flat);
    weft_val y = weft_matmul(g, rows_of_x, weight, false, true);
    if (!o->no_bias) {
        const weft_init init = wf_nn_bias_init(o->bias, in);
        y = weft_add(g, y, wf_nn_parameter_init(nn, "bias", &init, dims, 1, false));
    }
    y = wf_nn_store(nn, y);
    int64_t back[WEFT_MAX_DIM];
    for (int32_t i = 0; i < t.ndim; i++) {
        back[i] = i + 1 < t.ndim ? t.dims[i] : out;
    }
    y = y.id ? wf_build_reshape(g, y, t.ndim, back) : y;
    weft_scope_pop(g);
    return y;
}
