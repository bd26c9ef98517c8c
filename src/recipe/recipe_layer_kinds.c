// The layers that a recipe can name: their keys, and the nn call behind each. In: a layer's values.
// Out: graph values. Stage: recipe.
#include <stdio.h>

#include "graph/graph.h"
#include "recipe/recipe.h"

// Paths of one branch: Inception has four.
#define MAX_PATHS 16
enum { JOIN_CONCAT = 0, JOIN_ADD = 1 };

#define AT(member) offsetof(wf_layer, member)
#define MAX_SIZE 1e9

static const char *const inits[] = {
    "default", "kaiming_uniform", "kaiming_normal", "xavier_uniform", "xavier_normal", "zeros",
    NULL};
static const weft_init_kind init_kinds[] = {
    WEFT_INIT_DEFAULT,        WEFT_INIT_KAIMING_UNIFORM, WEFT_INIT_KAIMING_NORMAL,
    WEFT_INIT_XAVIER_UNIFORM, WEFT_INIT_XAVIER_NORMAL,   WEFT_INIT_ZEROS,
};

#define NAME_KEY                                                                                   \
    {                                                                                              \
        .name = "name", .kind = WF_KEY_TEXT, .flags = WF_KEY_OPTIONAL, .offset = AT(name)          \
    }
#define OUT_KEY                                                                                    \
    {                                                                                              \
        .name = "out", .kind = WF_KEY_INTEGER, .flags = WF_KEY_REQUIRED, .least = 1,               \
        .most = MAX_SIZE, .offset = AT(out)                                                        \
    }
#define BIAS_KEY                                                                                   \
    {                                                                                              \
        .name = "bias", .kind = WF_KEY_BOOL, .offset = AT(has_bias)                                \
    }
#define INIT_KEY                                                                                   \
    {                                                                                              \
        .name = "init", .kind = WF_KEY_CHOICE, .choices = inits, .offset = AT(init)                \
    }
#define KERNEL_KEY                                                                                 \
    {                                                                                              \
        .name = "kernel", .kind = WF_KEY_SIZES, .flags = WF_KEY_REQUIRED, .least = 1,              \
        .most = MAX_SIZE, .offset = AT(kernel)                                                     \
    }
#define STRIDE_KEY                                                                                 \
    {                                                                                              \
        .name = "stride", .kind = WF_KEY_SIZES, .flags = WF_KEY_OPTIONAL, .least = 1,              \
        .most = MAX_SIZE, .offset = AT(stride)                                                     \
    }
#define PAD_KEY                                                                                    \
    {                                                                                              \
        .name = "pad", .kind = WF_KEY_SIZES, .flags = WF_KEY_OPTIONAL, .least = 0,                 \
        .most = MAX_SIZE, .offset = AT(pad)                                                        \
    }
#define DILATION_KEY                                                                               \
    {                                                                                              \
        .name = "dilation", .kind = WF_KEY_SIZES, .flags = WF_KEY_OPTIONAL, .least = 1,            \
        .most = MAX_SIZE, .offset = AT(dilation)                                                   \
    }
#define SIZE_KEY                                                                                   \
    {                                                                                              \
        .name = "size", .kind = WF_KEY_SIZES, .flags = WF_KEY_REQUIRED, .least = 1,                \
        .most = MAX_SIZE, .offset = AT(size)                                                       \
    }
#define EPSILON_KEY                                                                                \
    {                                                                                              \
        .name = "epsilon", .kind = WF_KEY_NUMBER, .flags = WF_KEY_ABOVE, .most = 1.0,              \
        .offset = AT(epsilon)                                                                      \
    }
