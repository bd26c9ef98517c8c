// What sort and top_k share: one order of elements, ranks along an axis, their gradient.
//
// Ascending: integers by value; f32 -inf .. -0 < +0 .. +inf; NaN last. Descending: the other way round, but
// NaN last as well. Equal elements keep their order, so of ties the lowest index comes first.
#ifndef WF_OP_ORDER_H
#define WF_OP_ORDER_H

#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

// Attributes of both; top_k's third is k.
enum { WF_ORDER_AXIS, WF_ORDER_DESCENDING, WF_ORDER_K };

#define WF_DTYPES_ORDER (WF_DTYPE_BIT(WEFT_F32) | WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL))

// How many are wanted: k, or the whole axis.
static inline int64_t wf_order_count(const wf_node_info *info)
{
    return info->op->n_attrs > WF_ORDER_K ? info->attrs[WF_ORDER_K].u.i
                                          : info->in[0].dims[info->attrs[WF_ORDER_AXIS].u.i];
}

weft_status wf_infer_order(const wf_node_info *info, weft_type *out, weft_error *err);
weft_status wf_order_eval(wf_eval *q, weft_error *err);
void wf_order_grad(const wf_grad_query *q);
wf_cost wf_cost_order(const wf_node_info *info);

// One case for each row of a table: dims, axis, descending, k (not used by sort).
void wf_order_add_cases(wf_check_list *list,
                        weft_val (*build)(weft_graph *g, const weft_val *in, const int64_t *p),
                        const int64_t *ks, size_t n_ks);

#endif
