// The convolution layer, 1 to 3 spatial axes.
#include "nn/nn_builder.h"

weft_val weft_conv_layer(weft_nn *nn, const char *name, weft_val x, int64_t out,
                         const int64_t *window, const weft_conv_layer_options *options)
{
    static const weft_conv_layer_options none = WEFT_CONV_LAYER_OPTIONS_INIT;
    const weft_conv_layer_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "conv", o->struct_size, sizeof *o))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    const bool is_plain = o->conv.struct_size == 0;
    const int64_t groups = is_plain || o->conv.groups == 0 ? 1 : o->conv.groups;
    if (o->output_extra) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "conv: output_extra is for conv_transpose only");
        return WEFT_NONE;
    }
    if (t.ndim < 3 || t.ndim > 5 || !window || groups < 1 || t.dims[1] % groups != 0 || out < 0 ||
        out % groups != 0) {
        wf_graph_fail(
            g, NULL, WEFT_ERR_SHAPE,
            "conv: x is %s, out is %lld, groups is %lld, expected [n,c,spatial..] with 1 to 3 "
            "spatial axes, a window, and groups dividing c and out",
            wf_type_text(&t, text), (long long)out, (long long)groups);
        return WEFT_NONE;
    }
    int64_t dims[WEFT_MAX_DIM] = {out, t.dims[1] / groups};
    int64_t fan_in = dims[1];
    for (int32_t i = 2; i < t.ndim; i++) {
        dims[i] = window[i - 2];
        fan_in *= dims[i];
    }
    weft_scope_push(g, name);
    const weft_val weight = wf_nn_parameter_init(nn, "weight", &o->weight, dims, t.ndim, true);
    weft_val y = weft_conv(g, wf_nn_store(nn, x), weight, is_plain ? NULL : &o->conv);
    if (!o->no_bias) {
        const weft_init init = wf_nn_bias_init(o->bias, fan_in);
        const weft_val bias = wf_nn_parameter_init(nn, "bias", &init, dims, 1, false);
        y = weft_add(g, y, wf_nn_channels(g, bias, t.ndim));
    }
    y = wf_nn_store(nn, y);
    weft_scope_pop(g);
    return y;
}
