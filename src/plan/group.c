// Which nodes share a task. Elementwise nodes join the group of one of their operands when they
// walk the same space; a reduction turns a group into ROW or COLUMN; two groups merge when a node
// reads both. A join that would make two groups wait for each other is refused (would_cycle). Where the
// device can, elementwise nodes join the group of the product that they read: its epilogue.
// Fusion changes no bit: the graph after the canonical pass fixes every value.
#include <string.h>

#include "op/inst.h"
#include "op/reduce.h"
#include "plan/planner.h"

// A row whose elements are walked again after its reduction is kept short enough for a core's cache
// and a GPU's work-group; longer ones are reduced by one task and walked by the next.
#define ROW_FUSE_MAX_INNER 16384
// Operands of one kernel: OpenCL guarantees 1024 bytes of arguments; each operand takes a pointer,
// an offset and strides.
#define MAX_GROUP_NODES 96
#define MAX_GROUP_OPERANDS 24

bool wf_group_has_dims(const wf_group *group, const weft_type *t)
{
    return group->ndim == t->ndim &&
           !memcmp(group->dims, t->dims, (size_t)t->ndim * sizeof(int64_t));
}

// The group's space with the inner axes of size 1.
static bool has_outer_dims(const wf_group *group, const weft_type *t)
{
    if (!group->has_reduce || group->ndim != t->ndim)
        return false;
    for (int32_t i = 0; i < t->ndim; i++) {
        if (t->dims[i] != (group->is_inner[i] ? 1 : group->dims[i]))
            return false;
    }
    return true;
}

static int64_t inner_count(const wf_group *group)
{
    int64_t n = 1;
    for (int32_t i = 0; i < group->ndim; i++)
        n *= group->is_inner[i] ? group->dims[i] : 1;
    return n;
}

static bool is_in(const wf_planner *p, uint32_t node_idx, uint32_t a, uint32_t b)
{
    const uint32_t group = p->group_of[node_idx];
    return group != WF_NO_INDEX && (group == a || group == b);
}

// The value inside groups a or b that an operand stands for: the operand itself, in a ROW group the
// per-row value behind a broadcast, in a product's the product behind its reshape. 0: it comes from
// outside.
wf_id wf_group_inside(const wf_planner *p, wf_id id, uint32_t a, uint32_t b)
{
    const wf_value *v = wf_graph_value(p->g, id);
    if (is_in(p, v->node, a, b))
        return id;
    const wf_node *node = &p->g->nodes[v->node];
    if (!(node->op->flags & WF_OP_VIEW) || node->n_inputs != 1)
        return 0;
    const wf_value *base = wf_graph_value(p->g, node->inputs[0]);
    if (!is_in(p, base->node, a, b))
        return 0;
    const wf_group *group = &p->groups[p->group_of[base->node]];
    if (group->product == base->node && group->product_value == id)
        return node->inputs[0];
    // A view that does not stretch is none: where all inner axes are 1, a permute looks like one.
    const bool is_broadcast = group->kind == WF_TASK_ROW && has_outer_dims(group, &base->type) &&
                              wf_group_has_dims(group, &v->type) &&
                              !wf_group_has_dims(group, &base->type);
    return is_broadcast ? node->inputs[0] : 0;
}

typedef struct {
    wf_planner *p;
    uint32_t a, b; // the groups that would become one; b may be WF_NO_INDEX
    size_t top;
    bool found;
} search;

static weft_status push_node(search *s, uint32_t node_idx)
{
    wf_planner *p = s->p;
    if (p->stamps[node_idx] == p->stamp)
        return WEFT_OK;
    p->stamps[node_idx] = p->stamp;
    if (is_in(p, node_idx, s->a, s->b)) {
        s->found = true;
        return WEFT_OK;
    }
    WEFT_TRY(wf_array_reserve(p->allocator, &p->stack, &p->stack_capacity, s->top + 1,
                              sizeof *p->stack, p->err));
    p->stack[s->top++] = node_idx;
    return WEFT_OK;
}

