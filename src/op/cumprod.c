// y = the running product of x along one axis: one ascending chain from 1. exclusive: without the element
// itself. reverse: from the end of the axis.
#include "op/build.h"
#include "op/chain_common.h"
#include "op/check_case.h"
#include "op/tensor.h"

static void multiply_f32(const wf_chain_walk *w, const float *x, float *y, int64_t outer,
                         int64_t inner)
{
    float product = 1.0f;
    for (int64_t k = 0; k < w->size; k++) {
        const int64_t at = wf_chain_at(w, outer, k, inner);
        const float next = product * x[at];
        y[at] = w->is_exclusive ? product : next;
        product = next;
    }
}

static void multiply_truth(const wf_chain_walk *w, const double *x, double *y, int64_t outer,
                           int64_t inner)
{
    double product = 1.0;
    for (int64_t k = 0; k < w->size; k++) {
        const int64_t at = wf_chain_at(w, outer, k, inner);
        const double next = product * x[at];
        y[at] = w->is_exclusive ? product : next;
        product = next;
    }
}

static void multiply_ints(const wf_chain_walk *w, const wf_tensor *x, const wf_tensor *y,
                          int64_t outer, int64_t inner)
{
    uint64_t product = 1; // wraps
    for (int64_t k = 0; k < w->size; k++) {
        const int64_t at = wf_chain_at(w, outer, k, inner);
        const uint64_t next = product * (uint64_t)wf_tensor_get_int(x, at);
        wf_tensor_set_int(y, at, (int64_t)(w->is_exclusive ? product : next));
        product = next;
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    static const wf_chain_lines lines = {multiply_f32, multiply_truth, multiply_ints};
    (void)err;
    return wf_chain_eval(q, &lines);
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_cumprod(g, wf_chain_case_input(g, in[0], p), (int32_t)p[WF_CHAIN_CASE_AXIS],
                        p[WF_CHAIN_CASE_EXCLUSIVE] != 0, p[WF_CHAIN_CASE_REVERSE] != 0);
}

static void cases(wf_check_list *list)
{
    static const wf_chain_cases kind = {
        .build = build_case, .is_cumulative = true, .is_product = true, .no_gradient = true};
    wf_chain_add_cases(list, &kind);
}

const wf_op wf_op_cumprod = {
    .name = "cumprod",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_CHAIN,
    .attrs = wf_chain_attrs,
    .n_attrs = WF_COUNT_OF(wf_chain_attrs),
    .infer = wf_infer_chain,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_cost_chain,
    .cases = cases,
};

weft_val weft_cumprod(weft_graph *g, weft_val x, int32_t axis, bool exclusive, bool reverse)
{
    return wf_build_chain(g, &wf_op_cumprod, x, axis, exclusive, reverse);
}
