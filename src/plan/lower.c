// A group becomes tasks: kernels out of nodes, operands out of locations. order.c says which is next.
#include <string.h>

#include "op/inst.h"
#include "plan/kernel_builder.h"

// ---- which values of a group are stored
static bool is_read_outside(const wf_planner *p, wf_id id, uint32_t group)
{
    if (p->is_output[id])
        return true;
    for (uint32_t u = p->use_start[id]; u < p->use_start[id + 1]; u++) {
        const uint32_t user_idx = p->uses[u];
        const wf_node *user = &p->g->nodes[user_idx];
        if (p->group_of[user_idx] == group && group != WF_NO_INDEX)
            continue;
        if (!(user->op->flags & WF_OP_VIEW))
            return true;
        // A view that only the group itself reads is resolved inside it (broadcast in a ROW, the product's).
        if (is_read_outside(p, user->first_output, group))
            return true;
        for (uint32_t w = p->use_start[user->first_output];
             w < p->use_start[user->first_output + 1]; w++) {
            const wf_group *grp = &p->groups[group];
            const bool is_broadcast = grp->kind == WF_TASK_ROW &&
                                      wf_planner_type(p, id)->ndim == grp->ndim &&
                                      wf_planner_type(p, user->first_output)->ndim == grp->ndim;
            const bool is_product =
                grp->product != WF_NO_INDEX && grp->product_value == user->first_output;
            if (p->group_of[p->uses[w]] == group && !is_broadcast && !is_product)
                return true;
        }
    }
    return false;
}

// The instruction of an operand: of its own node, or of the per-row value behind a broadcast.
static weft_status operand_inst(wf_kernel_builder *b, wf_id id, uint32_t *out_inst)
{
    if (b->inst_of[id] != WF_NO_INDEX) {
        *out_inst = b->inst_of[id];
        return WEFT_OK;
    }
    const wf_node *node = wf_graph_producer(b->p->g, id);
    if (b->kernel->kind == WF_KERNEL_ROW && (node->op->flags & WF_OP_VIEW) && node->n_inputs == 1 &&
        b->inst_of[node->inputs[0]] != WF_NO_INDEX) {
        const uint32_t inner = b->inst_of[node->inputs[0]];
        if (b->kernel->insts[inner].is_outer) {
            *out_inst = inner;
            return WEFT_OK;
        }
    }
    WEFT_TRY(wf_kernel_add_load(b, id, out_inst));
    b->inst_of[id] = *out_inst;
    return WEFT_OK;
}

static weft_status lower_node(wf_kernel_builder *b, const wf_node *node)
{
    wf_planner *p = b->p;
    weft_type in[WF_MAX_ARGS], out[WF_OP_MAX_OUTPUTS];
    wf_inst inst = {.kind = WF_INST_APPLY, .op = node->op, .n_args = node->n_inputs};
    for (uint32_t i = 0; i < node->n_inputs && i < WF_MAX_ARGS; i++) {
        in[i] = *wf_planner_type(p, node->inputs[i]);
        WEFT_TRY(operand_inst(b, node->inputs[i], &inst.args[i]));
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        out[i] = *wf_planner_type(p, node->first_output + i);
    }
    inst.dtype = out[0].dtype;
    const wf_node_info info = {node->op, node->n_inputs, in, node->n_outputs, out, node->attrs};
    if (node->op->lower)
        node->op->lower(&info, &inst);
    if (node->n_inputs == 0 && b->kernel->kind != WF_KERNEL_MAP) {
        inst.is_outer = inst.kind == WF_INST_IOTA && !b->kernel->is_inner[inst.axis];
    }
    const uint32_t first = wf_kernel_add_inst(b, inst);
    b->inst_of[node->first_output] = first;
    if (node->n_outputs == 2) {
        b->inst_of[node->first_output + 1] = wf_kernel_add_inst(
            b,
            (wf_inst){.kind = WF_INST_SECOND, .dtype = out[1].dtype, .n_args = 1, .args = {first}});
    }
    return WEFT_OK;
}