static weft_status push_operands(search *s, uint32_t node_idx, bool is_member)
{
    const wf_node *node = &s->p->g->nodes[node_idx];
    for (uint32_t i = 0; i < node->n_inputs && !s->found; i++) {
        if (is_member && wf_group_inside(s->p, node->inputs[i], s->a, s->b))
            continue;
        WEFT_TRY(push_node(s, wf_graph_value(s->p->g, node->inputs[i])->node));
    }
    return WEFT_OK;
}

static weft_status push_group_operands(search *s, uint32_t group, bool is_member)
{
    const wf_group *grp = &s->p->groups[group];
    for (size_t i = 0; i < grp->n_nodes && !s->found; i++) {
        WEFT_TRY(push_operands(s, grp->nodes[i], is_member));
    }
    return WEFT_OK;
}

// Would groups a and b (or WF_NO_INDEX) with node `extra` (or WF_NO_INDEX) depend on themselves
// through something outside? Walks backwards from their outside operands, group by group.
weft_status wf_group_would_cycle(wf_planner *p, uint32_t a, uint32_t b, uint32_t extra, bool *out)
{
    search s = {p, a, b, 0, false};
    p->stamp++;
    WEFT_TRY(push_group_operands(&s, a, true));
    if (b != WF_NO_INDEX)
        WEFT_TRY(push_group_operands(&s, b, true));
    if (extra != WF_NO_INDEX)
        WEFT_TRY(push_operands(&s, extra, true));
    // The age of a node bounds nothing here: a node older than both groups may share a task with a
    // younger one that reads them. So the walk goes all the way, through whole groups.
    while (s.top > 0 && !s.found) {
        const uint32_t node_idx = p->stack[--s.top];
        const uint32_t group = p->group_of[node_idx];
        WEFT_TRY(group == WF_NO_INDEX ? push_operands(&s, node_idx, false)
                                      : push_group_operands(&s, group, false));
    }
    *out = s.found;
    return WEFT_OK;
}

weft_status wf_group_insert(wf_planner *p, uint32_t group, uint32_t node_idx)
{
    wf_group *grp = &p->groups[group];
    WEFT_TRY(wf_array_reserve(p->allocator, &grp->nodes, &grp->nodes_capacity, grp->n_nodes + 1,
                              sizeof *grp->nodes, p->err));
    size_t at = grp->n_nodes++;
    for (; at > 0 && grp->nodes[at - 1] > node_idx; at--)
        grp->nodes[at] = grp->nodes[at - 1];
    grp->nodes[at] = node_idx;
    p->group_of[node_idx] = group;
    return WEFT_OK;
}

static weft_status new_group(wf_planner *p, uint32_t node_idx, wf_task_kind kind,
                             const weft_type *space)
{
    WEFT_TRY(wf_array_reserve(p->allocator, &p->groups, &p->groups_capacity, p->n_groups + 1,
                              sizeof *p->groups, p->err));
    wf_group *grp = &p->groups[p->n_groups];
    memset(grp, 0, sizeof *grp);
    grp->kind = kind;
    grp->product = WF_NO_INDEX;
    grp->is_update = p->is_update[node_idx];
    grp->ndim = space->ndim;
    memcpy(grp->dims, space->dims, sizeof grp->dims);
    return wf_group_insert(p, (uint32_t)p->n_groups++, node_idx);
}

weft_status wf_group_merge(wf_planner *p, uint32_t into, uint32_t from)
{
    wf_group *src = &p->groups[from];
    for (size_t i = 0; i < src->n_nodes; i++)
        WEFT_TRY(wf_group_insert(p, into, src->nodes[i]));
    wf_group *dst = &p->groups[into];
    if (src->has_reduce) {
        dst->kind = src->kind;
        dst->has_reduce = true;
        memcpy(dst->is_inner, src->is_inner, sizeof dst->is_inner);
    }
    if (src->product != WF_NO_INDEX) {
        dst->kind = src->kind;
        dst->product = src->product;
        dst->product_value = src->product_value;
    }
    wf_free(p->allocator, src->nodes);
    src->nodes = NULL;
    src->n_nodes = 0;
    src->is_gone = true;
    return WEFT_OK;
}

