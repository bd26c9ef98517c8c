// y = the operands one behind the other along an axis.
#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

enum { ATTR_AXIS };
static const wf_attr_spec attrs[] = {{"axis", WF_ATTR_INT}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const int64_t axis = info->attrs[ATTR_AXIS].u.i;
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    *out = info->in[0];
    if (axis < 0 || axis >= out->ndim) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is out of range, operand 0 is %s",
                  (long long)axis, wf_dims_text(out->dims, out->ndim, a));
    }
    for (size_t i = 1; i < info->n_inputs; i++) {
        weft_type like = info->in[i];
        if (like.ndim == out->ndim) {
            like.dims[axis] = info->in[0].dims[axis];
        }
        if (!wf_type_equal(&like, &info->in[0])) {
            WEFT_FAIL(err, like.dtype == out->dtype ? WEFT_ERR_SHAPE : WEFT_ERR_DTYPE,
                      "operands differ, operand 0 is %s, operand %zu is %s",
                      wf_type_text(&info->in[0], a), i, wf_type_text(&info->in[i], b));
        }
        out->dims[axis] += info->in[i].dims[axis];
    }
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const int64_t axis = q->info->attrs[ATTR_AXIS].u.i;
    int64_t start[WEFT_MAX_DIM] = {0};
    for (size_t i = 0; i < q->info->n_inputs; i++) {
        int64_t stop[WEFT_MAX_DIM];
        const weft_type *x = &q->info->in[i];
        for (int32_t k = 0; k < x->ndim; k++) {
            stop[k] = start[k] + x->dims[k];
        }
        if (q->need[i]) {
            q->din[i] = weft_slice(q->g, q->dout[0], start, stop, NULL);
        }
        start[axis] = stop[axis];
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const int64_t axis = q->info->attrs[ATTR_AXIS].u.i;
    wf_walk dst = wf_walk_dense(&q->out[0]);
    for (size_t i = 0; i < q->info->n_inputs; i++) {
        const wf_walk src = wf_walk_dense(&q->in[i]);
        wf_tensor_move(&dst, &src, q->in[i].type.ndim, q->in[i].type.dims);
        dst.offset += q->in[i].type.dims[axis] * dst.strides[axis];
    }
    return WEFT_OK;
}

static void place(const wf_node_info *info, size_t input, int64_t out_start[WEFT_MAX_DIM])
{
    const int64_t axis = info->attrs[ATTR_AXIS].u.i;
    for (int32_t i = 0; i < info->out[0].ndim; i++) {
        out_start[i] = 0;
    }
    for (size_t i = 0; i < input; i++) {
        out_start[axis] += info->in[i].dims[axis];
    }
}

// p: axis; 1: the second operand is a transposed view.
static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_val xs[] = {in[0], p[1] ? weft_transpose(g, in[1]) : in[1], in[2]};
    return weft_concat(g, xs, 3, (int32_t)p[0]);
}

static void cases(wf_check_list *list)
{
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_U8, WEFT_F16, WEFT_I64};
    for (size_t d = 0; d < WF_COUNT_OF(dtypes); d++) {
        const weft_dtype t = dtypes[d];
        wf_check_add(list,
                     (wf_check_case){.name = wf_check_name(list, "%s rows", weft_dtype_name(t)),
                                     .build = build_case,
                                     .params = {0, 0},
                                     .n_inputs = 3,
                                     .inputs = {WF_CHECK_INPUT(t, 2, 33), WF_CHECK_INPUT(t, 1, 33),
                                                WF_CHECK_INPUT(t, 4, 33)},
                                     .no_gradient = t != WEFT_F32,
                                     .bound = 1.0});
        wf_check_add(
            list,
            (wf_check_case){.name = wf_check_name(list, "%s columns, turned", weft_dtype_name(t)),
                            .build = build_case,
                            .params = {-1, 1},
                            .n_inputs = 3,
                            .inputs = {WF_CHECK_INPUT(t, 5, 31), WF_CHECK_INPUT(t, 3, 5),
                                       WF_CHECK_INPUT(t, 5, 0)},
                            .no_gradient = t != WEFT_F32,
                            .bound = 1.0});
    }
    wf_check_add(list, (wf_check_case){.name = "one and 31",
                                       .build = build_case,
                                       .params = {0, 0},
                                       .n_inputs = 3,
                                       .inputs = {WF_CHECK_INPUT(WEFT_F32, 1, 1),
                                                  WF_CHECK_INPUT(WEFT_F32, 31, 1),
                                                  WF_CHECK_INPUT(WEFT_F32, 0, 1)},
                                       .bound = 1.0});
}

const wf_op wf_op_concat = {
    .name = "concat",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_VARIADIC,
    .task = WF_TASK_MAP,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .place = place,
    .eval = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

weft_val weft_concat(weft_graph *g, const weft_val *xs, size_t n, int32_t axis)
{
    int32_t full;
    if (wf_graph_is_ok(g) && (!xs || n == 0)) {
        wf_graph_fail(g, &wf_op_concat, WEFT_ERR_USAGE, "no operands, expected 1 or more");
        return WEFT_NONE;
    }
    if (!wf_build_ready(g, &wf_op_concat, xs, n) ||
        !wf_build_axis(g, &wf_op_concat, wf_graph_type(g, xs[0].id), axis, &full)) {
        return WEFT_NONE;
    }
    const wf_attr list[] = {wf_attr_int(full)};
    return wf_graph_add(g, &wf_op_concat, xs, n, list);
}
