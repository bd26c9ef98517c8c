// Layers of a recipe and the memory that training takes, without running anything. In: a recipe. Out: rows.
#include <string.h>

#include "op/op.h"
#include "train/trainer.h"

// A layer has a handful of operands; ops that take more (concat) cost no flops.
#define MAX_OPERANDS 16

static double node_flops(const weft_graph *g, const wf_node *node)
{
    weft_type in[MAX_OPERANDS], out[WF_OP_MAX_OUTPUTS];
    if (!node->op->cost || node->n_inputs > MAX_OPERANDS)
        return 0.0;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        in[i] = *wf_graph_type(g, node->inputs[i]);
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        out[i] = *wf_graph_type(g, node->first_output + i);
    }
    const wf_node_info info = {node->op, node->n_inputs, in, node->n_outputs, out, node->attrs};
    return node->op->cost(&info).flops;
}

// Of the nodes from first_node on that depend on the image: first values of parameters do not count.
static weft_status layer_flops(const weft_graph *g, wf_id image, size_t first_node,
                               uint64_t *out_flops, weft_error *err)
{
    const wf_allocator *a = &g->context->allocator;
    bool *depends; // by value
    double flops = 0.0;
    WEFT_TRY(wf_alloc(a, g->n_values, sizeof *depends, &depends, err));
    depends[image] = true;
    for (size_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        bool does = false;
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            does |= depends[node->inputs[i]];
        }
        for (uint32_t i = 0; i < node->n_outputs; i++) {
            depends[node->first_output + i] |= does;
        }
        if (does && n >= first_node)
            flops += node_flops(g, node);
    }
    wf_free(a, depends);
    *out_flops = (uint64_t)flops;
    return WEFT_OK;
}

// What each layer of the model gives, and costs, for one sample: the model is built layer by layer.
static weft_status tell_layers(const wf_program_cache *programs, const weft_inspect_events *events,
                               weft_error *err)
{
    const wf_train_data *data = programs->data;
    const weft_recipe *recipe = programs->recipe;
    const int64_t dims[] = {1, data->image[0], data->image[1], data->image[2]};
    weft_graph *g;
    weft_nn *nn = NULL;
    WEFT_TRY(weft_graph_create(programs->state->device->context, &g, err));
    weft_status status = weft_nn_create(g, NULL, &nn, err);
    const weft_val image =
        status == WEFT_OK ? weft_input(g, "image", WEFT_F32, dims, 4) : WEFT_NONE;
    weft_val x = image;
    for (size_t i = 0; i < recipe->v.model.n && status == WEFT_OK; i++) {
        const wf_layer *layer = &recipe->v.model.v[i];
        const size_t first_node = g->n_nodes, first_parameter = weft_nn_n_parameters(nn);
        x = wf_recipe_build_layer(layer, nn, x);
        status = weft_graph_status(g, err);
        if (status != WEFT_OK)
            break;
        const weft_type t = weft_val_type(g, x);
        weft_layer_info info = {.name = layer->name, .kind = layer->kind->name};
        info.ndim = t.ndim - 1;
        memcpy(info.dims, t.dims + 1, (size_t)(t.ndim - 1) * sizeof t.dims[0]);
        for (size_t k = first_parameter; k < weft_nn_n_parameters(nn); k++) {
            info.n_parameters += weft_val_count(g, weft_nn_parameter(nn, k).val);
        }
        status = layer_flops(g, image.id, first_node, &info.flops, err);
        if (status == WEFT_OK && events->layer)
            events->layer(events->user, &info);
    }
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return status;
}

static weft_status tell_memory(wf_trainer *t, int64_t batch, const weft_inspect_events *events,
                               weft_error *err)
{
    weft_memory_info info = {.batch = batch};
    // A whole batch of each kind and the short ones of this data.
    wf_program_needs needs =
        wf_program_needs_of(batch, t->data.train_split.n, t->data.validation_split.n, INT64_MAX);
    WEFT_TRY(wf_program_measure(&t->programs, &needs, &info.planned_bytes, &info.step_flops, err));
    if (events->memory)
        events->memory(events->user, &info);
    return WEFT_OK;
}

weft_status weft_inspect_run(weft_recipe *recipe, weft_device *device, const int64_t *batches,
                             size_t n_batches, const weft_inspect_events *events, weft_error *err)
{
    wf_trainer trainer;
    WEFT_REQUIRE(err, recipe && device && events && (batches || !n_batches),
                 "inspect: without recipe, device or events");
    WEFT_REQUIRE(err, events->struct_size == sizeof *events,
                 "inspect: struct_size is %zu, expected %zu", events->struct_size, sizeof *events);
    weft_status status = wf_trainer_init(&trainer, recipe, device, 0, err);
    if (status == WEFT_OK)
        status = tell_layers(&trainer.programs, events, err);
    for (size_t i = 0; i < n_batches && status == WEFT_OK; i++) {
        if (batches[i] < 1)
            status = wf_error_set(err, WEFT_ERR_ATTR, "batch %lld, expected 1 or more",
                                  (long long)batches[i]);
        else
            status = tell_memory(&trainer, batches[i], events, err);
    }
    wf_trainer_deinit(&trainer);
    return status;
}
