// y = gather(x, idx; axis): x with axis replaced by idx's shape, y[a,i..,b] = x[a,idx[i..],b].
//   x any dtype, idx i32 or i64 of any shape. A negative index counts from the end; one out of range
//   makes the step bad and reads zeros.
#include <string.h>

#include "op/build.h"
#include "op/check_case.h"
#include "op/index_common.h"
#include "op/tensor.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0], *idx = &info->in[1];
    WEFT_TRY(wf_infer_index(info, 0, 1, err));
    const int64_t axis = info->attrs[0].u.i;
    const int32_t ndim = x->ndim - 1 + idx->ndim;
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (ndim > WEFT_MAX_DIM) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "the result has %d dims, x is %s, idx is %s, expected at most %d", ndim,
                  wf_type_text(x, a), wf_type_text(idx, b), WEFT_MAX_DIM);
    }
    int64_t dims[WEFT_MAX_DIM];
    int32_t n = 0;
    for (int32_t i = 0; i < axis; i++) {
        dims[n++] = x->dims[i];
    }
    for (int32_t i = 0; i < idx->ndim; i++) {
        dims[n++] = idx->dims[i];
    }
    for (int32_t i = (int32_t)axis + 1; i < x->ndim; i++) {
        dims[n++] = x->dims[i];
    }
    return wf_infer_dims(x->dtype, dims, (size_t)n, out, err);
}

// The transpose: gradients of one element, read several times, add.
static void grad(const wf_grad_query *q)
{
    if (q->need[0] && q->info->in[0].dtype == WEFT_F32) {
        q->din[0] = weft_scatter_add(q->g, wf_build_fill_like(q->g, q->in[0], 0.0), q->in[1],
                                     q->dout[0], (int32_t)q->info->attrs[0].u.i);
    }
}

// y[o,j,:] = x[o,idx[j],:]
static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_index_walk w = wf_index_walk_make(&q->in[0].type, q->info->attrs[0].u.i, &q->in[1]);
    const size_t bytes = wf_tensor_elem_bytes(&q->in[0]) * (size_t)w.inner;
    const char *src = q->in[0].data;
    char *dst = q->out[0].data;
    for (int64_t j = 0; j < w.n_idx; j++) {
        const int64_t at = wf_index_get(q, &w, &q->in[1], j);
        for (int64_t o = 0; o < w.outer; o++) {
            char *to = dst + (size_t)(o * w.n_idx + j) * bytes;
            if (at < 0)
                memset(to, 0, bytes);
            else
                memcpy(to, src + (size_t)(o * w.size + at) * bytes, bytes);
        }
    }
    return WEFT_OK;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_gather(g, in[0], in[1], (int32_t)p[0]);
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
        {"no index", 0, WEFT_F32, {3, 2, 2}, 0, WF_CHECK_NORMAL},
        {"rows 31", 0, WEFT_F32, {31, 1, 33}, 40, WF_CHECK_NORMAL},
        {"middle axis", 1, WEFT_F32, {3, 32, 5}, 33, WF_CHECK_NORMAL},
        {"last axis", 2, WEFT_F32, {2, 3, 7}, 31, WF_CHECK_NORMAL},
        {"one row, 5000 times", 0, WEFT_F32, {1, 1, 3}, 5000, WF_CHECK_WIDE},
        {"two rows, 9000 times", 0, WEFT_F32, {2, 1, 2}, 9000, WF_CHECK_WIDE},
        {"special values", 0, WEFT_F32, {5, 2, 3}, 11, WF_CHECK_SPECIAL},
        {"u8", 1, WEFT_U8, {2, 9, 3}, 5, WF_CHECK_NORMAL},
        {"i64", 0, WEFT_I64, {9, 1, 2}, 5, WF_CHECK_NORMAL},
        {"bool", 0, WEFT_BOOL, {9, 1, 2}, 5, WF_CHECK_NORMAL},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const int64_t size = table[i].dims[table[i].axis];
        wf_check_add(
            list,
            (wf_check_case){
                .name = table[i].name,
                .build = build_case,
                .params = {table[i].axis},
                .n_inputs = 2,
                .inputs = {{wf_type_make(table[i].dtype, 3, table[i].dims), table[i].fill, 0},
                           {wf_type_make(WEFT_I32, 1, &table[i].n_idx), WF_CHECK_INDEX, size}},
                .no_gradient = table[i].dtype != WEFT_F32,
                .no_difference = table[i].n_idx > 100});
    }
}

static const wf_attr_spec attrs[] = {{"axis", WF_ATTR_INT}};

const wf_op wf_op_gather = {
    .name = "gather",
    .n_inputs = 2,
    .n_outputs = 1,
    .task = WF_TASK_INDEX,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .index_range = wf_index_range_axis,
    .grad = grad,
    .eval = eval,
    .cost = wf_cost_index,
    .cases = cases,
};

weft_val weft_gather(weft_graph *g, weft_val x, weft_val idx, int32_t axis)
{
    const weft_val in[] = {x, idx};
    int32_t at;
    if (!wf_build_ready(g, &wf_op_gather, in, 2) ||
        !wf_build_axis(g, &wf_op_gather, wf_graph_type(g, x.id), axis, &at))
        return WEFT_NONE;
    const wf_attr list[] = {wf_attr_int(at)};
    return wf_graph_add(g, &wf_op_gather, in, 2, list);
}
