// y = x stretched to dims by NumPy's rule: axes matched from the right, size 1 repeats.
#include "op/check_case.h"
#include "op/source.h"

enum { ATTR_DIMS };
static const wf_attr_spec attrs[] = {{"dims", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0];
    const wf_attr *dims = &info->attrs[ATTR_DIMS];
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_dims(x->dtype, dims->u.ints, dims->n, out, err));
    bool is_fit = x->ndim <= out->ndim;
    for (int32_t i = 0; is_fit && i < x->ndim; i++) {
        const int64_t to = out->dims[i + out->ndim - x->ndim];
        is_fit = x->dims[i] == to || x->dims[i] == 1;
    }
    if (!is_fit) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "x does not stretch, x is %s, dims are %s",
                  wf_dims_text(x->dims, x->ndim, a), wf_dims_text(out->dims, out->ndim, b));
    }
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const weft_type *x = &q->info->in[0];
    q->din[0] = wf_build_sum_to(q->g, q->dout[0], x->ndim, x->dims);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const weft_type *x = &q->in[0].type, *y = &q->out[0].type;
    const wf_walk dst = wf_walk_dense(&q->out[0]), whole = wf_walk_dense(&q->in[0]);
    wf_walk src = {&q->in[0], 0, {0}};
    for (int32_t i = 0; i < x->ndim; i++) {
        if (x->dims[i] != 1) {
            src.strides[i + y->ndim - x->ndim] = whole.strides[i];
        }
    }
    wf_tensor_move(&dst, &src, y->ndim, y->dims);
    return WEFT_OK;
}

static bool view(const wf_node_info *info, const wf_strided *in, wf_strided *out)
{
    (void)info;
    out->offset = in->offset;
    for (int32_t i = 0; i < out->ndim; i++) {
        const int32_t own = i - (out->ndim - in->ndim);
        out->strides[i] = own >= 0 && in->dims[own] == out->dims[i] ? in->strides[own] : 0;
    }
    return true;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_broadcast(g, in[0], p, 3);
}

static void cases(wf_check_list *list)
{
    static const struct {
        int32_t ndim;
        int64_t from[3], to[3];
        weft_dtype dtype;
    } table[] = {
        {1, {1}, {2, 3, 33}, WEFT_F32},      {1, {33}, {2, 3, 33}, WEFT_F32},
        {2, {3, 1}, {4, 3, 31}, WEFT_F32},   {3, {5, 1, 7}, {5, 70, 7}, WEFT_F32},
        {3, {1, 4, 1}, {9, 4, 5}, WEFT_F32}, {2, {3, 1}, {4, 3, 31}, WEFT_BOOL},
        {2, {3, 1}, {4, 3, 31}, WEFT_BF16},  {2, {3, 1}, {4, 3, 31}, WEFT_I64},
        {2, {3, 1}, {4, 3, 0}, WEFT_F32},    {2, {4, 1}, {2, 4, 32}, WEFT_F32},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const weft_type from = wf_type_make(table[i].dtype, table[i].ndim, table[i].from);
        char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
        wf_check_add(list,
                     (wf_check_case){.name = wf_check_name(list, "%s to %s", wf_type_text(&from, a),
                                                           wf_dims_text(table[i].to, 3, b)),
                                     .build = build_case,
                                     .params = {table[i].to[0], table[i].to[1], table[i].to[2]},
                                     .n_inputs = 1,
                                     .inputs = {{from, WF_CHECK_NORMAL, 0}},
                                     .no_gradient = table[i].dtype != WEFT_F32});
    }
}

const wf_op wf_op_broadcast = {
    .name = "broadcast",
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

weft_val weft_broadcast(weft_graph *g, weft_val x, const int64_t *dims, int32_t ndim)
{
    if (!wf_build_ready(g, &wf_op_broadcast, &x, 1) ||
        !wf_build_dims(g, &wf_op_broadcast, dims, ndim)) {
        return WEFT_NONE;
    }
    const wf_attr list[] = {wf_attr_ints(dims, (size_t)ndim)};
    return wf_graph_add(g, &wf_op_broadcast, &x, 1, list);
}
