// y's axis i is x's axis order[i].
#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

enum { ATTR_ORDER };
static const wf_attr_spec attrs[] = {{"order", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0];
    const wf_attr *order = &info->attrs[ATTR_ORDER];
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    bool is_used[WEFT_MAX_DIM] = {false};
    bool is_order = order->n == (size_t)x->ndim;
    *out = *x;
    for (size_t i = 0; is_order && i < order->n; i++) {
        const int64_t axis = order->u.ints[i];
        is_order = axis >= 0 && axis < x->ndim && !is_used[axis];
        if (is_order) {
            is_used[axis] = true;
            out->dims[i] = x->dims[axis];
        }
    }
    if (!is_order) {
        const int32_t n = order->n < WEFT_MAX_DIM ? (int32_t)order->n : WEFT_MAX_DIM;
        WEFT_FAIL(err, WEFT_ERR_ATTR, "order is %s, expected each axis of %s once",
                  wf_dims_text(order->u.ints, n, a), wf_dims_text(x->dims, x->ndim, b));
    }
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const wf_attr *order = &q->info->attrs[ATTR_ORDER];
    int32_t inverse[WEFT_MAX_DIM];
    for (size_t i = 0; i < order->n; i++) {
        inverse[order->u.ints[i]] = (int32_t)i;
    }
    q->din[0] = weft_permute(q->g, q->dout[0], inverse);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_attr *order = &q->info->attrs[ATTR_ORDER];
    const wf_walk dst = wf_walk_dense(&q->out[0]), whole = wf_walk_dense(&q->in[0]);
    wf_walk src = whole;
    for (size_t i = 0; i < order->n; i++) {
        src.strides[i] = whole.strides[order->u.ints[i]];
    }
    wf_tensor_move(&dst, &src, q->out[0].type.ndim, q->out[0].type.dims);
    return WEFT_OK;
}

static bool view(const wf_node_info *info, const wf_strided *in, wf_strided *out)
{
    out->offset = in->offset;
    for (int32_t i = 0; i < out->ndim; i++) {
        out->strides[i] = in->strides[info->attrs[ATTR_ORDER].u.ints[i]];
    }
    return true;
}

static bool unview(const wf_node_info *info, const wf_strided *out, wf_strided *in)
{
    in->offset = out->offset;
    for (int32_t i = 0; i < out->ndim; i++) {
        in->strides[info->attrs[ATTR_ORDER].u.ints[i]] = out->strides[i];
    }
    return true;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const int32_t order[] = {(int32_t)p[0], (int32_t)p[1], (int32_t)p[2], (int32_t)p[3]};
    return weft_permute(g, in[0], order);
}

static void cases(wf_check_list *list)
{
    static const int64_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 3, 1}, {1, 0, 3, 2}};
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_U8, WEFT_F16, WEFT_I64};
    for (size_t i = 0; i < WF_COUNT_OF(orders); i++) {
        for (size_t d = 0; d < WF_COUNT_OF(dtypes); d++) {
            const int64_t *o = orders[i];
            wf_check_add(
                list,
                (wf_check_case){
                    .name = wf_check_name(list, "%s to %d%d%d%d", weft_dtype_name(dtypes[d]),
                                          (int)o[0], (int)o[1], (int)o[2], (int)o[3]),
                    .build = build_case,
                    .params = {o[0], o[1], o[2], o[3]},
                    .n_inputs = 1,
                    .inputs = {WF_CHECK_INPUT_FILL(WF_CHECK_NORMAL, 0, dtypes[d], 3, 5, 2, 7)},
                    .no_gradient = dtypes[d] != WEFT_F32,
                    .bound = 1.0});
        }
    }
    static const int64_t sizes[][4] = {{1, 1, 1, 1}, {2, 0, 3, 1}, {1, 32, 31, 1}, {33, 1, 2, 32}};
    for (size_t i = 0; i < WF_COUNT_OF(sizes); i++) {
        const int64_t *n = sizes[i];
        char text[WF_TYPE_TEXT];
        wf_check_add(list, (wf_check_case){
                               .name = wf_check_name(list, "%s turned", wf_dims_text(n, 4, text)),
                               .build = build_case,
                               .params = {0, 2, 3, 1},
                               .n_inputs = 1,
                               .inputs = {WF_CHECK_INPUT(WEFT_F32, n[0], n[1], n[2], n[3])},
                               .bound = 1.0});
    }
}

const wf_op wf_op_permute = {
    .name = "permute",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_VIEW,
    .task = WF_TASK_NONE,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .view = view,
    .unview = unview,
    .eval = eval,
    .cost = wf_cost_none,
    .cases = cases,
};

weft_val weft_permute(weft_graph *g, weft_val x, const int32_t *order)
{
    int64_t full[WEFT_MAX_DIM];
    if (!wf_build_ready(g, &wf_op_permute, &x, 1)) {
        return WEFT_NONE;
    }
    const int32_t ndim = wf_graph_type(g, x.id)->ndim;
    if (!order && ndim > 0) {
        wf_graph_fail(g, &wf_op_permute, WEFT_ERR_USAGE, "order is NULL, expected %d axes", ndim);
        return WEFT_NONE;
    }
    for (int32_t i = 0; i < ndim; i++) {
        full[i] = order[i] < 0 ? order[i] + ndim : order[i];
    }
    const wf_attr list[] = {wf_attr_ints(full, (size_t)ndim)};
    return wf_graph_add(g, &wf_op_permute, &x, 1, list);
}

weft_val weft_transpose(weft_graph *g, weft_val x)
{
    int32_t order[WEFT_MAX_DIM];
    char text[WF_TYPE_TEXT];
    if (!wf_build_ready(g, &wf_op_permute, &x, 1)) {
        return WEFT_NONE;
    }
    const weft_type t = *wf_graph_type(g, x.id);
    if (t.ndim < 2) {
        wf_graph_fail(g, &wf_op_permute, WEFT_ERR_SHAPE, "transpose of %s, expected 2 axes or more",
                      wf_dims_text(t.dims, t.ndim, text));
        return WEFT_NONE;
    }
    for (int32_t i = 0; i < t.ndim; i++) {
        order[i] = i;
    }
    order[t.ndim - 2] = t.ndim - 1;
    order[t.ndim - 1] = t.ndim - 2;
    return weft_permute(g, x, order);
}
