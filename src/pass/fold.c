// Computes what depends on constants only, through the ops' own eval (ref), so that a folded value
// has the bits of a computed one.
#include <string.h>

#include "pass/pass.h"

// Larger results stay computed: a program should not carry a tensor that an iota can make.
#define FOLD_MAX_ELEMS 4096

extern const wf_op wf_op_constant;
enum { CONSTANT_DATA = 2 }; // name, see op/constant.c: dtype, dims, data

static bool is_constant(const weft_graph *g, wf_id id)
{
    return wf_graph_producer(g, id)->op == &wf_op_constant;
}

static bool can_fold(const wf_rewrite *rw, const wf_node *node)
{
    if (!node->op->eval || (node->op->flags & (WF_OP_SOURCE | WF_OP_EFFECT)))
        return false;
    // A broadcast constant is better left a scalar: kernels hold it in a register.
    if (node->n_inputs == 0 || node->n_outputs != 1 || node->n_inputs > WF_NODE_MAX_INPUTS ||
        (node->op->flags & WF_OP_VIEW)) {
        return false;
    }
    if (wf_type_count(wf_graph_type(rw->src, node->first_output)) > FOLD_MAX_ELEMS)
        return false;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (!is_constant(rw->dst, rw->map[node->inputs[i]]))
            return false;
    }
    return true;
}

static bool rule(wf_rewrite *rw, uint32_t node_idx)
{
    const wf_node *node = &rw->src->nodes[node_idx];
    if (!wf_graph_is_ok(rw->dst) || !can_fold(rw, node))
        return false;
    weft_graph *g = rw->dst;
    wf_node_types types;
    wf_node_types_get(rw->src, node, &types);
    wf_tensor in[WF_NODE_MAX_INPUTS];
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const wf_node *c = wf_graph_producer(g, rw->map[node->inputs[i]]);
        // eval does not write its operands
        in[i] = (wf_tensor){types.in[i], (void *)(uintptr_t)c->attrs[CONSTANT_DATA].u.data, false};
    }
    const weft_type *t = &types.out[0];
    size_t bytes = (size_t)wf_type_count(t) * weft_dtype_size(t->dtype);
    wf_tensor out = {*t, wf_arena_take(&g->arena, bytes), false};
    wf_eval q = {&types.info, in, &out, false, 0, g->context->allocator, NULL};
    weft_error err = {0};
    if (!out.data || node->op->eval(&q, &err) != WEFT_OK || q.is_bad)
        return false;
    rw->map[node->first_output] = weft_constant(g, t->dtype, t->dims, t->ndim, out.data).id;
    return true;
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    return wf_pass_each(src, rule, out_dst, err);
}

const wf_pass wf_pass_fold = {"fold", "computes constants through ref", run};
