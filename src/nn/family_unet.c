// U-Net: a class for each pixel. O. Ronneberger et al., MICCAI 2015, with padded convolutions and batch norm.
// Levels d1, d2, .. go down by halving, mid is the lowest; t3, t2, .. go up by transposed convolutions,
// u3, u2, .. take what d3, d2, .. had.
#include <stdio.h>

#include "nn/block.h"

#define MAX_LEVELS 6

typedef struct values {
    int64_t classes, width, levels;
} values;

static const values defaults = {0, 32, 3};

static const wf_option options[] = {
    {"width", WF_OPTION_INTEGER, offsetof(values, width), 1, 4096, NULL},
    {"levels", WF_OPTION_INTEGER, offsetof(values, levels), 1, MAX_LEVELS, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

// Twice: convolution, norm, relu. Parameters as of a list of six: "0" and "3" convolve, "1" and "4" norm.
static weft_val two(weft_nn *nn, char kind, int64_t level, weft_val x, int64_t out)
{
    weft_graph *g = weft_nn_graph(nn);
    const wf_conv_spec spec = {.out = out, .window = 3};
    char name[16];
    snprintf(name, sizeof name, kind == 'm' ? "mid" : "%c%d", kind, (int)level);
    weft_scope_push(g, name);
    x = weft_relu(g, weft_batch_norm(nn, "1", wf_block_conv(nn, "0", x, &spec), NULL));
    x = weft_relu(g, weft_batch_norm(nn, "4", wf_block_conv(nn, "3", x, &spec), NULL));
    weft_scope_pop(g);
    return x;
}

static bool check(weft_graph *g, const values *o, weft_val x)
{
    const weft_type t = weft_val_type(g, x);
    const int64_t step = (int64_t)1 << o->levels;
    char text[WF_TYPE_TEXT];
    if (t.ndim == 4 && t.dims[2] % step == 0 && t.dims[3] % step == 0)
        return true;
    wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                  "unet: x is %s, %lld levels, expected images whose height and width %lld divides",
                  wf_type_text(&t, text), (long long)o->levels, (long long)step);
    return false;
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_graph *g = weft_nn_graph(b->nn);
    weft_val kept[MAX_LEVELS], x = b->x;
    char name[16];
    if (!check(g, o, x))
        return WEFT_NONE;
    for (int64_t i = 0; i < o->levels; i++) {
        kept[i] = two(b->nn, 'd', i + 1, x, o->width << i);
        x = wf_block_halve(g, kept[i]);
    }
    x = two(b->nn, 'm', 0, x, o->width << o->levels);
    for (int64_t i = o->levels - 1; i >= 0; i--) {
        snprintf(name, sizeof name, "t%d", (int)i + 1);
        const weft_val both[] = {wf_block_up(b->nn, name, x, o->width << i), kept[i]};
        x = two(b->nn, 'u', i + 1, weft_concat(g, both, 2, 1), o->width << i);
    }
    const wf_conv_spec out = {
        .out = wf_family_classes(b, o->classes), .window = 1, .has_bias = true};
    return wf_block_conv(b->nn, "out", x, &out);
}

const wf_family wf_family_unet = {
    .name = "unet",
    .summary = "U-Net: a class for each pixel",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