// Distinct values that a group reads from outside: an upper bound of its kernel's operands.
size_t wf_group_operands(const wf_planner *p, uint32_t group, wf_id *list, size_t max)
{
    const wf_group *grp = &p->groups[group];
    size_t n = 0;
    for (size_t i = 0; i < grp->n_nodes; i++) {
        const wf_node *node = &p->g->nodes[grp->nodes[i]];
        for (uint32_t k = 0; k < node->n_inputs; k++) {
            if (wf_group_inside(p, node->inputs[k], group, group))
                continue;
            bool is_new = true;
            for (size_t j = 0; j < n && is_new; j++)
                is_new = list[j] != node->inputs[k];
            if (is_new && n < max)
                list[n++] = node->inputs[k];
        }
    }
    return n;
}

bool wf_group_is_small(const wf_planner *p, uint32_t a, uint32_t b)
{
    wf_id list[2 * MAX_GROUP_OPERANDS];
    size_t operands = wf_group_operands(p, a, list, WF_COUNT_OF(list));
    size_t nodes = p->groups[a].n_nodes;
    if (b != WF_NO_INDEX) {
        operands += wf_group_operands(p, b, list, WF_COUNT_OF(list));
        nodes += p->groups[b].n_nodes;
    }
    return nodes < MAX_GROUP_NODES && operands + 3 <= MAX_GROUP_OPERANDS;
}

// Does the node, through operands inside the group, stand behind one of the group's reductions?
static bool is_behind_reduce(const wf_planner *p, uint32_t group, const wf_node *node)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const wf_id id = wf_group_inside(p, node->inputs[i], group, group);
        if (!id)
            continue;
        const wf_node *producer = wf_graph_producer(p->g, id);
        if (wf_op_is_reduction(producer->op) || is_behind_reduce(p, group, producer))
            return true;
    }
    return false;
}

bool wf_group_takes_maps(const wf_group *grp)
{
    return grp->kind == WF_TASK_MAP || grp->has_reduce || grp->product != WF_NO_INDEX;
}

// May a map node live in this group, by its shape alone?
static bool fits_map(const wf_planner *p, uint32_t group, uint32_t node_idx)
{
    const wf_group *grp = &p->groups[group];
    const wf_node *node = &p->g->nodes[node_idx];
    const weft_type *t = wf_planner_type(p, node->first_output);
    if (!wf_group_takes_maps(grp))
        return false;
    const bool is_behind = grp->has_reduce && is_behind_reduce(p, group, node);
    if (wf_group_has_dims(grp, t)) {
        if (!is_behind)
            return true;
        return grp->kind == WF_TASK_ROW && inner_count(grp) <= ROW_FUSE_MAX_INNER;
    }
    // Per-row values: only what has no index of its own, and only behind the reductions.
    return is_behind && has_outer_dims(grp, t) && (node->op->flags & WF_OP_ELEMENTWISE);
}

static bool splits_alike(const wf_group *a, const wf_group *b)
{
    return !a->has_reduce || !b->has_reduce ||
           (a->kind == b->kind && !memcmp(a->is_inner, b->is_inner, sizeof a->is_inner));
}

// A product's results leave its task as they are or elementwise: nothing is reduced there.
static bool is_special(const wf_group *grp)
{
    return grp->has_reduce || grp->product != WF_NO_INDEX;
}

