// The transposed convolution layer: the input gradient of a convolution as a layer of its own.
#include "nn/nn_builder.h"

#define MAX_SPATIAL 3

// What the options say of one spatial axis.
static int64_t at(const int64_t *list, int32_t i, int64_t by_default)
{
    return list ? list[i] : by_default;
}

weft_val weft_conv_transpose_layer(weft_nn *nn, const char *name, weft_val x, int64_t out,
                                   const int64_t *window, const weft_conv_layer_options *options)
{
    static const weft_conv_layer_options none = WEFT_CONV_LAYER_OPTIONS_INIT;
    const weft_conv_layer_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "conv_transpose", o->struct_size, sizeof *o))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    char text[WF_TYPE_TEXT];
    const bool is_plain = o->conv.struct_size == 0;
    const int64_t groups = is_plain || o->conv.groups == 0 ? 1 : o->conv.groups;
    if (t.ndim < 3 || t.ndim > 2 + MAX_SPATIAL || !window || groups < 1 ||
        t.dims[1] % groups != 0 || out < 1 || out % groups != 0) {
        wf_graph_fail(
            g, NULL, WEFT_ERR_SHAPE,
            "conv_transpose: x is %s, out is %lld, groups is %lld, expected [n,c,spatial..] with 1 "
            "to 3 spatial axes, a window, and groups dividing c and out",
            wf_type_text(&t, text), (long long)out, (long long)groups);
        return WEFT_NONE;
    }
    int64_t dims[WEFT_MAX_DIM] = {t.dims[1], out / groups}, spatial[MAX_SPATIAL];
    int64_t fan_in = dims[1];
    for (int32_t i = 0; i < t.ndim - 2; i++) {
        const int64_t before = is_plain ? 0 : at(o->conv.pad_before, i, 0);
        const int64_t after = is_plain ? 0 : at(o->conv.pad_after, i, before);
        const int64_t stride = is_plain ? 1 : at(o->conv.stride, i, 1);
        const int64_t dilation = is_plain ? 1 : at(o->conv.dilation, i, 1);
        dims[i + 2] = window[i];
        fan_in *= window[i];
        spatial[i] = (t.dims[i + 2] - 1) * stride - before - after + dilation * (window[i] - 1) + 1;
    }
    weft_scope_push(g, name);
    const weft_val weight = wf_nn_parameter_init(nn, "weight", &o->weight, dims, t.ndim, true);
    weft_val y = weft_conv_grad_input(g, x, weight, spatial, is_plain ? NULL : &o->conv);
    if (!o->no_bias) {
        const weft_init init = wf_nn_bias_init(o->bias, fan_in);
        const weft_val bias = wf_nn_parameter_init(nn, "bias", &init, &out, 1, false);
        y = weft_add(g, y, wf_nn_channels(g, bias, t.ndim));
    }
    weft_scope_pop(g);
    return y;
}
