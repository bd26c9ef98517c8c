// Copying a graph node by node into a new one: how passes change graphs.
#include <string.h>

#include "graph/graph.h"

weft_status wf_rewrite_init(wf_rewrite *rw, const weft_graph *src, weft_error *err)
{
    *rw = (wf_rewrite){src, NULL, NULL};
    WEFT_TRY(weft_graph_create(src->context, &rw->dst, err));
    rw->dst->is_region = src->is_region;
    weft_status status =
        wf_alloc(&src->context->allocator, src->n_values, sizeof *rw->map, &rw->map, err);
    if (status != WEFT_OK) {
        weft_graph_destroy(rw->dst);
        rw->dst = NULL;
    }
    return status;
}

void wf_rewrite_set_place(wf_rewrite *rw, uint32_t node_idx)
{
    const wf_node *node = &rw->src->nodes[node_idx];
    weft_graph *g = rw->dst;
    g->place = node->place;
    // One copy of each scope in a row: nodes of a scope follow each other.
    if (!g->scopes[0] || strcmp(g->scopes[0], node->scope) != 0) {
        const char *scope = wf_arena_strdup(&g->arena, node->scope);
        g->scopes[0] = scope ? scope : "";
    }
}

void wf_rewrite_copy(wf_rewrite *rw, uint32_t node_idx)
{
    const wf_node *node = &rw->src->nodes[node_idx];
    wf_rewrite_set_place(rw, node_idx);
    weft_val *inputs;
    const wf_allocator *a = &rw->src->context->allocator;
    if (wf_alloc(a, node->n_inputs, sizeof *inputs, &inputs, NULL) != WEFT_OK) {
        wf_graph_fail(rw->dst, node->op, WEFT_ERR_MEMORY, "memory for a node is not available");
        return;
    }
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        inputs[i] = wf_rewrite_get(rw, node->inputs[i]);
    }
    weft_val first = wf_graph_add(rw->dst, node->op, inputs, node->n_inputs, node->attrs);
    wf_free(a, inputs);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        rw->map[node->first_output + i] = wf_val_output(first, i).id;
    }
}

weft_status wf_rewrite_finish(wf_rewrite *rw, weft_graph **out_graph, weft_error *err)
{
    *out_graph = NULL;
    weft_graph *g = rw->dst;
    for (size_t i = 0; i < rw->src->n_outputs; i++) {
        weft_output(g, rw->src->outputs[i].name, wf_rewrite_get(rw, rw->src->outputs[i].val));
    }
    wf_free(&rw->src->context->allocator, rw->map);
    rw->map = NULL;
    g->scopes[0] = "";
    weft_status status = weft_graph_status(g, err);
    if (status != WEFT_OK) {
        weft_graph_destroy(g);
        return status;
    }
    *out_graph = g;
    return WEFT_OK;
}

weft_status wf_graph_clone(const weft_graph *src, weft_graph **out_graph, weft_error *err)
{
    wf_rewrite rw;
    *out_graph = NULL;
    WEFT_TRY(wf_rewrite_init(&rw, src, err));
    for (size_t i = 0; i < src->n_nodes; i++)
        wf_rewrite_copy(&rw, (uint32_t)i);
    return wf_rewrite_finish(&rw, out_graph, err);
}
