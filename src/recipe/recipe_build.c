// Builds a recipe's model into a graph.
#include "recipe/recipe.h"

#include "graph/graph.h"

weft_val wf_layer_build(const wf_layer *layer, weft_nn *nn, weft_val x)
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

weft_val wf_layers_build(const wf_layers *layers, weft_nn *nn, weft_val x)
{
    for (size_t i = 0; i < layers->n; i++) {
        x = wf_layer_build(&layers->v[i], nn, x);
    }
    return x;
}

weft_val wf_recipe_build(const weft_recipe *recipe, weft_nn *nn, weft_val x, int64_t n_classes,
                         wf_family_build *out_family)
{
    const wf_model *model = &recipe->v.model;
    wf_family_build b = {.nn = nn, .options = model->options, .x = x, .n_classes = n_classes};
    weft_graph_at(weft_nn_graph(nn), model->source, model->line, model->column);
    const weft_val y =
        model->family ? model->family->build(&b) : wf_layers_build(&model->layers, nn, x);
    if (out_family)
        *out_family = b;
    return y;
}

weft_dtype wf_recipe_storage(const weft_recipe *recipe)
{
    // As recipe_table.c names them.
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_BF16, WEFT_F16};
    return dtypes[recipe->v.storage];
}

const char *wf_recipe_storage_name(const weft_recipe *recipe)
{
    return weft_dtype_name(wf_recipe_storage(recipe));
}
