// y = dynamic_slice(x, start; axis, size): size elements of an axis, the first being start, which is
// known when the program runs.
//   x any dtype, start one i32 or i64 in [0, axis size - size]. One out of range makes the step bad and
//   reads zeros: it is not moved into the range.
#include <string.h>

#include "op/build.h"
#include "op/index_common.h"
#include "op/tensor.h"

enum { ATTR_AXIS, ATTR_SIZE };
static const wf_attr_spec attrs[] = {{"axis", WF_ATTR_INT}, {"size", WF_ATTR_INT}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0];
    const int64_t axis = info->attrs[ATTR_AXIS].u.i, size = info->attrs[ATTR_SIZE].u.i;
    char text[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_start(info, err));
    if (size < 0 || size > x->dims[axis]) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "size is %lld, x is %s, expected 0 to %lld", (long long)size,
                  wf_type_text(x, text), (long long)x->dims[axis]);
    }
    *out = *x;
    out->dims[axis] = size;
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    if (q->need[0] && q->info->in[0].dtype == WEFT_F32) {
        q->din[0] = weft_dynamic_update(q->g, wf_build_fill_like(q->g, q->in[0], 0.0), q->in[1],
                                        q->dout[0], (int32_t)q->info->attrs[ATTR_AXIS].u.i);
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const int64_t axis = q->info->attrs[ATTR_AXIS].u.i, start = wf_start_get(q);
    const wf_walk dst = wf_walk_dense(&q->out[0]);
    wf_walk src = wf_walk_dense(&q->in[0]);
    if (start < 0) {
        wf_tensor_fill(&q->out[0], 0.0);
        return WEFT_OK;
    }
    src.offset = start * src.strides[axis];
    wf_tensor_move(&dst, &src, q->out[0].type.ndim, q->out[0].type.dims);
    return WEFT_OK;
}

// p: axis, size
static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_dynamic_slice(g, in[0], in[1], (int32_t)p[0], p[1]);
}

static void cases(wf_check_list *list)
{
    for (size_t i = 0; i < WF_START_N_CASES; i++) {
        wf_check_case one = wf_start_case(i);
        one.build = build_case;
        one.n_inputs = 2; // no part
        wf_check_add(list, one);
        if (i == WF_START_CASE_MIDDLE) {
            one.name = "out of range";
            one.inputs[1].fill = WF_CHECK_SPECIAL;
            wf_check_add(list, one);
        }
    }
}

const wf_op wf_op_dynamic_slice = {
    .name = "dynamic_slice",
    .n_inputs = 2,
    .n_outputs = 1,
    .task = WF_TASK_INDEX,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .index_range = wf_index_range_start,
    .grad = grad,
    .eval = eval,
    .cost = wf_cost_index,
    .cases = cases,
};

weft_val weft_dynamic_slice(weft_graph *g, weft_val x, weft_val start, int32_t axis, int64_t size)
{
    const weft_val in[] = {x, start};
    int32_t at;
    if (!wf_build_ready(g, &wf_op_dynamic_slice, in, 2) ||
        !wf_build_axis(g, &wf_op_dynamic_slice, wf_graph_type(g, x.id), axis, &at))
        return WEFT_NONE;
    const wf_attr list[] = {wf_attr_int(at), wf_attr_int(size)};
    return wf_graph_add(g, &wf_op_dynamic_slice, in, 2, list);
}