#define END_KEY                                                                                    \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const wf_key plain_keys[] = {NAME_KEY, END_KEY};
static const wf_key linear_keys[] = {NAME_KEY, OUT_KEY, BIAS_KEY, INIT_KEY, END_KEY};
static const wf_key conv_keys[] = {
    NAME_KEY,
    OUT_KEY,
    KERNEL_KEY,
    STRIDE_KEY,
    PAD_KEY,
    DILATION_KEY,
    {.name = "groups", .kind = WF_KEY_INTEGER, .least = 1, .most = MAX_SIZE, .offset = AT(groups)},
    BIAS_KEY,
    INIT_KEY,
    END_KEY,
};
static const wf_key upsample_keys[] = {
    NAME_KEY,
    {.name = "factor",
     .kind = WF_KEY_INTEGER,
     .flags = WF_KEY_REQUIRED,
     .least = 1,
     .most = 1024,
     .offset = AT(out)},
    END_KEY,
};
static const char *const resize_modes[] = {"nearest", "linear", NULL};
static const wf_key resize_keys[] = {
    NAME_KEY,
    SIZE_KEY,
    {.name = "mode", .kind = WF_KEY_CHOICE, .choices = resize_modes, .offset = AT(mode)},
    {.name = "align_corners", .kind = WF_KEY_BOOL, .offset = AT(has_aligned_corners)},
    END_KEY,
};
static const wf_key adaptive_keys[] = {NAME_KEY, SIZE_KEY, END_KEY};
static const wf_key pool_keys[] = {
    NAME_KEY,
    KERNEL_KEY,
    STRIDE_KEY,
    PAD_KEY,
    {.name = "ceil", .kind = WF_KEY_BOOL, .offset = AT(ceil_mode)},
    END_KEY,
};
static const wf_key batch_norm_keys[] = {
    NAME_KEY,
    EPSILON_KEY,
    {.name = "momentum",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_ABOVE,
     .most = 1.0,
     .offset = AT(momentum)},
    END_KEY,
};
static const wf_key layer_norm_keys[] = {
    NAME_KEY,
    {.name = "axes",
     .kind = WF_KEY_INTEGER,
     .least = 1,
     .most = WEFT_MAX_DIM,
     .offset = AT(n_axes)},
    EPSILON_KEY,
    END_KEY,
};
static const wf_key dropout_keys[] = {
    NAME_KEY,
    {.name = "p",
     .kind = WF_KEY_NUMBER,
     .flags = WF_KEY_REQUIRED | WF_KEY_BELOW,
     .most = 1.0,
     .offset = AT(p)},
    END_KEY,
};
static const wf_key leaky_keys[] = {
    NAME_KEY,
    {.name = "slope", .kind = WF_KEY_NUMBER, .most = 1.0, .offset = AT(slope)},
    END_KEY,
};

static const wf_key reshape_keys[] = {
    NAME_KEY,
    {.name = "shape",
     .kind = WF_KEY_SIZES,
     .flags = WF_KEY_REQUIRED,
     .least = 1,
     .most = MAX_SIZE,
     .offset = AT(shape)},
    END_KEY,
};
static const wf_key residual_keys[] = {
    NAME_KEY,
    {.name = "body",
     .kind = WF_KEY_CUSTOM,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(body),
     .read = wf_layers_read,
     .print = wf_layers_print},
    {.name = "shortcut",
     .kind = WF_KEY_CUSTOM,
     .offset = AT(shortcut),
     .read = wf_layers_read,
     .print = wf_layers_print},
    END_KEY,
};
static const char *const joins[] = {"concat", "add", NULL};
static const wf_key branch_keys[] = {
    NAME_KEY,
    {.name = "join", .kind = WF_KEY_CHOICE, .choices = joins, .offset = AT(join)},
    {.name = "paths",
     .kind = WF_KEY_CUSTOM,
     .flags = WF_KEY_REQUIRED,
     .offset = AT(paths),
     .read = wf_layer_paths_read,
     .print = wf_layer_paths_print},
    END_KEY,
};

// One size for each spatial axis of x: a single one stands for all. False after recording an error.
static bool spread(weft_graph *g, const char *what, const wf_sizes *sizes, int64_t n_default,
                   weft_val x, int64_t out[WEFT_MAX_DIM])
{
    const weft_type t = weft_val_type(g, x);
    const int32_t n_axes = t.ndim - 2;
    char text[WF_TYPE_TEXT];
    if (n_axes < 1 || n_axes > WF_SIZES_MAX || (sizes->n > 1 && sizes->n != n_axes)) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "%s: %d sizes for input %s, expected one for each axis after [n,c]", what,
                      sizes->n, wf_type_text(&t, text));
        return false;
    }
    for (int32_t i = 0; i < n_axes; i++) {
        out[i] = sizes->n == 0 ? n_default : sizes->v[sizes->n == 1 ? 0 : i];
    }
    return true;
}

static weft_val build_linear(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_linear_options o = WEFT_LINEAR_OPTIONS_INIT;
    o.no_bias = !l->has_bias;
    o.weight.kind = init_kinds[l->init];
    return weft_linear(nn, l->name, x, l->out, &o);
}

typedef weft_val (*conv_call)(weft_nn *nn, const char *name, weft_val x, int64_t out,
                              const int64_t *window, const weft_conv_layer_options *options);

