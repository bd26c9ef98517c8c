// The layers that a recipe can name: their keys, and the nn call behind each. In: the list under "model".
// Out: wf_layers, and graph values when built.
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "recipe/recipe.h"

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
    {.name = "dilation",
     .kind = WF_KEY_SIZES,
     .flags = WF_KEY_OPTIONAL,
     .least = 1,
     .most = MAX_SIZE,
     .offset = AT(dilation)},
    {.name = "groups", .kind = WF_KEY_INTEGER, .least = 1, .most = MAX_SIZE, .offset = AT(groups)},
    BIAS_KEY,
    INIT_KEY,
    END_KEY,
};
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

static weft_val build_conv(weft_nn *nn, const wf_layer *l, weft_val x)
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
    return weft_conv_layer(nn, l->name, x, l->out, window, &o);
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

static weft_val build_activation(weft_nn *nn, const wf_layer *l, weft_val x)
{
    return weft_activation(weft_nn_graph(nn), l->kind->name, x);
}

const wf_layer_kind wf_layer_kinds[WF_N_LAYER_KINDS + 1] = {
    {"linear", linear_keys, "out", build_linear, true},
    {"conv", conv_keys, NULL, build_conv, true},
    {"max_pool", pool_keys, "kernel", build_max_pool, false},
    {"mean_pool", pool_keys, "kernel", build_mean_pool, false},
    {"global_max_pool", plain_keys, NULL, build_global_max, false},
    {"global_mean_pool", plain_keys, NULL, build_global_mean, false},
    {"batch_norm", batch_norm_keys, NULL, build_batch_norm, true},
    {"layer_norm", layer_norm_keys, "axes", build_layer_norm, true},
    {"dropout", dropout_keys, "p", build_dropout, false},
    {"flatten", plain_keys, NULL, build_flatten, false},
    {"relu", plain_keys, NULL, build_activation, false},
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

static weft_status find_kind(const wf_key_reader *r, const wf_yaml *map, const wf_yaml_entry *entry,
                             const wf_yaml *at, const char *word, const wf_layer_kind **out)
{
    const char *names[WF_COUNT_OF(wf_layer_kinds)];
    char list[WF_KEY_LIST], hint[WF_KEY_HINT];
    for (size_t i = 0; i < WF_COUNT_OF(wf_layer_kinds); i++) {
        names[i] = wf_layer_kinds[i].name;
        if (names[i] && !strcmp(names[i], word)) {
            *out = &wf_layer_kinds[i];
            return WEFT_OK;
        }
    }
    wf_key_list(names, list);
    wf_key_hint(word, names, hint);
    if (entry)
        return wf_yaml_fail_key(map, entry, r->err, "model: no layer '%.60s', expected %s%s", word,
                                list, hint);
    return wf_yaml_fail(at, r->err, "model: no layer '%.60s', expected %s%s", word, list, hint);
}

static weft_status read_layer(const wf_key_reader *r, const wf_yaml *node, wf_layer *layer)
{
    char what[WF_YAML_WHAT];
    layer->source = node->source;
    layer->line = node->line;
    layer->column = node->column;
    layer->has_bias = true;
    layer->groups = layer->n_axes = 1;
    layer->slope = 0.01;
    layer->epsilon = 1e-5;
    layer->momentum = 0.1;
    if (node->kind == WF_YAML_SCALAR) {
        WEFT_TRY(find_kind(r, NULL, NULL, node, node->text, &layer->kind));
        // Reports what the kind cannot do without.
        wf_yaml none = *node;
        none.kind = WF_YAML_MAP;
        return wf_keys_read(r, layer->kind->keys, &none, layer->kind->name, layer);
    }
    if (node->kind != WF_YAML_MAP || node->n != 1)
        return wf_yaml_fail(node, r->err,
                            "model: %s of %zu, expected a layer: 'relu' or "
                            "'linear: 10'",
                            wf_yaml_what(node, what), node->n);
    const wf_yaml_entry *entry = &node->entries[0];
    WEFT_TRY(find_kind(r, node, entry, NULL, entry->key, &layer->kind));
    const wf_key key = {.name = layer->kind->name,
                        .kind = WF_KEY_MAP,
                        .keys = layer->kind->keys,
                        .short_key = layer->kind->short_key};
    const wf_key table[] = {key, {.name = NULL}};
    return wf_keys_read(r, table, node, "", layer);
}

// "conv1", "conv2": by kind and ordinal, where no name is given.
static weft_status name_layers(const wf_key_reader *r, wf_layers *layers)
{
    for (size_t i = 0; i < layers->n; i++) {
        wf_layer *layer = &layers->v[i];
        const wf_yaml at = {.source = layer->source, .line = layer->line, .column = layer->column};
        if (!layer->name) {
            char name[64];
            int ordinal = 1;
            for (size_t k = 0; k < i; k++) {
                ordinal += layers->v[k].kind == layer->kind;
            }
            snprintf(name, sizeof name, "%s%d", layer->kind->name, ordinal);
            layer->name = wf_arena_strdup(r->arena, name);
            if (!layer->name)
                WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
        }
        if (strpbrk(layer->name, "/ ."))
            return wf_yaml_fail(&at, r->err,
                                "model: name '%.60s', expected one without '/', '.' "
                                "and blanks",
                                layer->name);
        for (size_t k = 0; k < i; k++) {
            if (!strcmp(layers->v[k].name, layer->name))
                return wf_yaml_fail(&at, r->err,
                                    "model: two layers are named '%.60s', the first "
                                    "in line %d",
                                    layer->name, layers->v[k].line);
        }
    }
    return WEFT_OK;
}

weft_status wf_layers_read(const wf_key_reader *r, const wf_key *key, const char *path,
                           const wf_yaml *node, void *member)
{
    wf_layers *layers = member;
    char what[WF_YAML_WHAT];
    (void)key;
    if (node->kind != WF_YAML_LIST || node->n == 0)
        return wf_yaml_fail(node, r->err, "%s: %s, expected a list of layers", path,
                            wf_yaml_what(node, what));
    layers->v = wf_arena_take(r->arena, node->n * sizeof *layers->v);
    if (!layers->v)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "memory: no room for the recipe");
    layers->n = node->n;
    for (size_t i = 0; i < node->n; i++) {
        WEFT_TRY(read_layer(r, node->entries[i].value, &layers->v[i]));
    }
    return name_layers(r, layers);
}

void wf_layers_print(const wf_key *key, const void *member, wf_text *out)
{
    const wf_layers *layers = member;
    (void)key;
    for (size_t i = 0; i < layers->n; i++) {
        wf_text_printf(out, "\n  - %s: ", layers->v[i].kind->name);
        wf_keys_print_flow(layers->v[i].kind->keys, &layers->v[i], out);
    }
}
