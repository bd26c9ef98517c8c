// A kernel and its task under construction: instructions, operands, the views that go with them.
#include "plan/kernel_builder.h"

#include <string.h>

weft_status wf_plan_add_task(wf_planner *p, wf_task **out_task)
{
    wf_plan *plan = p->plan;
    WEFT_TRY(wf_plan_grow(p, &plan->tasks, plan->n_tasks, sizeof *plan->tasks, &p->tasks_capacity));
    *out_task = &plan->tasks[plan->n_tasks++];
    memset(*out_task, 0, sizeof **out_task);
    (*out_task)->workspace = WF_NO_INDEX;
    (*out_task)->first_step = WF_NO_INDEX;
    return WEFT_OK;
}

weft_status wf_kernel_start(wf_kernel_builder *b, wf_planner *p, wf_kernel_kind kind, int32_t ndim,
                            const int64_t *dims, size_t max_insts, size_t max_operands)
{
    *b = (wf_kernel_builder){.p = p, .group = WF_NO_INDEX};
    WEFT_TRY(wf_plan_take(p, 1, sizeof *b->kernel, &b->kernel));
    b->kernel->kind = kind;
    b->kernel->ndim = ndim;
    memcpy(b->kernel->dims, dims, (size_t)ndim * sizeof *dims);
    b->kernel->n_levels = 1;
    b->insts_capacity = max_insts;
    b->inputs_capacity = b->outputs_capacity = max_operands;
    WEFT_TRY(wf_plan_take(p, max_insts, sizeof(wf_inst), &b->kernel->insts));
    WEFT_TRY(wf_plan_take(p, max_operands, sizeof(wf_access), &b->kernel->inputs));
    WEFT_TRY(wf_plan_take(p, max_operands, sizeof(wf_access), &b->kernel->outputs));
    WEFT_TRY(wf_plan_take(p, max_operands, sizeof(wf_view), &b->in_views));
    return wf_plan_take(p, max_operands, sizeof(wf_view), &b->out_views);
}

uint32_t wf_kernel_add_inst(wf_kernel_builder *b, wf_inst inst)
{
    wf_kernel *k = b->kernel;
    WEFT_ASSERT(k->n_insts < b->insts_capacity);
    bool is_outer = k->kind != WF_KERNEL_MAP;
    for (uint32_t i = 0; i < inst.n_args; i++) {
        const wf_inst *arg = &k->insts[inst.args[i]];
        const int32_t level = arg->level + (arg->kind == WF_INST_REDUCE ? 1 : 0);
        inst.level = inst.level > level ? inst.level : level;
        is_outer &= arg->is_outer;
    }
    if (inst.kind == WF_INST_REDUCE) {
        inst.is_outer = true;
    } else if (inst.n_args) {
        inst.is_outer = inst.kind == WF_INST_RANDOM ? false : is_outer;
    }
    if (inst.level + 1 > k->n_levels)
        k->n_levels = inst.level + 1;
    k->insts[k->n_insts] = inst;
    return (uint32_t)k->n_insts++;
}

static bool varies_inside(const wf_kernel *k, const int64_t *strides)
{
    for (int32_t i = 0; i < k->ndim; i++) {
        if (k->is_inner[i] && k->dims[i] != 1 && strides[i] != 0)
            return true;
    }
    return false;
}

uint32_t wf_kernel_add_operand(const wf_location *l, weft_dtype dtype, wf_access *accesses,
                               wf_view *views, size_t *n, int32_t ndim)
{
    wf_access access = {.dtype = dtype, .offset = l->at.offset};
    for (int32_t i = 0; i < ndim; i++) {
        access.strides[i] = l->at.dims[i] == 1 ? 0 : l->at.strides[i];
    }
    for (size_t i = 0; i < *n; i++) {
        if (views[i].buffer == l->buffer && !memcmp(&accesses[i], &access, sizeof access)) {
            return (uint32_t)i;
        }
    }
    accesses[*n] = access;
    views[*n] = wf_plan_view(l, dtype);
    return (uint32_t)(*n)++;
}

static uint32_t add_const(wf_kernel_builder *b, weft_dtype dtype, uint64_t bits)
{
    return wf_kernel_add_inst(b, (wf_inst){.kind = WF_INST_CONST,
                                           .dtype = dtype,
                                           .is_outer = b->kernel->kind != WF_KERNEL_MAP,
                                           .bits = bits});
}

