// Encoder and decoder of autoencoders: dense, or convolutions that halve and transposed ones that double.
#include <stdio.h>

#include "nn/block.h"

const char *const wf_coder_kinds[] = {"dense", "conv", NULL};
const char *const wf_coder_activations[] = {"relu", "tanh", "sigmoid", "gelu", "silu", NULL};

static weft_val activate(weft_graph *g, const wf_coder_options *o, weft_val x)
{
    return weft_activation(g, wf_coder_activations[o->activation], x);
}

static weft_val dense_encode(weft_nn *nn, const wf_coder_options *o, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    char name[16];
    x = weft_flatten(g, x, 1);
    for (int32_t i = 0; i < o->hidden.n; i++) {
        snprintf(name, sizeof name, "fc%d", i + 1);
        x = activate(g, o, weft_linear(nn, name, x, o->hidden.v[i], NULL));
    }
    return x;
}

// The mirror image, its last layer linear.
static weft_val dense_decode(weft_nn *nn, const wf_coder_options *o, weft_val x,
                             const weft_type *shape)
{
    weft_graph *g = weft_nn_graph(nn);
    char name[16];
    int64_t n = 1;
    for (int32_t i = 1; i < shape->ndim; i++) {
        n *= shape->dims[i];
    }
    for (int32_t i = o->hidden.n - 1; i >= 0; i--) {
        snprintf(name, sizeof name, "fc%d", o->hidden.n - i);
        x = activate(g, o, weft_linear(nn, name, x, o->hidden.v[i], NULL));
    }
    snprintf(name, sizeof name, "fc%d", o->hidden.n + 1);
    return weft_reshape(g, weft_linear(nn, name, x, n, NULL), shape->dims, shape->ndim);
}

// False after recording an error: every halving must come out even.
static bool check_conv(weft_graph *g, const wf_coder_options *o, const weft_type *t)
{
    const int64_t step = (int64_t)1 << o->channels.n;
    char text[WF_TYPE_TEXT];
    if (t->ndim == 4 && t->dims[2] % step == 0 && t->dims[3] % step == 0)
        return true;
    wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                  "autoencoder: x is %s, %d convolutions, expected images whose height and width "
                  "%lld divides",
                  wf_type_text(t, text), o->channels.n, (long long)step);
    return false;
}

static weft_val conv_encode(weft_nn *nn, const wf_coder_options *o, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_type t = weft_val_type(g, x);
    char name[16];
    if (!check_conv(g, o, &t))
        return WEFT_NONE;
    for (int32_t i = 0; i < o->channels.n; i++) {
        const wf_conv_spec spec = {
            .out = o->channels.v[i], .window = 3, .stride = 2, .has_bias = true};
        snprintf(name, sizeof name, "conv%d", i + 1);
        x = activate(g, o, wf_block_conv(nn, name, x, &spec));
    }
    return weft_flatten(g, x, 1);
}

// Windows of 4 at stride 2, padded by 1: exactly twice the size, and every pixel under as many windows.
static weft_val conv_up(weft_nn *nn, const char *name, weft_val x, int64_t out)
{
    static const int64_t window[] = {4, 4}, stride[] = {2, 2}, pad[] = {1, 1};
    weft_conv_layer_options options = WEFT_CONV_LAYER_OPTIONS_INIT;
    options.conv.stride = stride;
    options.conv.pad_before = pad;
    return weft_conv_transpose_layer(nn, name, x, out, window, &options);
}

static weft_val conv_decode(weft_nn *nn, const wf_coder_options *o, weft_val x,
                            const weft_type *shape)
{
    weft_graph *g = weft_nn_graph(nn);
    const int32_t n = o->channels.n;
    char name[16];
    if (!check_conv(g, o, shape))
        return WEFT_NONE;
    const int64_t top = n ? o->channels.v[n - 1] : shape->dims[1];
    const int64_t dims[] = {shape->dims[0], top, shape->dims[2] >> n, shape->dims[3] >> n};
    x = weft_linear(nn, "fc", x, dims[1] * dims[2] * dims[3], NULL);
    x = weft_reshape(g, x, dims, 4);
    for (int32_t i = n - 1; i >= 0; i--) {
        snprintf(name, sizeof name, "up%d", n - i);
        x = conv_up(nn, name, activate(g, o, x), i > 0 ? o->channels.v[i - 1] : shape->dims[1]);
    }
    return x;
}

weft_val wf_coder_encode(weft_nn *nn, const wf_coder_options *o, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    weft_scope_push(g, "encoder");
    x = o->kind == 0 ? dense_encode(nn, o, x) : conv_encode(nn, o, x);
    weft_scope_pop(g);
    return x;
}

weft_val wf_coder_decode(weft_nn *nn, const wf_coder_options *o, weft_val code, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_type shape = weft_val_type(g, x);
    weft_scope_push(g, "decoder");
    const weft_val y =
        o->kind == 0 ? dense_decode(nn, o, code, &shape) : conv_decode(nn, o, code, &shape);
    weft_scope_pop(g);
    return y;
}

weft_val wf_coder_corrupt(weft_nn *nn, weft_val x, double deviation, double p)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_type t = weft_val_type(g, x);
    if (!nn->is_training || !x.id)
        return x;
    weft_scope_push(g, "corrupt");
    if (deviation > 0.0) {
        const weft_val z =
            weft_random_normal(g, weft_nn_seed(nn), weft_nn_step(nn), t.dims, t.ndim);
        x = weft_add(g, x, weft_mul(g, z, wf_nn_number(g, deviation)));
    }
    // Dropout without its scaling: what is left keeps its value.
    if (p > 0.0)
        x = weft_mul(g, weft_dropout(nn, x, p), wf_nn_number(g, 1.0 - p));
    weft_scope_pop(g);
    return x;
}
