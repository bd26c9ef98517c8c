// y = scatter_add(base, idx, updates; axis): y = base, and y[a,idx[i..],b] += updates[a,i..,b].
//   base f32 i32 i64; idx i32 i64 of any shape; updates: base with axis replaced by idx's shape
// Bits: the updates of one place add by the column rule in ascending position (a stable sort by index),
// then base + sum; a place without updates keeps base's bits. An index out of range makes the step bad.
#include "math/sum.h"
#include "op/build.h"
#include "op/check_case.h"
#include "op/index_common.h"
#include "op/tensor.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *base = &info->in[0], *idx = &info->in[1], *updates = &info->in[2];
    const uint32_t allowed =
        WF_DTYPE_BIT(WEFT_F32) | WF_DTYPE_BIT(WEFT_I32) | WF_DTYPE_BIT(WEFT_I64);
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT], c[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_index(info, 0, 1, err));
    if (!((allowed >> base->dtype) & 1u) || updates->dtype != base->dtype) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "base is %s, updates is %s, expected both f32, i32 or i64",
                  wf_type_text(base, a), wf_type_text(updates, b));
    }
    const int32_t axis = (int32_t)info->attrs[0].u.i;
    bool is_fitting = updates->ndim == base->ndim - 1 + idx->ndim;
    for (int32_t i = 0; is_fitting && i < updates->ndim; i++) {
        const int64_t expected = i < axis               ? base->dims[i]
                                 : i < axis + idx->ndim ? idx->dims[i - axis]
                                                        : base->dims[i - idx->ndim + 1];
        is_fitting = updates->dims[i] == expected;
    }
    if (!is_fitting) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "updates is %s, expected base, %s, with axis %d replaced by the shape of idx, %s",
                  wf_type_text(updates, c), wf_type_text(base, a), axis, wf_type_text(idx, b));
    }
    out[0] = *base;
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    if (q->info->in[0].dtype != WEFT_F32)
        return;
    q->din[0] = q->dout[0];
    if (q->need[2])
        q->din[2] = weft_gather(q->g, q->dout[0], q->in[1], (int32_t)q->info->attrs[0].u.i);
}

// The updates sorted by place: those of place i are order[start[i] .. start[i + 1]), ascending.
typedef struct runs {
    int64_t *start, *order;
} runs;

static weft_status runs_init(runs *r, wf_eval *q, const wf_index_walk *w, weft_error *err)
{
    *r = (runs){0};
    WEFT_TRY(wf_alloc(&q->allocator, (size_t)(w->size + 1 + w->n_idx), sizeof *r->start, &r->start,
                      err));
    r->order = r->start + w->size + 1;
    // A counting sort: start[i + 1] counts place i, then start[i] is where its run begins.
    for (int64_t j = 0; j < w->n_idx; j++) {
        const int64_t at = wf_index_get(q, w, &q->in[1], j);
        if (at >= 0)
            r->start[at + 1]++;
    }
    for (int64_t i = 0; i < w->size; i++) {
        r->start[i + 1] += r->start[i];
    }
    for (int64_t j = 0; j < w->n_idx; j++) {
        const int64_t at = wf_index_get(q, w, &q->in[1], j);
        if (at >= 0)
            r->order[r->start[at]++] = j;
    }
    for (int64_t i = w->size; i > 0; i--) {
        r->start[i] = r->start[i - 1]; // undo the advance
    }
    r->start[0] = 0;
    return WEFT_OK;
}