weft_status wf_kernel_add_load(wf_kernel_builder *b, wf_id id, uint32_t *out_inst)
{
    wf_planner *p = b->p;
    const weft_type *t = wf_planner_type(p, id);
    uint64_t bits;
    if (wf_plan_scalar_bits(p, id, &bits)) {
        *out_inst = add_const(b, t->dtype, bits);
        return WEFT_OK;
    }
    wf_location l;
    WEFT_TRY(wf_plan_locate(p, id, &l));
    if (t->ndim != b->kernel->ndim) { // only scalars may differ in rank
        l.at.ndim = b->kernel->ndim;
        for (int32_t i = 0; i < l.at.ndim; i++)
            l.at.dims[i] = 1;
    }
    const uint32_t operand = wf_kernel_add_operand(&l, t->dtype, b->kernel->inputs, b->in_views,
                                                   &b->kernel->n_inputs, b->kernel->ndim);
    const bool is_outer = b->kernel->kind != WF_KERNEL_MAP &&
                          !varies_inside(b->kernel, b->kernel->inputs[operand].strides);
    *out_inst = wf_kernel_add_inst(
        b, (wf_inst){
               .kind = WF_INST_LOAD, .dtype = t->dtype, .is_outer = is_outer, .operand = operand});
    return WEFT_OK;
}

void wf_kernel_add_store(wf_kernel_builder *b, uint32_t inst, const wf_location *l,
                         weft_dtype dtype)
{
    wf_location shaped = *l;
    if (l->at.ndim != b->kernel->ndim) {
        shaped.at.ndim = b->kernel->ndim;
        for (int32_t i = 0; i < shaped.at.ndim; i++)
            shaped.at.dims[i] = 1;
    }
    const uint32_t operand = wf_kernel_add_operand(&shaped, dtype, b->kernel->outputs, b->out_views,
                                                   &b->kernel->n_outputs, b->kernel->ndim);
    const uint32_t store = wf_kernel_add_inst(b, (wf_inst){.kind = WF_INST_STORE,
                                                           .dtype = dtype,
                                                           .n_args = 1,
                                                           .args = {inst},
                                                           .operand = operand});
    // A per-row value may be stored at every point of its row.
    b->kernel->insts[store].is_outer =
        b->kernel->insts[store].is_outer &&
        !varies_inside(b->kernel, b->kernel->outputs[operand].strides);
}

weft_status wf_plan_add_task_of(wf_planner *p, const uint32_t *nodes, size_t n_nodes, wf_task **out)
{
    uint32_t *copy;
    WEFT_TRY(wf_plan_take(p, n_nodes, sizeof *copy, &copy));
    memcpy(copy, nodes, n_nodes * sizeof *copy);
    WEFT_TRY(wf_plan_add_task(p, out));
    (*out)->nodes = copy;
    (*out)->n_nodes = n_nodes;
    return WEFT_OK;
}

weft_status wf_kernel_finish(wf_kernel_builder *b, bool is_gated, const uint32_t *nodes,
                             size_t n_nodes)
{
    static const wf_task_kind kinds[] = {[WF_KERNEL_MAP] = WF_TASK_MAP,
                                         [WF_KERNEL_ROW] = WF_TASK_ROW,
                                         [WF_KERNEL_COLUMN] = WF_TASK_COLUMN};
    wf_planner *p = b->p;
    wf_task *task;
    WEFT_TRY(wf_plan_add_task_of(p, nodes, n_nodes, &task));
    task->kind = kinds[b->kernel->kind];
    task->kernel = b->kernel;
    task->node = &p->g->nodes[nodes[n_nodes - 1]];
    task->n_inputs = b->kernel->n_inputs;
    task->inputs = b->in_views;
    task->n_outputs = b->kernel->n_outputs;
    task->outputs = b->out_views;
    task->is_gated = is_gated;
    return WEFT_OK;
}

weft_status wf_plan_add_copy(wf_planner *p, weft_dtype dtype, const wf_location *src,
                             const wf_location *dst, bool is_gated, uint32_t node_idx)
{
    wf_kernel_builder b;
    WEFT_TRY(wf_kernel_start(&b, p, WF_KERNEL_MAP, src->at.ndim, src->at.dims, 2, 1));
    const uint32_t operand = wf_kernel_add_operand(src, dtype, b.kernel->inputs, b.in_views,
                                                   &b.kernel->n_inputs, b.kernel->ndim);
    const uint32_t load =
        wf_kernel_add_inst(&b, (wf_inst){.kind = WF_INST_LOAD, .dtype = dtype, .operand = operand});
    wf_kernel_add_store(&b, load, dst, dtype);
    return wf_kernel_finish(&b, is_gated, &node_idx, 1);
}
