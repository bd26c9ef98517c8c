// Vision transformer: a picture as patches, a class token in front. A. Dosovitskiy et al., ICLR 2021. In: images
// [b,c,h,w]. Out: logits [b,classes]. Stage: nn.
#include <math.h>

#include "nn/family.h"
#include "nn/transformer.h"

typedef struct values {
    int64_t classes, patch, width, heads, layers, hidden;
    double dropout, std;
} values;

static const values defaults = {
    .patch = 4, .width = 64, .heads = 4, .layers = 4, .hidden = 0, .dropout = 0.0, .std = 0.02};

static const wf_option options[] = {
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {"patch", WF_OPTION_INTEGER, offsetof(values, patch), 1, 4096, NULL},
    {"width", WF_OPTION_INTEGER, offsetof(values, width), 1, 1e6, NULL},
    {"heads", WF_OPTION_INTEGER, offsetof(values, heads), 1, 1e4, NULL},
    {"layers", WF_OPTION_INTEGER, offsetof(values, layers), 1, 1e4, NULL},
    {"hidden", WF_OPTION_INTEGER, offsetof(values, hidden), 0, 1e6, NULL},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"std", WF_OPTION_NUMBER, offsetof(values, std), 0, 10, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

// [b,c,h,w] -> [b,n,width]: a linear map of each patch.
static weft_val build_patches(weft_nn *nn, weft_val x, const values *o)
{
    weft_graph *g = nn->g;
    const weft_type t = weft_val_type(g, x);
    const int64_t window[] = {o->patch, o->patch};
    char text[WF_TYPE_TEXT];
    if (t.ndim != 4 || t.dims[2] % o->patch != 0 || t.dims[3] % o->patch != 0) {
        wf_graph_fail(
            g, NULL, WEFT_ERR_SHAPE,
            "vit: x is %s, patch %lld, expected [b,c,h,w], h and w multiples of the patch",
            wf_type_text(&t, text), (long long)o->patch);
        return WEFT_NONE;
    }
    weft_conv_layer_options conv = WEFT_CONV_LAYER_OPTIONS_INIT;
    conv.conv.stride = window;
    const weft_val y = weft_conv_layer(nn, "patch", x, o->width, window, &conv);
    const int64_t dims[] = {t.dims[0], o->width, t.dims[2] / o->patch * (t.dims[3] / o->patch)};
    return weft_transpose(g, weft_reshape(g, y, dims, 3));
}

static weft_val add_class_token(weft_nn *nn, weft_val x, const values *o)
{
    weft_graph *g = nn->g;
    const weft_type t = weft_val_type(g, x);
    static const weft_init zeros = {WEFT_INIT_ZEROS, 0, 0, 0};
    const weft_init normal = {WEFT_INIT_NORMAL, 0, o->std > 0.0 ? o->std : 1.0, 0};
    const int64_t one[] = {1, 1, o->width}, each[] = {t.dims[0], 1, o->width};
    const int64_t places[] = {t.dims[1] + 1, o->width};
    const weft_val token = wf_nn_parameter_init(nn, "cls", &zeros, one, 3, false);
    const weft_val all[] = {weft_broadcast(g, token, each, 3), x};
    const weft_val pe = wf_nn_parameter_init(nn, "pe", &normal, places, 2, false);
    return weft_dropout(nn, weft_add(g, weft_concat(g, all, 2, 1), pe), o->dropout);
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_nn *nn = b->nn;
    weft_graph *g = nn->g;
    const int64_t classes = wf_family_classes(b, o->classes);
    weft_val x = build_patches(nn, b->x, o);
    x = x.id ? add_class_token(nn, x, o) : x;
    weft_block_options block = WEFT_BLOCK_OPTIONS_INIT;
    block.heads.heads = o->heads;
    block.heads.std = o->std;
    block.heads.proj_std = o->std / sqrt(2.0 * (double)o->layers);
    block.width = o->hidden;
    block.dropout = o->dropout;
    x = wf_transformer_blocks(nn, x, o->layers, &block);
    if (!x.id)
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    const int64_t zero[] = {0, 0, 0}, first[] = {t.dims[0], 1, t.dims[2]};
    const int64_t row[] = {t.dims[0], t.dims[2]};
    x = weft_reshape(g, weft_slice(g, x, zero, first, NULL), row, 2);
    return weft_linear(nn, "head", weft_layer_norm(nn, "ln", x, NULL), classes, NULL);
}

const wf_family wf_family_vit = {
    .name = "vit",
    .summary = "vision transformer: pictures as patches",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
