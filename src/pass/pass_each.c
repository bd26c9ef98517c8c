// What passes share: a rule per node, a node's types, the way into regions.
#include <string.h>

#include "pass/pass.h"

extern const wf_op wf_op_broadcast, wf_op_constant, wf_op_reshape;

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

bool wf_pass_scalar_bits(const weft_graph *g, wf_id id, uint32_t *out)
{
    const wf_node *node = wf_graph_producer(g, id);
    while (node->op == &wf_op_broadcast || node->op == &wf_op_reshape) {
        node = wf_graph_producer(g, node->inputs[0]);
    }
    const weft_type *t = wf_graph_type(g, node->first_output);
    if (node->op != &wf_op_constant || t->dtype != WEFT_F32 || wf_type_count(t) != 1)
        return false;
    memcpy(out, node->attrs[node->op->n_attrs - 1].u.data, sizeof *out);
    return true;
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

// The graph owns its regions, so one that a pass has replaced is destroyed here.
static weft_status replace_region(const wf_pass *pass, weft_graph *g, wf_attr *attr,
                                  weft_error *err)
{
    weft_graph *next;
    WEFT_TRY(wf_pass_run(pass, attr->u.graph, &next, err));
    for (size_t i = 0; i < g->n_regions; i++) {
        if (g->regions[i] != attr->u.graph)
            continue;
        weft_graph_destroy(g->regions[i]);
        g->regions[i] = next;
        attr->u.graph = next;
        return WEFT_OK;
    }
    weft_graph_destroy(next);
    WEFT_FAIL(err, WEFT_ERR_INTERNAL, "a region is not its graph's");
}

weft_status wf_pass_run(const wf_pass *pass, const weft_graph *src, weft_graph **out_dst,
                        weft_error *err)
{
    WEFT_TRY(pass->run(src, out_dst, err));
    weft_graph *g = *out_dst;
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < g->n_nodes && status == WEFT_OK; i++) {
        wf_attr *region = wf_node_region(&g->nodes[i]);
        if (region)
            status = replace_region(pass, g, region, err);
    }
    if (status != WEFT_OK) {
        weft_graph_destroy(g);
        *out_dst = NULL;
    }
    return status;
}
