// Marks the step bad where an index lies outside [0, size); y = all are inside.
//   idx i32 i64 of any shape -> y bool []. Unlike gather's, negative indices are outside.
#include "op/build.h"
#include "op/check_case.h"
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

static wf_index_range index_range(const wf_node_info *info)
{
    return (wf_index_range){0, 0, info->attrs[0].u.i - 1};
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_index_guard(g, in[0], p[0]);
}

static void cases(wf_check_list *list)
{
    static const struct {
        const char *name;
        weft_dtype dtype;
        int64_t n, size;
        wf_check_fill fill;
    } table[] = {
        {"none", WEFT_I32, 0, 0, WF_CHECK_NORMAL},
        {"one", WEFT_I32, 1, 1, WF_CHECK_INDEX},
        {"32", WEFT_I32, 32, 7, WF_CHECK_INDEX},
        {"33", WEFT_I32, 33, 7, WF_CHECK_INDEX},
        {"5001", WEFT_I64, 5001, 5000, WF_CHECK_INDEX},
        {"bad", WEFT_I32, 33, 1, WF_CHECK_NORMAL},
        {"bad i64", WEFT_I64, 31, 1, WF_CHECK_NORMAL},
        {"extremes", WEFT_I64, 31, 9, WF_CHECK_SPECIAL},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        wf_check_add(list, (wf_check_case){.name = table[i].name,
                                           .build = build_case,
                                           .params = {table[i].size},
                                           .n_inputs = 1,
                                           .inputs = {{wf_type_make(table[i].dtype, 1, &table[i].n),
                                                       table[i].fill, table[i].size}},
                                           .no_gradient = true});
    }
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
    .index_range = index_range,
    .eval = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

weft_val weft_index_guard(weft_graph *g, weft_val idx, int64_t size)
{
    const wf_attr list[] = {wf_attr_int(size)};
    return wf_graph_add(g, &wf_op_index_guard, &idx, 1, list);
}
