// The model under construction: mode, seed and step, parameters by name.
#include "nn/nn_builder.h"

#include <string.h>

// Any odd number with its high bits set keeps seeds of micro-batches apart.
#define MICRO_STRIDE 0x5851f42d4c957f2d

weft_status weft_nn_create(weft_graph *graph, const weft_nn_options *options, weft_nn **out_nn,
                           weft_error *err)
{
    WEFT_REQUIRE(err, out_nn, "nn: out_nn is NULL");
    *out_nn = NULL;
    WEFT_REQUIRE(err, graph, "nn: graph is NULL");
    WEFT_REQUIRE(err, !options || options->struct_size >= sizeof *options,
                 "nn: options.struct_size is %zu, expected %zu", options->struct_size,
                 sizeof *options);
    weft_nn *nn;
    WEFT_TRY(wf_alloc(&graph->context->allocator, 1, sizeof *nn, &nn, err));
    nn->g = graph;
    nn->allocator = graph->context->allocator;
    if (options) {
        nn->is_training = options->is_training;
        nn->is_accumulating = options->is_accumulating;
        nn->uses_averages = options->uses_averages;
        nn->seed = options->seed;
        nn->storage = options->storage == WEFT_F32 ? WEFT_DTYPE_NONE : options->storage;
        if (nn->storage != WEFT_DTYPE_NONE && nn->storage != WEFT_BF16 && nn->storage != WEFT_F16)
            wf_graph_fail(graph, NULL, WEFT_ERR_DTYPE, "nn: storage is %s, expected f32 bf16 f16",
                          weft_dtype_name(nn->storage));
    }
    *out_nn = nn;
    return WEFT_OK;
}

void weft_nn_destroy(weft_nn *nn)
{
    if (!nn)
        return;
    const wf_allocator a = nn->allocator;
    wf_free(&a, nn->parameters);
    wf_free(&a, nn);
}

weft_graph *weft_nn_graph(const weft_nn *nn)
{
    return nn ? nn->g : NULL;
}

weft_nn *weft_nn_at(weft_nn *nn, const char *file, int32_t line)
{
    if (nn)
        weft_graph_at(nn->g, file, line, 0);
    return nn;
}

weft_val wf_nn_store(const weft_nn *nn, weft_val x)
{
    if (!x.id || nn->storage == WEFT_DTYPE_NONE || !wf_graph_is_ok(nn->g) ||
        wf_graph_type(nn->g, x.id)->dtype != WEFT_F32)
        return x;
    return weft_cast(nn->g, weft_cast(nn->g, x, nn->storage), WEFT_F32);
}

weft_graph *wf_nn_begin(const weft_nn *nn)
{
    return nn && wf_graph_is_ok(nn->g) ? nn->g : NULL;
}

bool wf_nn_options_check(weft_graph *g, const char *what, size_t given, size_t expected)
{
    if (given >= expected)
        return true;
    wf_graph_fail(g, NULL, WEFT_ERR_USAGE, "%s: options.struct_size is %zu, expected %zu", what,
                  given, expected);
    return false;
}

// An i64 weft_scalar would round a seed beyond 2^53.
static weft_val i64_scalar(weft_graph *g, int64_t value)
{
    return weft_constant(g, WEFT_I64, NULL, 0, &value);
}

weft_val weft_nn_seed(weft_nn *nn)
{
    if (!wf_nn_begin(nn))
        return WEFT_NONE;
    if (!nn->seed_var.id)
        nn->seed_var = weft_variable(nn->g, "seed", i64_scalar(nn->g, nn->seed));
    if (!nn->is_accumulating || !nn->is_training)
        return nn->seed_var;
    // Micro-batches of a step draw different numbers; the first draws what a whole batch would.
    if (!nn->draw_seed.id) {
        const weft_val far = i64_scalar(nn->g, MICRO_STRIDE);
        nn->draw_seed = weft_add(nn->g, nn->seed_var, weft_mul(nn->g, wf_nn_micro(nn), far));
    }
    return nn->draw_seed;
}

weft_val wf_nn_micro(weft_nn *nn)
{
    if (!wf_nn_begin(nn))
        return WEFT_NONE;
    if (!nn->micro_var.id)
        nn->micro_var = weft_variable(nn->g, "micro", i64_scalar(nn->g, 0));
    return nn->micro_var;
}

