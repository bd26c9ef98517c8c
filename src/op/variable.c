// y = a value that lives from run to run in a weft_state, under a name.
//
// `init` is the id of the value that it has first, in the same graph (0: none). It is an attribute, not
// an input: a step does not compute it.
#include "op/source.h"

enum { ATTR_NAME, ATTR_INIT, ATTR_DTYPE, ATTR_DIMS };
static const wf_attr_spec attrs[] = {{"name", WF_ATTR_TEXT},
                                     {"init", WF_ATTR_INT},
                                     {"dtype", WF_ATTR_DTYPE},
                                     {"dims", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    if (!info->attrs[ATTR_NAME].u.text) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "name is not given");
    }
    return wf_infer_source(&info->attrs[ATTR_DTYPE], &info->attrs[ATTR_DIMS], out, err);
}

const wf_op wf_op_variable = {
    .name = "variable",
    .n_outputs = 1,
    .flags = WF_OP_SOURCE,
    .task = WF_TASK_NONE,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .cost = wf_cost_none,
};

// The op of the first input or variable that val depends on; NULL: it stands alone.
static weft_status find_outside(const weft_graph *g, weft_val val, const wf_node **out,
                                weft_error *err)
{
    const uint32_t last = g->values[val.id].node;
    bool *is_needed;
    *out = NULL;
    WEFT_TRY(wf_alloc(&g->context->allocator, last + 1, sizeof *is_needed, &is_needed, err));
    is_needed[last] = true;
    // Creation order is topological: users come before what they use.
    for (uint32_t i = last + 1; i-- > 0;) {
        const wf_node *node = &g->nodes[i];
        if (!is_needed[i]) {
            continue;
        }
        if (node->op == &wf_op_variable || ((node->op->flags & WF_OP_SOURCE) && node->attrs &&
                                            node->op->attrs[0].kind == WF_ATTR_TEXT)) {
            *out = node;
        }
        for (uint32_t k = 0; k < node->n_inputs; k++) {
            is_needed[g->values[node->inputs[k]].node] = true;
        }
    }
    wf_free(&g->context->allocator, is_needed);
    return WEFT_OK;
}

weft_val weft_variable(weft_graph *g, const char *name, weft_val init)
{
    const wf_node *outside;
    if (!wf_build_ready(g, &wf_op_variable, &init, 1) || !wf_build_name(g, &wf_op_variable, name)) {
        return WEFT_NONE;
    }
    if (find_outside(g, init, &outside, NULL) != WEFT_OK) {
        wf_graph_fail(g, &wf_op_variable, WEFT_ERR_MEMORY, "memory for %zu nodes is not available",
                      g->n_nodes);
        return WEFT_NONE;
    }
    if (outside) {
        wf_graph_fail(
            g, &wf_op_variable, WEFT_ERR_ATTR,
            "first value of %s depends on %s %s, expected constants, iota and random only", name,
            outside->op->name, outside->attrs[0].u.text);
        return WEFT_NONE;
    }
    const weft_type t = *wf_graph_type(g, init.id);
    const wf_attr list[] = {wf_attr_text(name), wf_attr_int(init.id), wf_attr_int(t.dtype),
                            wf_attr_ints(t.dims, (size_t)t.ndim)};
    return wf_graph_add(g, &wf_op_variable, NULL, 0, list);
}
