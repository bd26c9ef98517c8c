// y = dynamic_update(x, start, part; axis): x with part in place of the elements of an axis that begin
// at start, which is known when the program runs.
//   x, part one dtype, any; start one i32 or i64 in [0, axis size - part's]. One out of range makes the
//   step bad and changes nothing: it is not moved into the range.
#include "op/build.h"
#include "op/check_case.h"
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
    static const struct {
        const char *name;
        int32_t axis;
        weft_dtype dtype, start;
        int64_t dims[3], size;
        wf_check_fill fill;
    } table[] = {
        {"one", 0, WEFT_F32, WEFT_I32, {1, 1, 1}, 1, WF_CHECK_NORMAL},
        {"nothing", 1, WEFT_F32, WEFT_I32, {3, 5, 2}, 0, WF_CHECK_NORMAL},
        {"rows", 0, WEFT_F32, WEFT_I64, {33, 3, 31}, 7, WF_CHECK_NORMAL},
        {"middle axis", 1, WEFT_F32, WEFT_I32, {3, 32, 5}, 9, WF_CHECK_NORMAL},
        {"last axis", 2, WEFT_F32, WEFT_I32, {2, 3, 70}, 33, WF_CHECK_SPECIAL},
        {"whole axis", 1, WEFT_F32, WEFT_I32, {2, 8, 3}, 8, WF_CHECK_NORMAL},
        {"u8", 1, WEFT_U8, WEFT_I32, {2, 9, 3}, 5, WF_CHECK_NORMAL},
        {"bf16", 2, WEFT_BF16, WEFT_I32, {2, 3, 9}, 4, WF_CHECK_NORMAL},
        {"i64", 0, WEFT_I64, WEFT_I64, {9, 1, 2}, 5, WF_CHECK_NORMAL},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        int64_t part[3] = {table[i].dims[0], table[i].dims[1], table[i].dims[2]};
        const int64_t room = part[table[i].axis] - table[i].size + 1;
        part[table[i].axis] = table[i].size;
        wf_check_case one = {
            .name = table[i].name,
            .build = build_case,
            .params = {table[i].axis},
            .n_inputs = 3,
            .inputs = {{wf_type_make(table[i].dtype, 3, table[i].dims), table[i].fill, 0},
                       {wf_type_make(table[i].start, 0, NULL), WF_CHECK_INDEX, room},
                       {wf_type_make(table[i].dtype, 3, part), table[i].fill, 0}},
            .no_gradient = table[i].dtype != WEFT_F32};
        wf_check_add(list, one);
        if (i != 3)
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
