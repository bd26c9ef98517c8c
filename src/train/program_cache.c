// Programs of a recipe by kind and batch size. In: recipe, state. Out: compiled programs, a few at a time.
#include <stdlib.h>
#include <string.h>

#include "op/op.h"
#include "train/trainer.h"

// What a kind of training program does behind the model; n_forward nodes came before.
static weft_status add_training(wf_program_cache *cache, weft_nn *nn, wf_program_kind kind,
                                int64_t batch, const wf_task_result *task, weft_error *err)
{
    weft_graph *g = weft_nn_graph(nn);
    const wf_recipe_train *train = &cache->recipe->v.train;
    const size_t n_forward = g->n_nodes;
    const weft_optimizer_options optimizer = wf_recipe_optimizer_options(cache->recipe);
    const weft_schedule_options schedule =
        wf_recipe_schedule_options(cache->recipe, cache->total_steps);
    weft_val loss = task->loss;
    wf_recipe_group_parameters(cache->recipe, nn);
    if (kind == WF_PROGRAM_ACCUMULATE) {
        weft_accumulate_step(nn, loss, weft_scalar(g, WEFT_F32, (double)batch));
        return WEFT_OK;
    }
    const weft_val lr = kind == WF_PROGRAM_UPDATE
                            ? weft_update_step(nn, &optimizer, &schedule, &loss)
                            : weft_train_step(nn, loss, &optimizer, &schedule);
    weft_output(g, "lr", lr);
    weft_output(g, "loss", loss);
    if (kind != WF_PROGRAM_UPDATE && task->correct.id)
        weft_output(g, "correct", task->correct);
    if (train->ema > 0.0)
        weft_average_parameters(nn, train->ema);
    const bool has_statistics =
        kind == WF_PROGRAM_STATISTICS || (kind == WF_PROGRAM_UPDATE && train->stats_every > 0);
    return has_statistics
               ? wf_statistics_build(cache, nn, kind == WF_PROGRAM_UPDATE ? 0 : n_forward, err)
               : WEFT_OK;
}

// The classes of each item, counted on the device.
static void add_classes(wf_program_cache *cache, weft_graph *g, const wf_task_result *task)
{
    const weft_type y = weft_val_type(g, task->prediction);
    // Positions [b,t,c] have their classes last, everything else behind the batch.
    const bool is_last = weft_val_type(g, task->out).ndim == 3;
    weft_output(g, "correct", task->correct);
    weft_output(g, "predicted", weft_argmax(g, task->out, is_last ? 2 : 1, false));
    cache->sizes.classes = y.dims[1];
    for (int32_t i = 2; i < y.ndim; i++) {
        cache->sizes.inner *= y.dims[i];
    }
}

