// Replaces ops that are defined by simpler ones (softmax_cross_entropy) with those. The expansion
// defines their bits.
#include "pass/pass.h"

static bool rule(wf_rewrite *rw, uint32_t node_idx)
{
    const wf_node *node = &rw->src->nodes[node_idx];
    if (!node->op->expand)
        return false;
    wf_node_types types;
    wf_node_types_get(rw->src, node, &types);
    weft_val in[WF_NODE_MAX_INPUTS], out[WF_OP_MAX_OUTPUTS] = {{0}};
    for (uint32_t i = 0; i < node->n_inputs && i < WF_NODE_MAX_INPUTS; i++) {
        in[i] = wf_rewrite_get(rw, node->inputs[i]);
    }
    node->op->expand(rw->dst, &types.info, in, out);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        rw->map[node->first_output + i] = out[i].id;
    return true;
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    return wf_pass_each(src, rule, out_dst, err);
}

const wf_pass wf_pass_expand = {"expand", "replaces ops that are defined by simpler ones", run};
