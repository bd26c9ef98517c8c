// What a step did, for people to look at: gradients and steps by parameter, dead units by activation. In: a
// graph behind its training step. Out: two outputs of its program, with names.
#include <string.h>

#include "op/op.h"
#include "train/trainer.h"

#define STEPS "statistics.steps"
#define DEAD "statistics.dead"

static weft_status no_memory(weft_error *err)
{
    WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the names of statistics");
}

// Also of weft_relu6, which holds one. No other activation has places without a gradient: leaky_relu has a slope
// everywhere, those that saturate only come near to none.
static bool is_relu(const weft_graph *g, size_t node)
{
    const weft_type *t = wf_graph_type(g, g->nodes[node].first_output);
    return !strcmp(g->nodes[node].op->name, "relu") && t->ndim >= 2;
}

// The names of one model are the same whatever the batch is.
static weft_status remember(wf_program_cache *cache, const weft_nn *nn, const weft_graph *g,
                            size_t n_forward, weft_error *err)
{
    wf_arena *arena = &cache->arena;
    if (cache->statistic_names)
        return WEFT_OK;
    wf_statistic_names *names = wf_arena_take(arena, sizeof *names);
    if (!names)
        return no_memory(err);
    *names = (wf_statistic_names){0};
    names->parameters = wf_arena_take(arena, (weft_nn_n_parameters(nn) + 1) * sizeof(char *));
    names->units = wf_arena_take(arena, (n_forward + 1) * sizeof(char *));
    if (!names->parameters || !names->units)
        return no_memory(err);
    for (size_t i = 0; i < weft_nn_n_parameters(nn); i++) {
        const weft_parameter p = weft_nn_parameter(nn, i);
        if (!p.next.id)
            continue;
        names->parameters[names->n_parameters] = wf_arena_strdup(arena, p.name);
        if (!names->parameters[names->n_parameters++])
            return no_memory(err);
    }
    for (size_t i = 0; i < n_forward; i++) {
        if (!is_relu(g, i))
            continue;
        names->units[names->n_units] = wf_arena_strdup(arena, g->nodes[i].scope);
        if (!names->units[names->n_units++])
            return no_memory(err);
    }
    cache->statistic_names = names;
    return WEFT_OK;
}

// weft_relu6 is a relu and a select in a scope of that name; the sixth relu of a list of layers is alone in it.
static bool is_relu6(const weft_graph *g, size_t node)
{
    const char *scope = g->nodes[node].scope, *last = strrchr(scope, '/');
    if (strcmp(last ? last + 1 : scope, "relu6") != 0)
        return false;
    for (size_t i = node + 1; i < g->n_nodes && !strcmp(g->nodes[i].scope, scope); i++) {
        if (!strcmp(g->nodes[i].op->name, "select"))
            return true;
    }
    return false;
}

// The share of channels (axis 1) without a gradient: at every sample and place what comes of them is 0, or of
// relu6 the 6 that it stops at. [1] f32.
static weft_val dead_share(weft_graph *g, size_t node)
{
    static const int64_t one[] = {1};
    weft_val x = {g->nodes[node].first_output};
    const weft_val zero = weft_scalar(g, WEFT_F32, 0.0);
    const weft_type t = weft_val_type(g, x);
    int32_t axes[WEFT_MAX_DIM] = {0};
    size_t n = 0;
    for (int32_t i = 0; i < t.ndim; i++) {
        if (i != 1)
            axes[n++] = i;
    }
    if (is_relu6(g, node))
        x = weft_select(g, weft_less(g, x, weft_scalar(g, WEFT_F32, 6.0)), x, zero);
    const weft_val is_dead = weft_less_equal(g, weft_reduce_max(g, x, axes, n, false), zero);
    return weft_reshape(g, weft_mean(g, weft_cast(g, is_dead, WEFT_F32), NULL, 0, false), one, 1);
}

static weft_status build_dead(weft_graph *g, size_t n_forward, weft_error *err)
{
    const wf_allocator *a = &g->context->allocator;
    weft_val *shares;
    size_t n = 0;
    WEFT_TRY(wf_alloc(a, n_forward + 1, sizeof *shares, &shares, err));
    weft_scope_push(g, "statistics");
    for (size_t i = 0; i < n_forward; i++) {
        if (is_relu(g, i))
            shares[n++] = dead_share(g, i);
    }
    if (n > 0)
        weft_output(g, DEAD, n == 1 ? shares[0] : weft_concat(g, shares, n, 0));
    weft_scope_pop(g);
    wf_free(a, shares);
    return WEFT_OK;
}

weft_status wf_statistics_build(wf_program_cache *cache, weft_nn *nn, size_t n_forward,
                                weft_error *err)
{
    weft_graph *g = weft_nn_graph(nn);
    if (weft_graph_status(g, err) != WEFT_OK)
        return weft_graph_status(g, err);
    WEFT_TRY(remember(cache, nn, g, n_forward, err));
    weft_output(g, STEPS, weft_step_statistics(nn));
    return build_dead(g, n_forward, err);
}

weft_status wf_statistics_read(const wf_allocator *a, const wf_program_cache *cache,
                               weft_program *program, wf_statistics *out, weft_error *err)
{
    const wf_statistic_names *names = cache->statistic_names;
    const size_t n_steps = 2 * names->n_parameters;
    if (!out->steps)
        WEFT_TRY(wf_alloc(a, n_steps + 1, sizeof *out->steps, &out->steps, err));
    if (!out->dead)
        WEFT_TRY(wf_alloc(a, names->n_units + 1, sizeof *out->dead, &out->dead, err));
    out->names = names;
    WEFT_TRY(weft_program_read(program, STEPS, out->steps, n_steps * sizeof *out->steps, err));
    if (names->n_units == 0)
        return WEFT_OK;
    return weft_program_read(program, DEAD, out->dead, names->n_units * sizeof *out->dead, err);
}

void wf_statistics_deinit(const wf_allocator *a, wf_statistics *statistics)
{
    wf_free(a, statistics->steps);
    wf_free(a, statistics->dead);
    memset(statistics, 0, sizeof *statistics);
}
