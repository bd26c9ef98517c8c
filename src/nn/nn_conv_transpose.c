// The transposed convolution layer: the input gradient of a convolution as a layer of its own.
#include "nn/nn_builder.h"

#define MAX_SPATIAL 3

// What the options say of one spatial axis.
static int64_t at(const int64_t *list, int32_t i, int64_t by_default)
{
    return list ? list[i] : by_default;
}

// Sizes of the result; false after recording an error.
static bool get_sizes(weft_graph *g, const weft_type *t, const int64_t *window,
                      const weft_conv_layer_options *options, int64_t spatial[MAX_SPATIAL])
{
    static const weft_conv_options plain = WEFT_CONV_OPTIONS_INIT;
    const weft_conv_options *o = options->conv.struct_size == 0 ? &plain : &options->conv;
    char text[WF_TYPE_TEXT];
    for (int32_t i = 0; i < t->ndim - 2; i++) {
        const int64_t size = t->dims[2 + i], extra = at(options->output_extra, i, 0);
        const int64_t stride = at(o->stride, i, 1), dilation = at(o->dilation, i, 1);
        const int64_t before = at(o->pad_before, i, 0), after = at(o->pad_after, i, before);
        const int64_t list[] = {size,       window[i], stride,   dilation,
                                before + 1, after + 1, extra + 1};
        for (size_t k = 0; k < WF_COUNT_OF(list); k++) {
            if (list[k] < 1 || list[k] > INT32_MAX) { // below it nothing overflows
                wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                              "conv_transpose: size %lld, window %lld, stride %lld, dilation %lld, "
                              "pads %lld and %lld, output_extra %lld of spatial axis %d, expected "
                              "sizes from 1 and pads from 0 on, below 2^31",
                              (long long)size, (long long)window[i], (long long)stride,
                              (long long)dilation, (long long)before, (long long)after,
                              (long long)extra, i);
                return false;
            }
        }
        spatial[i] = (size - 1) * stride - before - after + dilation * (window[i] - 1) + 1 + extra;
        if (spatial[i] < 1 || extra >= stride) {
            wf_graph_fail(
                g, NULL, WEFT_ERR_SHAPE,
                "conv_transpose: spatial axis %d becomes %lld, x is %s, output_extra is "
                "%lld, expected a size of 1 or more and output_extra below the stride, %lld",
                i, (long long)spatial[i], wf_type_text(t, text), (long long)extra,
                (long long)stride);
            return false;
        }
    }
    return true;
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
    if (!get_sizes(g, &t, window, o, spatial))
        return WEFT_NONE;
    for (int32_t i = 0; i < t.ndim - 2; i++) {
        dims[i + 2] = window[i];
        fan_in *= window[i];
    }
    weft_scope_push(g, name);
    const weft_val weight = wf_nn_parameter_init(nn, "weight", &o->weight, dims, t.ndim, true);
    weft_val y =
        weft_conv_grad_input(g, wf_nn_store(nn, x), weight, spatial, is_plain ? NULL : &o->conv);
    if (!o->no_bias) {
        const weft_init init = wf_nn_bias_init(o->bias, fan_in);
        const weft_val bias = wf_nn_parameter_init(nn, "bias", &init, &out, 1, false);
        y = weft_add(g, y, wf_nn_channels(g, bias, t.ndim));
    }
    y = wf_nn_store(nn, y);
    weft_scope_pop(g);
    return y;
}
