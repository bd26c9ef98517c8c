// loss = softmax_cross_entropy(logits, labels) = log sum exp(logits) - logits[label], for each row.
//   logits [n,c] f32, labels [n] i32 -> loss [n] f32
// The expansion is the definition: z = logits - max, then log sum flush(exp(z)) - z[label].
// A label outside [0,c) makes the step bad.
#include "op/build.h"
#include "op/check_case.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0], *labels = &info->in[1];
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (x->dtype != WEFT_F32 || labels->dtype != WEFT_I32) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "logits is %s, labels is %s, expected f32 and i32",
                  wf_type_text(x, a), wf_type_text(labels, b));
    }
    if (x->ndim != 2 || labels->ndim != 1 || labels->dims[0] != x->dims[0]) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "logits is %s, labels is %s, expected [n,c] and [n]",
                  wf_type_text(x, a), wf_type_text(labels, b));
    }
    if (x->dims[1] < 1 || x->dims[1] > INT32_MAX) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "logits is %s, expected 1 to %d classes", wf_type_text(x, a),
                  INT32_MAX);
    }
    *out = wf_type_make(WEFT_F32, 1, x->dims);
    return WEFT_OK;
}

// What expansion and gradient share, all [n,c] but for sum [n,1].
typedef struct parts {
    weft_val z;      // logits - max of the row
    weft_val e;      // flush(exp(z))
    weft_val sum;    // of e
    weft_val is_hit; // bool: this is the label's column
} parts;

static parts build_parts(weft_graph *g, const weft_type *x, weft_val logits, weft_val labels)
{
    static const int32_t last = -1;
    const int64_t column[] = {x->dims[0], 1};
    parts p;
    p.z = weft_sub(g, logits, weft_reduce_max(g, logits, &last, 1, true));
    p.e = weft_flush(g, weft_exp(g, p.z));
    p.sum = weft_sum(g, p.e, &last, 1, true);
    p.is_hit =
        weft_equal(g, weft_iota(g, WEFT_I32, x->dims, 2, 1), weft_reshape(g, labels, column, 2));
    return p;
}

static void expand(weft_graph *g, const wf_node_info *info, const weft_val *in, weft_val *out)
{
    static const int32_t last = -1;
    const weft_type *x = &info->in[0];
    weft_index_guard(g, in[1], x->dims[1]);
    const parts p = build_parts(g, x, in[0], in[1]);
    // A selected sum has one term that is not +0: it is z[label], whatever the order.
    const weft_val picked =
        weft_sum(g, weft_select(g, p.is_hit, p.z, weft_scalar(g, WEFT_F32, 0.0)), &last, 1, false);
    const weft_val lse = weft_log(g, weft_reshape(g, p.sum, x->dims, 1));
    out[0] = weft_sub(g, lse, picked);
}

// dlogits = (softmax - [column is the label]) * dloss
static void grad(const wf_grad_query *q)
{
    const weft_type *x = &q->info->in[0];
    const int64_t column[] = {x->dims[0], 1};
    if (!q->need[0])
        return;
    const parts p = build_parts(q->g, x, q->in[0], q->in[1]);
    const weft_val softmax = weft_div(q->g, p.e, p.sum);
    const weft_val one = weft_scalar(q->g, WEFT_F32, 1.0);
    const weft_val slope = weft_select(q->g, p.is_hit, weft_sub(q->g, softmax, one), softmax);
    q->din[0] = weft_flush(q->g, weft_mul(q->g, slope, weft_reshape(q->g, q->dout[0], column, 2)));
}

static wf_cost cost(const wf_node_info *info)
{
    const wf_cost c = {4.0 * (double)wf_type_count(&info->in[0]), wf_cost_bytes(info)};
    return c;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    return weft_softmax_cross_entropy(g, in[0], in[1]);
}

static void cases(wf_check_list *list)
{
    static const struct {
        const char *name;
        int64_t dims[2];
        wf_check_fill fill;
    } table[] = {
        {"no rows", {0, 3}, WF_CHECK_NORMAL}, {"one class", {3, 1}, WF_CHECK_NORMAL},
        {"31x10", {31, 10}, WF_CHECK_NORMAL}, {"5x32", {5, 32}, WF_CHECK_NORMAL},
        {"7x33", {7, 33}, WF_CHECK_NORMAL},   {"2x5001", {2, 5001}, WF_CHECK_NORMAL},
        {"wide", {9, 17}, WF_CHECK_WIDE},     {"special values", {40, 7}, WF_CHECK_SPECIAL},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        wf_check_add(
            list, (wf_check_case){
                      .name = table[i].name,
                      .build = build_case,
                      .n_inputs = 2,
                      .inputs = {{wf_type_make(WEFT_F32, 2, table[i].dims), table[i].fill, 0},
                                 {wf_type_make(WEFT_I32, 1, table[i].dims), WF_CHECK_INDEX,
                                  table[i].dims[1]}},
                      .no_difference = table[i].fill != WF_CHECK_NORMAL || table[i].dims[1] > 100});
    }
}

const wf_op wf_op_softmax_cross_entropy = {
    .name = "softmax_cross_entropy",
    .n_inputs = 2,
    .n_outputs = 1,
    .task = WF_TASK_ROW,
    .infer = infer,
    .grad = grad,
    .expand = expand,
    .cost = cost,
    .cases = cases,
};

weft_val weft_softmax_cross_entropy(weft_graph *g, weft_val logits, weft_val labels)
{
    const weft_val in[] = {logits, labels};
    return wf_graph_add(g, &wf_op_softmax_cross_entropy, in, 2, NULL);
}
