// Layers of a recipe and the memory that training takes, without running anything. In: a recipe. Out: rows.
#include <string.h>

#include "op/op.h"
#include "train/sample.h"

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

// Which values depend on the image: first values of parameters do not. To be freed.
static weft_status find_dependent(const weft_graph *g, wf_id image, bool **out_depends,
                                  weft_error *err)
{
    bool *depends;
    WEFT_TRY(wf_alloc(&g->context->allocator, g->n_values, sizeof *depends, &depends, err));
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
    }
    *out_depends = depends;
    return WEFT_OK;
}

static void set_dims(weft_layer_info *info, const weft_type *t)
{
    info->ndim = t->ndim - 1;
    memcpy(info->dims, t->dims + 1, (size_t)(t->ndim - 1) * sizeof t->dims[0]);
}

// Of the nodes from first_node on.
static weft_status layer_flops(const weft_graph *g, wf_id image, size_t first_node,
                               uint64_t *out_flops, weft_error *err)
{
    bool *depends;
    double flops = 0.0;
    WEFT_TRY(find_dependent(g, image, &depends, err));
    for (size_t n = first_node; n < g->n_nodes; n++) {
        if (depends[g->nodes[n].first_output])
            flops += node_flops(g, &g->nodes[n]);
    }
    wf_free(&g->context->allocator, depends);
    *out_flops = (uint64_t)flops;
    return WEFT_OK;
}

// What each layer of the model gives, and costs, for one sample: the model is built layer by layer.
static weft_status tell_list(const wf_layers *layers, weft_nn *nn, weft_val image,
                             const weft_inspect_events *events, weft_error *err)
{
    weft_graph *g = weft_nn_graph(nn);
    weft_val x = image;
    for (size_t i = 0; i < layers->n; i++) {
        const wf_layer *layer = &layers->v[i];
        const size_t first_node = g->n_nodes, first_parameter = weft_nn_n_parameters(nn);
        x = wf_layer_build(layer, nn, x);
        WEFT_TRY(weft_graph_status(g, err));
        const weft_type t = weft_val_type(g, x);
        weft_layer_info info = {.name = layer->name, .kind = layer->kind->name};
        set_dims(&info, &t);
        for (size_t k = first_parameter; k < weft_nn_n_parameters(nn); k++) {
            info.n_parameters += weft_val_count(g, weft_nn_parameter(nn, k).val);
        }
        WEFT_TRY(layer_flops(g, image.id, first_node, &info.flops, err));
        if (events->layer)
            events->layer(events->user, &info);
    }
    return WEFT_OK;
}

// ---- a family: its blocks are scopes
#define MAX_BLOCKS 256
#define NAME_BYTES 64

typedef struct block {
    weft_layer_info info;
    char name[NAME_BYTES]; // "layer1.0"
    double flops, most;    // of all, of the costliest node
} block;

// "layer1/0/conv1" belongs to "layer1.0", "layer1/0" to "layer1", "fc" to itself.
static void block_name(const char *scope, char out[NAME_BYTES])
{
    const char *first = strchr(scope, '/');
    const char *second = first ? strchr(first + 1, '/') : NULL;
    size_t len = second  ? (size_t)(second - scope)
                 : first ? (size_t)(first - scope)
                         : strlen(scope);
    len = len < NAME_BYTES - 1 ? len : NAME_BYTES - 1;
    for (size_t i = 0; i < len; i++) {
        out[i] = scope[i] == '/' ? '.' : scope[i];
    }
    out[len] = 0;
}

static void add_node(const weft_graph *g, const wf_node *node, block *b)
{
    const weft_type *t = wf_graph_type(g, node->first_output);
    const double flops = node_flops(g, node);
    if (t->ndim > 0)
        set_dims(&b->info, t);
    if (!b->info.kind || flops > b->most) {
        b->info.kind = node->op->name;
        b->most = flops;
    }
    b->flops += flops;
}