static weft_val build_conv_by(weft_nn *nn, const wf_layer *l, weft_val x, conv_call conv)
{
    weft_graph *g = weft_nn_graph(nn);
    int64_t window[WEFT_MAX_DIM], stride[WEFT_MAX_DIM], pad[WEFT_MAX_DIM], dilation[WEFT_MAX_DIM];
    if (!spread(g, "conv: kernel", &l->kernel, 1, x, window) ||
        !spread(g, "conv: stride", &l->stride, 1, x, stride) ||
        !spread(g, "conv: pad", &l->pad, 0, x, pad) ||
        !spread(g, "conv: dilation", &l->dilation, 1, x, dilation))
        return WEFT_NONE;
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.dilation = dilation;
    o.conv.groups = l->groups;
    o.no_bias = !l->has_bias;
    o.weight.kind = init_kinds[l->init];
    return conv(nn, l->name, x, l->out, window, &o);
}

static weft_val build_conv(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return build_conv_by(nn, l, x, weft_conv_layer);
}

static weft_val build_conv_transpose(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return build_conv_by(nn, l, x, weft_conv_transpose_layer);
}

typedef weft_val (*pool_call)(weft_graph *g, weft_val x, const int64_t *window,
                              const weft_window_options *options);

static weft_val build_pool(weft_nn *nn, const wf_layer *l, weft_val x, pool_call pool)
{
    weft_graph *g = weft_nn_graph(nn);
    int64_t window[WEFT_MAX_DIM], stride[WEFT_MAX_DIM], pad[WEFT_MAX_DIM];
    if (!spread(g, "pool: kernel", &l->kernel, 1, x, window) ||
        !spread(g, "pool: stride", l->stride.n ? &l->stride : &l->kernel, 1, x, stride) ||
        !spread(g, "pool: pad", &l->pad, 0, x, pad))
        return WEFT_NONE;
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.ceil_mode = l->ceil_mode;
    return pool(g, x, window, &o);
}

static weft_val build_max_pool(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return build_pool(nn, l, x, weft_max_pool);
}

static weft_val build_mean_pool(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return build_pool(nn, l, x, weft_mean_pool);
}

static weft_val build_global_max(weft_nn *nn, const wf_layer *l, weft_val x)
{
    (void)l;
    return weft_global_max_pool(weft_nn_graph(nn), x);
}

static weft_val build_global_mean(weft_nn *nn, const wf_layer *l, weft_val x)
{
    (void)l;
    return weft_global_mean_pool(weft_nn_graph(nn), x);
}

static weft_val build_batch_norm(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_batch_norm_options o = WEFT_BATCH_NORM_OPTIONS_INIT;
    o.epsilon = l->epsilon;
    o.momentum = l->momentum;
    return weft_batch_norm(nn, l->name, x, &o);
}

static weft_val build_layer_norm(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_layer_norm_options o = WEFT_LAYER_NORM_OPTIONS_INIT;
    o.epsilon = l->epsilon;
    o.n_axes = (int32_t)l->n_axes;
    return weft_layer_norm(nn, l->name, x, &o);
}

static weft_val build_dropout(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return weft_dropout(nn, x, l->p);
}

static weft_val build_leaky(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return weft_leaky_relu(weft_nn_graph(nn), x, l->slope);
}

static weft_val build_flatten(weft_nn *nn, const wf_layer *l, weft_val x)
{
    (void)l;
    return weft_flatten(weft_nn_graph(nn), x, 1);
}

// [b,..] as [b, shape].
static weft_val build_reshape(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_type t = weft_val_type(g, x);
    int64_t dims[WF_SIZES_MAX + 1] = {t.ndim > 0 ? t.dims[0] : 1};
    for (int32_t i = 0; i < l->shape.n; i++) {
        dims[i + 1] = l->shape.v[i];
    }
    return weft_reshape(g, x, dims, l->shape.n + 1);
}

// a + b of one shape: what broadcasting would make of others is no residual.
static weft_val add_equal(weft_graph *g, const char *what, weft_val a, weft_val b)
{
    const weft_type at = weft_val_type(g, a), bt = weft_val_type(g, b);
    char text[2][WF_TYPE_TEXT];
    if (a.id && b.id && !wf_type_equal(&at, &bt)) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE, "%s: adds %s and %s, expected one shape", what,
                      wf_type_text(&at, text[0]), wf_type_text(&bt, text[1]));
        return WEFT_NONE;
    }
    return weft_add(g, a, b);
}

static weft_val build_list(weft_nn *nn, const char *scope, const wf_layers *layers, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    weft_scope_push(g, scope);
    x = wf_layers_build(layers, nn, x);
    weft_scope_pop(g);
    return x;
}

