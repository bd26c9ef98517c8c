// The planner's steps in order, and the unfused plan of devices that run node by node (ref).
#include "plan/plan.h"

#include <string.h>

#include "plan/planner.h"

weft_status wf_plan_add_binding(wf_planner *p, wf_binding_kind kind, const char *name, wf_view view)
{
    wf_plan *plan = p->plan;
    wf_plan_binding **list[] = {&plan->inputs, &plan->outputs, &plan->variables};
    size_t *counts[] = {&plan->n_inputs, &plan->n_outputs, &plan->n_variables};
    WEFT_TRY(wf_plan_grow(p, list[kind], *counts[kind], sizeof **list[kind],
                          &p->bindings_capacity[kind]));
    const char *copy = wf_arena_strdup(&plan->memory, name);
    if (!copy)
        WEFT_FAIL(p->err, WEFT_ERR_MEMORY, "plan: memory is not available");
    (*list[kind])[(*counts[kind])++] = (wf_plan_binding){.name = copy, .view = view};
    return WEFT_OK;
}

// Inputs and variables: sources whose first attribute is a name. Constants are located when used.
static weft_status place_sources(wf_planner *p)
{
    for (size_t n = 0; n < p->g->n_nodes; n++) {
        const wf_node *node = &p->g->nodes[n];
        if (!(node->op->flags & WF_OP_SOURCE) || node->op->n_attrs == 0 ||
            node->op->attrs[0].kind != WF_ATTR_TEXT) {
            continue;
        }
        const wf_id id = node->first_output;
        const bool is_variable = node->op->attrs[1].kind == WF_ATTR_INT;
        const weft_dtype dtype = wf_planner_type(p, id)->dtype;
        WEFT_TRY(wf_plan_place_value(p, id, is_variable ? WF_BUFFER_VARIABLE : WF_BUFFER_INPUT));
        const wf_location *l = &p->locations[id];
        if (is_variable) {
            p->plan->buffers[l->buffer].variable = (uint32_t)p->plan->n_variables;
        }
        WEFT_TRY(wf_plan_add_binding(p, is_variable ? WF_BIND_VARIABLE : WF_BIND_INPUT,
                                     node->attrs[0].u.text, wf_plan_view(l, dtype)));
    }
    return WEFT_OK;
}

static weft_status find_uses(wf_planner *p)
{
    const weft_graph *g = p->g;
    size_t n_uses = 0;
    for (size_t n = 0; n < g->n_nodes; n++)
        n_uses += g->nodes[n].n_inputs;
    WEFT_TRY(wf_alloc(p->allocator, g->n_values + 1, sizeof(uint32_t), &p->use_start, p->err));
    WEFT_TRY(wf_alloc(p->allocator, n_uses, sizeof(uint32_t), &p->uses, p->err));
    for (size_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        for (uint32_t i = 0; i < node->n_inputs; i++)
            p->use_start[node->inputs[i] + 1]++;
    }
    for (size_t v = 0; v < g->n_values; v++)
        p->use_start[v + 1] += p->use_start[v];
    uint32_t *fill;
    WEFT_TRY(wf_alloc(p->allocator, g->n_values, sizeof *fill, &fill, p->err));
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            const wf_id id = node->inputs[i];
            p->uses[p->use_start[id] + fill[id]++] = n;
        }
    }
    wf_free(p->allocator, fill);
    for (size_t i = 0; i < g->n_outputs; i++)
        p->is_output[g->outputs[i].val] = true;
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        if ((node->op->flags & WF_OP_EFFECT) && node->op->task == WF_TASK_NONE &&
            p->assigned_by[node->inputs[1]] == WF_NO_INDEX) {
            p->assigned_by[node->inputs[1]] = n;
        }
    }
    return WEFT_OK;
}

weft_status wf_planner_init(wf_planner *p)
{
    const size_t n_nodes = p->g->n_nodes, n_values = p->g->n_values;
    const wf_allocator *a = p->allocator;
    WEFT_TRY(wf_alloc(a, n_values, sizeof *p->is_output, &p->is_output, p->err));
    WEFT_TRY(wf_alloc(a, n_nodes, sizeof *p->is_update, &p->is_update, p->err));
    WEFT_TRY(wf_alloc(a, n_nodes, sizeof *p->group_of, &p->group_of, p->err));
    WEFT_TRY(wf_alloc(a, n_nodes, sizeof *p->stamps, &p->stamps, p->err));
    WEFT_TRY(wf_alloc(a, n_values, sizeof *p->locations, &p->locations, p->err));
    WEFT_TRY(wf_alloc(a, n_values, sizeof *p->is_channels_last, &p->is_channels_last, p->err));
    WEFT_TRY(wf_alloc(a, n_values, sizeof *p->assigned_by, &p->assigned_by, p->err));
    memset(p->group_of, 0xff, n_nodes * sizeof *p->group_of);
    memset(p->assigned_by, 0xff, n_values * sizeof *p->assigned_by);
    return find_uses(p);
}