bool wf_plan_is_read_up(const wf_planner *p, wf_id id, uint32_t group, const bool *is_lowered)
{
    for (uint32_t u = p->use_start[id]; u < p->use_start[id + 1]; u++) {
        const uint32_t user = p->uses[u];
        const uint32_t user_group = p->group_of[user];
        const wf_node *node = &p->g->nodes[user];
        if (user_group != WF_NO_INDEX) {
            if (user_group != group && !is_lowered[user_group])
                return false;
        } else if (node->op->flags & WF_OP_VIEW) {
            if (!wf_plan_is_read_up(p, node->first_output, group, is_lowered))
                return false;
        } else if (node->n_inputs == 2 && node->inputs[1] == id) {
            return false; // assigned to another variable at the very end
        }
    }
    return true;
}

// An update writes its variable in place when nothing later reads the old value and the kernel
// itself reads it only at the point it writes.
static bool can_write_variable(const wf_planner *p, const wf_kernel_builder *b,
                               uint32_t variable_buffer, wf_id var, uint32_t group,
                               const bool *is_lowered)
{
    if (!wf_plan_is_read_up(p, var, group, is_lowered))
        return false;
    if (b->kernel->kind != WF_KERNEL_MAP)
        return false;
    const weft_type *t = wf_planner_type(p, var);
    int64_t want[WEFT_MAX_DIM];
    wf_dense_strides(t, false, want);
    for (size_t i = 0; i < b->kernel->n_inputs; i++) {
        if (b->in_views[i].buffer != variable_buffer)
            continue;
        const wf_access *access = &b->kernel->inputs[i];
        if (access->offset != 0 || t->ndim != b->kernel->ndim)
            return false;
        for (int32_t d = 0; d < t->ndim; d++) {
            if (t->dims[d] != 1 && access->strides[d] != want[d])
                return false;
        }
    }
    return true;
}

static weft_status operand_types(wf_planner *p, const wf_node *node, const weft_type **out)
{
    weft_type *in;
    WEFT_TRY(wf_plan_take(p, node->n_inputs, sizeof *in, &in));
    for (uint32_t i = 0; i < node->n_inputs; i++)
        in[i] = *wf_planner_type(p, node->inputs[i]);
    *out = in;
    return WEFT_OK;
}

// The one concat that reads the value, where all else that does is in its own group, which has it at hand.
static const wf_node *find_concat(const wf_planner *p, wf_id id, uint32_t group)
{
    const wf_node *found = NULL;
    for (uint32_t u = p->use_start[id]; u < p->use_start[id + 1]; u++) {
        if (p->group_of[p->uses[u]] == group)
            continue;
        const wf_node *user = &p->g->nodes[p->uses[u]];
        if (found || !user->op->place || user->op->fill)
            return NULL;
        found = user;
    }
    return found;
}

// A value that only a concat reads is written where the concat wants it. Not where layouts are yet to be
// chosen, nor where a rest is filled in between.
static weft_status place_in_user(wf_planner *p, wf_id id, uint32_t group)
{
    const wf_node *user = find_concat(p, id, group);
    if (p->locations[id].is_known || p->is_output[id] || !user)
        return WEFT_OK;
    const wf_id whole = user->first_output;
    const weft_type *t = wf_planner_type(p, whole);
    if (p->options->channels_last && t->ndim >= 3)
        return WEFT_OK;
    wf_node_info info = {user->op, user->n_inputs, NULL, 1, t, user->attrs};
    WEFT_TRY(operand_types(p, user, &info.in));
    WEFT_TRY(wf_plan_place_value(p, whole, WF_BUFFER_ARENA));
    for (uint32_t i = 0; i < user->n_inputs; i++) {
        if (user->inputs[i] == id)
            p->locations[id] = wf_plan_place_of(&info, i, &p->locations[whole]);
    }
    return WEFT_OK;
}

