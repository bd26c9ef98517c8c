// Elementwise nodes that joined the group of what they read, though one other group alone reads them, move there
// where fewer bytes then go through memory: a gradient times a saved value, made only to be summed, is made
// where it is summed. With a node go those that nobody but it reads. Groups stay acyclic: the group that takes
// a node comes behind the one that gives it. Then sums over the same axes that read the same become one task.
#include <string.h>

#include "op/op.h"
#include "plan/planner.h"

#define MAX_MOVED 12
#define MAX_OPERANDS 48

// Nodes of group `from` that may go to group `to`.
typedef struct move {
    const wf_planner *p;
    uint32_t from, to;
    size_t n;
    uint32_t nodes[MAX_MOVED];
} move;

static bool is_moved(const move *m, uint32_t node)
{
    for (size_t i = 0; i < m->n; i++) {
        if (m->nodes[i] == node)
            return true;
    }
    return false;
}

// What a read of the value takes from memory: of a broadcast what is repeated.
static double get_bytes(const wf_planner *p, wf_id id)
{
    return wf_op_stored_count(p->g, id) *
           (double)p->options->elem_bytes[wf_planner_type(p, id)->dtype];
}

// Does anything but the group's own nodes read the value?
static bool is_stored(const wf_planner *p, wf_id id, uint32_t group)
{
    if (p->is_output[id])
        return true;
    for (uint32_t u = p->use_start[id]; u < p->use_start[id + 1]; u++) {
        const wf_node *user = &p->g->nodes[p->uses[u]];
        if (p->group_of[p->uses[u]] == group)
            continue;
        if (!(user->op->flags & WF_OP_VIEW) || is_stored(p, user->first_output, group))
            return true;
    }
    return false;
}

// The one group whose elementwise work or sums read the node's value, as it is; WF_NO_INDEX: others, too.
static uint32_t find_reader(const move *m, uint32_t node_idx)
{
    const wf_planner *p = m->p;
    const wf_node *node = &p->g->nodes[node_idx];
    const wf_id id = node->first_output;
    uint32_t reader = WF_NO_INDEX;
    if (!wf_op_is_map(node->op) || node->n_outputs != 1 || p->is_output[id])
        return WF_NO_INDEX;
    for (uint32_t u = p->use_start[id]; u < p->use_start[id + 1]; u++) {
        const uint32_t group = is_moved(m, p->uses[u]) ? m->to : p->group_of[p->uses[u]];
        if (group == WF_NO_INDEX || (reader != WF_NO_INDEX && group != reader) ||
            p->uses[u] == p->groups[group].product)
            return WF_NO_INDEX;
        reader = group;
    }
    return reader;
}

static bool has(const wf_id *list, size_t n, wf_id id)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i] == id)
            return true;
    }
    return false;
}

// Do nodes of the group that stay read the value?
static bool is_still_read(const move *m, wf_id id)
{
    const wf_planner *p = m->p;
    for (uint32_t u = p->use_start[id]; u < p->use_start[id + 1]; u++) {
        if (p->group_of[p->uses[u]] == m->from && !is_moved(m, p->uses[u]))
            return true;
    }
    return false;
}

// Bytes that the move adds; below 0: it saves some.
static double get_cost(const move *m)
{
    const wf_planner *p = m->p;
    wf_id read[MAX_OPERANDS], seen[3 * MAX_MOVED];
    const size_t n_read = wf_group_operands(p, m->to, read, MAX_OPERANDS);
    size_t n_seen = 0;
    double cost = 0.0;
    for (size_t i = 0; i < m->n; i++) {
        const wf_node *node = &p->g->nodes[m->nodes[i]];
        if (is_stored(p, node->first_output, m->from))
            cost -= 2.0 * get_bytes(p, node->first_output); // written and read
        for (uint32_t k = 0; k < node->n_inputs; k++) {
            const wf_id id = node->inputs[k];
            const wf_id own = wf_group_inside(p, id, m->from, m->from);
            if (has(seen, n_seen, id) || is_moved(m, wf_graph_value(p->g, id)->node))
                continue;
            seen[n_seen++] = id;
            if (!has(read, n_read, id) && !wf_group_inside(p, id, m->to, m->to))
                cost += get_bytes(p, id);
            if (own && !is_stored(p, own, m->from))
                cost += get_bytes(p, own);
            if (!own && !is_still_read(m, id))
                cost -= get_bytes(p, id);
        }
    }
    return cost;
}