void wf_planner_deinit(wf_planner *p)
{
    const wf_allocator *a = p->allocator;
    for (size_t i = 0; i < p->n_groups; i++)
        wf_free(a, p->groups[i].nodes);
    wf_free(a, p->groups);
    wf_free(a, p->use_start);
    wf_free(a, p->uses);
    wf_free(a, p->is_output);
    wf_free(a, p->is_update);
    wf_free(a, p->group_of);
    wf_free(a, p->stamps);
    wf_free(a, p->stack);
    wf_free(a, p->locations);
    wf_free(a, p->is_channels_last);
    wf_free(a, p->assigned_by);
}

static bool is_assign(const wf_node *node)
{
    return (node->op->flags & WF_OP_EFFECT) && node->op->task == WF_TASK_NONE;
}

// One task per node, dense row-major operands: what `ref` runs through the ops' eval. Views are
// computed like any op.
static weft_status add_node_task(wf_planner *p, uint32_t n, wf_task **out_task)
{
    const wf_node *node = &p->g->nodes[n];
    wf_task *task;
    uint32_t *nodes;
    wf_view *in, *out;
    WEFT_TRY(wf_plan_take(p, 1, sizeof *nodes, &nodes));
    WEFT_TRY(wf_plan_take(p, node->n_inputs, sizeof *in, &in));
    WEFT_TRY(wf_plan_take(p, node->n_outputs, sizeof *out, &out));
    nodes[0] = n;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        wf_location l;
        WEFT_TRY(wf_plan_locate(p, node->inputs[i], &l));
        in[i] = wf_plan_view(&l, wf_planner_type(p, node->inputs[i])->dtype);
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const wf_id id = node->first_output + i;
        const wf_buffer_kind kind = p->is_output[id] ? WF_BUFFER_OUTPUT : WF_BUFFER_ARENA;
        WEFT_TRY(wf_plan_place_value(p, id, kind));
        out[i] = wf_plan_view(&p->locations[id], wf_planner_type(p, id)->dtype);
    }
    WEFT_TRY(wf_plan_add_task(p, &task));
    task->kind = node->op->task == WF_TASK_NONE ? WF_TASK_MAP : node->op->task;
    task->node = node;
    task->nodes = nodes;
    task->n_nodes = 1;
    task->n_inputs = node->n_inputs;
    task->inputs = in;
    task->n_outputs = node->n_outputs;
    task->outputs = out;
    *out_task = task;
    return WEFT_OK;
}

// Assignments are behind everything else: first each value is saved in a buffer of its own (assign's
// eval copies), then the variables are written, gated. So a swap sees the old values.
static weft_status add_assign_tasks(wf_planner *p)
{
    wf_task *task;
    for (uint32_t n = 0; n < p->g->n_nodes; n++) {
        if (!is_assign(&p->g->nodes[n]))
            continue;
        WEFT_TRY(add_node_task(p, n, &task));
    }
    for (uint32_t n = 0; n < p->g->n_nodes; n++) {
        const wf_node *node = &p->g->nodes[n];
        wf_location var;
        if (!is_assign(node))
            continue;
        WEFT_TRY(wf_plan_locate(p, node->inputs[0], &var));
        const wf_location saved = p->locations[node->first_output];
        WEFT_TRY(add_node_task(p, n, &task));
        task->is_gated = true;
        task->inputs[1] = wf_plan_view(&saved, wf_planner_type(p, node->first_output)->dtype);
        task->outputs[0] = wf_plan_view(&var, wf_planner_type(p, node->first_output)->dtype);
    }
    return WEFT_OK;
}

