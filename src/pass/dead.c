// Drops what neither an output nor an effect needs.
#include "pass/pass.h"

extern const wf_op wf_op_input;

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    *out_dst = NULL;
    bool *is_live; // by node
    const wf_allocator *a = &src->context->allocator;
    WEFT_TRY(wf_alloc(a, src->n_nodes, sizeof *is_live, &is_live, err));
    for (size_t i = 0; i < src->n_outputs; i++) {
        is_live[wf_graph_value(src, src->outputs[i].val)->node] = true;
    }
    for (size_t i = src->n_nodes; i-- > 0;) {
        const wf_node *node = &src->nodes[i];
        // A region's inputs stand for operands by their place: `trim` drops both.
        const bool is_operand = src->is_region && node->op == &wf_op_input;
        if ((node->op->flags & WF_OP_EFFECT) || is_operand)
            is_live[i] = true;
        for (uint32_t k = 0; is_live[i] && k < node->n_inputs; k++) {
            is_live[wf_graph_value(src, node->inputs[k])->node] = true;
        }
    }
    wf_rewrite rw;
    weft_status status = wf_rewrite_init(&rw, src, err);
    if (status == WEFT_OK) {
        for (size_t i = 0; i < src->n_nodes; i++) {
            if (is_live[i])
                wf_rewrite_copy(&rw, (uint32_t)i);
        }
        status = wf_rewrite_finish(&rw, out_dst, err);
    }
    wf_free(a, is_live);
    return status;
}

const wf_pass wf_pass_dead = {"dead", "drops what no output and no effect needs", run};
