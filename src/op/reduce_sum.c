// y = the sum over axes, in the fixed shapes of doc/arithmetic.md (Sums): the rule is an attribute.
#include "math/sum.h"
#include "op/inst.h"
#include "op/reduce.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    WEFT_TRY(wf_infer_reduce(
        info, WF_DTYPE_BIT(WEFT_F32) | WF_DTYPE_BIT(WEFT_I32) | WF_DTYPE_BIT(WEFT_I64), out, err));
    return wf_infer_reduce_rule(info, err);
}

static void grad(const wf_grad_query *q)
{
    const weft_type *x = &q->info->in[0];
    q->din[0] = wf_build_broadcast(q->g, q->dout[0], x->ndim, x->dims);
}

static void sum_ints(const wf_eval *q, const wf_reduce_walk *walk)
{
    for (int64_t i = 0; i < walk->n_outer; i++) {
        uint64_t sum = 0; // wraps; any order gives the same bits
        for (int64_t j = 0; j < walk->n_inner; j++) {
            sum += (uint64_t)wf_tensor_get_int(&q->in[0], wf_reduce_at(walk, i, j));
        }
        wf_tensor_set_int(&q->out[0], i, (int64_t)sum);
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    const wf_reduce_walk walk = wf_reduce_walk_make(q->info);
    const bool is_row = wf_reduce_is_row(q->info);
    if (q->in[0].type.dtype != WEFT_F32) {
        sum_ints(q, &walk);
        return WEFT_OK;
    }
    float *buf;
    WEFT_TRY(wf_alloc(&q->allocator, (size_t)walk.n_inner, sizeof *buf, &buf, err));
    for (int64_t i = 0; i < walk.n_outer; i++) {
        wf_reduce_gather(&walk, &q->in[0], i, buf);
        ((float *)q->out[0].data)[i] =
            is_row ? wf_sum_row(buf, walk.n_inner, 1) : wf_sum_column(buf, walk.n_inner, 1);
    }
    wf_free(&q->allocator, buf);
    return WEFT_OK;
}

static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_reduce_walk walk = wf_reduce_walk_make(q->info);
    if (q->in[0].type.dtype != WEFT_F32) {
        sum_ints(q, &walk);
        return WEFT_OK;
    }
    for (int64_t i = 0; i < walk.n_outer; i++) {
        double sum = 0.0;
        for (int64_t j = 0; j < walk.n_inner; j++) {
            sum += wf_tensor_get_f64(&q->in[0], wf_reduce_at(&walk, i, j));
        }
        ((double *)q->out[0].data)[i] = sum;
    }
    return WEFT_OK;
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    (void)info;
    out->kind = WF_INST_REDUCE;
    out->reduce = WF_REDUCE_SUM;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    int32_t axes[WEFT_MAX_DIM];
    const size_t n = wf_reduce_case_axes(p, axes);
    const weft_val x = wf_reduce_case_input(g, in[0], p);
    return weft_sum(g, x, axes, n, p[WF_REDUCE_CASE_KEEP] != 0);
}

static void cases(struct wf_check_list *list)
{
    static const wf_reduce_cases kind = {.build = build_case,
                                         .ints = WF_DTYPE_BIT(WEFT_I32) | WF_DTYPE_BIT(WEFT_I64),
                                         .takes_nothing = true,
                                         .bound = 64.0};
    wf_reduce_add_cases(list, &kind);
}

const wf_op wf_op_reduce_sum = {
    .name = "reduce_sum",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_NO_MINUS_ZERO,
    .task = WF_TASK_ROW,
    .attrs = wf_reduce_attrs,
    .n_attrs = 2,
    .infer = infer,
    .grad = grad,
    .lower = lower,
    .eval = eval,
    .eval_truth = eval_truth,
    .cost = wf_cost_reduce,
    .cases = cases,
};

weft_val weft_sum(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes, bool keep_dims)
{
    return wf_build_reduce(g, &wf_op_reduce_sum, x, axes, n_axes, keep_dims);
}

weft_val weft_mean(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes, bool keep_dims)
{
    int64_t list[WEFT_MAX_DIM];
    size_t n;
    int64_t count = 1; // elements per result; 0 gives 0 / 0 = NaN, the mean of nothing
    if (!wf_build_ready(g, &wf_op_reduce_sum, &x, 1)) {
        return WEFT_NONE;
    }
    const weft_type t = *wf_graph_type(g, x.id);
    if (t.dtype != WEFT_F32) {
        char text[WF_TYPE_TEXT];
        wf_graph_fail(g, &wf_op_reduce_sum, WEFT_ERR_DTYPE, "mean of %s, expected f32",
                      wf_type_text(&t, text));
        return WEFT_NONE;
    }
    if (!wf_build_axes(g, &wf_op_reduce_sum, &t, axes, n_axes, list, &n)) {
        return WEFT_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        count *= t.dims[list[i]];
    }
    const weft_val sum = weft_sum(g, x, axes, n_axes, keep_dims);
    return weft_div(g, sum, weft_scalar(g, WEFT_F32, (double)count));
}
