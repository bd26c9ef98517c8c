// LeNet-5 as it is written today: Y. LeCun et al., Proceedings of the IEEE, 1998, with relu and maxima unless
// asked otherwise. Pictures of 28 by 28 with the padding of 2, of 32 by 32 without.
#include "nn/block.h"

typedef struct values {
    int64_t classes, pad;
    int32_t activation, pool;
} values;

static const char *const activations[] = {"relu", "tanh", "sigmoid", NULL};
static const char *const pools[] = {"max", "mean", NULL};

static const values defaults = {0, 2, 0, 0};

static const wf_option options[] = {
    {"activation", WF_OPTION_CHOICE, offsetof(values, activation), 0, 0, activations},
    {"pool", WF_OPTION_CHOICE, offsetof(values, pool), 0, 0, pools},
    {"pad", WF_OPTION_INTEGER, offsetof(values, pad), 0, 16, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

// Convolution of 5 by 5, activation, pooling by 2.
static weft_val stage(weft_nn *nn, const values *o, const char *name, weft_val x, int64_t out,
                      int64_t pad)
{
    static const int64_t window[] = {5, 5}, two[] = {2, 2};
    weft_graph *g = weft_nn_graph(nn);
    const int64_t pads[] = {pad, pad};
    weft_conv_layer_options conv = WEFT_CONV_LAYER_OPTIONS_INIT;
    conv.conv.pad_before = pads;
    x = weft_conv_layer(nn, name, x, out, window, &conv);
    x = weft_activation(g, activations[o->activation], x);
    return o->pool == 0 ? weft_max_pool(g, x, two, NULL) : weft_mean_pool(g, x, two, NULL);
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_graph *g = weft_nn_graph(b->nn);
    weft_val x = stage(b->nn, o, "conv1", b->x, 6, o->pad);
    x = weft_flatten(g, stage(b->nn, o, "conv2", x, 16, 0), 1);
    x = weft_activation(g, activations[o->activation], weft_linear(b->nn, "fc1", x, 120, NULL));
    x = weft_activation(g, activations[o->activation], weft_linear(b->nn, "fc2", x, 84, NULL));
    return weft_linear(b->nn, "fc3", x, wf_family_classes(b, o->classes), NULL);
}

const wf_family wf_family_lenet = {
    .name = "lenet",
    .summary = "LeNet-5",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
