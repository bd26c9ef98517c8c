// y = the greatest over axes: NaN wins, then -0 < +0. Associative, so any order gives these bits.
#include "math/compare.h"
#include "op/inst.h"
#include "op/reduce.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const uint32_t allowed = WF_DTYPE_BIT(WEFT_F32) | WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL);
    WEFT_TRY(wf_infer_reduce(info, allowed, out, err));
    return wf_infer_reduce_some(info, out, err);
}

static void reduce_ints(const wf_eval *q, const wf_reduce_walk *walk)
{
    for (int64_t i = 0; i < walk->n_outer; i++) {
        int64_t best = wf_tensor_get_int(&q->in[0], wf_reduce_at(walk, i, 0));
        for (int64_t j = 1; j < walk->n_inner; j++) {
            const int64_t x = wf_tensor_get_int(&q->in[0], wf_reduce_at(walk, i, j));
            best = x > best ? x : best;
        }
        wf_tensor_set_int(&q->out[0], i, best);
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_reduce_walk walk = wf_reduce_walk_make(q->info);
    if (q->in[0].type.dtype != WEFT_F32) {
        reduce_ints(q, &walk);
        return WEFT_OK;
    }
    const float *x = q->in[0].data;
    for (int64_t i = 0; i < walk.n_outer; i++) {
        float best = x[wf_reduce_at(&walk, i, 0)];
        for (int64_t j = 1; j < walk.n_inner; j++) {
            best = wf_max(best, x[wf_reduce_at(&walk, i, j)]);
        }
        ((float *)q->out[0].data)[i] = best;
    }
    return WEFT_OK;
}

static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_reduce_walk walk = wf_reduce_walk_make(q->info);
    if (q->in[0].type.dtype != WEFT_F32) {
        reduce_ints(q, &walk);
        return WEFT_OK;
    }
    const double *x = q->in[0].data;
    for (int64_t i = 0; i < walk.n_outer; i++) {
        double best = x[wf_reduce_at(&walk, i, 0)];
        for (int64_t j = 1; j < walk.n_inner; j++) {
            const double elem = x[wf_reduce_at(&walk, i, j)];
            best = best != best || best > elem ? best : elem;
        }
        ((double *)q->out[0].data)[i] = best;
    }
    return WEFT_OK;
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    (void)info;
    out->kind = WF_INST_REDUCE;
    out->reduce = WF_REDUCE_MAX;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    int32_t axes[WEFT_MAX_DIM];
    const size_t n = wf_reduce_case_axes(p, axes);
    const weft_val x = wf_reduce_case_input(g, in[0], p);
    return weft_reduce_max(g, x, axes, n, p[WF_REDUCE_CASE_KEEP] != 0);
}

static void cases(struct wf_check_list *list)
{
    static const wf_reduce_cases kind = {.build = build_case,
                                         .ints = WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL)};
    wf_reduce_add_cases(list, &kind);
}

const wf_op wf_op_reduce_max = {
    .name = "reduce_max",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_ROW,
    .attrs = wf_reduce_attrs,
    .n_attrs = 1,
    .infer = infer,
    .grad = wf_grad_reduce_extreme,
    .lower = lower,
    .eval = eval,
    .eval_truth = eval_truth,
    .cost = wf_cost_reduce,
    .cases = cases,
};

weft_val weft_reduce_max(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                         bool keep_dims)
{
    return wf_build_reduce(g, &wf_op_reduce_max, x, axes, n_axes, keep_dims);
}