// The group of an operand, also behind the broadcast of a per-row value.
static uint32_t operand_group(const wf_planner *p, wf_id id)
{
    const wf_value *v = wf_graph_value(p->g, id);
    if (p->group_of[v->node] != WF_NO_INDEX)
        return p->group_of[v->node];
    const wf_node *node = &p->g->nodes[v->node];
    if (!(node->op->flags & WF_OP_VIEW) || node->n_inputs != 1)
        return WF_NO_INDEX;
    const uint32_t group = p->group_of[wf_graph_value(p->g, node->inputs[0])->node];
    return group != WF_NO_INDEX && wf_group_inside(p, id, group, group) ? group : WF_NO_INDEX;
}

// Two ROW groups become one that walks its rows more than once, in the cache.
static bool are_rows(const wf_planner *p, const wf_group *a, const wf_group *b)
{
    return p->options->epilogues && a->kind == WF_TASK_ROW && b->kind == WF_TASK_ROW;
}

// The group that an operand comes from, also behind the view of a product; where rows merge, behind the
// broadcast of a per-row value.
static uint32_t absorbed_group(const wf_planner *p, wf_id id)
{
    const uint32_t group = p->group_of[wf_graph_value(p->g, id)->node];
    return group == WF_NO_INDEX && p->options->epilogues ? operand_group(p, id) : group;
}

// After a node has joined `group`: takes in the other groups that it reads, where they fit.
static weft_status absorb_operands(wf_planner *p, uint32_t *group, uint32_t node_idx)
{
    const wf_node *node = &p->g->nodes[node_idx];
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const uint32_t other = absorbed_group(p, node->inputs[i]);
        if (other == WF_NO_INDEX || other == *group)
            continue;
        const wf_group *a = &p->groups[*group], *b = &p->groups[other];
        if (!wf_group_takes_maps(b) || a->is_update != b->is_update || a->ndim != b->ndim ||
            memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof(int64_t)) != 0 ||
            !splits_alike(a, b) || (is_special(a) && is_special(b) && !are_rows(p, a, b))) {
            continue;
        }
        const wf_group *reduced = a->has_reduce ? a : b;
        if (reduced->kind == WF_TASK_ROW && inner_count(reduced) > ROW_FUSE_MAX_INNER)
            continue; // nodes of one may stand behind reductions of the other
        bool cycles;
        if (!wf_group_is_small(p, *group, other))
            continue;
        WEFT_TRY(wf_group_would_cycle(p, *group, other, WF_NO_INDEX, &cycles));
        if (!cycles)
            WEFT_TRY(wf_group_merge(p, *group, other));
    }
    return WEFT_OK;
}

static weft_status try_join(wf_planner *p, uint32_t group, uint32_t node_idx, bool *out_joined)
{
    bool cycles = true;
    *out_joined = false;
    if (p->groups[group].is_update != p->is_update[node_idx])
        return WEFT_OK;
    if (!wf_group_is_small(p, group, WF_NO_INDEX))
        return WEFT_OK;
    WEFT_TRY(wf_group_would_cycle(p, group, WF_NO_INDEX, node_idx, &cycles));
    if (cycles)
        return WEFT_OK;
    *out_joined = true;
    return wf_group_insert(p, group, node_idx);
}

// A narrow value widened for another reader than the first (pass/widen.c): beside its producer it would live
// in f32 from there on.
static bool is_widened_again(const wf_planner *p, uint32_t node_idx)
{
    const wf_node *node = &p->g->nodes[node_idx];
    if (!wf_op_is_widening(p->g, node))
        return false;
    for (uint32_t u = p->use_start[node->inputs[0]]; u < p->use_start[node->inputs[0] + 1]; u++) {
        if (p->uses[u] < node_idx && wf_op_is_widening(p->g, &p->g->nodes[p->uses[u]]))
            return true;
    }
    return false;
}