static weft_val build_residual(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_val y = build_list(nn, "body", &l->body, x);
    const weft_val passed = l->shortcut.n ? build_list(nn, "shortcut", &l->shortcut, x) : x;
    weft_graph_at(g, l->source, l->line, l->column);
    return add_equal(g, "residual", y, passed);
}

static weft_val build_branch(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    weft_val results[MAX_PATHS], sum = WEFT_NONE;
    char scope[32];
    if (l->paths.n > MAX_PATHS) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE, "branch: %zu paths, expected 1 to %d", l->paths.n,
                      MAX_PATHS);
        return WEFT_NONE;
    }
    for (size_t i = 0; i < l->paths.n; i++) {
        snprintf(scope, sizeof scope, "path%zu", i + 1);
        results[i] = build_list(nn, scope, &l->paths.v[i], x);
        weft_graph_at(g, l->source, l->line, l->column);
        if (l->join == JOIN_ADD)
            sum = i ? add_equal(g, "branch", sum, results[i]) : results[i];
    }
    return l->join == JOIN_ADD ? sum : weft_concat(g, results, l->paths.n, 1);
}

static weft_val build_upsample(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return weft_upsample(weft_nn_graph(nn), x, l->out);
}

static weft_val build_resize(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    int64_t size[WEFT_MAX_DIM];
    weft_resize_options o = WEFT_RESIZE_OPTIONS_INIT;
    o.mode = l->mode == 1 ? WEFT_RESIZE_LINEAR : WEFT_RESIZE_NEAREST;
    if (l->has_aligned_corners)
        o.coordinates = WEFT_RESIZE_ALIGN_CORNERS;
    return spread(g, "resize: size", &l->size, 1, x, size) ? weft_resize(g, x, size, &o)
                                                           : WEFT_NONE;
}

static weft_val build_adaptive_max(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    int64_t size[WEFT_MAX_DIM];
    return spread(g, "adaptive_max_pool: size", &l->size, 1, x, size)
               ? weft_adaptive_max_pool(g, x, size)
               : WEFT_NONE;
}

static weft_val build_adaptive_mean(weft_nn *nn, const wf_layer *l, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    int64_t size[WEFT_MAX_DIM];
    return spread(g, "adaptive_mean_pool: size", &l->size, 1, x, size)
               ? weft_adaptive_mean_pool(g, x, size)
               : WEFT_NONE;
}

static weft_val build_activation(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return weft_activation(weft_nn_graph(nn), l->kind->name, x);
}

const wf_layer_kind wf_layer_kinds[WF_N_LAYER_KINDS + 1] = {
    {"linear", linear_keys, "out", build_linear, true},
    {"conv", conv_keys, NULL, build_conv, true},
    {"conv_transpose", conv_keys, NULL, build_conv_transpose, true},
    {"residual", residual_keys, "body", build_residual, false},
    {"branch", branch_keys, "paths", build_branch, false},
    {"max_pool", pool_keys, "kernel", build_max_pool, false},
    {"mean_pool", pool_keys, "kernel", build_mean_pool, false},
    {"global_max_pool", plain_keys, NULL, build_global_max, false},
    {"global_mean_pool", plain_keys, NULL, build_global_mean, false},
    {"adaptive_max_pool", adaptive_keys, "size", build_adaptive_max, false},
    {"adaptive_mean_pool", adaptive_keys, "size", build_adaptive_mean, false},
    {"batch_norm", batch_norm_keys, NULL, build_batch_norm, true},
    {"layer_norm", layer_norm_keys, "axes", build_layer_norm, true},
    {"dropout", dropout_keys, "p", build_dropout, false},
    {"upsample", upsample_keys, "factor", build_upsample, false},
    {"resize", resize_keys, "size", build_resize, false},
    {"flatten", plain_keys, NULL, build_flatten, false},
    {"reshape", reshape_keys, "shape", build_reshape, false},
    {"relu", plain_keys, NULL, build_activation, false},
    {"relu6", plain_keys, NULL, build_activation, false},
    {"leaky_relu", leaky_keys, "slope", build_leaky, false},
    {"gelu", plain_keys, NULL, build_activation, false},
    {"gelu_tanh", plain_keys, NULL, build_activation, false},
    {"silu", plain_keys, NULL, build_activation, false},
    {"tanh", plain_keys, NULL, build_activation, false},
    {"sigmoid", plain_keys, NULL, build_activation, false},
    {"softplus", plain_keys, NULL, build_activation, false},
    {"softmax", plain_keys, NULL, build_activation, false},
    {NULL, NULL, NULL, NULL, false},
};