// One element of the result: base + the sum of its run. buf holds a run.
static void add_run(const wf_eval *q, const wf_index_walk *w, const int64_t *order, int64_t n,
                    int64_t outer, int64_t inner, int64_t to, float *buf)
{
    const wf_tensor *y = &q->out[0], *base = &q->in[0], *updates = &q->in[2];
    uint64_t ints = 0;
    double truth = 0.0;
    for (int64_t j = 0; j < n; j++) {
        const int64_t from = (outer * w->n_idx + order[j]) * w->inner + inner;
        if (!wf_dtype_is_float(y->type.dtype))
            ints += (uint64_t)wf_tensor_get_int(updates, from); // wraps
        else if (y->is_truth)
            truth += ((const double *)updates->data)[from];
        else
            buf[j] = ((const float *)updates->data)[from];
    }
    if (!wf_dtype_is_float(y->type.dtype)) {
        wf_tensor_set_int(y, to, (int64_t)((uint64_t)wf_tensor_get_int(base, to) + ints));
    } else if (y->is_truth) {
        ((double *)y->data)[to] = ((const double *)base->data)[to] + truth;
    } else {
        const float *b = base->data;
        ((float *)y->data)[to] = n == 0 ? b[to] : b[to] + wf_sum_column(buf, n, 1);
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    const wf_index_walk w = wf_index_walk_make(&q->in[0].type, q->info->attrs[0].u.i, &q->in[1]);
    weft_status status = WEFT_OK;
    runs r;
    float *buf = NULL;
    WEFT_TRY(runs_init(&r, q, &w, err));
    WEFT_TRY_GOTO(wf_alloc(&q->allocator, (size_t)w.n_idx, sizeof *buf, &buf, err));
    for (int64_t o = 0; o < w.outer; o++) {
        for (int64_t i = 0; i < w.size; i++) {
            for (int64_t k = 0; k < w.inner; k++) {
                add_run(q, &w, r.order + r.start[i], r.start[i + 1] - r.start[i], o, k,
                        (o * w.size + i) * w.inner + k, buf);
            }
        }
    }
fail:
    wf_free(&q->allocator, buf);
    wf_free(&q->allocator, r.start);
    return status;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_scatter_add(g, in[0], in[1], in[2], (int32_t)p[0]);
}

static void cases(wf_check_list *list)
{
    static const struct {
        const char *name;
        int32_t axis;
        weft_dtype dtype;
        int64_t dims[3], n_idx;
        wf_check_fill fill;
    } table[] = {
        {"one", 0, WEFT_F32, {1, 1, 1}, 1, WF_CHECK_NORMAL},
        {"no update", 0, WEFT_F32, {3, 2, 2}, 0, WF_CHECK_NORMAL},
        {"rows 31", 0, WEFT_F32, {31, 1, 33}, 40, WF_CHECK_NORMAL},
        {"middle axis", 1, WEFT_F32, {3, 32, 5}, 33, WF_CHECK_NORMAL},
        {"last axis", 2, WEFT_F32, {2, 3, 7}, 65, WF_CHECK_NORMAL},
        {"one row, 64 times", 0, WEFT_F32, {1, 1, 3}, 64, WF_CHECK_WIDE},
        {"one row, 5000 times", 0, WEFT_F32, {1, 1, 3}, 5000, WF_CHECK_WIDE},
        {"two rows, 9000 times", 0, WEFT_F32, {2, 1, 2}, 9000, WF_CHECK_WIDE},
        {"special values", 0, WEFT_F32, {5, 2, 3}, 11, WF_CHECK_SPECIAL},
        {"i32", 1, WEFT_I32, {2, 9, 3}, 50, WF_CHECK_NORMAL},
        {"i64", 0, WEFT_I64, {9, 1, 2}, 50, WF_CHECK_SPECIAL},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        int64_t updates[3] = {table[i].dims[0], table[i].dims[1], table[i].dims[2]};
        const int64_t size = updates[table[i].axis];
        updates[table[i].axis] = table[i].n_idx;
        wf_check_add(
            list, (wf_check_case){
                      .name = table[i].name,
                      .build = build_case,
                      .params = {table[i].axis},
                      .n_inputs = 3,
                      .inputs = {{wf_type_make(table[i].dtype, 3, table[i].dims), table[i].fill, 0},
                                 {wf_type_make(WEFT_I32, 1, &table[i].n_idx), WF_CHECK_INDEX, size},
                                 {wf_type_make(table[i].dtype, 3, updates), table[i].fill, 0}},
                      .no_gradient = table[i].dtype != WEFT_F32,
                      .no_difference = table[i].n_idx > 100});
    }
}

static const wf_attr_spec attrs[] = {{"axis", WF_ATTR_INT}};

const wf_op wf_op_scatter_add = {
    .name = "scatter_add",
    .n_inputs = 3,
    .n_outputs = 1,
    .task = WF_TASK_INDEX,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .index_range = wf_index_range_axis,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_cost_index,
    .cases = cases,
};

weft_val weft_scatter_add(weft_graph *g, weft_val base, weft_val idx, weft_val updates,
                          int32_t axis)
{
    const weft_val in[] = {base, idx, updates};
    int32_t at;
    if (!wf_build_ready(g, &wf_op_scatter_add, in, 3) ||
        !wf_build_axis(g, &wf_op_scatter_add, wf_graph_type(g, base.id), axis, &at))
        return WEFT_NONE;
    const wf_attr list[] = {wf_attr_int(at)};
    return wf_graph_add(g, &wf_op_scatter_add, in, 3, list);
}