static weft_status group_map_node(wf_planner *p, uint32_t node_idx)
{
    const wf_node *node = &p->g->nodes[node_idx];
    if (is_widened_again(p, node_idx))
        return new_group(p, node_idx, WF_TASK_MAP, wf_planner_type(p, node->first_output));
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        uint32_t group = operand_group(p, node->inputs[i]);
        bool joined;
        if (group == WF_NO_INDEX || !fits_map(p, group, node_idx))
            continue;
        WEFT_TRY(try_join(p, group, node_idx, &joined));
        if (joined)
            return absorb_operands(p, &group, node_idx);
    }
    return new_group(p, node_idx, WF_TASK_MAP, wf_planner_type(p, node->first_output));
}

// ROW when every reduced axis comes after every kept one, axes of size 1 ignored.
static wf_task_kind reduce_split(const wf_planner *p, const wf_node *node,
                                 bool is_inner[WEFT_MAX_DIM])
{
    const weft_type *x = wf_planner_type(p, node->inputs[0]);
    const wf_attr *axes = &node->attrs[WF_REDUCE_AXES];
    memset(is_inner, 0, WEFT_MAX_DIM * sizeof(bool));
    for (size_t i = 0; i < axes->n; i++) {
        if (x->dims[axes->u.ints[i]] != 1)
            is_inner[axes->u.ints[i]] = true;
    }
    bool seen_inner = false, is_row = true;
    for (int32_t i = 0; i < x->ndim; i++) {
        if (x->dims[i] == 1)
            continue;
        seen_inner |= is_inner[i];
        if (seen_inner && !is_inner[i])
            is_row = false;
    }
    return is_row ? WF_TASK_ROW : WF_TASK_COLUMN;
}

static weft_status group_reduce_node(wf_planner *p, uint32_t node_idx)
{
    const wf_node *node = &p->g->nodes[node_idx];
    bool is_inner[WEFT_MAX_DIM];
    const wf_task_kind kind = reduce_split(p, node, is_inner);
    const weft_type *space = wf_planner_type(p, node->inputs[0]);
    const uint32_t group = p->group_of[wf_graph_value(p->g, node->inputs[0])->node];
    bool joined = false;
    if (group != WF_NO_INDEX && p->groups[group].product == WF_NO_INDEX &&
        wf_group_takes_maps(&p->groups[group]) && wf_group_has_dims(&p->groups[group], space)) {
        wf_group *grp = &p->groups[group];
        const bool is_same = grp->has_reduce && grp->kind == kind &&
                             !memcmp(grp->is_inner, is_inner, sizeof is_inner);
        // A reduction behind another of its group walks the row again.
        const bool is_behind = is_same && is_behind_reduce(p, group, node);
        const bool may_walk_again = kind == WF_TASK_ROW && inner_count(grp) <= ROW_FUSE_MAX_INNER;
        if ((!grp->has_reduce || is_same) && (!is_behind || may_walk_again)) {
            WEFT_TRY(try_join(p, group, node_idx, &joined));
        }
    }
    if (!joined)
        WEFT_TRY(new_group(p, node_idx, kind, space));
    wf_group *grp = &p->groups[p->group_of[node_idx]];
    grp->kind = kind;
    grp->has_reduce = true;
    memcpy(grp->is_inner, is_inner, sizeof is_inner);
    return WEFT_OK;
}

// Nodes whose results only ever reach variables.
static void mark_updates(wf_planner *p)
{
    const weft_graph *g = p->g;
    for (size_t n = g->n_nodes; n-- > 0;) {
        const wf_node *node = &g->nodes[n];
        if (node->op->flags & (WF_OP_EFFECT | WF_OP_SOURCE))
            continue;
        bool is_update = true;
        size_t n_uses = 0;
        for (uint32_t i = 0; i < node->n_outputs; i++) {
            const wf_id id = node->first_output + i;
            if (p->is_output[id])
                is_update = false;
            for (uint32_t u = p->use_start[id]; u < p->use_start[id + 1]; u++, n_uses++) {
                const wf_node *user = &g->nodes[p->uses[u]];
                is_update &= user->op->task == WF_TASK_NONE && (user->op->flags & WF_OP_EFFECT)
                                 ? true
                                 : p->is_update[p->uses[u]];
            }
        }
        // Products and reductions for an update are computed as any other value: a bias gradient
        // fuses with the backward pass that it sums.
        const bool can_gate = wf_op_is_map(node->op) || (node->op->flags & WF_OP_VIEW);
        p->is_update[n] = is_update && n_uses > 0 && can_gate;
    }
}

