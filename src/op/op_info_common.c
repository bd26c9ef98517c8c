// What the graph asks of an op's descriptor (graph/op_info.h).
#include "graph/op_info.h"

#include "op/op.h"

_Static_assert(WF_OP_MAX_OUTPUTS == WF_OP_OUTPUT_LIMIT, "one limit, seen from two sides");

const char *wf_op_name(const wf_op *op)
{
    return op->name;
}
size_t wf_op_n_inputs(const wf_op *op)
{
    return op->n_inputs;
}
bool wf_op_is_variadic(const wf_op *op)
{
    return (op->flags & WF_OP_VARIADIC) != 0;
}
uint32_t wf_op_n_outputs(const wf_op *op, const wf_attr *attrs)
{
    return op->count_outputs ? op->count_outputs(attrs) : op->n_outputs;
}
size_t wf_op_n_attrs(const wf_op *op)
{
    return op->n_attrs;
}
wf_attr_kind wf_op_attr_kind(const wf_op *op, size_t idx)
{
    return op->attrs[idx].kind;
}
const char *wf_op_attr_name(const wf_op *op, size_t idx)
{
    return op->attrs[idx].name;
}

weft_status wf_op_infer(const wf_op *op, const weft_type *in, size_t n_inputs, wf_attr *attrs,
                        weft_type *out, weft_error *err)
{
    wf_node_info info = {op, n_inputs, in, wf_op_n_outputs(op, attrs), NULL, attrs};
    return op->infer(&info, out, err);
}

double wf_op_stored_count(const weft_graph *g, wf_id id)
{
    double count = (double)wf_type_count(wf_graph_type(g, id));
    for (const wf_node *node = wf_graph_producer(g, id);
         (node->op->flags & WF_OP_VIEW) && node->n_inputs == 1;
         node = wf_graph_producer(g, node->inputs[0])) {
        const double base = (double)wf_type_count(wf_graph_type(g, node->inputs[0]));
        count = base < count ? base : count;
    }
    return count;
}