static weft_status store_values(wf_kernel_builder *b, const wf_group *grp, uint32_t group,
                                const bool *is_lowered)
{
    wf_planner *p = b->p;
    for (size_t i = 0; i < grp->n_nodes; i++) {
        const wf_node *node = &p->g->nodes[grp->nodes[i]];
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            const wf_id id = node->first_output + k;
            const uint32_t assign = p->assigned_by[id];
            wf_location var;
            if (!is_read_outside(p, id, group))
                continue;
            if (grp->is_update && assign != WF_NO_INDEX) {
                const wf_id var_id = p->g->nodes[assign].inputs[0];
                WEFT_TRY(wf_plan_locate(p, var_id, &var));
                if (can_write_variable(p, b, var.buffer, var_id, group, is_lowered)) {
                    p->locations[id] = var;
                }
            }
            if (b->kernel->kind == WF_KERNEL_MAP && !grp->is_update)
                WEFT_TRY(place_in_user(p, id, group));
            WEFT_TRY(wf_plan_place_value(p, id, WF_BUFFER_ARENA));
            // A product is stored in the dims of its group.
            wf_location l;
            WEFT_TRY(
                wf_plan_locate(p, grp->nodes[i] == grp->product ? grp->product_value : id, &l));
            wf_kernel_add_store(b, b->inst_of[id], &l, wf_planner_type(p, id)->dtype);
        }
    }
    return WEFT_OK;
}

// Channels last when an operand of the same dims is: elementwise work follows its inputs.
static void choose_layout(const wf_planner *p, const wf_group *grp)
{
    bool follows = false;
    if (!p->options->channels_last || grp->ndim < 3)
        return;
    for (size_t i = 0; i < grp->n_nodes && !follows; i++) {
        const wf_node *node = &p->g->nodes[grp->nodes[i]];
        for (uint32_t k = 0; k < node->n_inputs; k++) {
            const weft_type *t = wf_planner_type(p, node->inputs[k]);
            follows |= p->is_channels_last[node->inputs[k]] && t->ndim == grp->ndim &&
                       !memcmp(t->dims, grp->dims, (size_t)t->ndim * sizeof(int64_t));
        }
    }
    for (size_t i = 0; follows && i < grp->n_nodes; i++) {
        const wf_node *node = &p->g->nodes[grp->nodes[i]];
        for (uint32_t k = 0; k < node->n_outputs; k++) {
            p->is_channels_last[node->first_output + k] = true;
        }
    }
}

// A builder for the group's kernel. inst_of is the caller's to free.
static weft_status start_group(wf_kernel_builder *b, wf_planner *p, uint32_t group,
                               wf_kernel_kind kind)
{
    const wf_group *grp = &p->groups[group];
    size_t n_operands = 1, n_insts = 0;
    for (size_t i = 0; i < grp->n_nodes; i++) {
        const wf_node *node = &p->g->nodes[grp->nodes[i]];
        n_operands += node->n_inputs + node->n_outputs;
        n_insts += node->n_inputs + 2 * node->n_outputs;
    }
    WEFT_TRY(wf_kernel_start(b, p, kind, grp->ndim, grp->dims, n_insts, n_operands));
    b->group = group;
    memcpy(b->kernel->is_inner, grp->is_inner, sizeof b->kernel->is_inner);
    WEFT_TRY(wf_alloc(p->allocator, p->g->n_values, sizeof *b->inst_of, &b->inst_of, p->err));
    memset(b->inst_of, 0xff, p->g->n_values * sizeof *b->inst_of);
    return WEFT_OK;
}

static weft_status lower_nodes(wf_kernel_builder *b, const bool *is_lowered)
{
    wf_planner *p = b->p;
    const wf_group *grp = &p->groups[b->group];
    for (size_t i = 0; i < grp->n_nodes; i++) {
        if (grp->nodes[i] != grp->product)
            WEFT_TRY(lower_node(b, &p->g->nodes[grp->nodes[i]]));
    }
    return store_values(b, grp, b->group, is_lowered);
}

static weft_status lower_kernel_group(wf_planner *p, uint32_t group, const bool *is_lowered)
{
    static const wf_kernel_kind kinds[WF_N_TASK_KINDS] = {[WF_TASK_MAP] = WF_KERNEL_MAP,
                                                          [WF_TASK_ROW] = WF_KERNEL_ROW,
                                                          [WF_TASK_COLUMN] = WF_KERNEL_COLUMN};
    const wf_group *grp = &p->groups[group];
    wf_kernel_builder b;
    choose_layout(p, grp);
    WEFT_TRY(start_group(&b, p, group, kinds[grp->kind]));
    const weft_status status = lower_nodes(&b, is_lowered);
    wf_free(p->allocator, b.inst_of);
    WEFT_TRY(status);
    return wf_kernel_finish(&b, grp->is_update, grp->nodes, grp->n_nodes);
}

