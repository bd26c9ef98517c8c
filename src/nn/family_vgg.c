// VGG: stages of 3x3 convolutions, each followed by a halving, then linear layers. K. Simonyan, A. Zisserman,
// ICLR 2015. As it stands this is VGG-16 (configuration D) on whatever size the pictures have.
#include <stdio.h>

#include "nn/block.h"

typedef struct values {
    int64_t classes;
    wf_integers channels, convs, hidden;
    bool has_norm;
    double dropout;
} values;

static const values defaults = {
    0, {{64, 128, 256, 512, 512}, 5}, {{2, 2, 3, 3, 3}, 5}, {{4096, 4096}, 2}, false, 0.5};

static const wf_option options[] = {
    {"channels", WF_OPTION_INTEGERS, offsetof(values, channels), 1, 65536, NULL},
    {"convs", WF_OPTION_INTEGERS, offsetof(values, convs), 1, 16, NULL},
    {"hidden", WF_OPTION_INTEGERS, offsetof(values, hidden), 1, 1e6, NULL},
    {"batch_norm", WF_OPTION_BOOL, offsetof(values, has_norm), 0, 0, NULL},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

// Convolutions STAGE_1, STAGE_2, .. and the halving.
static weft_val build_stage(weft_nn *nn, const values *o, int32_t stage, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    const int64_t n = o->convs.v[o->convs.n == 1 ? 0 : stage];
    const wf_conv_spec spec = {.out = o->channels.v[stage], .window = 3, .has_bias = !o->has_norm};
    char name[32];
    for (int i = 1; i <= n; i++) {
        snprintf(name, sizeof name, "conv%d_%d", stage + 1, i);
        x = wf_block_conv(nn, name, x, &spec);
        snprintf(name, sizeof name, "bn%d_%d", stage + 1, i);
        if (o->has_norm)
            x = weft_batch_norm(nn, name, x, NULL);
        x = weft_relu(g, x);
    }
    return wf_block_halve(g, x);
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_graph *g = weft_nn_graph(b->nn);
    weft_val x = b->x;
    char name[32];
    if (o->convs.n != 1 && o->convs.n != o->channels.n) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                      "vgg: convs of %d stages, channels of %d, expected as many, or one",
                      o->convs.n, o->channels.n);
        return WEFT_NONE;
    }
    for (int32_t s = 0; s < o->channels.n; s++) {
        x = build_stage(b->nn, o, s, x);
    }
    x = weft_flatten(g, x, 1);
    for (int32_t i = 0; i < o->hidden.n; i++) {
        snprintf(name, sizeof name, "fc%d", i + 1);
        x = weft_relu(g, weft_linear(b->nn, name, x, o->hidden.v[i], NULL));
        if (o->dropout > 0.0)
            x = weft_dropout(b->nn, x, o->dropout);
    }
    snprintf(name, sizeof name, "fc%d", o->hidden.n + 1);
    return weft_linear(b->nn, name, x, wf_family_classes(b, o->classes), NULL);
}

const wf_family wf_family_vgg = {
    .name = "vgg",
    .summary = "VGG: stages of 3x3 convolutions",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
