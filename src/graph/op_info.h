// The few facts of an op's descriptor that the graph needs. The graph does not see op/op.h (arrows
// run graph <- op), so the ops answer through these.
#ifndef WF_GRAPH_OP_INFO_H
#define WF_GRAPH_OP_INFO_H

#include "graph/graph.h"

#define WF_OP_OUTPUT_LIMIT 32

const char *wf_op_name(const wf_op *op);
size_t wf_op_n_inputs(const wf_op *op); // the least, when variadic
bool wf_op_is_variadic(const wf_op *op);
uint32_t wf_op_n_outputs(const wf_op *op, const wf_attr *attrs);
size_t wf_op_n_attrs(const wf_op *op);
wf_attr_kind wf_op_attr_kind(const wf_op *op, size_t idx);
const char *wf_op_attr_name(const wf_op *op, size_t idx);
weft_status wf_op_infer(const wf_op *op, const weft_type *in, size_t n_inputs, wf_attr *attrs,
                        weft_type *out, weft_error *err);

#endif
