// (y, idx) = sort(x; axis, descending): the elements in order along an axis, and where each came from.
// The order: order.h.
#include "op/order.h"

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_val values;
    weft_sort(g, in[0], (int32_t)p[0], p[1] != 0, &values, NULL);
    return values;
}

static void cases(wf_check_list *list)
{
    static const int64_t all[] = {INT64_MAX};
    wf_order_add_cases(list, build_case, all, 1);
}

static const wf_attr_spec attrs[] = {{"axis", WF_ATTR_INT}, {"descending", WF_ATTR_BOOL}};

const wf_op wf_op_sort = {
    .name = "sort",
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

void weft_sort(weft_graph *g, weft_val x, int32_t axis, bool descending, weft_val *out_values,
               weft_val *out_indices)
{
    weft_val first = WEFT_NONE;
    int32_t at;
    if (wf_build_ready(g, &wf_op_sort, &x, 1) &&
        wf_build_axis(g, &wf_op_sort, wf_graph_type(g, x.id), axis, &at)) {
        const wf_attr list[] = {wf_attr_int(at), wf_attr_int(descending)};
        first = wf_graph_add(g, &wf_op_sort, &x, 1, list);
    }
    if (out_values)
        *out_values = first;
    if (out_indices)
        *out_indices = wf_val_output(first, 1);
}
