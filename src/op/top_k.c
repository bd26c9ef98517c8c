// (y, idx) = top_k(x; axis, largest, k): the first k of x sorted along an axis, and where each came from.
// The order: order.h.
#include "op/order.h"

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_val values;
    weft_top_k(g, in[0], p[2], (int32_t)p[0], p[1] != 0, &values, NULL);
    return values;
}

static void cases(wf_check_list *list)
{
    static const int64_t ks[] = {1, 7, 200};
    wf_order_add_cases(list, build_case, ks, WF_COUNT_OF(ks));
}

static const wf_attr_spec attrs[] = {
    {"axis", WF_ATTR_INT}, {"largest", WF_ATTR_BOOL}, {"k", WF_ATTR_INT}};

const wf_op wf_op_top_k = {
    .name = "top_k",
    .n_inputs = 1,
    .n_outputs = 2,
    .task = WF_TASK_ORDER,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = wf_infer_order,
    .grad = wf_order_grad,
    .eval = wf_order_eval,
    .cost = wf_cost_order,
    .cases = cases,
};

void weft_top_k(weft_graph *g, weft_val x, int64_t k, int32_t axis, bool largest,
                weft_val *out_values, weft_val *out_indices)
{
    weft_val first = WEFT_NONE;
    int32_t at;
    if (wf_build_ready(g, &wf_op_top_k, &x, 1) &&
        wf_build_axis(g, &wf_op_top_k, wf_graph_type(g, x.id), axis, &at)) {
        const wf_attr list[] = {wf_attr_int(at), wf_attr_int(largest), wf_attr_int(k)};
        first = wf_graph_add(g, &wf_op_top_k, &x, 1, list);
    }
    if (out_values)
        *out_values = first;
    if (out_indices)
        *out_indices = wf_val_output(first, 1);
}
