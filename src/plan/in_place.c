// Results that take the memory of operand 0, of which they change a part (WF_OP_IN_PLACE): a cache that a
// step updates is not copied. Stage: PLAN.
#include <string.h>

#include "op/op.h"
#include "plan/planner.h"

// What the ops' rules see of a node.
static wf_node_info info_of(const weft_graph *g, const wf_node *node, weft_type in[3],
                            weft_type out[WF_OP_MAX_OUTPUTS])
{
    for (uint32_t i = 0; i < node->n_inputs && i < 3; i++)
        in[i] = *wf_graph_type(g, node->inputs[i]);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        out[i] = *wf_graph_type(g, node->first_output + i);
    return (wf_node_info){node->op, node->n_inputs, in, node->n_outputs, out, node->attrs};
}

// Do two nodes go bad by the same indices, held to the same range?
static bool is_bad_alike(const weft_graph *g, const wf_node *a, const wf_node *b)
{
    weft_type in[3], out[WF_OP_MAX_OUTPUTS];
    if (!a->op->index_range || !b->op->index_range || a->n_inputs > 3 || b->n_inputs > 3)
        return false;
    wf_node_info info = info_of(g, a, in, out);
    const wf_index_range x = a->op->index_range(&info);
    info = info_of(g, b, in, out);
    const wf_index_range y = b->op->index_range(&info);
    return a->inputs[x.input] == b->inputs[y.input] && x.low == y.low && x.high == y.high;
}

static bool may_go_bad(const wf_node *node)
{
    return node->op->index_range || node->op->task == WF_TASK_GUARD ||
           node->op->task == WF_TASK_CALL;
}

// The variable that the node may write as it runs, in the middle of the step; 0: none. A bad step must
// change no variable, so what may still go bad must be what this node itself looks at.
wf_id wf_plan_in_place_variable(const wf_planner *p, uint32_t group, const bool *is_lowered)
{
    const uint32_t node_idx = p->groups[group].nodes[0];
    const wf_node *node = &p->g->nodes[node_idx];
    if (!(node->op->flags & WF_OP_IN_PLACE))
        return 0;
    const uint32_t assign = p->assigned_by[node->first_output];
    if (assign == WF_NO_INDEX || p->g->nodes[assign].inputs[0] != node->inputs[0])
        return 0;
    if (p->is_output[node->inputs[0]] || !wf_plan_is_read_up(p, node->inputs[0], group, is_lowered))
        return 0;
    for (uint32_t n = 0; n < p->g->n_nodes; n++) {
        const wf_node *other = &p->g->nodes[n];
        const uint32_t other_group = p->group_of[n];
        if (n == node_idx || other_group == WF_NO_INDEX || is_lowered[other_group])
            continue;
        if (may_go_bad(other) && !is_bad_alike(p->g, node, other))
            return 0;
    }
    return node->inputs[0];
}

// An operand in the arena that dies with the task gives its place to the result.
void wf_plan_share_updated(wf_plan *plan, uint32_t task_idx)
{
    const wf_task *task = &plan->tasks[task_idx];
    if (task->kernel || !task->node || !(task->node->op->flags & WF_OP_IN_PLACE))
        return;
    const wf_view *in = &task->inputs[0], *out = &task->outputs[0];
    wf_buffer *dst = &plan->buffers[out->buffer];
    if (dst->kind != WF_BUFFER_ARENA || dst->first_task != task_idx ||
        dst->alias_of != WF_NO_INDEX || in->offset != 0 || out->offset != 0 ||
        plan->buffers[in->buffer].size_bytes != dst->size_bytes)
        return;
    uint32_t root = in->buffer;
    for (size_t i = 1; i < task->n_inputs; i++) {
        if (task->inputs[i].buffer == root)
            return;
    }
    root = wf_plan_root(plan, root);
    wf_buffer *src = &plan->buffers[root];
    if (src->kind != WF_BUFFER_ARENA || src->last_task != task_idx)
        return;
    dst->alias_of = root;
    src->last_task = dst->last_task;
}
