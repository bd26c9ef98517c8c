// y = x at start, start + step, .. below stop, for each axis.
#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

enum { ATTR_START, ATTR_STOP, ATTR_STEP };
static const wf_attr_spec attrs[] = {
    {"start", WF_ATTR_INTS}, {"stop", WF_ATTR_INTS}, {"step", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0];
    char text[WF_TYPE_TEXT];
    for (int i = 0; i <= ATTR_STEP; i++) {
        if (info->attrs[i].n != (size_t)x->ndim) {
            WEFT_FAIL(err, WEFT_ERR_ATTR, "%s has %zu entries, x is %s", attrs[i].name,
                      info->attrs[i].n, wf_dims_text(x->dims, x->ndim, text));
        }
    }
    *out = *x;
    for (int32_t i = 0; i < x->ndim; i++) {
        const int64_t start = info->attrs[ATTR_START].u.ints[i];
        const int64_t stop = info->attrs[ATTR_STOP].u.ints[i];
        const int64_t step = info->attrs[ATTR_STEP].u.ints[i];
        if (start < 0 || stop < start || stop > x->dims[i]) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "range %lld..%lld of axis %d is outside, x is %s",
                      (long long)start, (long long)stop, i, wf_dims_text(x->dims, x->ndim, text));
        }
        if (step < 1) {
            WEFT_FAIL(err, WEFT_ERR_ATTR, "step of axis %d is %lld, expected 1 or more", i,
                      (long long)step);
        }
        out->dims[i] = (stop - start) / step + ((stop - start) % step != 0);
    }
    return WEFT_OK;
}

// Between the elements of one axis come step - 1 zeros: [a,n,b] -> [a,n,1,b] -> [a,n,step,b] -> [a,n*step,b].
static weft_val spread(weft_graph *g, weft_val x, int32_t axis, int64_t step)
{
    if (!wf_graph_is_ok(g) || step == 1) {
        return x;
    }
    const weft_type t = *wf_graph_type(g, x.id);
    int64_t outer = 1, inner = 1;
    for (int32_t i = 0; i < t.ndim; i++) {
        outer *= i < axis ? t.dims[i] : 1;
        inner *= i > axis ? t.dims[i] : 1;
    }
    const int64_t apart[] = {outer, t.dims[axis], 1, inner};
    const int64_t none[] = {0, 0, 0, 0}, after[] = {0, 0, step - 1, 0};
    weft_type wide = t;
    wide.dims[axis] *= step;
    const weft_val padded = weft_pad(g, weft_reshape(g, x, apart, 4), none, after, 0.0);
    return weft_reshape(g, padded, wide.dims, wide.ndim);
}

// Zeros around dout, and between its elements where the slice stepped over some.
static void grad(const wf_grad_query *q)
{
    const weft_type *x = &q->info->in[0];
    int64_t none[WEFT_MAX_DIM] = {0}, end[WEFT_MAX_DIM];
    int64_t before[WEFT_MAX_DIM], after[WEFT_MAX_DIM];
    weft_val wide = q->dout[0];
    for (int32_t i = 0; i < x->ndim; i++) {
        const int64_t step = q->info->attrs[ATTR_STEP].u.ints[i];
        const int64_t size = q->info->out[0].dims[i] * step;
        before[i] = q->info->attrs[ATTR_START].u.ints[i];
        // The last element's zeros may reach past the end.
        const int64_t room = x->dims[i] - before[i];
        end[i] = size < room ? size : room;
        after[i] = room - end[i];
        wide = spread(q->g, wide, i, step);
    }
    if (x->ndim > 0) {
        wide = weft_pad(q->g, weft_slice(q->g, wide, none, end, NULL), before, after, 0.0);
    }
    q->din[0] = wide;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_walk dst = wf_walk_dense(&q->out[0]);
    wf_walk src = wf_walk_dense(&q->in[0]);
    for (int32_t i = 0; i < q->out[0].type.ndim; i++) {
        src.offset += q->info->attrs[ATTR_START].u.ints[i] * src.strides[i];
        src.strides[i] *= q->info->attrs[ATTR_STEP].u.ints[i];
    }
    wf_tensor_move(&dst, &src, q->out[0].type.ndim, q->out[0].type.dims);
    return WEFT_OK;
}

static bool view(const wf_node_info *info, const wf_strided *in, wf_strided *out)
{
    out->offset = in->offset;
    for (int32_t i = 0; i < out->ndim; i++) {
        out->offset += info->attrs[ATTR_START].u.ints[i] * in->strides[i];
        out->strides[i] = in->strides[i] * info->attrs[ATTR_STEP].u.ints[i];
    }
    return true;
}

// p: start, stop, step of two axes.
static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_slice(g, in[0], p, p + 2, p + 4);
}

static void cases(wf_check_list *list)
{
    static const int64_t table[][6] = {
        {0, 0, 9, 35, 1, 1}, {2, 1, 8, 34, 1, 1}, {0, 0, 9, 35, 2, 3},
        {1, 3, 7, 33, 3, 7}, {4, 0, 4, 35, 1, 1}, {8, 34, 9, 35, 1, 1},
    };
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_BOOL, WEFT_BF16, WEFT_I64};
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        for (size_t d = 0; d < WF_COUNT_OF(dtypes); d++) {
            const int64_t *t = table[i];
            wf_check_add(list, (wf_check_case){.name = wf_check_name(
                                                   list, "%s %d:%d:%d %d:%d:%d",
                                                   weft_dtype_name(dtypes[d]), (int)t[0], (int)t[2],
                                                   (int)t[4], (int)t[1], (int)t[3], (int)t[5]),
                                               .build = build_case,
                                               .params = {t[0], t[1], t[2], t[3], t[4], t[5]},
                                               .n_inputs = 1,
                                               .inputs = {WF_CHECK_INPUT(dtypes[d], 9, 35)},
                                               .no_gradient = dtypes[d] != WEFT_F32,
                                               .bound = 1.0});
        }
    }
}

const wf_op wf_op_slice = {
    .name = "slice",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_VIEW,
    .task = WF_TASK_NONE,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .view = view,
    .eval = eval,
    .cost = wf_cost_none,
    .cases = cases,
};

weft_val weft_slice(weft_graph *g, weft_val x, const int64_t *start, const int64_t *stop,
                    const int64_t *step)
{
    int64_t from[WEFT_MAX_DIM], to[WEFT_MAX_DIM], by[WEFT_MAX_DIM];
    if (!wf_build_ready(g, &wf_op_slice, &x, 1)) {
        return WEFT_NONE;
    }
    const weft_type *t = wf_graph_type(g, x.id);
    if ((!start || !stop) && t->ndim > 0) {
        wf_graph_fail(g, &wf_op_slice, WEFT_ERR_USAGE, "start or stop is NULL, expected %d entries",
                      t->ndim);
        return WEFT_NONE;
    }
    for (int32_t i = 0; i < t->ndim; i++) {
        from[i] = start[i] < 0 ? start[i] + t->dims[i] : start[i];
        to[i] = stop[i] < 0 ? stop[i] + t->dims[i] : stop[i];
        to[i] = to[i] > t->dims[i] ? t->dims[i] : to[i];
        by[i] = step ? step[i] : 1;
    }
    const size_t n = (size_t)t->ndim;
    const wf_attr list[] = {wf_attr_ints(from, n), wf_attr_ints(to, n), wf_attr_ints(by, n)};
    return wf_graph_add(g, &wf_op_slice, &x, 1, list);
}
