// Reverse-mode gradient as a graph transform: one walk backwards from the loss, asking each op's
// rule for graph values. Stage: +GRADIENT. Only nodes between wrt and the loss are visited; what
// arrives at one value from several consumers is added in the consumers' node order, which is part
// of the arithmetic (doc/arithmetic.md).
#include <string.h>

#include "grad/grad_internal.h"

#define NO_ENTRY UINT32_MAX

typedef struct {
    weft_val val;
    uint32_t next; // of the same value: a later consumer
} contribution;

typedef struct {
    weft_graph *g;
    size_t n_values; // of the graph before the walk
    bool *depends;   // value depends on some wrt
    uint32_t *first; // value -> its first contribution
    contribution *entries;
    size_t n_entries, entries_capacity;
} walk;

static void mark_depends(walk *w, const weft_val *wrt, size_t n_wrt)
{
    const weft_graph *g = w->g;
    for (size_t i = 0; i < n_wrt; i++)
        w->depends[wrt[i].id] = true;
    for (size_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        bool any = false;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            any |= w->depends[node->inputs[i]];
        if (!any || (node->op->flags & WF_OP_ZERO_GRADIENT))
            continue;
        for (uint32_t i = 0; i < node->n_outputs; i++) {
            wf_id id = node->first_output + i;
            if (wf_dtype_is_float(wf_graph_type(g, id)->dtype))
                w->depends[id] = true;
        }
    }
}

// The walk goes from late to early nodes, so putting each contribution in front keeps the list in
// node order.
static void contribute(walk *w, wf_id to, weft_val val)
{
    if (val.id == 0)
        return;
    if (wf_array_reserve(&w->g->context->allocator, &w->entries, &w->entries_capacity,
                         w->n_entries + 1, sizeof *w->entries, NULL) != WEFT_OK) {
        wf_graph_fail(w->g, NULL, WEFT_ERR_MEMORY, "gradient: memory is not available");
        return;
    }
    w->entries[w->n_entries] = (contribution){val, w->first[to]};
    w->first[to] = (uint32_t)w->n_entries++;
}

// The sum of a value's contributions; none when there are none.
static weft_val gather_gradient(walk *w, wf_id id)
{
    weft_val sum = WEFT_NONE;
    for (uint32_t e = w->first[id]; e != NO_ENTRY; e = w->entries[e].next) {
        sum = sum.id ? weft_add(w->g, sum, w->entries[e].val) : w->entries[e].val;
    }
    return sum;
}

// The contribution list of a value becomes one entry, so that wrt values keep theirs.
static weft_val settle_gradient(walk *w, wf_id id)
{
    weft_val sum = gather_gradient(w, id);
    w->first[id] = NO_ENTRY;
    contribute(w, id, sum);
    return sum;
}

static void visit_node(walk *w, size_t idx)
{
    weft_graph *g = w->g;
    const wf_node node = g->nodes[idx]; // a copy: the array grows while rules add nodes
    weft_val dout[WF_OP_MAX_OUTPUTS] = {{0}}, out[WF_OP_MAX_OUTPUTS] = {{0}};
    bool any = false;
    for (uint32_t i = 0; i < node.n_outputs; i++) {
        out[i].id = node.first_output + i;
        if (!w->depends[out[i].id])
            continue;
        dout[i] = settle_gradient(w, out[i].id);
        any |= dout[i].id != 0;
    }
    if (!any)
        return;
    size_t bytes = node.n_inputs * (2 * sizeof(weft_val) + sizeof(weft_type) + sizeof(bool));
    weft_type *in_types = wf_arena_take(&g->arena, bytes);
    if (!in_types) {
        wf_graph_fail(g, node.op, WEFT_ERR_MEMORY, "gradient: memory is not available");
        return;
    }
    weft_val *in = (weft_val *)(in_types + node.n_inputs), *din = in + node.n_inputs;
    bool *need = (bool *)(din + node.n_inputs);
    weft_type out_types[WF_OP_MAX_OUTPUTS];
    bool any_need = false;
    for (uint32_t i = 0; i < node.n_inputs; i++) {
        in[i].id = node.inputs[i];
        in_types[i] = *wf_graph_type(g, node.inputs[i]);
        need[i] = w->depends[node.inputs[i]];
        any_need |= need[i];
    }
    for (uint32_t i = 0; i < node.n_outputs; i++)
        out_types[i] = *wf_graph_type(g, out[i].id);
    if (!any_need)
        return; // a wrt value's own producer
    // The gradient's nodes belong to the layer whose gradient they are.
    const char *scope = g->scopes[g->scope_depth];
    g->scopes[g->scope_depth] = node.scope;
    g->place = node.place;
    wf_attr *region = wf_node_region(&node);
    if (!node.op->grad && !region) {
        wf_graph_fail(g, node.op, WEFT_ERR_GRADIENT,
                      "has no gradient; put weft_stop_gradient before it or leave it out");
        return;
    }
    const wf_node_info info = {node.op,        node.n_inputs, in_types,
                               node.n_outputs, out_types,     node.attrs};
    const wf_grad_query q = {g, &info, in, out, dout, need, din};
    if (region)
        wf_grad_scan(&q);
    else
        node.op->grad(&q);
    for (uint32_t i = node.n_inputs; i-- > 0;) {
        if (need[i])
            contribute(w, node.inputs[i], din[i]);
    }
    g->scopes[g->scope_depth] = scope;
}

