// Marks the step bad where an index lies outside [0, size); y = all are inside.
//   idx i32 i64 of any shape -> y bool []. Unlike gather's, negative indices are outside.
#include "op/build.h"
#include "op/tensor.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPE_BIT(WEFT_I32) | WF_DTYPE_BIT(WEFT_I64), err));
    if (info->attrs[0].u.i < 0)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "size is %lld, expected 0 or more",
                  (long long)info->attrs[0].u.i);
    *out = wf_type_make(WEFT_BOOL, 0, NULL);
    return WEFT_OK;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const int64_t size = q->info->attrs[0].u.i, count = wf_type_count(&q->in[0].type);
    int64_t i = 0;
    while (i < count) {
        const int64_t idx = wf_tensor_get_int(&q->in[0], i);
        if (idx < 0 || idx >= size)
            break;
        i++;
    }
    if (i < count) {
        q->is_bad = true;
        q->bad_elem = i;
    }
    wf_tensor_set_int(&q->out[0], 0, i == count);
    return WEFT_OK;
}

static const wf_attr_spec attrs[] = {{"size", WF_ATTR_INT}};

const wf_op wf_op_index_guard = {
    .name = "index_guard",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_EFFECT | WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_GUARD,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .eval = eval,
    .cost = wf_cost_move,
};

weft_val weft_index_guard(weft_graph *g, weft_val idx, int64_t size)
{
    const wf_attr list[] = {wf_attr_int(size)};
    return wf_graph_add(g, &wf_op_index_guard, &idx, 1, list);
}