// Without groups. Outputs that are sources are read where they are.
static weft_status plan_unfused(wf_planner *p)
{
    wf_task *task;
    for (uint32_t n = 0; n < p->g->n_nodes; n++) {
        const wf_node *node = &p->g->nodes[n];
        if ((node->op->flags & WF_OP_SOURCE) || is_assign(node))
            continue;
        WEFT_TRY(add_node_task(p, n, &task));
    }
    WEFT_TRY(add_assign_tasks(p));
    for (size_t i = 0; i < p->g->n_outputs; i++) {
        const wf_id id = p->g->outputs[i].val;
        wf_location l;
        WEFT_TRY(wf_plan_locate(p, id, &l));
        WEFT_TRY(wf_plan_add_binding(p, WF_BIND_OUTPUT, p->g->outputs[i].name,
                                     wf_plan_view(&l, wf_planner_type(p, id)->dtype)));
    }
    return WEFT_OK;
}

// What the view reaches: an axis of stride 0 is one element.
static double view_bytes(const wf_planner *p, const wf_view *v)
{
    double bytes = (double)p->options->elem_bytes[v->type.dtype];
    for (int32_t i = 0; i < v->type.ndim; i++)
        bytes *= v->strides[i] != 0 || v->type.dims[i] == 0 ? (double)v->type.dims[i] : 1.0;
    return bytes;
}

void wf_plan_add_cost(wf_planner *p, wf_task *task)
{
    for (size_t i = 0; i < task->n_nodes; i++) {
        const wf_node *node = &p->g->nodes[task->nodes[i]];
        weft_type out[WF_OP_MAX_OUTPUTS];
        weft_type *in = wf_arena_take(&p->plan->memory, node->n_inputs * sizeof *in);
        if (!in || !node->op->cost)
            continue;
        for (uint32_t k = 0; k < node->n_inputs; k++) {
            in[k] = *wf_planner_type(p, node->inputs[k]);
        }
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            out[k] = *wf_planner_type(p, node->first_output + k);
        }
        const wf_node_info info = {node->op, node->n_inputs, in, node->n_outputs, out, node->attrs};
        task->cost.flops += node->op->cost(&info).flops;
    }
    for (size_t i = 0; i < task->n_outputs; i++)
        task->bytes_written += view_bytes(p, &task->outputs[i]);
    task->cost.bytes += task->bytes_written;
    for (size_t i = 0; i < task->n_inputs; i++)
        task->cost.bytes += view_bytes(p, &task->inputs[i]);
}

// Tasks of scans have theirs: their nodes are the region's.
static void add_costs(wf_planner *p)
{
    for (size_t t = 0; t < p->plan->n_tasks; t++) {
        if (p->plan->tasks[t].first_step == WF_NO_INDEX)
            wf_plan_add_cost(p, &p->plan->tasks[t]);
    }
}

static weft_status run_steps(wf_planner *p)
{
    WEFT_TRY(wf_planner_init(p));
    WEFT_TRY(place_sources(p));
    if (p->options->fuse) {
        WEFT_TRY(wf_plan_group(p));
        WEFT_TRY(wf_plan_lower_groups(p));
    } else {
        WEFT_TRY(plan_unfused(p));
    }
    WEFT_TRY(wf_plan_memory(p));
    add_costs(p);
    return WEFT_OK;
}

weft_status wf_plan_create(weft_context *ctx, weft_graph *take_graph,
                           const wf_plan_options *options, wf_plan **out_plan, weft_error *err)
{
    wf_plan *plan;
    *out_plan = NULL;
    weft_status status = wf_alloc(&ctx->allocator, 1, sizeof *plan, &plan, err);
    if (status != WEFT_OK) {
        weft_graph_destroy(take_graph);
        return status;
    }
    wf_arena_init(&plan->memory, &ctx->allocator);
    plan->graph = take_graph;
    wf_planner p = {.ctx = ctx,
                    .allocator = &ctx->allocator,
                    .g = take_graph,
                    .options = options,
                    .plan = plan,
                    .err = err};
    status = run_steps(&p);
    wf_planner_deinit(&p);
    if (status != WEFT_OK) {
        wf_plan_destroy(plan);
        return status;
    }
    *out_plan = plan;
    return WEFT_OK;
}

void wf_plan_destroy(wf_plan *plan)
{
    if (!plan)
        return;
    weft_graph *g = (weft_graph *)(uintptr_t)plan->graph; // owned: see plan.h
    wf_allocator a = g->context->allocator;
    weft_graph_destroy(g);
    wf_arena_deinit(&plan->memory);
    wf_free(&a, plan);
}