// concat and pad: the rest is filled, then each operand is copied to its place.
static weft_status lower_place(wf_planner *p, uint32_t node_idx)
{
    const wf_node *node = &p->g->nodes[node_idx];
    const wf_id id = node->first_output;
    const weft_type *t = wf_planner_type(p, id);
    wf_node_info info = {node->op, node->n_inputs, NULL, 1, t, node->attrs};
    WEFT_TRY(operand_types(p, node, &info.in));
    p->is_channels_last[id] =
        p->options->channels_last && t->ndim >= 3 && p->is_channels_last[node->inputs[0]];
    WEFT_TRY(wf_plan_place_value(p, id, WF_BUFFER_ARENA));
    const wf_location whole = p->locations[id];
    if (node->op->fill) {
        wf_kernel_builder b;
        wf_inst value = {.kind = WF_INST_CONST, .dtype = t->dtype};
        WEFT_TRY(wf_kernel_start(&b, p, WF_KERNEL_MAP, t->ndim, t->dims, 2, 1));
        node->op->fill(&info, &value);
        wf_kernel_add_store(&b, wf_kernel_add_inst(&b, value), &whole, t->dtype);
        WEFT_TRY(wf_kernel_finish(&b, false, &node_idx, 1));
    }
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const wf_location dst = wf_plan_place_of(&info, i, &whole);
        wf_location src;
        WEFT_TRY(wf_plan_locate(p, node->inputs[i], &src));
        if (src.buffer == dst.buffer && src.at.offset == dst.at.offset)
            continue; // written there
        WEFT_TRY(wf_plan_add_copy(p, t->dtype, &src, &dst, false, node_idx));
    }
    return WEFT_OK;
}

static bool is_spatial(const wf_planner *p, const wf_node *node)
{
    return p->options->channels_last &&
           (node->op->task == WF_TASK_CONV || node->op->task == WF_TASK_WINDOW);
}

// The operands of a task of one node, dense: in[n_inputs].
static weft_status locate_operands(wf_planner *p, const wf_node *node, wf_view *in)
{
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        wf_location l;
        const bool is_weight = i == 1 && (node->op->flags & WF_OP_WEIGHT_OPERAND);
        const wf_density density =
            is_spatial(p, node) && !is_weight ? WF_DENSE_CHANNELS_LAST : WF_DENSE_ROW_MAJOR;
        WEFT_TRY(p->options->apart_rows && (node->op->row_inputs & 1u << i)
                     ? wf_plan_locate_rows(p, node->inputs[i], &l)
                     : wf_plan_locate_dense(p, node->inputs[i], density, &l));
        in[i] = wf_plan_view(&l, wf_planner_type(p, node->inputs[i])->dtype);
    }
    return WEFT_OK;
}

static weft_status lower_single(wf_planner *p, uint32_t group, const bool *is_lowered)
{
    const uint32_t node_idx = p->groups[group].nodes[0];
    const wf_node *node = &p->g->nodes[node_idx];
    wf_id variable = wf_plan_in_place_variable(p, group, is_lowered);
    wf_view *in, *out;
    WEFT_TRY(wf_plan_take(p, node->n_inputs, sizeof *in, &in));
    WEFT_TRY(wf_plan_take(p, node->n_outputs, sizeof *out, &out));
    WEFT_TRY(locate_operands(p, node, in));
    for (uint32_t i = 1; i < node->n_inputs; i++) {
        if (in[i].buffer == in[0].buffer)
            variable = 0; // a part of itself
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const wf_id id = node->first_output + i;
        p->is_channels_last[id] = is_spatial(p, node) && !(node->op->flags & WF_OP_WEIGHT_RESULT);
        if (variable)
            WEFT_TRY(wf_plan_locate(p, variable, &p->locations[id]));
        if (p->options->apart_rows && (node->op->row_outputs & 1u << i))
            WEFT_TRY(wf_plan_place_rows(p, id));
        WEFT_TRY(wf_plan_place_value(p, id, WF_BUFFER_ARENA));
        out[i] = wf_plan_view(&p->locations[id], wf_planner_type(p, id)->dtype);
    }
    wf_task *task;
    WEFT_TRY(wf_plan_add_task_of(p, &node_idx, 1, &task));
    task->kind = node->op->task;
    task->node = node;
    task->is_gated = variable != 0;
    task->n_inputs = node->n_inputs;
    task->inputs = in;
    task->n_outputs = node->n_outputs;
    task->outputs = out;
    return WEFT_OK;
}

