// Residual networks. K. He, X. Zhang, S. Ren, J. Sun, "Deep residual learning for image recognition", CVPR
// 2016; the bottleneck's stride is at its 3x3, as torchvision has it.
#include <stdio.h>

#include "nn/block.h"

const wf_option wf_resnet_option_table[] = {
    {"stem", WF_OPTION_CHOICE, offsetof(wf_resnet_options, stem), 0, 0, wf_stem_names},
    {"width", WF_OPTION_INTEGER, offsetof(wf_resnet_options, width), 1, 4096, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(wf_resnet_options, classes), 0, 1e6, NULL},
    {"zero_residual", WF_OPTION_BOOL, offsetof(wf_resnet_options, is_zero_residual), 0, 0, NULL},
    {"init", WF_OPTION_CHOICE, offsetof(wf_resnet_options, init), 0, 0, wf_block_init_names},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

typedef struct resnet {
    weft_nn *nn;
    weft_graph *g;
    const wf_resnet_options *o;
    const wf_resnet_shape *shape;
    weft_init_kind init;
} resnet;

static weft_val conv(const resnet *r, const char *name, weft_val x, int64_t out, int64_t window,
                     int64_t stride)
{
    const wf_conv_spec spec = {out, window, stride, 1, false, r->init};
    return wf_block_conv(r->nn, name, x, &spec);
}

static weft_val last_norm(const resnet *r, const char *name, weft_val x)
{
    weft_batch_norm_options o = WEFT_BATCH_NORM_OPTIONS_INIT;
    o.is_zero_at_first = r->o->is_zero_residual;
    return weft_batch_norm(r->nn, name, x, &o);
}

// Every stride-th pixel, zeros as the channels that x lacks.
static weft_val padded_shortcut(const resnet *r, weft_val x, int64_t out, int64_t stride)
{
    const int64_t start[] = {0, 0, 0, 0}, step[] = {1, 1, stride, stride};
    const int64_t stop[] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    const int64_t missing = out - weft_val_type(r->g, x).dims[1];
    const int64_t before[] = {0, missing / 2, 0, 0}, after[] = {0, missing - missing / 2, 0, 0};
    if (stride > 1)
        x = weft_slice(r->g, x, start, stop, step);
    return missing > 0 ? weft_pad(r->g, x, before, after, 0.0) : x;
}

static weft_val shortcut(const resnet *r, weft_val x, int64_t out, int64_t stride)
{
    if (stride == 1 && weft_val_type(r->g, x).dims[1] == out)
        return x;
    if (r->shape->is_shortcut_padded)
        return padded_shortcut(r, x, out, stride);
    weft_scope_push(r->g, "downsample");
    x = weft_batch_norm(r->nn, "1", conv(r, "0", x, out, 1, stride), NULL);
    weft_scope_pop(r->g);
    return x;
}

static weft_val basic_block(const resnet *r, weft_val x, int64_t width, int64_t stride)
{
    weft_val y = weft_batch_norm(r->nn, "bn1", conv(r, "conv1", x, width, 3, stride), NULL);
    y = weft_relu(r->g, y);
    y = last_norm(r, "bn2", conv(r, "conv2", y, width, 3, 1));
    return weft_relu(r->g, weft_add(r->g, y, shortcut(r, x, width, stride)));
}

static weft_val bottleneck(const resnet *r, weft_val x, int64_t width, int64_t stride)
{
    weft_val y = weft_batch_norm(r->nn, "bn1", conv(r, "conv1", x, width, 1, 1), NULL);
    y = weft_relu(r->g, y);
    y = weft_batch_norm(r->nn, "bn2", conv(r, "conv2", y, width, 3, stride), NULL);
    y = weft_relu(r->g, y);
    y = last_norm(r, "bn3", conv(r, "conv3", y, 4 * width, 1, 1));
    return weft_relu(r->g, weft_add(r->g, y, shortcut(r, x, 4 * width, stride)));
}

static weft_val build_stem(const resnet *r, weft_val x)
{
    static const int64_t window[] = {3, 3}, two[] = {2, 2}, one[] = {1, 1};
    const bool is_large = r->o->stem == WF_STEM_IMAGENET;
    x = conv(r, "conv1", x, r->o->width, is_large ? 7 : 3, is_large ? 2 : 1);
    x = weft_relu(r->g, weft_batch_norm(r->nn, "bn1", x, NULL));
    if (!is_large)
        return x;
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = two;
    o.pad_before = one;
    return weft_max_pool(r->g, x, window, &o);
}

weft_val wf_resnet_build(wf_family_build *b, const wf_resnet_shape *shape)
{
    const wf_resnet_options *o = b->options;
    resnet r = {b->nn, weft_nn_graph(b->nn), o, shape, WEFT_INIT_DEFAULT};
    const weft_type t = weft_val_type(r.g, b->x);
    char name[16], text[WF_TYPE_TEXT];
    if (t.ndim != 4) {
        wf_graph_fail(r.g, NULL, WEFT_ERR_SHAPE, "resnet: x is %s, expected images [b,c,h,w]",
                      wf_type_text(&t, text));
        return WEFT_NONE;
    }
    if (o->init == WF_INIT_NAMED_KAIMING)
        r.init = WEFT_INIT_KAIMING_NORMAL;
    weft_val x = build_stem(&r, b->x);
    for (int32_t s = 0; s < shape->n_stages; s++) {
        snprintf(name, sizeof name, "layer%d", s + 1);
        weft_scope_push(r.g, name);
        for (int64_t i = 0; i < shape->n_blocks[s]; i++) {
            const int64_t width = o->width << s, stride = s > 0 && i == 0 ? 2 : 1;
            snprintf(name, sizeof name, "%d", (int)i);
            weft_scope_push(r.g, name);
            x = shape->is_bottleneck ? bottleneck(&r, x, width, stride)
                                     : basic_block(&r, x, width, stride);
            weft_scope_pop(r.g);
        }
        weft_scope_pop(r.g);
    }
    x = weft_global_mean_pool(r.g, x);
    return weft_linear(b->nn, "fc", x, wf_family_classes(b, o->classes), NULL);
}
