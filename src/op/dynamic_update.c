// y = dynamic_update(x, start, part; axis): x with part in place of the elements of an axis that begin
// at start, which is known when the program runs.
//   x, part one dtype, any; start one i32 or i64 in [0, axis size - part's]. One out of range makes the
//   step bad and changes nothing: it is not moved into the range.
#include "op/build.h"
#include "op/index_common.h"
#include "op/tensor.h"

enum { ATTR_AXIS };
static const wf_attr_spec attrs[] = {{"axis", WF_ATTR_INT}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0], *part = &info->in[2];
    const int64_t axis = info->attrs[ATTR_AXIS].u.i;
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_start(info, err));
    weft_type like = *part;
    const bool fits = part->ndim == x->ndim && part->dims[axis] <= x->dims[axis];
    if (fits)
        like.dims[axis] = x->dims[axis];
    if (!fits || !wf_type_equal(&like, x)) {
        WEFT_FAIL(err, part->dtype == x->dtype ? WEFT_ERR_SHAPE : WEFT_ERR_DTYPE,
                  "part is %s, expected x, %s, with axis %lld of at most that size",
                  wf_type_text(part, a), wf_type_text(x, b), (long long)axis);
    }
    *out = *x;
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const int32_t axis = (int32_t)q->info->attrs[ATTR_AXIS].u.i;
    const weft_type *part = &q->info->in[2];
    if (part->dtype != WEFT_F32)
        return;
    if (q->need[0]) {
        const weft_val zeros = wf_build_fill_like(q->g, q->in[2], 0.0);
        q->din[0] = weft_dynamic_update(q->g, q->dout[0], q->in[1], zeros, axis);
    }
    if (q->need[2])
        q->din[2] = weft_dynamic_slice(q->g, q->dout[0], q->in[1], axis, part->dims[axis]);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_tensor *x = &q->in[0], *part = &q->in[2];
    const int64_t start = wf_start_get(q);
    wf_walk dst = wf_walk_dense(&q->out[0]), src = wf_walk_dense(x);
    wf_tensor_move(&dst, &src, x->type.ndim, x->type.dims);
    if (start < 0)
        return WEFT_OK;
    dst.offset = start * dst.strides[q->info->attrs[ATTR_AXIS].u.i];
    src = wf_walk_dense(part);
    wf_tensor_move(&dst, &src, part->type.ndim, part->type.dims);
    return WEFT_OK;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_dynamic_update(g, in[0], in[1], in[2], (int32_t)p[0]);
}

// A cache that is kept: variable, update, a reader, assignment. The first value is 1 everywhere.
static weft_val build_cache(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_type t = weft_val_type(g, in[0]);
    const weft_val first = weft_fill(g, t.dtype, t.dims, t.ndim, 1.0);
    const weft_val cache = weft_variable(g, "cache", first);
    const weft_val next = weft_dynamic_update(g, cache, in[1], in[2], (int32_t)p[0]);
    weft_output(g, "read", weft_mul(g, next, in[0]));
    weft_assign(g, cache, next);
    return next;
}

// Twice into a value that nobody else reads: both may write in its place; the value between is read too.
static weft_val build_chain(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const int32_t axis = (int32_t)p[0];
    const weft_val once = weft_dynamic_update(g, weft_add(g, in[0], in[0]), in[1], in[2], axis);
    const weft_val twice = weft_dynamic_update(g, once, in[1], weft_neg(g, in[2]), axis);
    const weft_val last = weft_dynamic_update(g, twice, in[1], weft_abs(g, in[2]), axis);
    return weft_add(g, twice, last);
}

static void cases(wf_check_list *list)
{
    for (size_t i = 0; i < WF_START_N_CASES; i++) {
        wf_check_case one = wf_start_case(i);
        one.build = build_case;
        wf_check_add(list, one);
        if (i != WF_START_CASE_MIDDLE)
            continue;
        one.name = "out of range";
        one.inputs[1].fill = WF_CHECK_SPECIAL;
        wf_check_add(list, one);
        one.name = "chain, out of range";
        one.build = build_chain;
        wf_check_add(list, one);
        one.name = "chain";
        one.inputs[1].fill = WF_CHECK_INDEX;
        wf_check_add(list, one);
        one.inputs[1].fill = WF_CHECK_SPECIAL;
        one.name = "cache, out of range";
        one.build = build_cache;
        one.no_gradient = true;
        wf_check_add(list, one);
        one.name = "cache";
        one.inputs[1].fill = WF_CHECK_INDEX;
        wf_check_add(list, one);
    }
}

const wf_op wf_op_dynamic_update = {
    .name = "dynamic_update",
    .n_inputs = 3,
    .n_outputs = 1,
    .flags = WF_OP_IN_PLACE,
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

weft_val weft_dynamic_update(weft_graph *g, weft_val x, weft_val start, weft_val part, int32_t axis)
{
    const weft_val in[] = {x, start, part};
    int32_t at;
    if (!wf_build_ready(g, &wf_op_dynamic_update, in, 3) ||
        !wf_build_axis(g, &wf_op_dynamic_update, wf_graph_type(g, x.id), axis, &at))
        return WEFT_NONE;
    const wf_attr list[] = {wf_attr_int(at)};
    return wf_graph_add(g, &wf_op_dynamic_update, in, 3, list);
}
