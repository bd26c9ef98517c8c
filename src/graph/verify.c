// The verifier: what every graph must hold after every stage. Gathers all broken rules in one
// message, so that a faulty pass shows the whole of its damage.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "graph/graph.h"
#include "graph/op_info.h"

static void check_node(const weft_graph *g, size_t idx, wf_text *faults)
{
    const wf_node *node = &g->nodes[idx];
    const char *name = wf_op_name(node->op);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (node->inputs[i] == 0 || node->inputs[i] >= node->first_output) {
            wf_text_printf(faults, "; node %zu %s: operand %u is %%%u, not an earlier value", idx,
                           name, i, node->inputs[i]);
            return;
        }
    }
    if (node->n_outputs != wf_op_n_outputs(node->op, node->attrs) ||
        node->first_output + node->n_outputs > g->n_values) {
        wf_text_printf(faults, "; node %zu %s: has %u outputs", idx, name, node->n_outputs);
        return;
    }
    if (node->n_inputs < wf_op_n_inputs(node->op) ||
        (node->n_inputs > wf_op_n_inputs(node->op) && !wf_op_is_variadic(node->op))) {
        wf_text_printf(faults, "; node %zu %s: has %u operands", idx, name, node->n_inputs);
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const wf_value *v = &g->values[node->first_output + i];
        if (v->node != idx || v->output != i) {
            wf_text_printf(faults, "; node %zu %s: value %%%u does not point back", idx, name,
                           node->first_output + i);
        }
    }
}

// Types of a node's outputs by infer again: a pass may not change a type behind an op's back.
static weft_status check_types(const weft_graph *g, size_t idx, wf_text *faults, weft_error *err)
{
    const wf_node *node = &g->nodes[idx];
    weft_type *in;
    WEFT_TRY(wf_alloc(&g->context->allocator, node->n_inputs, sizeof *in, &in, err));
    for (uint32_t i = 0; i < node->n_inputs; i++)
        in[i] = *wf_graph_type(g, node->inputs[i]);
    weft_type out[WF_OP_OUTPUT_LIMIT];
    memset(out, 0, sizeof out);
    weft_error infer_err = {0};
    if (wf_op_infer(node->op, in, node->n_inputs, node->attrs, out, &infer_err) != WEFT_OK) {
        wf_text_printf(faults, "; node %zu %s: %s", idx, wf_op_name(node->op), infer_err.message);
    } else {
        for (uint32_t i = 0; i < node->n_outputs; i++) {
            if (!wf_type_equal(&out[i], wf_graph_type(g, node->first_output + i))) {
                char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
                wf_text_printf(faults, "; node %zu %s: type is %s, infer says %s", idx,
                               wf_op_name(node->op),
                               wf_type_text(wf_graph_type(g, node->first_output + i), a),
                               wf_type_text(&out[i], b));
            }
        }
    }
    wf_free(&g->context->allocator, in);
    return WEFT_OK;
}

static weft_status check_region(const weft_graph *region, size_t idx, wf_text *faults,
                                weft_error *err)
{
    weft_error own = {0};
    const weft_status status = wf_graph_verify(region, &own);
    if (status == WEFT_ERR_INTERNAL) {
        wf_text_printf(faults, "; region of node %zu: %s", idx, own.message);
        return WEFT_OK;
    }
    if (err && status != WEFT_OK)
        *err = own;
    return status;
}

weft_status wf_graph_verify(const weft_graph *g, weft_error *err)
{
    WEFT_TRY(weft_graph_status(g, err));
    wf_text faults;
    wf_text_init(&faults, &g->context->allocator);
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < g->n_nodes && status == WEFT_OK; i++) {
        size_t before = faults.len;
        check_node(g, i, &faults);
        if (faults.len == before)
            status = check_types(g, i, &faults, err);
        const wf_attr *region = faults.len == before ? wf_node_region(&g->nodes[i]) : NULL;
        if (region && status == WEFT_OK)
            status = check_region(region->u.graph, i, &faults, err);
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        if (g->outputs[i].val == 0 || g->outputs[i].val >= g->n_values) {
            wf_text_printf(&faults, "; output %s: is no value", g->outputs[i].name);
        }
    }
    if (status == WEFT_OK && faults.len) {
        status = wf_error_set(err, WEFT_ERR_INTERNAL, "graph is broken%s", wf_text_str(&faults));
    }
    wf_text_deinit(&faults);
    return status;
}