static void add_evaluation(wf_program_cache *cache, weft_graph *g, int64_t batch,
                           const wf_task_result *task)
{
    const int64_t n = weft_val_count(g, task->prediction) / batch;
    const int64_t n_target = weft_val_count(g, task->target) / batch;
    const bool is_numbers = n == n_target && weft_val_type(g, task->target).dtype == WEFT_F32;
    cache->sizes = (wf_result_sizes){.prediction = n, .inner = 1};
    weft_output(g, "loss", task->loss);
    weft_output(g, "probabilities", task->prediction);
    if (task->correct.id)
        add_classes(cache, g, task);
    if (task->correct.id || is_numbers) {
        weft_output(g, "target", task->target);
        cache->sizes.target = n_target;
    }
    if (task->code.id)
        weft_output(g, "code", task->code);
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
    weft_graph *g;
    weft_nn *nn = NULL;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    // The program that ends a step runs no model: nothing of it is left but its parameters.
    options.is_training = kind != WF_PROGRAM_EVAL && kind != WF_PROGRAM_UPDATE;
    options.is_accumulating = kind == WF_PROGRAM_ACCUMULATE;
    options.uses_averages = kind == WF_PROGRAM_EVAL && cache->uses_averages;
    options.seed = cache->recipe->v.seed;
    options.storage = wf_recipe_storage(cache->recipe);
    WEFT_TRY(weft_graph_create(cache->state->device->context, &g, err));
    weft_status status = weft_nn_create(g, &options, &nn, err);
    if (status == WEFT_OK) {
        const wf_normalisation *n = &data->normalisation;
        wf_task_input in = {.n_classes = data->n_classes};
        wf_task_result task;
        in.x = wf_train_input(g, &data->input, batch);
        in.label = wf_train_input(g, &data->label, batch);
        in.mean = n->n_channels ? n->mean : NULL;
        in.std = n->n_channels ? n->std : NULL;
        wf_recipe_task(cache->recipe, nn, &in, options.is_training, &task);
        if (weft_graph_status(g, NULL) == WEFT_OK) {
            cache->has_classes = task.correct.id != 0;
            cache->n_judged = task.n_judged;
            if (kind == WF_PROGRAM_EVAL)
                add_evaluation(cache, g, batch, &task);
            else
                status = add_training(cache, nn, kind, batch, &task, err);
        }
        if (status == WEFT_OK)
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

// "conv1.weight" of "conv1.weight.ema".
static const char *without_suffix(wf_arena *arena, const char *stored)
{
    static const char suffix[] = ".ema";
    const size_t len = strlen(stored), n = sizeof suffix - 1;
    char *name = wf_arena_strdup(arena, stored);
    if (name && len > n && !strcmp(stored + len - n, suffix))
        name[len - n] = 0;
    return name;
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
            list[n].stored = wf_arena_strdup(&cache->arena, node->attrs[0].u.text);
            list[n].name = cache->uses_averages && list[n].stored
                               ? without_suffix(&cache->arena, list[n].stored)
                               : list[n].stored;
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

int64_t wf_program_eval_batch(const wf_recipe_train *train, int64_t batch)
{
    return train->micro_batch > 0 && train->micro_batch < batch ? train->micro_batch : batch;
}

static void need(wf_program_needs *needs, wf_program_kind kind, int64_t batch)
{
    bool is_there = batch == 0;
    for (size_t i = 0; i < needs->n && !is_there; i++) {
        is_there = needs->kind[i] == kind && needs->batch[i] == batch;
    }
    if (is_there)
        return;
    needs->kind[needs->n] = kind;
    needs->batch[needs->n++] = batch;
}

wf_program_needs wf_program_needs_of(const wf_recipe_train *train, int64_t batch, int64_t n_train,
                                     int64_t n_validation, int64_t total_steps)
{
    const int64_t per_epoch = (n_train + batch - 1) / batch, micro = train->micro_batch;
    const int64_t whole = n_train >= batch ? batch : 0;
    const int64_t rest = total_steps >= per_epoch ? n_train % batch : 0;
    wf_program_needs needs = {.n = 0};
    if (micro > 0) {
        const int64_t size[] = {whole, rest};
        for (int i = 0; i < 2; i++) {
            need(&needs, WF_PROGRAM_ACCUMULATE, size[i] >= micro ? micro : 0);
            need(&needs, WF_PROGRAM_ACCUMULATE, size[i] % micro);
        }
        need(&needs, WF_PROGRAM_UPDATE, 1);
    } else {
        need(&needs, WF_PROGRAM_TRAIN, whole);
        need(&needs, WF_PROGRAM_TRAIN, rest);
        if (train->stats_every > 0 && train->stats_every <= total_steps)
            need(&needs, WF_PROGRAM_STATISTICS, whole);
    }
    const int64_t eval = wf_program_eval_batch(train, batch);
    need(&needs, WF_PROGRAM_EVAL, n_validation >= eval ? eval : 0);
    need(&needs, WF_PROGRAM_EVAL, n_validation % eval);
    return needs;
}

weft_status wf_program_measure(wf_program_cache *cache, const wf_program_needs *needs,
                               uint64_t *out_bytes, uint64_t *out_step_flops, weft_error *err)
{
    uint64_t bytes = 0, variables = 0;
    double flops = 0.0;
    for (size_t i = 0; i < needs->n; i++) {
        weft_graph *g;
        wf_plan *plan;
        WEFT_TRY(wf_program_graph(cache, needs->kind[i], needs->batch[i], &g, err));
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
