// The canonical pass, which is part of the arithmetic (doc/arithmetic.md, "What defines the bits"):
// an f32 elementwise add or subtract with an elementwise product among its operands becomes one fma.
// The left operand's product is taken first, whatever else the product is used for; a negation
// around a product is folded in. Sums and other reductions never.
#include "pass/pass.h"

extern const wf_op wf_op_add, wf_op_sub, wf_op_neg;

// x * y or -(x * y) behind a value, with the sign.
typedef struct {
    weft_val x, y;
    bool is_negative;
} product;

static bool find_product(const wf_rewrite *rw, wf_id id, product *out)
{
    const wf_node *node = wf_graph_producer(rw->src, id);
    bool is_negative = false;
    while (node->op == &wf_op_neg) {
        is_negative = !is_negative;
        node = wf_graph_producer(rw->src, node->inputs[0]);
    }
    if (!(node->op->flags & WF_OP_PRODUCT))
        return false;
    *out = (product){wf_rewrite_get(rw, node->inputs[0]), wf_rewrite_get(rw, node->inputs[1]),
                     is_negative};
    return true;
}

static bool rule(wf_rewrite *rw, uint32_t node_idx)
{
    const wf_node *node = &rw->src->nodes[node_idx];
    const bool is_sub = node->op == &wf_op_sub;
    if (node->op != &wf_op_add && !is_sub)
        return false;
    if (wf_graph_type(rw->src, node->first_output)->dtype != WEFT_F32)
        return false;
    weft_graph *g = rw->dst;
    const weft_val left = wf_rewrite_get(rw, node->inputs[0]);
    const weft_val right = wf_rewrite_get(rw, node->inputs[1]);
    product p;
    weft_val rest;
    if (find_product(rw, node->inputs[0], &p)) {
        rest = is_sub ? weft_neg(g, right) : right;
    } else if (find_product(rw, node->inputs[1], &p)) {
        rest = left;
        p.is_negative ^= is_sub;
    } else {
        return false;
    }
    const weft_val x = p.is_negative ? weft_neg(g, p.x) : p.x;
    rw->map[node->first_output] = weft_fma(g, x, p.y, rest).id;
    return true;
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    return wf_pass_each(src, rule, out_dst, err);
}

const wf_pass wf_pass_canonical = {"canonical", "turns products beside sums into fma", run};
