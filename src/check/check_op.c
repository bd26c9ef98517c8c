// One op: each of its cases, its operands dense and strided, forward and backward, on the device and on
// ref, against float64 and finite differences. Stage: check.
#include <math.h>
#include <stdio.h>

#include "check/check.h"

// Strided twins of larger cases would show nothing new.
#define STRIDED_MAX_ELEMS 20000
// Differences evaluate the graph some hundred times.
#define DIFFERENCE_MAX_ELEMS 4096

static int64_t count_inputs(const wf_check_case *one)
{
    int64_t n = 0;
    for (size_t i = 0; i < one->n_inputs; i++) {
        n += wf_type_count(&one->inputs[i].type);
    }
    return n;
}

static bool has_special(const wf_check_case *one)
{
    for (size_t i = 0; i < one->n_inputs; i++) {
        if (one->inputs[i].fill == WF_CHECK_SPECIAL && one->inputs[i].type.dtype == WEFT_F32) {
            return true;
        }
    }
    return false;
}

static bool has_strided(const wf_check_case *one)
{
    for (size_t i = 0; i < one->n_inputs; i++) {
        if (one->inputs[i].type.ndim > 0) {
            return count_inputs(one) <= STRIDED_MAX_ELEMS;
        }
    }
    return false;
}

static bool has_narrow(const weft_graph *g)
{
    for (wf_id id = 1; id < g->n_values; id++) {
        const weft_dtype dtype = wf_graph_type(g, id)->dtype;
        if (dtype == WEFT_F16 || dtype == WEFT_BF16) {
            return true;
        }
    }
    return false;
}

// Sums of n terms by the row or the column rule: at most 64 additions a level (doc/arithmetic.md).
static double sum_limit(double n)
{
    double limit = 64.0;
    for (; n > 64.0; n /= 64.0) {
        limit += 64.0;
    }
    return limit;
}

// A chain of at most 4096 fma, then the blocks.
static double product_limit(double n)
{
    return fmin(n, 4096.0) + n / 4096.0 + 2.0;
}

wf_check_bound wf_check_bound_of(const wf_op *op, const wf_check_case *one,
                                 const wf_check_trial *trial)
{
    wf_check_bound bound = {(op->flags & WF_OP_ELEMENTWISE) != 0, one->bound};
    if (bound.limit > 0.0) {
        return bound;
    }
    const wf_node *node = wf_graph_producer(trial->g, trial->g->outputs[0].val);
    const double n_out = (double)wf_type_count(wf_graph_type(trial->g, node->first_output));
    const double n_in =
        node->n_inputs ? (double)wf_type_count(wf_graph_type(trial->g, node->inputs[0])) : 0.0;
    switch (op->task) {
    case WF_TASK_CONTRACT:
    case WF_TASK_CONV: {
        weft_type in[WF_CHECK_MAX_INPUTS], out = *wf_graph_type(trial->g, node->first_output);
        for (uint32_t i = 0; i < node->n_inputs && i < WF_CHECK_MAX_INPUTS; i++) {
            in[i] = *wf_graph_type(trial->g, node->inputs[i]);
        }
        const wf_node_info info = {node->op, node->n_inputs, in, 1, &out, node->attrs};
        bound.limit = n_out > 0.0 && node->op->cost
                          ? product_limit(node->op->cost(&info).flops / 2.0 / n_out)
                          : 2.0;
        break;
    }
    case WF_TASK_MAP: bound.limit = 2.0; break; // a function: 2 ulp (doc/arithmetic.md)
    default: bound.limit = sum_limit(n_out > 0.0 ? n_in / n_out : 0.0); break;
    }
    return bound;
}

// Where infinities may be born of finite terms that float64 still holds, only bits are compared.
static bool has_truth(const wf_op *op, const wf_check_case *one)
{
    return !has_special(one) || op->task == WF_TASK_MAP || op->task == WF_TASK_NONE;
}

static bool compare_truth(const wf_op *op, const wf_check_case *one, const wf_check_trial *trial,
                          const wf_check_result *ref, bool is_dense, double *out_ulp,
                          char reason[256])
{
    wf_check_truth *truth = NULL, *magnitude = NULL;
    weft_error err = {0};
    bool is_ok = true, is_smooth = true;
    weft_status status = wf_check_truth_run(trial, false, &truth, &err);
    if (status == WEFT_OK && !(op->flags & WF_OP_ELEMENTWISE)) {
        status = wf_check_truth_run(trial, true, &magnitude, &err);
    }
    if (status == WEFT_OK) {
        is_ok = wf_check_near(ref, truth, magnitude, trial->n_forward,
                              wf_check_bound_of(op, one, trial), out_ulp, reason);
        is_ok = is_ok && (has_special(one) ||
                          wf_check_gradients_near(ref, truth, has_narrow(trial->g), reason));
    }
    const bool is_small = count_inputs(one) <= DIFFERENCE_MAX_ELEMS;
    if (status == WEFT_OK && is_ok && trial->has_gradient && is_dense && !one->no_difference &&
        !has_special(one) && is_small) {
        status = wf_check_differences(trial, truth, &is_smooth, reason, &err);
    }
    if (status != WEFT_OK) {
        (void)snprintf(reason, 256, "float64: %.200s", err.message);
    }
    wf_check_truth_destroy(truth);
    wf_check_truth_destroy(magnitude);
    return status == WEFT_OK && is_ok && is_smooth;
}

static void run_case(wf_check_session *s, const wf_op *op, const wf_check_case *one,
                     wf_check_layout layout)
{
    wf_check_trial trial;
    wf_check_result ref = {.n = 0};
    weft_error err = {0};
    char reason[256] = "", name[256];
    weft_check_status status = WEFT_CHECK_DIFFERENT;
    double ulp = -1.0;
    (void)snprintf(name, sizeof name, "%s%s", one->name,
                   layout == WF_CHECK_DENSE ? "" : ", strided");
    if (wf_check_trial_init(&trial, s->ctx, op->name, one, layout, &err) != WEFT_OK) {
        (void)snprintf(reason, sizeof reason, "%.250s", err.message);
    } else {
        status = wf_check_both(s, &trial, &ref, reason);
        if (status == WEFT_CHECK_EQUAL && has_truth(op, one) && ref.ended == WEFT_OK &&
            !compare_truth(op, one, &trial, &ref, layout == WF_CHECK_DENSE, &ulp, reason)) {
            status = WEFT_CHECK_DIFFERENT;
        }
        wf_check_result_deinit(&ref);
    }
    wf_check_trial_deinit(&trial);
    const weft_check_event event = {op->name, name, status, reason, ulp, NULL};
    wf_check_tell(s, &event);
}

weft_status wf_check_op(wf_check_session *s, const wf_op *op, weft_error *err)
{
    wf_check_list list;
    const size_t every = s->options->every ? s->options->every : 1;
    const weft_status status = wf_check_list_init(&list, s->ctx, op, err);
    for (size_t i = 0; status == WEFT_OK && i < list.n; i += every) {
        run_case(s, op, &list.items[i], WF_CHECK_DENSE);
        if (has_strided(&list.items[i])) {
            run_case(s, op, &list.items[i], WF_CHECK_STRIDED);
        }
    }
    wf_check_list_deinit(&list);
    return status;
}
