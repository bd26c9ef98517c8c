// y = the running sum of x along one axis, by the rule of doc/arithmetic.md: chunks of 1024, their totals
// ascending. exclusive: without the element itself. reverse: from the end of the axis.
#include "op/build.h"
#include "op/chain_common.h"
#include "op/check_case.h"
#include "op/tensor.h"

static void grad(const wf_grad_query *q)
{
    const wf_attr *a = q->info->attrs;
    q->din[0] = weft_cumsum(q->g, q->dout[0], (int32_t)a[WF_CHAIN_AXIS].u.i,
                            a[WF_CHAIN_EXCLUSIVE].u.i != 0, a[WF_CHAIN_REVERSE].u.i == 0);
}

// One line of f32. y[k] = total of the chunks before + running sum in the chunk.
static void sum_f32(const wf_chain_walk *w, const float *x, float *y, int64_t outer, int64_t inner)
{
    float before = 0.0f;
    for (int64_t first = 0; first < w->size; first += WF_CHAIN_CHUNK) {
        float sum = 0.0f;
        for (int64_t k = first; k < first + WF_CHAIN_CHUNK && k < w->size; k++) {
            const int64_t at = wf_chain_at(w, outer, k, inner);
            const float next = sum + x[at];
            y[at] = before + (w->is_exclusive ? sum : next);
            sum = next;
        }
        before = before + sum;
    }
}

static void sum_truth(const wf_chain_walk *w, const double *x, double *y, int64_t outer,
                      int64_t inner)
{
    double sum = 0.0;
    for (int64_t k = 0; k < w->size; k++) {
        const int64_t at = wf_chain_at(w, outer, k, inner);
        const double next = sum + x[at];
        y[at] = w->is_exclusive ? sum : next;
        sum = next;
    }
}

static void sum_ints(const wf_chain_walk *w, const wf_tensor *x, const wf_tensor *y, int64_t outer,
                     int64_t inner)
{
    uint64_t sum = 0; // wraps
    for (int64_t k = 0; k < w->size; k++) {
        const int64_t at = wf_chain_at(w, outer, k, inner);
        const uint64_t next = sum + (uint64_t)wf_tensor_get_int(x, at);
        wf_tensor_set_int(y, at, (int64_t)(w->is_exclusive ? sum : next));
        sum = next;
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    static const wf_chain_lines lines = {sum_f32, sum_truth, sum_ints};
    (void)err;
    return wf_chain_eval(q, &lines);
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_cumsum(g, in[0], (int32_t)p[WF_CHAIN_CASE_AXIS], p[WF_CHAIN_CASE_EXCLUSIVE] != 0,
                       p[WF_CHAIN_CASE_REVERSE] != 0);
}

static void cases(wf_check_list *list)
{
    static const wf_chain_cases kind = {.build = build_case, .is_cumulative = true};
    wf_chain_add_cases(list, &kind);
}

const wf_op wf_op_cumsum = {
    .name = "cumsum",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_CHAIN,
    .attrs = wf_chain_attrs,
    .n_attrs = WF_COUNT_OF(wf_chain_attrs),
    .infer = wf_infer_chain,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_cost_chain,
    .cases = cases,
};

weft_val weft_cumsum(weft_graph *g, weft_val x, int32_t axis, bool exclusive, bool reverse)
{
    return wf_build_chain(g, &wf_op_cumsum, x, axis, exclusive, reverse);
}
