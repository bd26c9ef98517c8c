// A value held in bf16 or f16 is widened again for each reader after the first, so that only the narrow one
// lives from the forward pass to the backward pass. The planner starts a group with such a cast (group.c).
#include "pass/pass.h"

typedef struct {
    wf_rewrite rw;
    bool *is_read; // by value of src
} widener;

// Is the value a widened one, or a view of one?
static bool is_wide(const weft_graph *g, wf_id id)
{
    const wf_node *node = wf_graph_producer(g, id);
    if (wf_op_is_widening(g, node))
        return true;
    return (node->op->flags & WF_OP_VIEW) && node->n_inputs == 1 && is_wide(g, node->inputs[0]);
}

// Can the node be had again out of what lies in memory all the time?
static bool reads_source(const weft_graph *g, const wf_node *node)
{
    return node->n_inputs == 1 && (wf_graph_producer(g, node->inputs[0])->op->flags & WF_OP_SOURCE);
}

static void copy_again(widener *w, wf_id id)
{
    const weft_graph *g = w->rw.src;
    const wf_node *node = wf_graph_producer(g, id);
    const wf_id from = node->inputs[0];
    if (node->op->flags & WF_OP_VIEW)
        copy_again(w, from);
    else if (reads_source(g, wf_graph_producer(g, from)))
        wf_rewrite_copy(&w->rw,
                        wf_graph_value(g, from)->node); // a weight: not even the narrow one waits
    wf_rewrite_copy(&w->rw, wf_graph_value(g, id)->node);
}

static bool stands_before(const wf_node *node, uint32_t input)
{
    for (uint32_t i = 0; i < input; i++) {
        if (node->inputs[i] == node->inputs[input])
            return true;
    }
    return false;
}

static void visit(widener *w, uint32_t idx)
{
    const weft_graph *g = w->rw.src;
    const wf_node *node = &g->nodes[idx];
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (w->is_read[node->inputs[i]] && !stands_before(node, i) && is_wide(g, node->inputs[i]))
            copy_again(w, node->inputs[i]);
    }
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        w->is_read[node->inputs[i]] = true;
    }
    wf_rewrite_copy(&w->rw, idx);
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    const wf_allocator *a = &src->context->allocator;
    widener w = {.is_read = NULL};
    *out_dst = NULL;
    WEFT_TRY(wf_alloc(a, src->n_values, sizeof *w.is_read, &w.is_read, err));
    weft_status status = wf_rewrite_init(&w.rw, src, err);
    if (status == WEFT_OK) {
        for (size_t i = 0; i < src->n_nodes; i++) {
            visit(&w, (uint32_t)i);
        }
        status = wf_rewrite_finish(&w.rw, out_dst, err);
    }
    wf_free(a, w.is_read);
    return status;
}

const wf_pass wf_pass_widen = {"widen", "widens narrow values anew for each reader", run};
