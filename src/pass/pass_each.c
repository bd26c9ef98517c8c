// What passes share: a rule per node, and a node's types.
#include "pass/pass.h"

void wf_node_types_get(const weft_graph *g, const wf_node *node, wf_node_types *out)
{
    for (uint32_t i = 0; i < node->n_inputs && i < WF_NODE_MAX_INPUTS; i++) {
        out->in[i] = *wf_graph_type(g, node->inputs[i]);
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        out->out[i] = *wf_graph_type(g, node->first_output + i);
    }
    out->info =
        (wf_node_info){node->op, node->n_inputs, out->in, node->n_outputs, out->out, node->attrs};
}

weft_status wf_pass_each(const weft_graph *src, bool (*rule)(wf_rewrite *rw, uint32_t node_idx),
                         weft_graph **out_dst, weft_error *err)
{
    wf_rewrite rw;
    *out_dst = NULL;
    WEFT_TRY(wf_rewrite_init(&rw, src, err));
    for (size_t i = 0; i < src->n_nodes; i++) {
        wf_rewrite_set_place(&rw, (uint32_t)i);
        if (!rule(&rw, (uint32_t)i))
            wf_rewrite_copy(&rw, (uint32_t)i);
    }
    return wf_rewrite_finish(&rw, out_dst, err);
}
