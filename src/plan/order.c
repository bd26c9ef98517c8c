// The order of a plan: groups, operands first; the outputs; the updates; the assignments at the end.
#include <string.h>

#include "plan/planner.h"

// Groups in an order where operands come first: depth first from each group in creation order, with
// an own stack, because graphs of deep nets are deep.
typedef struct {
    wf_planner *p;
    bool *is_lowered; // by group
    bool *is_seen;
    uint32_t *stack;
    size_t stack_capacity, top;
} order;

static weft_status push_producers(order *o, uint32_t node_idx, uint32_t own_group)
{
    wf_planner *p = o->p;
    const wf_node *node = &p->g->nodes[node_idx];
    for (uint32_t i = node->n_inputs; i-- > 0;) {
        const uint32_t producer = wf_graph_value(p->g, node->inputs[i])->node;
        const uint32_t group = p->group_of[producer];
        if (group == own_group && group != WF_NO_INDEX)
            continue;
        if (group == WF_NO_INDEX) { // views and assigns pass the question on
            WEFT_TRY(push_producers(o, producer, own_group));
        } else if (!o->is_lowered[group] && !o->is_seen[group]) {
            WEFT_TRY(wf_array_reserve(p->allocator, &o->stack, &o->stack_capacity, o->top + 1,
                                      sizeof *o->stack, p->err));
            o->stack[o->top++] = group;
        }
    }
    return WEFT_OK;
}

static weft_status lower_with_producers(order *o, uint32_t root)
{
    wf_planner *p = o->p;
    WEFT_TRY(
        wf_array_reserve(p->allocator, &o->stack, &o->stack_capacity, 1, sizeof *o->stack, p->err));
    o->top = 0;
    o->stack[o->top++] = root;
    while (o->top > 0) {
        const uint32_t group = o->stack[o->top - 1];
        const size_t before = o->top;
        if (!o->is_seen[group]) {
            o->is_seen[group] = true;
            const wf_group *grp = &p->groups[group];
            for (size_t i = 0; i < grp->n_nodes; i++) {
                WEFT_TRY(push_producers(o, grp->nodes[i], group));
            }
        }
        if (o->top > before)
            continue;
        o->top--;
        if (o->is_lowered[group])
            continue;
        WEFT_TRY(wf_plan_lower_group(p, group, o->is_lowered));
        o->is_lowered[group] = true;
    }
    return WEFT_OK;
}

static weft_status lower_all(order *o, bool is_update)
{
    wf_planner *p = o->p;
    // By creation order of the groups' first nodes: group_of in node order gives just that.
    for (size_t n = 0; n < p->g->n_nodes; n++) {
        const uint32_t group = p->group_of[n];
        if (group == WF_NO_INDEX || o->is_lowered[group])
            continue;
        if (p->groups[group].is_update != is_update)
            continue;
        WEFT_TRY(lower_with_producers(o, group));
    }
    return WEFT_OK;
}

bool wf_plan_is_source(const wf_planner *p, wf_id id)
{
    const wf_node *node = wf_graph_producer(p->g, id);
    while ((node->op->flags & WF_OP_VIEW) && node->n_inputs == 1) {
        node = wf_graph_producer(p->g, node->inputs[0]);
    }
    return (node->op->flags & WF_OP_SOURCE) != 0;
}

// Values for variables that were not written in place: gated copies, behind everything else. A value
// that is itself a variable (a swap) is saved before the first of them.
static weft_status lower_assigns(wf_planner *p)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t n = 0; n < p->g->n_nodes; n++) {
            const wf_node *node = &p->g->nodes[n];
            if (!(node->op->flags & WF_OP_EFFECT) || node->op->task != WF_TASK_NONE)
                continue;
            const wf_id id = node->inputs[1];
            const weft_dtype dtype = wf_planner_type(p, id)->dtype;
            wf_location var, value;
            WEFT_TRY(wf_plan_locate(p, node->inputs[0], &var));
            WEFT_TRY(wf_plan_locate(p, id, &value));
            if (value.buffer == var.buffer)
                continue; // written in place, or assigned to itself
            const bool is_variable = p->plan->buffers[value.buffer].kind == WF_BUFFER_VARIABLE &&
                                     wf_plan_is_source(p, id);
            if (round == 0 && is_variable) {
                wf_location *saved = &p->locations[node->first_output];
                weft_type t = *wf_planner_type(p, id);
                *saved = (wf_location){.is_known = true, .at = value.at};
                wf_dense_strides(&t, false, saved->at.strides);
                saved->at.offset = 0;
                WEFT_TRY(wf_plan_add_buffer(p, WF_BUFFER_ARENA, wf_plan_type_bytes(p, &t),
                                            &saved->buffer));
                WEFT_TRY(wf_plan_add_copy(p, dtype, &value, saved, false, n));
            } else if (round == 1) {
                if (is_variable)
                    value = p->locations[node->first_output];
                WEFT_TRY(wf_plan_add_copy(p, dtype, &value, &var, true, n));
            }
        }
    }
    return WEFT_OK;
}

// Named outputs are dense, row-major, and keep their place until the run ends.
static weft_status lower_outputs(wf_planner *p)
{
    for (size_t i = 0; i < p->g->n_outputs; i++) {
        const wf_id id = p->g->outputs[i].val;
        const weft_type *t = wf_planner_type(p, id);
        wf_location l;
        WEFT_TRY(wf_plan_locate(p, id, &l));
        wf_location dst = {.is_known = true, .at = l.at};
        wf_buffer *own = &p->plan->buffers[l.buffer];
        dst.at.offset = 0;
        wf_dense_strides(t, false, dst.at.strides);
        if (own->size_bytes == wf_plan_type_bytes(p, t) && !memcmp(&dst.at, &l.at, sizeof l.at)) {
            // It is such a buffer already. A variable or an input is read where it is.
            if (own->kind == WF_BUFFER_ARENA)
                own->kind = WF_BUFFER_OUTPUT;
            WEFT_TRY(wf_plan_add_binding(p, WF_BIND_OUTPUT, p->g->outputs[i].name,
                                         wf_plan_view(&l, t->dtype)));
            continue;
        }
        WEFT_TRY(wf_plan_add_buffer(p, WF_BUFFER_OUTPUT, wf_plan_type_bytes(p, t), &dst.buffer));
        WEFT_TRY(wf_plan_add_copy(p, t->dtype, &l, &dst, false, wf_graph_value(p->g, id)->node));
        WEFT_TRY(wf_plan_add_binding(p, WF_BIND_OUTPUT, p->g->outputs[i].name,
                                     wf_plan_view(&dst, t->dtype)));
    }
    return WEFT_OK;
}

weft_status wf_plan_lower_groups(wf_planner *p)
{
    order o = {.p = p};
    weft_status status =
        wf_alloc(p->allocator, p->n_groups, sizeof *o.is_lowered, &o.is_lowered, p->err);
    if (status == WEFT_OK) {
        status = wf_alloc(p->allocator, p->n_groups, sizeof *o.is_seen, &o.is_seen, p->err);
    }
    if (status == WEFT_OK)
        status = lower_all(&o, false);
    if (status == WEFT_OK && !p->is_region)
        status = lower_outputs(p);
    if (status == WEFT_OK)
        status = lower_all(&o, true);
    if (status == WEFT_OK)
        status = lower_assigns(p);
    wf_free(p->allocator, o.is_lowered);
    wf_free(p->allocator, o.is_seen);
    wf_free(p->allocator, o.stack);
    return status;
}
