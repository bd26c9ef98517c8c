// Programs of a recipe by kind and batch size. In: recipe, state. Out: compiled programs, a few at a time.
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "train/trainer.h"

static void add_training(const wf_program_cache *cache, weft_nn *nn, const wf_task_result *task)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_optimizer_options optimizer = wf_recipe_optimizer_options(cache->recipe);
    const weft_schedule_options schedule =
        wf_recipe_schedule_options(cache->recipe, cache->total_steps);
    weft_output(g, "lr", weft_train_step(nn, task->loss, &optimizer, &schedule));
    weft_output(g, "loss", task->loss);
    if (task->correct.id)
        weft_output(g, "correct", task->correct);
}

static void add_evaluation(weft_graph *g, const wf_task_result *task)
{
    weft_output(g, "loss", task->loss);
    if (task->correct.id)
        weft_output(g, "correct", task->correct);
    weft_output(g, "probabilities", task->prediction);
}

static int64_t count_parameters(const weft_nn *nn, const weft_graph *g)
{
    int64_t n = 0;
    for (size_t i = 0; i < weft_nn_n_parameters(nn); i++) {
        n += weft_val_count(g, weft_nn_parameter(nn, i).val);
    }
    return n;
}

weft_status wf_program_graph(wf_program_cache *cache, wf_program_kind kind, int64_t batch,
                             weft_graph **out_graph, weft_error *err)
{
    const wf_train_data *data = cache->data;
    const int64_t dims[] = {batch, data->image[0], data->image[1], data->image[2]};
    weft_graph *g;
    weft_nn *nn = NULL;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    options.is_training = kind == WF_PROGRAM_TRAIN;
    options.seed = cache->recipe->v.seed;
    WEFT_TRY(weft_graph_create(cache->state->device->context, &g, err));
    weft_status status = weft_nn_create(g, &options, &nn, err);
    if (status == WEFT_OK) {
        const wf_normalisation *n = &data->normalisation;
        wf_task_input in = {.n_classes = data->n_classes};
        wf_task_result task;
        in.x = weft_input(g, "image", WEFT_F32, dims, 4);
        in.label = weft_input(g, "label", WEFT_I32, dims, 1);
        in.mean = n->n_channels ? n->mean : NULL;
        in.std = n->n_channels ? n->std : NULL;
        wf_recipe_task(cache->recipe, nn, &in, options.is_training, &task);
        if (weft_graph_status(g, NULL) == WEFT_OK) {
            if (kind == WF_PROGRAM_TRAIN)
                add_training(cache, nn, &task);
            else
                add_evaluation(g, &task);
        }
        status = weft_graph_status(g, err);
        cache->n_parameters = count_parameters(nn, g);
    }
    weft_nn_destroy(nn);
    if (status != WEFT_OK) {
        weft_graph_destroy(g);
        return status;
    }
    *out_graph = g;
    return WEFT_OK;
}

// Variables once, whatever programs share them; arena and constants for each program held.
static uint64_t bytes_held(const wf_program_cache *cache)
{
    uint64_t bytes = cache->state->variable_bytes;
    for (size_t i = 0; i < WF_PROGRAM_SLOTS; i++) {
        const weft_program *p = cache->slots[i].program;
        if (p)
            bytes += weft_program_planned_bytes(p) - p->plan->variable_bytes;
    }
    return bytes;
}

weft_status wf_program_get(wf_program_cache *cache, wf_program_kind kind, int64_t batch,
                           weft_program **out_program, weft_error *err)
{
    wf_program_slot *oldest = &cache->slots[0];
    weft_graph *g;
    *out_program = NULL;
    cache->clock++;
    for (size_t i = 0; i < WF_PROGRAM_SLOTS; i++) {
        wf_program_slot *slot = &cache->slots[i];
        if (slot->program && slot->kind == kind && slot->batch == batch) {
            slot->used_at = cache->clock;
            *out_program = slot->program;
            return WEFT_OK;
        }
        if (slot->used_at < oldest->used_at)
            oldest = slot;
    }
    weft_program_destroy(oldest->program);
    *oldest = (wf_program_slot){kind, batch, NULL, 0};
    WEFT_TRY(wf_program_graph(cache, kind, batch, &g, err));
    const weft_status status = weft_compile(cache->state, g, NULL, &oldest->program, err);
    weft_graph_destroy(g);
    WEFT_TRY(status);
    oldest->used_at = cache->clock;
    const uint64_t bytes = bytes_held(cache);
    if (bytes > cache->planned_bytes)
        cache->planned_bytes = bytes;
    *out_program = oldest->program;
    return WEFT_OK;
}

