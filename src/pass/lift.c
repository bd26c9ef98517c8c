// A reshape that cuts the rows of elementwise work on a product moves in front of that work, so that what comes
// behind the reshape is of the same dims and may share its task: linear layers over [b,t,c] are products over
// [b*t,c]. Only where axes are cut: such a view needs no copy, whatever it is a view of.
#include "pass/pass.h"

extern const wf_op wf_op_cast, wf_op_reshape, wf_op_select;

typedef struct lifter {
    wf_rewrite rw;
    uint32_t *n_uses;    // by value
    uint32_t *user;      // by value: its last reader
    bool *is_on_product; // by node: elementwise, and made of a product
    uint32_t *reshape;   // by node: whose dims it takes; NO_RESHAPE: its own
} lifter;

#define NO_RESHAPE UINT32_MAX

// Does every axis of x become some axes of y?
static bool is_cut(const weft_type *x, const weft_type *y)
{
    int32_t k = 0;
    for (int32_t i = 0; i < x->ndim; i++) {
        int64_t count = 1;
        for (; k < y->ndim && count < x->dims[i]; k++)
            count *= y->dims[k];
        if (count != x->dims[i])
            return false;
    }
    for (; k < y->ndim; k++) {
        if (y->dims[k] != 1)
            return false;
    }
    return true;
}

static bool is_elementwise(const wf_node *node)
{
    const bool is_it = (node->op->flags & WF_OP_ELEMENTWISE) || node->op == &wf_op_cast ||
                       node->op == &wf_op_select;
    return is_it && node->n_outputs == 1 && node->n_inputs > 0 && node->n_inputs <= 3;
}

static void count_uses(lifter *l)
{
    const weft_graph *g = l->rw.src;
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            l->n_uses[node->inputs[i]]++;
            l->user[node->inputs[i]] = n;
        }
    }
    for (size_t i = 0; i < g->n_outputs; i++)
        l->n_uses[g->outputs[i].val] += 2; // has to be there as it is
}

static void find_products(lifter *l)
{
    const weft_graph *g = l->rw.src;
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        for (uint32_t i = 0; i < node->n_inputs && is_elementwise(node); i++) {
            const uint32_t from = wf_graph_value(g, node->inputs[i])->node;
            l->is_on_product[n] |=
                g->nodes[from].op->task == WF_TASK_CONTRACT || l->is_on_product[from];
        }
    }
}

// From the last node back: what is read by one reshape only, or by one node that takes its dims.
static void find_reshapes(lifter *l)
{
    const weft_graph *g = l->rw.src;
    for (uint32_t n = (uint32_t)g->n_nodes; n-- > 0;) {
        const wf_id id = g->nodes[n].first_output;
        l->reshape[n] = NO_RESHAPE;
        if (!l->is_on_product[n] || l->n_uses[id] != 1)
            continue;
        const wf_node *user = &g->nodes[l->user[id]];
        if (user->op != &wf_op_reshape)
            l->reshape[n] = l->reshape[l->user[id]];
        else if (is_cut(wf_graph_type(g, id), wf_graph_type(g, user->first_output)))
            l->reshape[n] = l->user[id];
    }
}

static void lift(lifter *l, uint32_t n)
{
    wf_rewrite *rw = &l->rw;
    const wf_node *node = &rw->src->nodes[n];
    const weft_type *t = wf_graph_type(rw->src, rw->src->nodes[l->reshape[n]].first_output);
    weft_val in[3];
    wf_rewrite_set_place(rw, n);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const uint32_t from = wf_graph_value(rw->src, node->inputs[i])->node;
        in[i] = wf_rewrite_get(rw, node->inputs[i]);
        if (l->reshape[from] == NO_RESHAPE) // else it has these dims already
            in[i] = weft_reshape(rw->dst, in[i], t->dims, t->ndim);
    }
    rw->map[node->first_output] =
        wf_graph_add(rw->dst, node->op, in, node->n_inputs, node->attrs).id;
}

static void visit(lifter *l, uint32_t n)
{
    const wf_node *node = &l->rw.src->nodes[n];
    if (l->reshape[n] != NO_RESHAPE && wf_graph_is_ok(l->rw.dst)) {
        lift(l, n);
    } else if (node->op == &wf_op_reshape &&
               l->reshape[wf_graph_value(l->rw.src, node->inputs[0])->node] == n) {
        l->rw.map[node->first_output] = l->rw.map[node->inputs[0]];
    } else {
        wf_rewrite_copy(&l->rw, n);
    }
}

static weft_status lift_all(lifter *l, const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    const wf_allocator *a = &src->context->allocator;
    WEFT_TRY(wf_alloc(a, src->n_values, sizeof *l->n_uses, &l->n_uses, err));
    WEFT_TRY(wf_alloc(a, src->n_values, sizeof *l->user, &l->user, err));
    WEFT_TRY(wf_alloc(a, src->n_nodes, sizeof *l->is_on_product, &l->is_on_product, err));
    WEFT_TRY(wf_alloc(a, src->n_nodes, sizeof *l->reshape, &l->reshape, err));
    WEFT_TRY(wf_rewrite_init(&l->rw, src, err));
    count_uses(l);
    find_products(l);
    find_reshapes(l);
    for (uint32_t n = 0; n < src->n_nodes; n++)
        visit(l, n);
    return wf_rewrite_finish(&l->rw, out_dst, err);
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    const wf_allocator *a = &src->context->allocator;
    lifter l = {.n_uses = NULL};
    *out_dst = NULL;
    const weft_status status = lift_all(&l, src, out_dst, err);
    wf_free(a, l.n_uses);
    wf_free(a, l.user);
    wf_free(a, l.is_on_product);
    wf_free(a, l.reshape);
    return status;
}

const wf_pass wf_pass_lift = {"lift", "moves reshapes in front of work on products", run};
