// Convolution, doubling and halving as families use them.
#include "nn/block.h"

const char *const wf_stem_names[] = {"cifar", "imagenet", NULL};
const char *const wf_block_init_names[] = {"default", "kaiming", NULL};

weft_val wf_block_conv(weft_nn *nn, const char *name, weft_val x, const wf_conv_spec *spec)
{
    const int64_t stride[] = {spec->stride ? spec->stride : 1, spec->stride ? spec->stride : 1};
    const int64_t window[] = {spec->window, spec->window};
    const int64_t pad[] = {(spec->window - 1) / 2, (spec->window - 1) / 2};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.groups = spec->groups ? spec->groups : 1;
    o.no_bias = !spec->has_bias;
    o.weight.kind = spec->init;
    return weft_conv_layer(nn, name, x, spec->out, window, &o);
}

weft_val wf_block_up(weft_nn *nn, const char *name, weft_val x, int64_t out)
{
    static const int64_t two[] = {2, 2};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = two;
    return weft_conv_transpose_layer(nn, name, x, out, two, &o);
}

weft_val wf_block_halve(weft_graph *g, weft_val x)
{
    static const int64_t two[] = {2, 2};
    return weft_max_pool(g, x, two, NULL);
}