// The operands that only moved nodes read go along.
static void add_exclusive(move *m)
{
    for (size_t i = 0; i < m->n; i++) {
        const wf_node *node = &m->p->g->nodes[m->nodes[i]];
        for (uint32_t k = 0; k < node->n_inputs && m->n < MAX_MOVED; k++) {
            const uint32_t operand = wf_graph_value(m->p->g, node->inputs[k])->node;
            if (m->p->group_of[operand] == m->from && !is_moved(m, operand) &&
                operand != m->p->groups[m->from].product && find_reader(m, operand) == m->to)
                m->nodes[m->n++] = operand;
        }
    }
}

static weft_status apply(wf_planner *p, const move *m)
{
    wf_group *from = &p->groups[m->from];
    size_t n = 0;
    for (size_t i = 0; i < from->n_nodes; i++) {
        if (!is_moved(m, from->nodes[i]))
            from->nodes[n++] = from->nodes[i];
    }
    from->n_nodes = n;
    for (size_t i = 0; i < m->n; i++)
        WEFT_TRY(wf_group_insert(p, m->to, m->nodes[i]));
    return WEFT_OK;
}

static weft_status try_move(wf_planner *p, uint32_t node_idx)
{
    move m = {.p = p, .from = p->group_of[node_idx], .to = WF_NO_INDEX};
    const uint32_t to = find_reader(&m, node_idx);
    if (to == WF_NO_INDEX || to == m.from || p->groups[m.from].n_nodes < 2)
        return WEFT_OK;
    const wf_group *a = &p->groups[m.from], *b = &p->groups[to];
    if (!wf_group_takes_maps(a) || !wf_group_takes_maps(b) || a->is_update != b->is_update ||
        !wf_group_has_dims(b, wf_planner_type(p, p->g->nodes[node_idx].first_output)) ||
        !wf_group_has_dims(a, wf_planner_type(p, p->g->nodes[node_idx].first_output)) ||
        a->kind == WF_TASK_ROW || a->kind == WF_TASK_COLUMN ||
        !wf_group_is_small(p, to, WF_NO_INDEX))
        return WEFT_OK;
    m.to = to;
    m.nodes[m.n++] = node_idx;
    const double alone = get_cost(&m);
    move more = m;
    add_exclusive(&more);
    const double together = get_cost(&more);
    if (together < alone && together < 0.0 && more.n < a->n_nodes)
        return apply(p, &more);
    return alone < 0.0 ? apply(p, &m) : WEFT_OK;
}

// Do both read a value of the whole space?
static bool reads_alike(const wf_planner *p, uint32_t a, uint32_t b)
{
    wf_id x[MAX_OPERANDS], y[MAX_OPERANDS];
    const size_t n = wf_group_operands(p, a, x, MAX_OPERANDS);
    const size_t n_other = wf_group_operands(p, b, y, MAX_OPERANDS);
    const wf_group *grp = &p->groups[a];
    for (size_t i = 0; i < n; i++) {
        const weft_type *t = wf_planner_type(p, x[i]);
        if (wf_group_has_dims(grp, t) && has(y, n_other, x[i]) &&
            get_bytes(p, x[i]) ==
                (double)wf_type_count(t) * (double)p->options->elem_bytes[t->dtype])
            return true;
    }
    return false;
}

// Sums over the same axes of what reads the same values are made in one walk.
static weft_status merge_columns(wf_planner *p, uint32_t a, uint32_t b)
{
    const wf_group *x = &p->groups[a], *y = &p->groups[b];
    bool cycles;
    if (y->is_gone || y->kind != WF_TASK_COLUMN || x->is_update != y->is_update ||
        x->ndim != y->ndim || memcmp(x->dims, y->dims, (size_t)x->ndim * sizeof *x->dims) != 0 ||
        memcmp(x->is_inner, y->is_inner, sizeof x->is_inner) != 0 || !reads_alike(p, a, b) ||
        !wf_group_is_small(p, a, b))
        return WEFT_OK;
    WEFT_TRY(wf_group_would_cycle(p, a, b, WF_NO_INDEX, &cycles));
    return cycles ? WEFT_OK : wf_group_merge(p, a, b);
}

weft_status wf_plan_sink(wf_planner *p)
{
    for (uint32_t n = (uint32_t)p->g->n_nodes; n-- > 0;) {
        if (p->group_of[n] != WF_NO_INDEX)
            WEFT_TRY(try_move(p, n));
    }
    for (uint32_t a = 0; a < p->n_groups; a++) {
        if (p->groups[a].is_gone || p->groups[a].kind != WF_TASK_COLUMN)
            continue;
        for (uint32_t b = a + 1; b < p->n_groups; b++)
            WEFT_TRY(merge_columns(p, a, b));
    }
    return WEFT_OK;
}