// Blocks in order of their first node; what stands in no scope belongs to the block before.
static size_t find_blocks(const weft_graph *g, const bool *depends, block *blocks)
{
    size_t n = 0, at = 0;
    for (size_t k = 0; k < g->n_nodes; k++) {
        const wf_node *node = &g->nodes[k];
        char name[NAME_BYTES];
        if (!depends[node->first_output] || node->n_inputs == 0)
            continue;
        block_name(node->scope, name);
        size_t i = name[0] || n == 0 ? 0 : at;
        while (i < n && name[0] && strcmp(blocks[i].name, name) != 0) {
            i++;
        }
        if (i == n && n == MAX_BLOCKS)
            continue;
        if (i == n)
            memcpy(blocks[n++].name, name, sizeof name);
        at = i;
        add_node(g, node, &blocks[i]);
    }
    return n;
}

static void count_parameters(const weft_nn *nn, block *blocks, size_t n)
{
    for (size_t k = 0; k < weft_nn_n_parameters(nn); k++) {
        const weft_parameter p = weft_nn_parameter(nn, k);
        size_t best = 0, longest = 0;
        for (size_t i = 0; i < n; i++) {
            const size_t len = strlen(blocks[i].name);
            if (len > longest && !strncmp(p.name, blocks[i].name, len) && p.name[len] == '.') {
                best = i;
                longest = len;
            }
        }
        blocks[best].info.n_parameters += weft_val_count(weft_nn_graph(nn), p.val);
    }
}

static weft_status tell_family(const weft_recipe *recipe, weft_nn *nn, weft_val image,
                               int64_t n_classes, const weft_inspect_events *events,
                               weft_error *err)
{
    weft_graph *g = weft_nn_graph(nn);
    const wf_allocator *a = &g->context->allocator;
    block *blocks = NULL;
    bool *depends;
    wf_recipe_build(recipe, nn, image, n_classes, NULL);
    WEFT_TRY(weft_graph_status(g, err));
    WEFT_TRY(find_dependent(g, image.id, &depends, err));
    const weft_status status = wf_alloc(a, MAX_BLOCKS, sizeof *blocks, &blocks, err);
    const size_t n = status == WEFT_OK ? find_blocks(g, depends, blocks) : 0;
    if (n)
        count_parameters(nn, blocks, n);
    for (size_t i = 0; i < n; i++) {
        blocks[i].info.name = blocks[i].name[0] ? blocks[i].name : recipe->v.model.family->name;
        blocks[i].info.flops = (uint64_t)blocks[i].flops;
        if (events->layer)
            events->layer(events->user, &blocks[i].info);
    }
    wf_free(a, blocks);
    wf_free(a, depends);
    return status;
}

static weft_status tell_layers(const wf_program_cache *programs, const weft_inspect_events *events,
                               weft_error *err)
{
    const wf_train_data *data = programs->data;
    const weft_recipe *recipe = programs->recipe;
    weft_graph *g;
    weft_nn *nn = NULL;
    WEFT_TRY(weft_graph_create(programs->state->device->context, &g, err));
    weft_status status = weft_nn_create(g, NULL, &nn, err);
    if (status == WEFT_OK) {
        const weft_val image = wf_train_input(g, &data->input, 1);
        status = recipe->v.model.family
                     ? tell_family(recipe, nn, image, wf_recipe_n_classes(recipe, data->n_classes),
                                   events, err)
                     : tell_list(&recipe->v.model.layers, nn, image, events, err);
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
    wf_program_needs needs = wf_program_needs_of(&t->recipe->v.train, batch, t->data.train_split.n,
                                                 t->data.validation_split.n, INT64_MAX);
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
    if (status == WEFT_OK && events->script && wf_sample_is_text(recipe))
        status = wf_sample_list(recipe, trainer.programs.state, events->script, events->user, err);
    wf_trainer_deinit(&trainer);
    return status;
}
