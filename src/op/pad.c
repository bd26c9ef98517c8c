// y = x with `before` and `after` elements of one value around each axis.
#include "op/build.h"
#include "op/check_case.h"
#include "op/inst.h"
#include "op/tensor.h"

enum { ATTR_BEFORE, ATTR_AFTER, ATTR_VALUE };
static const wf_attr_spec attrs[] = {
    {"before", WF_ATTR_INTS}, {"after", WF_ATTR_INTS}, {"value", WF_ATTR_FLOAT}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0];
    const double value = info->attrs[ATTR_VALUE].u.f;
    double bytes = 0.0;
    char text[WF_TYPE_TEXT];
    *out = *x;
    for (int i = ATTR_BEFORE; i <= ATTR_AFTER; i++) {
        if (info->attrs[i].n != (size_t)x->ndim) {
            WEFT_FAIL(err, WEFT_ERR_ATTR, "%s has %zu entries, x is %s", attrs[i].name,
                      info->attrs[i].n, wf_dims_text(x->dims, x->ndim, text));
        }
        for (int32_t axis = 0; axis < x->ndim; axis++) {
            const int64_t size = info->attrs[i].u.ints[axis];
            if (size < 0 || size > INT64_MAX / 4) {
                WEFT_FAIL(err, WEFT_ERR_ATTR, "%s is %s, expected sizes of 0 or more",
                          attrs[i].name, wf_dims_text(info->attrs[i].u.ints, x->ndim, text));
            }
            out->dims[axis] += size;
        }
    }
    if (!wf_scalar_encode(x->dtype, value, &bytes)) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "value %g is no %s", value, weft_dtype_name(x->dtype));
    }
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const weft_type *x = &q->info->in[0];
    int64_t stop[WEFT_MAX_DIM];
    const int64_t *before = q->info->attrs[ATTR_BEFORE].u.ints;
    for (int32_t i = 0; i < x->ndim; i++) {
        stop[i] = before[i] + x->dims[i];
    }
    q->din[0] = x->ndim > 0 ? weft_slice(q->g, q->dout[0], before, stop, NULL) : q->dout[0];
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    wf_walk dst = wf_walk_dense(&q->out[0]);
    const wf_walk src = wf_walk_dense(&q->in[0]);
    wf_tensor_fill(&q->out[0], q->info->attrs[ATTR_VALUE].u.f);
    for (int32_t i = 0; i < q->in[0].type.ndim; i++) {
        dst.offset += q->info->attrs[ATTR_BEFORE].u.ints[i] * dst.strides[i];
    }
    wf_tensor_move(&dst, &src, q->in[0].type.ndim, q->in[0].type.dims);
    return WEFT_OK;
}

static void place(const wf_node_info *info, size_t input, int64_t out_start[WEFT_MAX_DIM])
{
    (void)input;
    for (int32_t i = 0; i < info->out[0].ndim; i++) {
        out_start[i] = info->attrs[ATTR_BEFORE].u.ints[i];
    }
}

static void fill(const wf_node_info *info, wf_inst *out)
{
    out->kind = WF_INST_CONST;
    out->dtype = info->out[0].dtype;
    out->bits = 0;
    (void)wf_scalar_encode(out->dtype, info->attrs[ATTR_VALUE].u.f, &out->bits);
}

// p: before, after of two axes, the value.
static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_pad(g, in[0], p, p + 2, (double)p[4]);
}

static void cases(wf_check_list *list)
{
    static const int64_t table[][4] = {{0, 0, 0, 0}, {1, 2, 3, 4}, {0, 31, 0, 0}, {5, 0, 0, 1}};
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_BOOL, WEFT_F16, WEFT_I64};
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        for (size_t d = 0; d < WF_COUNT_OF(dtypes); d++) {
            const int64_t *t = table[i];
            wf_check_add(
                list, (wf_check_case){.name = wf_check_name(list, "%s %d,%d %d,%d",
                                                            weft_dtype_name(dtypes[d]), (int)t[0],
                                                            (int)t[1], (int)t[2], (int)t[3]),
                                      .build = build_case,
                                      .params = {t[0], t[1], t[2], t[3], (int64_t)(i & 1)},
                                      .n_inputs = 1,
                                      .inputs = {WF_CHECK_INPUT(dtypes[d], 4, 33)},
                                      .no_gradient = dtypes[d] != WEFT_F32,
                                      .bound = 1.0});
        }
    }
    wf_check_add(list, (wf_check_case){.name = "one inside",
                                       .build = build_case,
                                       .params = {1, 0, 30, 1, 7},
                                       .n_inputs = 1,
                                       .inputs = {WF_CHECK_INPUT(WEFT_F32, 1, 1)},
                                       .bound = 1.0});
    wf_check_add(list, (wf_check_case){.name = "nothing inside",
                                       .build = build_case,
                                       .params = {1, 0, 2, 0, 7},
                                       .n_inputs = 1,
                                       .inputs = {WF_CHECK_INPUT(WEFT_F32, 0, 3)},
                                       .bound = 1.0});
}

const wf_op wf_op_pad = {
    .name = "pad",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_MAP,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .place = place,
    .fill = fill,
    .eval = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

weft_val weft_pad(weft_graph *g, weft_val x, const int64_t *before, const int64_t *after,
                  double value)
{
    if (!wf_build_ready(g, &wf_op_pad, &x, 1)) {
        return WEFT_NONE;
    }
    const weft_type t = *wf_graph_type(g, x.id);
    if ((!before || !after) && t.ndim > 0) {
        wf_graph_fail(g, &wf_op_pad, WEFT_ERR_USAGE, "before or after is NULL, expected %d entries",
                      t.ndim);
        return WEFT_NONE;
    }
    // Rounded here, so that every device and the float64 truth hold the same value.
    const wf_attr list[] = {wf_attr_ints(before, (size_t)t.ndim),
                            wf_attr_ints(after, (size_t)t.ndim),
                            wf_attr_float(wf_scalar_round(t.dtype, value))};
    return wf_graph_add(g, &wf_op_pad, &x, 1, list);
}
