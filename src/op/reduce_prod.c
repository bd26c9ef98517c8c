// y = the product along one axis, which stays with size 1: one ascending chain from 1. The constructor
// brings several axes together into one.
#include "op/build.h"
#include "op/chain_common.h"
#include "op/check_case.h"
#include "op/tensor.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    WEFT_TRY(wf_infer_chain(info, out, err));
    out->dims[info->attrs[WF_CHAIN_AXIS].u.i] = 1;
    return WEFT_OK;
}

// dx[i] = dy * (product of what is before i) * (product of what is behind i). No division by x[i], which
// may be 0, and whose product may have overflowed where the product of the others has not.
static void grad(const wf_grad_query *q)
{
    const int32_t axis = (int32_t)q->info->attrs[WF_CHAIN_AXIS].u.i;
    const weft_type *x = &q->info->in[0];
    if (x->dtype != WEFT_F32)
        return;
    const weft_val before = weft_cumprod(q->g, q->in[0], axis, true, false);
    const weft_val behind = weft_cumprod(q->g, q->in[0], axis, true, true);
    const weft_val dy = wf_build_broadcast(q->g, q->dout[0], x->ndim, x->dims);
    q->din[0] = weft_mul(q->g, weft_mul(q->g, before, behind), dy);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_chain_walk w = wf_chain_walk_make(q->info);
    const wf_tensor *x = &q->in[0];
    for (int64_t i = 0; i < w.outer * w.inner; i++) {
        const int64_t outer = i / w.inner, inner = i % w.inner;
        float product = 1.0f;
        double truth = 1.0;
        uint64_t whole = 1; // wraps
        for (int64_t k = 0; k < w.size; k++) {
            const int64_t at = wf_chain_at(&w, outer, k, inner);
            if (x->type.dtype != WEFT_F32)
                whole *= (uint64_t)wf_tensor_get_int(x, at);
            else if (x->is_truth)
                truth *= ((const double *)x->data)[at];
            else
                product = product * ((const float *)x->data)[at];
        }
        if (x->type.dtype != WEFT_F32)
            wf_tensor_set_int(&q->out[0], i, (int64_t)whole);
        else if (x->is_truth)
            ((double *)q->out[0].data)[i] = truth;
        else
            ((float *)q->out[0].data)[i] = product;
    }
    return WEFT_OK;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const int32_t axis = (int32_t)p[WF_CHAIN_CASE_AXIS];
    return weft_reduce_prod(g, wf_chain_case_input(g, in[0], p), &axis, 1, false);
}

// The outer and the last axis of three: they must be brought together.
static weft_val build_two_axes(weft_graph *g, const weft_val *in, const int64_t *p)
{
    static const int32_t axes[] = {0, 2};
    return weft_reduce_prod(g, wf_chain_case_input(g, in[0], p), axes, 2, true);
}

static void cases(wf_check_list *list)
{
    static const wf_chain_cases kind = {.build = build_case, .is_product = true};
    wf_chain_add_cases(list, &kind);
    wf_check_case two = {.name = "two axes apart",
                         .build = build_two_axes,
                         .n_inputs = 1,
                         .inputs = {WF_CHECK_INPUT(WEFT_F32, 3, 5, 7)},
                         .bound = 64.0};
    two.params[WF_CHAIN_CASE_NEAR_ONE] = 1;
    wf_check_add(list, two);
}

const wf_op wf_op_reduce_prod = {
    .name = "reduce_prod",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_CHAIN,
    .attrs = wf_chain_attrs,
    .n_attrs = 1,
    .infer = infer,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_cost_chain,
    .cases = cases,
};

// [..] -> [all kept, all reduced]: reduced axes behind one another, in ascending order.
static weft_val bring_together(weft_graph *g, weft_val x, const weft_type *t,
                               const bool is_reduced[WEFT_MAX_DIM])
{
    int32_t order[WEFT_MAX_DIM], n = 0;
    int64_t flat[] = {1, 1};
    for (int reduced = 0; reduced < 2; reduced++) {
        for (int32_t i = 0; i < t->ndim; i++) {
            if (is_reduced[i] == (reduced == 1)) {
                flat[reduced] *= t->dims[i];
                order[n++] = i;
            }
        }
    }
    return weft_reshape(g, weft_permute(g, x, order), flat, 2);
}

weft_val weft_reduce_prod(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                          bool keep_dims)
{
    int64_t list[WEFT_MAX_DIM];
    bool is_reduced[WEFT_MAX_DIM] = {false};
    size_t n;
    if (!wf_build_ready(g, &wf_op_reduce_prod, &x, 1))
        return WEFT_NONE;
    const weft_type t = *wf_graph_type(g, x.id);
    if (!wf_build_axes(g, &wf_op_reduce_prod, &t, axes, n_axes, list, &n))
        return WEFT_NONE;
    for (size_t i = 0; i < n; i++)
        is_reduced[list[i]] = true;
    weft_type result = wf_type_make(t.dtype, 0, NULL);
    for (int32_t i = 0; i < t.ndim; i++) {
        if (!is_reduced[i] || keep_dims)
            result.dims[result.ndim++] = is_reduced[i] ? 1 : t.dims[i];
    }
    const wf_attr attr = wf_attr_int(n == 1 ? list[0] : 1);
    const weft_val line = n == 1 ? x : bring_together(g, x, &t, is_reduced);
    const weft_val y = wf_graph_add(g, &wf_op_reduce_prod, &line, 1, &attr);
    return wf_build_reshape(g, y, result.ndim, result.dims);
}