typedef struct {
    const weft_val *outs, *seeds;
    size_t n;
} seed_list;

static void run_walk(walk *w, const seed_list *from, const weft_val *wrt, size_t n_wrt,
                     weft_val *out_grads)
{
    weft_graph *g = w->g;
    size_t n_nodes = 0;
    mark_depends(w, wrt, n_wrt);
    for (size_t i = 0; i < w->n_values; i++)
        w->first[i] = NO_ENTRY;
    for (size_t i = from->n; i-- > 0;) {
        const wf_id id = from->outs[i].id;
        const size_t node = wf_graph_value(g, id)->node;
        if (w->depends[id])
            contribute(w, id, from->seeds[i]);
        n_nodes = node + 1 > n_nodes ? node + 1 : n_nodes;
    }
    for (size_t n = n_nodes; n-- > 0 && wf_graph_is_ok(g);)
        visit_node(w, n);
    for (size_t i = 0; i < n_wrt && wf_graph_is_ok(g); i++)
        out_grads[i] = gather_gradient(w, wrt[i].id);
}

static bool check_arguments(weft_graph *g, weft_val loss, const weft_val *wrt, size_t n_wrt)
{
    if (!wf_graph_is_ok(g) || loss.id == 0)
        return false;
    const weft_type *t = wf_graph_type(g, loss.id);
    char text[WF_TYPE_TEXT];
    if (t->ndim != 0) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE, "gradient: loss is %s, expected a scalar f32[]",
                      wf_type_text(t, text));
        return false;
    }
    if (t->dtype != WEFT_F32) {
        wf_graph_fail(g, NULL, WEFT_ERR_DTYPE, "gradient: loss is %s, expected f32[]",
                      wf_type_text(t, text));
        return false;
    }
    for (size_t i = 0; i < n_wrt; i++) {
        if (wrt[i].id == 0)
            return false;
        if (wrt[i].id >= g->n_values) {
            wf_graph_fail(g, NULL, WEFT_ERR_USAGE, "gradient: wrt %zu is a value of another graph",
                          i);
            return false;
        }
        const weft_type *w = wf_graph_type(g, wrt[i].id);
        if (!wf_dtype_is_float(w->dtype)) {
            wf_graph_fail(g, NULL, WEFT_ERR_DTYPE, "gradient: wrt %zu is %s, expected floats", i,
                          wf_type_text(w, text));
            return false;
        }
    }
    return true;
}

void wf_grad_seeded(weft_graph *g, const weft_val *outs, const weft_val *seeds, size_t n,
                    const weft_val *wrt, size_t n_wrt, weft_val *out_grads)
{
    walk w = {.g = g, .n_values = g->n_values};
    const seed_list from = {outs, seeds, n};
    const wf_allocator *a = &g->context->allocator;
    for (size_t i = 0; i < n_wrt; i++)
        out_grads[i] = WEFT_NONE;
    if (!wf_graph_is_ok(g))
        return;
    if (wf_alloc(a, w.n_values, sizeof *w.depends, &w.depends, NULL) == WEFT_OK &&
        wf_alloc(a, w.n_values, sizeof *w.first, &w.first, NULL) == WEFT_OK) {
        wf_place place = g->place;
        run_walk(&w, &from, wrt, n_wrt, out_grads);
        g->place = place;
    } else {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "gradient: memory is not available");
    }
    wf_free(a, w.depends);
    wf_free(a, w.first);
    wf_free(a, w.entries);
}

void weft_grad(weft_graph *g, weft_val loss, const weft_val *wrt, size_t n_wrt, weft_val *out_grads)
{
    for (size_t i = 0; i < n_wrt; i++)
        out_grads[i] = WEFT_NONE;
    if (!check_arguments(g, loss, wrt, n_wrt))
        return;
    const weft_val one = weft_scalar(g, WEFT_F32, 1.0);
    wf_grad_seeded(g, &loss, &one, 1, wrt, n_wrt, out_grads);
    for (size_t i = 0; i < n_wrt && wf_graph_is_ok(g); i++) {
        if (out_grads[i].id == 0) {
            const weft_type t = *wf_graph_type(g, wrt[i].id);
            out_grads[i] = weft_fill(g, t.dtype, t.dims, t.ndim, 0.0);
        }
    }
}