// Is the view the value itself in other dims, rows cut or joined and columns kept?
static bool is_rows_recut(const wf_planner *p, const wf_node *view)
{
    const weft_type *in = wf_planner_type(p, view->inputs[0]);
    const weft_type *out = wf_planner_type(p, view->first_output);
    const wf_node_info info = {view->op, 1, in, 1, out, view->attrs};
    if (!view->op->view || out->ndim == 0 || in->dims[in->ndim - 1] != out->dims[out->ndim - 1] ||
        wf_type_count(in) != wf_type_count(out))
        return false;
    const wf_location from = wf_plan_dense(WF_NO_INDEX, in, false);
    wf_location to = wf_plan_dense(WF_NO_INDEX, out, false);
    return view->op->view(&info, &from.at, &to.at) && wf_plan_is_dense(&to, false) &&
           to.at.offset == 0;
}

// The value by which a product is read: where everything reads one view that only cuts its rows otherwise,
// that; the epilogue then lives in those dims.
static wf_id find_product_value(const wf_planner *p, const wf_node *node)
{
    const wf_id id = node->first_output;
    if (node->op->task != WF_TASK_CONTRACT || p->is_output[id] ||
        p->use_start[id + 1] - p->use_start[id] != 1)
        return id;
    const wf_node *user = &p->g->nodes[p->uses[p->use_start[id]]];
    const bool is_view = (user->op->flags & WF_OP_VIEW) && user->n_inputs == 1;
    return is_view && is_rows_recut(p, user) ? user->first_output : id;
}

// A product that the device gives an epilogue: f32, and no weight's gradient by a convolution, whose sums are
// put together from parts in an order of their own.
static weft_status group_product_node(wf_planner *p, uint32_t node_idx)
{
    const wf_node *node = &p->g->nodes[node_idx];
    const bool is_alone = !(p->options->epilogues >> node->op->task & 1u) ||
                          (node->op->flags & WF_OP_WEIGHT_RESULT) ||
                          wf_planner_type(p, node->first_output)->dtype != WEFT_F32;
    const wf_id value = is_alone ? node->first_output : find_product_value(p, node);
    WEFT_TRY(new_group(p, node_idx, node->op->task, wf_planner_type(p, value)));
    if (is_alone)
        return WEFT_OK;
    wf_group *grp = &p->groups[p->group_of[node_idx]];
    grp->product = node_idx;
    grp->product_value = value;
    return WEFT_OK;
}

weft_status wf_plan_group(wf_planner *p)
{
    mark_updates(p);
    for (uint32_t n = 0; n < p->g->n_nodes; n++) {
        const wf_node *node = &p->g->nodes[n];
        if (node->op->task == WF_TASK_NONE)
            continue;
        if (wf_op_is_map(node->op)) {
            WEFT_TRY(group_map_node(p, n));
        } else if (wf_op_is_reduction(node->op)) {
            WEFT_TRY(group_reduce_node(p, n));
        } else if (node->op->task == WF_TASK_CONTRACT || node->op->task == WF_TASK_CONV) {
            WEFT_TRY(group_product_node(p, n));
        } else {
            // What only places its operands (pad, concat) becomes copies, which nothing joins.
            const wf_task_kind kind = node->op->place ? WF_TASK_NONE : node->op->task;
            WEFT_TRY(new_group(p, n, kind, wf_planner_type(p, node->first_output)));
        }
    }
    return p->options->epilogues ? wf_plan_sink(p) : WEFT_OK;
}
