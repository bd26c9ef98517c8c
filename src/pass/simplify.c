// Rewrites that keep every bit: views of views, casts to the same dtype, double negation, neutral
// elements. x + 0 is not among them (-0 + 0 is +0), nor x / c -> x * (1 / c).
#include <string.h>

#include "pass/pass.h"

extern const wf_op wf_op_add, wf_op_assign, wf_op_broadcast, wf_op_cast, wf_op_div, wf_op_fma,
    wf_op_mul, wf_op_neg, wf_op_permute, wf_op_reshape, wf_op_slice, wf_op_stop_gradient, wf_op_sub;

static const wf_node *made_by(const wf_rewrite *rw, weft_val val, const wf_op *op)
{
    const wf_node *node = wf_graph_producer(rw->dst, val.id);
    return node->op == op ? node : NULL;
}

static bool is_scalar(const wf_rewrite *rw, weft_val val, uint32_t bits)
{
    uint32_t found;
    return wf_pass_scalar_bits(rw->dst, val.id, &found) && found == bits;
}

#define BITS_ONE 0x3F800000u
#define BITS_PLUS_ZERO 0x00000000u
#define BITS_MINUS_ZERO 0x80000000u

static weft_val simplify_view(wf_rewrite *rw, const wf_node *node, weft_val x, const weft_type *t)
{
    weft_graph *g = rw->dst;
    const weft_type xt = *wf_graph_type(g, x.id);
    const wf_node *inner = made_by(rw, x, node->op);
    if (node->op == &wf_op_permute) {
        bool is_identity = true;
        int32_t order[WEFT_MAX_DIM];
        for (int32_t i = 0; i < t->ndim; i++) {
            order[i] = (int32_t)node->attrs[0].u.ints[i];
            if (inner)
                order[i] = (int32_t)inner->attrs[0].u.ints[order[i]];
            is_identity &= order[i] == i;
        }
        weft_val base = inner ? (weft_val){inner->inputs[0]} : x;
        if (is_identity)
            return base;
        return inner ? weft_permute(g, base, order) : WEFT_NONE;
    }
    if (wf_type_equal(&xt, t))
        return x; // reshape or broadcast to the same dims, a slice of everything
    if (!inner || node->op == &wf_op_slice)
        return WEFT_NONE;
    const weft_val base = {inner->inputs[0]};
    if (node->op == &wf_op_reshape) {
        return wf_type_equal(wf_graph_type(g, base.id), t)
                   ? base
                   : weft_reshape(g, base, t->dims, t->ndim);
    }
    return weft_broadcast(g, base, t->dims, t->ndim);
}

static weft_val simplify_arithmetic(wf_rewrite *rw, const wf_node *node, const weft_val *in)
{
    if (node->op == &wf_op_neg) {
        const wf_node *inner = made_by(rw, in[0], &wf_op_neg);
        return inner ? (weft_val){inner->inputs[0]} : WEFT_NONE;
    }
    if (node->op == &wf_op_mul) {
        if (is_scalar(rw, in[1], BITS_ONE))
            return in[0];
        return is_scalar(rw, in[0], BITS_ONE) ? in[1] : WEFT_NONE;
    }
    if (node->op == &wf_op_div)
        return is_scalar(rw, in[1], BITS_ONE) ? in[0] : WEFT_NONE;
    if (node->op == &wf_op_sub)
        return is_scalar(rw, in[1], BITS_PLUS_ZERO) ? in[0] : WEFT_NONE;
    if (node->op == &wf_op_add) {
        if (is_scalar(rw, in[1], BITS_MINUS_ZERO))
            return in[0];
        return is_scalar(rw, in[0], BITS_MINUS_ZERO) ? in[1] : WEFT_NONE;
    }
    if (node->op == &wf_op_fma) {
        if (is_scalar(rw, in[1], BITS_ONE))
            return weft_add(rw->dst, in[0], in[2]);
        return is_scalar(rw, in[0], BITS_ONE) ? weft_add(rw->dst, in[1], in[2]) : WEFT_NONE;
    }
    return WEFT_NONE;
}

static bool rule(wf_rewrite *rw, uint32_t node_idx)
{
    const wf_node *node = &rw->src->nodes[node_idx];
    if (node->op == &wf_op_assign) { // its result is the value: readers need not wait for the end
        wf_rewrite_copy(rw, node_idx);
        rw->map[node->first_output] = rw->map[node->inputs[1]];
        return true;
    }
    if (!wf_graph_is_ok(rw->dst) || node->n_inputs == 0 || node->n_inputs > 3 ||
        node->n_outputs != 1 || (node->op->flags & WF_OP_EFFECT)) {
        return false;
    }
    const weft_type t = *wf_graph_type(rw->src, node->first_output);
    weft_val in[3] = {{0}};
    for (uint32_t i = 0; i < node->n_inputs; i++)
        in[i] = wf_rewrite_get(rw, node->inputs[i]);
    weft_val better = WEFT_NONE;
    if (node->op == &wf_op_stop_gradient) {
        better = in[0];
    } else if (node->op == &wf_op_reshape || node->op == &wf_op_broadcast ||
               node->op == &wf_op_permute || node->op == &wf_op_slice) {
        better = simplify_view(rw, node, in[0], &t);
    } else if (node->op == &wf_op_cast) {
        better = wf_graph_type(rw->dst, in[0].id)->dtype == t.dtype ? in[0] : WEFT_NONE;
    } else if (t.dtype == WEFT_F32) {
        better = simplify_arithmetic(rw, node, in);
    }
    if (better.id == 0)
        return false;
    rw->map[node->first_output] = better.id;
    return true;
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    return wf_pass_each(src, rule, out_dst, err);
}

const wf_pass wf_pass_simplify = {"simplify", "rewrites that keep every bit", run};
