// MobileNetV2: inverted residuals with linear bottlenecks. M. Sandler et al., CVPR 2018. Parameters are named as
// torchvision names them.
#include <stdio.h>

#include "nn/block.h"

typedef struct values {
    int64_t classes;
    double width;
    int32_t stem;
    double dropout;
} values;

static const values defaults = {0, 1.0, WF_STEM_IMAGENET, 0.0};

static const wf_option options[] = {
    {"stem", WF_OPTION_CHOICE, offsetof(values, stem), 0, 0, wf_stem_names},
    {"width", WF_OPTION_NUMBER, offsetof(values, width), 0.05, 10, NULL},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

// Table 2 of the paper.
static const struct {
    int64_t expansion, out, n, stride;
} groups[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
#define FIRST 32
#define LAST 1280

// Channels times the width, a multiple of 8 that loses no more than a tenth: the authors' rule.
static int64_t channels(double width, int64_t n)
{
    const double scaled = width * (double)n;
    int64_t rounded = ((int64_t)(scaled + 4.0)) / 8 * 8;
    rounded = rounded < 8 ? 8 : rounded;
    return (double)rounded < 0.9 * scaled ? rounded + 8 : rounded;
}

// Convolution and norm "I.0", "I.1" in a scope, relu6.
static weft_val conv_norm_relu(weft_nn *nn, const char *scope, weft_val x, const wf_conv_spec *spec)
{
    weft_graph *g = weft_nn_graph(nn);
    weft_scope_push(g, scope);
    x = weft_batch_norm(nn, "1", wf_block_conv(nn, "0", x, spec), NULL);
    weft_scope_pop(g);
    return weft_relu6(g, x);
}

static weft_val inverted_residual(weft_nn *nn, weft_val x, int64_t out, int64_t stride,
                                  int64_t expansion)
{
    weft_graph *g = weft_nn_graph(nn);
    const int64_t in = weft_val_type(g, x).dims[1], middle = in * expansion;
    const wf_conv_spec widen = {.out = middle, .window = 1};
    const wf_conv_spec depthwise = {.out = middle, .window = 3, .stride = stride, .groups = middle};
    const wf_conv_spec narrow = {.out = out, .window = 1};
    char name[16];
    int at = 0;
    weft_val y = x;
    weft_scope_push(g, "conv");
    if (expansion != 1) {
        y = conv_norm_relu(nn, "0", y, &widen);
        at = 1;
    }
    snprintf(name, sizeof name, "%d", at);
    y = conv_norm_relu(nn, name, y, &depthwise);
    snprintf(name, sizeof name, "%d", at + 1);
    y = wf_block_conv(nn, name, y, &narrow);
    snprintf(name, sizeof name, "%d", at + 2);
    y = weft_batch_norm(nn, name, y, NULL);
    weft_scope_pop(g);
    return stride == 1 && in == out ? weft_add(g, x, y) : y;
}

// Small pictures keep their size through the first convolution and the second group.
static int64_t stride_of(const values *o, size_t group)
{
    return o->stem == WF_STEM_CIFAR && group < 2 ? 1 : groups[group].stride;
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_graph *g = weft_nn_graph(b->nn);
    const weft_type t = weft_val_type(g, b->x);
    const wf_conv_spec first = {
        .out = channels(o->width, FIRST), .window = 3, .stride = o->stem == WF_STEM_CIFAR ? 1 : 2};
    // The last layer is not narrowed, only widened.
    const wf_conv_spec last = {.out = channels(o->width > 1.0 ? o->width : 1.0, LAST), .window = 1};
    char name[16], text[WF_TYPE_TEXT];
    int at = 1;
    if (t.ndim != 4) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE, "mobilenetv2: x is %s, expected images [b,c,h,w]",
                      wf_type_text(&t, text));
        return WEFT_NONE;
    }
    weft_scope_push(g, "features");
    weft_val x = conv_norm_relu(b->nn, "0", b->x, &first);
    for (size_t k = 0; k < WF_COUNT_OF(groups); k++) {
        for (int64_t i = 0; i < groups[k].n; i++) {
            snprintf(name, sizeof name, "%d", at++);
            weft_scope_push(g, name);
            x = inverted_residual(b->nn, x, channels(o->width, groups[k].out),
                                  i == 0 ? stride_of(o, k) : 1, groups[k].expansion);
            weft_scope_pop(g);
        }
    }
    snprintf(name, sizeof name, "%d", at);
    x = conv_norm_relu(b->nn, name, x, &last);
    weft_scope_pop(g);
    x = weft_global_mean_pool(g, x);
    weft_scope_push(g, "classifier");
    if (o->dropout > 0.0)
        x = weft_dropout(b->nn, x, o->dropout);
    x = weft_linear(b->nn, "1", x, wf_family_classes(b, o->classes), NULL);
    weft_scope_pop(g);
    return x;
}

const wf_family wf_family_mobilenetv2 = {
    .name = "mobilenetv2",
    .summary = "MobileNetV2: inverted residuals",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