void wf_program_cache_init(wf_program_cache *cache, const weft_recipe *recipe,
                           const wf_train_data *data, weft_state *state, int64_t total_steps)
{
    memset(cache, 0, sizeof *cache);
    cache->recipe = recipe;
    cache->data = data;
    cache->state = state;
    cache->total_steps = total_steps;
    wf_arena_init(&cache->arena, &state->device->context->allocator);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const wf_model_variable *)a)->name, ((const wf_model_variable *)b)->name);
}

weft_status wf_program_variables(wf_program_cache *cache, const wf_model_variable **out_variables,
                                 size_t *out_n, weft_error *err)
{
    if (!cache->variables) {
        weft_graph *g;
        size_t n = 0;
        WEFT_TRY(wf_program_graph(cache, WF_PROGRAM_EVAL, 1, &g, err));
        wf_model_variable *list = wf_arena_take(&cache->arena, g->n_nodes * sizeof *list);
        for (size_t i = 0; list && i < g->n_nodes; i++) {
            const wf_node *node = &g->nodes[i];
            if (strcmp(node->op->name, "variable") != 0)
                continue;
            const weft_type t = *wf_graph_type(g, node->first_output);
            list[n].name = wf_arena_strdup(&cache->arena, node->attrs[0].u.text);
            list[n].type = t;
            list[n].size_bytes = (size_t)wf_type_count(&t) * weft_dtype_size(t.dtype);
            if (!list[n++].name)
                list = NULL;
        }
        weft_graph_destroy(g);
        if (!list)
            WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: no room for the names of variables");
        qsort(list, n, sizeof *list, by_name);
        cache->variables = list;
        cache->n_variables = n;
    }
    *out_variables = cache->variables;
    *out_n = cache->n_variables;
    return WEFT_OK;
}

void wf_program_cache_deinit(wf_program_cache *cache)
{
    if (!cache->state)
        return;
    wf_arena_deinit(&cache->arena);
    for (size_t i = 0; i < WF_PROGRAM_SLOTS; i++) {
        weft_program_destroy(cache->slots[i].program);
        cache->slots[i].program = NULL;
    }
}

wf_program_needs wf_program_needs_of(int64_t batch, int64_t n_train, int64_t n_validation,
                                     int64_t total_steps)
{
    const int64_t per_epoch = (n_train + batch - 1) / batch;
    wf_program_needs needs = {{0, 0, 0, 0}};
    if (n_train >= batch)
        needs.batch[0] = batch;
    if (total_steps >= per_epoch)
        needs.batch[1] = n_train % batch;
    if (n_validation >= batch)
        needs.batch[2] = batch;
    needs.batch[3] = n_validation % batch;
    return needs;
}

wf_program_kind wf_program_needs_kind(size_t slot)
{
    return slot < 2 ? WF_PROGRAM_TRAIN : WF_PROGRAM_EVAL;
}

weft_status wf_program_measure(wf_program_cache *cache, const wf_program_needs *needs,
                               uint64_t *out_bytes, uint64_t *out_step_flops, weft_error *err)
{
    uint64_t bytes = 0, variables = 0;
    double flops = 0.0;
    for (size_t i = 0; i < WF_PROGRAM_SLOTS; i++) {
        weft_graph *g;
        wf_plan *plan;
        if (!needs->batch[i])
            continue;
        WEFT_TRY(wf_program_graph(cache, wf_program_needs_kind(i), needs->batch[i], &g, err));
        const weft_status status = wf_compile_plan(cache->state, g, &plan, err);
        weft_graph_destroy(g);
        WEFT_TRY(status);
        bytes +=
            plan->arena_bytes + plan->constant_bytes + cache->state->device->caps.program_bytes;
        if (plan->variable_bytes > variables)
            variables = plan->variable_bytes;
        for (size_t t = 0; i == 0 && t < plan->n_tasks; t++) {
            flops += plan->tasks[t].cost.flops;
        }
        wf_plan_destroy(plan);
    }
    *out_bytes = bytes + variables;
    if (out_step_flops)
        *out_step_flops = (uint64_t)flops;
    return WEFT_OK;
}
