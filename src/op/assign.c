// The variable takes the value when the step ends, unless the step's status is bad; y = the value.
#include "op/build.h"
#include "op/tensor.h"

extern const wf_op wf_op_assign;
extern const wf_op wf_op_variable;

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (!wf_type_equal(&info->in[0], &info->in[1])) {
        WEFT_FAIL(err, info->in[0].dtype == info->in[1].dtype ? WEFT_ERR_SHAPE : WEFT_ERR_DTYPE,
                  "types differ, variable is %s, value is %s", wf_type_text(&info->in[0], a),
                  wf_type_text(&info->in[1], b));
    }
    *out = info->in[1];
    return WEFT_OK;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_walk dst = wf_walk_dense(&q->out[0]), src = wf_walk_dense(&q->in[1]);
    wf_tensor_move(&dst, &src, q->out[0].type.ndim, q->out[0].type.dims);
    return WEFT_OK;
}

const wf_op wf_op_assign = {
    .name = "assign",
    .n_inputs = 2,
    .n_outputs = 1,
    .flags = WF_OP_EFFECT | WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_NONE, // the planner writes the value into the variable's storage
    .infer = infer,
    .eval = eval,
    .cost = wf_cost_none,
};

weft_val weft_assign(weft_graph *g, weft_val var, weft_val value)
{
    const weft_val in[] = {var, value};
    if (!wf_build_ready(g, &wf_op_assign, in, 2)) {
        return WEFT_NONE;
    }
    const wf_node *producer = wf_graph_producer(g, var.id);
    if (producer->op != &wf_op_variable) {
        wf_graph_fail(g, &wf_op_assign, WEFT_ERR_USAGE,
                      "first operand is made by %s, expected variable", producer->op->name);
        return WEFT_NONE;
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].op == &wf_op_assign && g->nodes[i].inputs[0] == var.id) {
            wf_graph_fail(g, &wf_op_assign, WEFT_ERR_USAGE, "variable %s is assigned twice",
                          producer->attrs[0].u.text);
            return WEFT_NONE;
        }
    }
    return wf_graph_add(g, &wf_op_assign, in, 2, NULL);
}
