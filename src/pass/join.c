// Sums in which zeros are added, as gradients of parts make them, become writes to where the parts belong. An
// element x + (+0) differs from x for x = -0 only, so every bit stays.
//
// Parts that are padded with +0 to the size of the whole and lie beside each other become their concat; where
// the op that made x may give -0 the + (+0) stays as well. What is scattered over +0 and added to a value that
// is never -0, the gradient of a table that is also a matrix, is scattered over that value.
#include <math.h>

#include "pass/pass.h"

extern const wf_op wf_op_add, wf_op_pad, wf_op_scatter_add;
enum { PAD_BEFORE, PAD_AFTER, PAD_VALUE };

#define MAX_PARTS 8 // longer sums have other parts in them

typedef struct part {
    weft_val val;
    int64_t start, size; // along the axis
} part;

typedef struct parts {
    const wf_rewrite *rw;
    int32_t axis; // -1: not known yet
    size_t n;
    part list[MAX_PARTS]; // by start
} parts;

// The one axis along which a pad adds +0; -1: none or several, or it adds something else.
static int32_t padded_axis(const wf_node *pad)
{
    const double value = pad->attrs[PAD_VALUE].u.f;
    int32_t axis = -1;
    if (value != 0.0 || signbit(value))
        return -1;
    for (size_t i = 0; i < pad->attrs[PAD_BEFORE].n; i++) {
        if (pad->attrs[PAD_BEFORE].u.ints[i] == 0 && pad->attrs[PAD_AFTER].u.ints[i] == 0)
            continue;
        if (axis >= 0)
            return -1;
        axis = (int32_t)i;
    }
    return axis;
}

static bool gather_parts(parts *p, wf_id id)
{
    const weft_graph *g = p->rw->dst;
    const wf_node *node = wf_graph_producer(g, id);
    if (node->op == &wf_op_add)
        return gather_parts(p, node->inputs[0]) && gather_parts(p, node->inputs[1]);
    if (node->op != &wf_op_pad || p->n == MAX_PARTS)
        return false;
    const int32_t axis = padded_axis(node);
    if (axis < 0 || (p->axis >= 0 && axis != p->axis))
        return false;
    p->axis = axis;
    const part one = {.val = {node->inputs[0]},
                      .start = node->attrs[PAD_BEFORE].u.ints[axis],
                      .size = wf_graph_type(g, node->inputs[0])->dims[axis]};
    size_t at = p->n++;
    for (; at > 0 && p->list[at - 1].start > one.start; at--)
        p->list[at] = p->list[at - 1];
    p->list[at] = one;
    return true;
}

// Do the parts fill the whole, and none lies over another?
static bool are_whole(const parts *p, const weft_type *whole)
{
    int64_t end = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->list[i].start != end)
            return false;
        end += p->list[i].size;
    }
    return p->n > 1 && end == whole->dims[p->axis];
}

static bool is_never_minus_zero(const weft_graph *g, wf_id id)
{
    const wf_node *node = wf_graph_producer(g, id);
    while ((node->op->flags & WF_OP_VIEW) && node->n_inputs == 1)
        node = wf_graph_producer(g, node->inputs[0]);
    return (node->op->flags & WF_OP_NO_MINUS_ZERO) != 0;
}

static weft_val add_plus_zero(weft_graph *g, weft_val x)
{
    return is_never_minus_zero(g, x.id) ? x : weft_add(g, x, weft_scalar(g, WEFT_F32, 0.0));
}

static weft_val join_pads(wf_rewrite *rw, weft_val a, weft_val b)
{
    parts p = {.rw = rw, .axis = -1};
    weft_val vals[MAX_PARTS];
    if (!gather_parts(&p, a.id) || !gather_parts(&p, b.id) ||
        !are_whole(&p, wf_graph_type(rw->dst, a.id))) {
        return WEFT_NONE;
    }
    for (size_t i = 0; i < p.n; i++)
        vals[i] = add_plus_zero(rw->dst, p.list[i].val);
    return weft_concat(rw->dst, vals, p.n, p.axis);
}

static bool is_plus_zero(const weft_graph *g, wf_id id)
{
    uint32_t bits;
    return wf_pass_scalar_bits(g, id, &bits) && bits == 0;
}

// A sum of updates starts at +0, so it is never -0 either.
static weft_val join_scatter(wf_rewrite *rw, weft_val scattered, weft_val other)
{
    weft_graph *g = rw->dst;
    const wf_node *node = wf_graph_producer(g, scattered.id);
    if (node->op != &wf_op_scatter_add || !is_plus_zero(g, node->inputs[0]) ||
        !is_never_minus_zero(g, other.id)) {
        return WEFT_NONE;
    }
    return weft_scatter_add(g, other, (weft_val){node->inputs[1]}, (weft_val){node->inputs[2]},
                            (int32_t)node->attrs[0].u.i);
}

static bool rule(wf_rewrite *rw, uint32_t node_idx)
{
    const wf_node *node = &rw->src->nodes[node_idx];
    if (!wf_graph_is_ok(rw->dst) || node->op != &wf_op_add ||
        wf_graph_type(rw->src, node->first_output)->dtype != WEFT_F32) {
        return false;
    }
    const weft_val a = wf_rewrite_get(rw, node->inputs[0]), b = wf_rewrite_get(rw, node->inputs[1]);
    weft_val better = join_pads(rw, a, b);
    if (!better.id)
        better = join_scatter(rw, a, b);
    if (!better.id)
        better = join_scatter(rw, b, a);
    if (!better.id)
        return false;
    rw->map[node->first_output] = better.id;
    return true;
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    return wf_pass_each(src, rule, out_dst, err);
}

const wf_pass wf_pass_join = {"join", "sums that add zeros become writes to where the parts belong",
                              run};
