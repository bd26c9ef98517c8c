// The variable takes the value when the step ends, unless the step's status is bad; y = the value.
#include "op/build.h"
#include "op/check_case.h"
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

// v = v + x, with v = 1 before.
static weft_val build_update(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    const weft_type t = weft_val_type(g, in[0]);
    const weft_val v = weft_variable(g, "v", weft_fill(g, t.dtype, t.dims, t.ndim, 1.0));
    return weft_assign(g, v, t.dtype == WEFT_F32 ? weft_add(g, v, in[0]) : in[0]);
}

// Two variables that trade places, one of them after a change.
static weft_val build_swap(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    const weft_type t = weft_val_type(g, in[0]);
    const weft_val a = weft_variable(g, "a", weft_fill(g, t.dtype, t.dims, t.ndim, 1.0));
    const weft_val b = weft_variable(g, "b", weft_fill(g, t.dtype, t.dims, t.ndim, 2.0));
    weft_assign(g, a, b);
    return weft_assign(g, b, weft_mul(g, a, in[0]));
}

// A bad step changes no variable.
static weft_val build_guarded(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_guard(g, in[0]);
    return build_update(g, in, p);
}

static void cases(wf_check_list *list)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 5003};
    static const weft_dtype dtypes[] = {WEFT_I64, WEFT_U8, WEFT_BOOL, WEFT_BF16};
    const int64_t table[] = {7, 9};
    for (size_t i = 0; i < WF_COUNT_OF(sizes); i++) {
        const wf_check_input x = {.type = wf_type_make(WEFT_F32, 1, &sizes[i])};
        wf_check_add(list, (wf_check_case){.name = wf_check_name(list, "add %d", (int)sizes[i]),
                                           .build = build_update,
                                           .n_inputs = 1,
                                           .inputs = {x},
                                           .no_gradient = true,
                                           .bound = 1.0});
    }
    for (size_t i = 0; i < WF_COUNT_OF(dtypes); i++) {
        const wf_check_input x = {.type = wf_type_make(dtypes[i], 2, table)};
        wf_check_add(list, (wf_check_case){.name = weft_dtype_name(dtypes[i]),
                                           .build = build_update,
                                           .n_inputs = 1,
                                           .inputs = {x},
                                           .no_gradient = true,
                                           .bound = 1.0});
    }
    wf_check_case one = {.name = "swap",
                         .build = build_swap,
                         .n_inputs = 1,
                         .inputs = {WF_CHECK_INPUT(WEFT_F32, 7, 9)},
                         .no_gradient = true,
                         .bound = 1.0};
    wf_check_add(list, one);
    one.name = "guarded, bad";
    one.build = build_guarded;
    one.inputs[0].fill = WF_CHECK_SPECIAL;
    wf_check_add(list, one);
    one.name = "guarded, good";
    one.inputs[0].fill = WF_CHECK_WIDE;
    wf_check_add(list, one);
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
    .cases = cases,
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