// ---- a product with an epilogue
// The kernel's first operand and instruction: the product, in the group's dims.
static void add_product(wf_kernel_builder *b, const wf_node *node, bool is_channels_last)
{
    const wf_group *grp = &b->p->groups[b->group];
    const weft_type *t = wf_planner_type(b->p, grp->product_value);
    const wf_location l = wf_plan_dense(WF_NO_INDEX, t, is_channels_last);
    const uint32_t operand = wf_kernel_add_operand(&l, t->dtype, b->kernel->inputs, b->in_views,
                                                   &b->kernel->n_inputs, b->kernel->ndim);
    const uint32_t load = wf_kernel_add_inst(
        b, (wf_inst){.kind = WF_INST_LOAD, .dtype = t->dtype, .operand = operand});
    b->inst_of[node->first_output] = b->inst_of[grp->product_value] = load;
}

static weft_status finish_product(const wf_kernel_builder *b, const wf_view *in,
                                  bool is_channels_last)
{
    wf_planner *p = b->p;
    const wf_group *grp = &p->groups[b->group];
    const wf_node *node = &p->g->nodes[grp->product];
    const wf_kernel *k = b->kernel;
    const weft_type *t = wf_planner_type(p, node->first_output);
    const wf_location l = wf_plan_dense(WF_NO_INDEX, t, is_channels_last);
    wf_view *inputs;
    wf_task *task;
    WEFT_TRY(wf_plan_take(p, node->n_inputs + k->n_inputs - 1, sizeof *inputs, &inputs));
    memcpy(inputs, in, node->n_inputs * sizeof *in);
    memcpy(inputs + node->n_inputs, b->in_views + 1, (k->n_inputs - 1) * sizeof *inputs);
    WEFT_TRY(wf_plan_add_task_of(p, grp->nodes, grp->n_nodes, &task));
    task->kind = grp->kind;
    task->node = node;
    task->epilogue = k;
    task->product = wf_plan_view(&l, t->dtype);
    task->n_inputs = node->n_inputs + k->n_inputs - 1;
    task->inputs = inputs;
    task->n_outputs = k->n_outputs;
    task->outputs = b->out_views;
    return WEFT_OK;
}

static weft_status lower_product(wf_planner *p, uint32_t group, const bool *is_lowered)
{
    const wf_group *grp = &p->groups[group];
    const wf_node *node = &p->g->nodes[grp->product];
    const bool is_channels_last = is_spatial(p, node);
    wf_view *in;
    wf_kernel_builder b;
    WEFT_TRY(wf_plan_take(p, node->n_inputs, sizeof *in, &in));
    WEFT_TRY(locate_operands(p, node, in));
    for (size_t i = 0; i < grp->n_nodes; i++) {
        const wf_node *one = &p->g->nodes[grp->nodes[i]];
        for (uint32_t k = 0; k < one->n_outputs; k++)
            p->is_channels_last[one->first_output + k] = is_channels_last;
    }
    WEFT_TRY(start_group(&b, p, group, WF_KERNEL_MAP));
    add_product(&b, node, is_channels_last);
    const weft_status status = lower_nodes(&b, is_lowered);
    wf_free(p->allocator, b.inst_of);
    WEFT_TRY(status);
    return finish_product(&b, in, is_channels_last);
}

weft_status wf_plan_lower_group(wf_planner *p, uint32_t group, const bool *is_lowered)
{
    const wf_group *grp = &p->groups[group];
    const wf_node *node = &p->g->nodes[grp->nodes[0]];
    if (node->op->place)
        return lower_place(p, grp->nodes[0]);
    if (node->op->task == WF_TASK_SCAN)
        return wf_plan_lower_scan(p, grp->nodes[0]);
    if (grp->kind == WF_TASK_MAP || grp->kind == WF_TASK_ROW || grp->kind == WF_TASK_COLUMN) {
        return lower_kernel_group(p, group, is_lowered);
    }
    if (grp->product != WF_NO_INDEX && grp->n_nodes > 1)
        return lower_product(p, group, is_lowered);
    return lower_single(p, group, is_lowered);
}
