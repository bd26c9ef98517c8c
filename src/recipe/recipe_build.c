// Builds a recipe's model into a graph, and its optimiser and schedule as nn wants them.
#include "recipe/recipe.h"

#include "graph/graph.h"

weft_val wf_recipe_build_layer(const wf_layer *layer, weft_nn *nn, weft_val x)
{
    weft_graph *g = weft_nn_graph(nn);
    weft_graph_at(g, layer->source, layer->line, layer->column);
    if (!layer->kind->is_scoped)
        weft_scope_push(g, layer->name);
    x = layer->kind->build(nn, layer, x);
    if (!layer->kind->is_scoped)
        weft_scope_pop(g);
    return x;
}

weft_val wf_recipe_build(const weft_recipe *recipe, weft_nn *nn, weft_val x)
{
    for (size_t i = 0; i < recipe->v.model.n; i++) {
        x = wf_recipe_build_layer(&recipe->v.model.v[i], nn, x);
    }
    return x;
}

weft_optimizer_options wf_recipe_optimizer_options(const weft_recipe *recipe)
{
    const wf_recipe_optimizer *from = &recipe->v.optimizer;
    const bool is_adam = from->kind != WEFT_OPTIMIZER_SGD;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.kind = (weft_optimizer_kind)from->kind;
    o.momentum = from->momentum;
    o.is_nesterov = from->is_nesterov;
    if (is_adam) {
        o.beta1 = from->beta1;
        o.beta2 = from->beta2;
        o.epsilon = from->epsilon;
    }
    o.weight_decay = from->weight_decay;
    o.decay_all = from->decay_all;
    o.clip_norm = recipe->v.train.clip_norm;
    o.clip_value = recipe->v.train.clip_value;
    return o;
}

weft_schedule_options wf_recipe_schedule_options(const weft_recipe *recipe, int64_t total_steps)
{
    const wf_recipe_schedule *from = &recipe->v.schedule;
    weft_schedule_options o = WEFT_SCHEDULE_OPTIONS_INIT;
    o.kind = (weft_schedule_kind)from->kind;
    o.lr = recipe->v.optimizer.lr;
    o.total_steps = total_steps;
    if (o.kind == WEFT_SCHEDULE_ONE_CYCLE) {
        o.warmup_share = from->warmup_share;
        o.initial_divisor = from->initial_divisor;
        o.final_divisor = from->final_divisor;
    } else {
        o.warmup_steps = from->warmup;
        o.final_fraction = from->final_fraction;
        o.step_size = from->step_size;
        o.gamma = from->gamma;
    }
    return o;
}
