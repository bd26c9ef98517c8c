// mean and biased variance over axes, in one op: two passes inside a chunk, chunks merged by Chan's
// formula in the tree of the sums (doc/arithmetic.md, Sums).
#include "math/sum.h"
#include "op/inst.h"
#include "op/reduce.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    WEFT_TRY(wf_infer_reduce(info, WF_DTYPE_BIT(WEFT_F32), &out[0], err));
    out[1] = out[0];
    return wf_infer_reduce_rule(info, err);
}

// d mean / dx = 1/n; d variance / dx = 2 (x - mean) / n, because the distances sum to 0.
static void grad(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const weft_type *x = &q->info->in[0];
    const weft_val n = weft_scalar(g, WEFT_F32, (double)wf_reduce_inner(q->info));
    const weft_val mean = q->out[0], dmean = q->dout[0], dvariance = q->dout[1];
    weft_val dx = WEFT_NONE;
    if (dvariance.id != 0) {
        const weft_val slope = weft_div(g, wf_build_scale(g, dvariance, 2.0), n);
        dx = weft_mul(g, weft_sub(g, q->in[0], mean), slope);
    }
    if (dmean.id != 0) {
        const weft_val share = weft_div(g, dmean, n);
        dx = dx.id != 0 ? weft_add(g, dx, share) : wf_build_broadcast(g, share, x->ndim, x->dims);
    }
    q->din[0] = dx;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    const wf_reduce_walk walk = wf_reduce_walk_make(q->info);
    const bool is_row = wf_reduce_is_row(q->info);
    float *buf;
    WEFT_TRY(wf_alloc(&q->allocator, (size_t)walk.n_inner, sizeof *buf, &buf, err));
    for (int64_t i = 0; i < walk.n_outer; i++) {
        wf_reduce_gather(&walk, &q->in[0], i, buf);
        const wf_moments m =
            is_row ? wf_moments_row(buf, walk.n_inner, 1) : wf_moments_column(buf, walk.n_inner, 1);
        // Of nothing: 0 / 0, NaN both.
        ((float *)q->out[0].data)[i] = walk.n_inner == 0 ? WF_NAN : m.mean;
        ((float *)q->out[1].data)[i] = walk.n_inner == 0 ? WF_NAN : WF_DIV(m.m2, m.n);
    }
    wf_free(&q->allocator, buf);
    return WEFT_OK;
}

static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_reduce_walk walk = wf_reduce_walk_make(q->info);
    const double n = (double)walk.n_inner;
    for (int64_t i = 0; i < walk.n_outer; i++) {
        double sum = 0.0, m2 = 0.0;
        for (int64_t j = 0; j < walk.n_inner; j++) {
            sum += wf_tensor_get_f64(&q->in[0], wf_reduce_at(&walk, i, j));
        }
        for (int64_t j = 0; j < walk.n_inner; j++) {
            const double d = wf_tensor_get_f64(&q->in[0], wf_reduce_at(&walk, i, j)) - sum / n;
            m2 += d * d;
        }
        ((double *)q->out[0].data)[i] = sum / n;
        ((double *)q->out[1].data)[i] = m2 / n;
    }
    return WEFT_OK;
}

static wf_cost cost(const wf_node_info *info)
{
    const wf_cost all = {4.0 * (double)wf_type_count(&info->in[0]), wf_cost_bytes(info)};
    return all;
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    (void)info;
    out->kind = WF_INST_REDUCE;
    out->reduce = WF_REDUCE_MOMENTS;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    int32_t axes[WEFT_MAX_DIM];
    weft_val mean, variance;
    const size_t n = wf_reduce_case_axes(p, axes);
    weft_moments(g, wf_reduce_case_input(g, in[0], p), axes, n, &mean, &variance);
    return mean;
}

static void cases(struct wf_check_list *list)
{
    static const wf_reduce_cases kind = {.build = build_case, .takes_nothing = true, .bound = 64.0};
    wf_reduce_add_cases(list, &kind);
}

const wf_op wf_op_moments = {
    .name = "moments",
    .n_inputs = 1,
    .n_outputs = 2,
    .task = WF_TASK_ROW,
    .attrs = wf_reduce_attrs,
    .n_attrs = 2,
    .infer = infer,
    .grad = grad,
    .lower = lower,
    .eval = eval,
    .eval_truth = eval_truth,
    .cost = cost,
    .cases = cases,
};

void weft_moments(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes, weft_val *out_mean,
                  weft_val *out_variance)
{
    const weft_val first = wf_build_reduce(g, &wf_op_moments, x, axes, n_axes, true);
    *out_mean = first;
    *out_variance = wf_val_output(first, 1);
}
