// The transposed convolution layer, 1 to 3 spatial axes: the gradient of a convolution in its input, taken
// forwards.
#include "nn/nn_builder.h"

// Sizes of the result; false after recording an error.
static bool get_sizes(weft_graph *g, const weft_type *t, const int64_t *window,
                      const weft_conv_options *o, const int64_t *extra,
                      int64_t out_spatial[WEFT_MAX_DIM])
{
    char text[WF_TYPE_TEXT];
    for (int32_t i = 0; i < t->ndim - 2; i++) {
        const int64_t stride = o->stride ? o->stride[i] : 1;
        const int64_t before = o->pad_before ? o->pad_before[i] : 0;
        const int64_t after = o->pad_after ? o->pad_after[i] : before;
        const int64_t dilation = o->dilation ? o->dilation[i] : 1;
        const int64_t more = extra ? extra[i] : 0;
        const int64_t list[] = {window[i], stride, dilation, before + 1, after + 1, more + 1};
        for (size_t k = 0; k < WF_COUNT_OF(list); k++) {
            if (list[k] < 1 || list[k] > INT32_MAX || t->dims[2 + i] > INT32_MAX) {
                wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                              "conv_transposed: a window, stride, pad, dilation or output_extra of "
                              "spatial axis %d is out of range, x is %s",
                              i, wf_type_text(t, text));
                return false;
            }
        }
        out_spatial[i] =
            (t->dims[2 + i] - 1) * stride - before - after + dilation * (window[i] - 1) + 1 + more;
        if (t->dims[2 + i] < 1 || out_spatial[i] < 1 || more >= stride) {
            wf_graph_fail(
                g, NULL, WEFT_ERR_SHAPE,
                "conv_transposed: spatial axis %d becomes %lld, x is %s, output_extra is "
                "%lld, expected sizes of 1 or more and output_extra below the stride, %lld",
                i, (long long)out_spatial[i], wf_type_text(t, text), (long long)more,
                (long long)stride);
            return false;
        }
    }
    return true;
}

weft_val weft_conv_transposed_layer(weft_nn *nn, const char *name, weft_val x, int64_t out,
                                    const int64_t *window,
                                    const weft_conv_transposed_layer_options *options)
{
    static const weft_conv_transposed_layer_options none = WEFT_CONV_TRANSPOSED_LAYER_OPTIONS_INIT;
    static const weft_conv_options plain = WEFT_CONV_OPTIONS_INIT;
    const weft_conv_transposed_layer_options *o = options ? options : &none;
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !x.id || !wf_nn_options_check(g, "conv_transposed", o->struct_size, sizeof *o))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    const weft_conv_options *conv = o->conv.struct_size == 0 ? &plain : &o->conv;
    const int64_t groups = conv->groups == 0 ? 1 : conv->groups;
    char text[WF_TYPE_TEXT];
    if (t.ndim < 3 || t.ndim > 5 || !window || groups < 1 || t.dims[1] % groups != 0 || out < 0 ||
        out % groups != 0) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "conv_transposed: x is %s, out is %lld, groups is %lld, expected "
                      "[n,c,spatial..] with 1 to 3 spatial axes, a window, and groups dividing c "
                      "and out",
                      wf_type_text(&t, text), (long long)out, (long long)groups);
        return WEFT_NONE;
    }
    int64_t spatial[WEFT_MAX_DIM], dims[WEFT_MAX_DIM] = {t.dims[1], out / groups};
    int64_t fan_in = dims[1];
    if (!get_sizes(g, &t, window, conv, o->output_extra, spatial))
        return WEFT_NONE;
    for (int32_t i = 2; i < t.ndim; i++) {
        dims[i] = window[i - 2];
        fan_in *= dims[i];
    }
    weft_scope_push(g, name);
    const weft_val weight = wf_nn_parameter_init(nn, "weight", &o->weight, dims, t.ndim, true);
    weft_val y = weft_conv_grad_input(g, x, weight, spatial, conv);
    if (!o->no_bias) {
        const weft_init init = wf_nn_bias_init(o->bias, fan_in);
        const weft_val bias = wf_nn_parameter_init(nn, "bias", &init, &out, 1, false);
        y = weft_add(g, y, wf_nn_channels(g, bias, t.ndim));
    }
    weft_scope_pop(g);
    return y;
}