weft_val weft_nn_step(weft_nn *nn)
{
    if (!wf_nn_begin(nn))
        return WEFT_NONE;
    if (!nn->step_var.id)
        nn->step_var = weft_variable(nn->g, "step", i64_scalar(nn->g, 0));
    return nn->step_var;
}

size_t weft_nn_n_parameters(const weft_nn *nn)
{
    return nn ? nn->n_parameters : 0;
}

weft_parameter weft_nn_parameter(const weft_nn *nn, size_t idx)
{
    static const weft_parameter none = {0};
    return nn && idx < nn->n_parameters ? nn->parameters[idx] : none;
}

size_t weft_nn_freeze(weft_nn *nn, const char *prefix)
{
    size_t n = 0;
    for (size_t i = 0; nn && prefix && i < nn->n_parameters; i++) {
        if (!strncmp(nn->parameters[i].name, prefix, strlen(prefix))) {
            nn->parameters[i].is_trainable = false;
            n++;
        }
    }
    return n;
}

const char *wf_nn_variable_name(weft_nn *nn, const char *name)
{
    const char *scope = nn->g->scopes[nn->g->scope_depth];
    const size_t n_scope = strlen(scope), n_name = strlen(name);
    char *full = wf_arena_take(&nn->g->arena, n_scope + n_name + 2);
    if (!full) {
        wf_graph_fail(nn->g, NULL, WEFT_ERR_MEMORY, "memory: variable %s", name);
        return NULL;
    }
    for (size_t i = 0; i < n_scope; i++) {
        full[i] = scope[i] == '/' ? '.' : scope[i];
    }
    size_t at = n_scope;
    if (n_scope)
        full[at++] = '.';
    memcpy(full + at, name, n_name + 1);
    return full;
}

weft_val wf_nn_buffer(weft_nn *nn, const char *name, weft_val init)
{
    const char *full = init.id ? wf_nn_variable_name(nn, name) : NULL;
    return full ? weft_variable(nn->g, full, init) : WEFT_NONE;
}

weft_val weft_parameter_create(weft_nn *nn, const char *name, weft_val init, bool has_decay)
{
    weft_graph *g = wf_nn_begin(nn);
    if (!g || !init.id)
        return WEFT_NONE;
    if (!name || !*name) {
        wf_graph_fail(g, NULL, WEFT_ERR_NAME, "parameter: no name");
        return WEFT_NONE;
    }
    const char *full = wf_nn_variable_name(nn, name);
    if (!full)
        return WEFT_NONE;
    const char *stored = nn->uses_averages ? wf_nn_average_name(g, full) : full;
    const weft_val val = stored ? weft_variable(g, stored, init) : WEFT_NONE;
    if (!val.id)
        return WEFT_NONE;
    if (wf_array_reserve(&nn->allocator, &nn->parameters, &nn->parameters_capacity,
                         nn->n_parameters + 1, sizeof *nn->parameters, NULL) != WEFT_OK) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: parameter %s", full);
        return WEFT_NONE;
    }
    nn->parameters[nn->n_parameters++] = (weft_parameter){
        .name = full, .val = val, .is_trainable = true, .has_decay = has_decay, .lr_factor = 1.0};
    return wf_nn_store(nn, val); // the variable itself keeps all its bits
}

weft_val wf_nn_parameter_init(weft_nn *nn, const char *name, const weft_init *init,
                              const int64_t *dims, int32_t ndim, bool has_decay)
{
    weft_scope_push(nn->g, name);
    const weft_val first = weft_init_values(nn, init, dims, ndim);
    weft_scope_pop(nn->g);
    return weft_parameter_create(nn, name, first, has_decay);
}

weft_val wf_nn_number(weft_graph *g, double value)
{
    return weft_scalar(g, WEFT_F32, value);
}

weft_val wf_nn_channels(weft_graph *g, weft_val x, int32_t ndim)
{
    int64_t dims[WEFT_MAX_DIM] = {1, weft_val_count(g, x), 1, 1, 1, 1, 1, 1};
    return weft_reshape(g, x, dims, ndim);
}

weft_val wf_nn_reduce(weft_graph *g, weft_val losses, weft_reduction reduction)
{
    if (reduction == WEFT_REDUCTION_NONE)
        return losses;
    const weft_val sum = weft_sum(g, losses, NULL, 0, false);
    const int64_t count = weft_val_count(g, losses);
    if (reduction == WEFT_REDUCTION_SUM || count == 0)
        return sum;
    return weft_div(g, sum, wf_nn_number(g, (double)count));
}
