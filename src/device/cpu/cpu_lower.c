// Lowering: each task of a plan, by its kind, into phases. Stage: PLAN -> PROGRAM.
#include "device/cpu/cpu_lower.h"

#include <string.h>

static const wf_cpu_lowering *const lowerings[] = {
    &wf_cpu_lowering_map,      &wf_cpu_lowering_row,       &wf_cpu_lowering_column,
    &wf_cpu_lowering_contract, &wf_cpu_lowering_conv,      &wf_cpu_lowering_window,
    &wf_cpu_lowering_chain,    &wf_cpu_lowering_index,     &wf_cpu_lowering_order,
    &wf_cpu_lowering_guard,    &wf_cpu_lowering_attention, &wf_cpu_lowering_call,
};

static const wf_cpu_lowering *find_lowering(wf_task_kind kind)
{
    for (size_t i = 0; i < WF_COUNT_OF(lowerings); i++) {
        if (lowerings[i]->kind == kind)
            return lowerings[i];
    }
    return NULL;
}

size_t wf_cpu_task_workspace(const wf_cpu_device *dev, const wf_task *task)
{
    const wf_cpu_lowering *lowering = find_lowering(task->kind);
    return lowering && lowering->workspace ? lowering->workspace(dev, task) : 0;
}

bool wf_cpu_task_keeps_workspace(const wf_cpu_device *dev, const wf_task *task)
{
    const wf_cpu_lowering *lowering = find_lowering(task->kind);
    return lowering && lowering->keeps_workspace && lowering->keeps_workspace(dev, task);
}

// Op, attributes and the operands' logical types of a task that is one node, its epilogue apart.
static weft_status get_info(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    const size_t n_in = task->epilogue ? task->node->n_inputs : task->n_inputs;
    const size_t n_out = task->epilogue ? 1 : task->n_outputs;
    weft_type *in, *out;
    WEFT_TRY(wf_cpu_take(q, n_in, sizeof *in, &in, err));
    WEFT_TRY(wf_cpu_take(q, n_out, sizeof *out, &out, err));
    for (size_t i = 0; i < n_in; i++)
        in[i] = task->inputs[i].type;
    for (size_t i = 0; i < n_out; i++)
        out[i] = task->epilogue ? task->product.type : task->outputs[i].type;
    q->info = (wf_node_info){task->node->op, n_in, in, n_out, out, task->node->attrs};
    return WEFT_OK;
}

weft_status wf_cpu_lower_task(wf_cpu_lower *q, weft_error *err)
{
    const wf_cpu_lowering *lowering = find_lowering(q->task->kind);
    if (!lowering) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "cpu: task %u is of kind %d, which is not lowered here", q->task_idx,
                  (int)q->task->kind);
    }
    q->info = (wf_node_info){0};
    if (!q->task->kernel && q->task->node)
        WEFT_TRY(get_info(q, err));
    return lowering->lower(q, err);
}

weft_status wf_cpu_take(wf_cpu_lower *q, size_t count, size_t size_bytes, void *out_ptr,
                        weft_error *err)
{
    size_t bytes = 0;
    void *ptr = NULL;
    if (wf_mul_size(count, size_bytes, &bytes))
        ptr = wf_arena_take(&q->program->memory, bytes);
    memcpy(out_ptr, &ptr, sizeof ptr);
    if (!ptr)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "memory: %zu bytes are not available", bytes);
    return WEFT_OK;
}

// Less than some three microseconds of one thread: what it costs to hand items over and to wait for
// them would be more than what another thread saves.
static bool is_little(const wf_task *task)
{
    return task->cost.flops + task->cost.bytes < 65536.0;
}

static weft_status add_phase(wf_cpu_lower *q, wf_cpu_job job, wf_cpu_kept *kept, weft_error *err)
{
    wf_device_program *p = q->program;
    if (job.n_items > WF_CPU_MAX_ITEMS) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: task %u has %lld items, at most %d fit",
                  q->task_idx, (long long)job.n_items, WF_CPU_MAX_ITEMS);
    }
    if (job.n_items <= 0)
        return WEFT_OK;
    WEFT_TRY(wf_array_reserve(&p->memory.allocator, &p->phases, &p->phases_capacity,
                              p->n_phases + 1, sizeof *p->phases, err));
    p->phases[p->n_phases++] = (wf_cpu_phase){job, kept};
    return WEFT_OK;
}

weft_status wf_cpu_add_phase(wf_cpu_lower *q, wf_cpu_item_fn *run, const void *params,
                             int64_t n_items, weft_error *err)
{
    const wf_cpu_where where = is_little(q->task) ? WF_CPU_ONE : WF_CPU_ALL;
    return add_phase(q, (wf_cpu_job){run, params, n_items, where}, NULL, err);
}

weft_status wf_cpu_add_kept_phase(wf_cpu_lower *q, wf_cpu_item_fn *run, const void *params,
                                  int64_t n_items, weft_error *err)
{
    const wf_buffer *b = &q->plan->buffers[q->task->inputs[1].buffer];
    wf_cpu_kept *kept;
    if (!q->task->keeps_workspace)
        return wf_cpu_add_phase(q, run, params, n_items, err);
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *kept, &kept, err));
    kept->source = b->kind == WF_BUFFER_VARIABLE ? q->memory->variables[b->variable] : NULL;
    return add_phase(q, (wf_cpu_job){run, params, n_items, WF_CPU_ALL}, kept, err);
}

weft_status wf_cpu_add_caller_phase(wf_cpu_lower *q, wf_cpu_item_fn *run, const void *params,
                                    weft_error *err)
{
    return add_phase(q, (wf_cpu_job){run, params, 1, WF_CPU_CALLER}, NULL, err);
}

void wf_cpu_need_scratch(wf_cpu_lower *q, size_t size_bytes)
{
    if (size_bytes > q->program->scratch_bytes)
        q->program->scratch_bytes = size_bytes;
}

char *wf_cpu_buffer_data(const wf_cpu_lower *q, uint32_t buffer)
{
    if (buffer == WF_NO_INDEX)
        return NULL;
    const wf_buffer *b = &q->plan->buffers[buffer];
    switch (b->kind) {
    case WF_BUFFER_CONSTANT: return q->memory->constants->data + b->offset_bytes;
    case WF_BUFFER_VARIABLE: return q->memory->variables[b->variable]->data;
    default: return q->memory->arena->data + b->offset_bytes;
    }
}

// data + offset elements; a buffer of no bytes may be NULL and is never read.
static char *move_pointer(char *data, weft_dtype dtype, int64_t offset)
{
    return offset ? data + offset * (int64_t)weft_dtype_size(dtype) : data;
}

char *wf_cpu_view_data(const wf_cpu_lower *q, const wf_view *view)
{
    return move_pointer(wf_cpu_buffer_data(q, view->buffer), view->type.dtype, view->offset);
}

wf_cpu_operand wf_cpu_view_operand(const wf_cpu_lower *q, const wf_view *view)
{
    wf_cpu_operand op = {.data = wf_cpu_view_data(q, view)};
    op.size_log2 = wf_cpu_size_log2(view->type.dtype);
    op.b = wf_cpu_group_make(view->type.dims, view->strides, view->type.ndim);
    return op;
}

char *wf_cpu_input_data(const wf_cpu_lower *q, size_t operand)
{
    const wf_task *task = q->task;
    if (task->epilogue && operand == 0)
        return NULL; // the product: in no buffer
    const size_t idx = task->epilogue ? task->node->n_inputs + operand - 1 : operand;
    const wf_access *access = wf_task_input_access(task, idx);
    return move_pointer(wf_cpu_buffer_data(q, task->inputs[idx].buffer), access->dtype,
                        access->offset);
}

char *wf_cpu_output_data(const wf_cpu_lower *q, size_t operand)
{
    const wf_access *access = wf_task_output_access(q->task, operand);
    return move_pointer(wf_cpu_buffer_data(q, q->task->outputs[operand].buffer), access->dtype,
                        access->offset);
}

char *wf_cpu_workspace(const wf_cpu_lower *q)
{
    return wf_cpu_buffer_data(q, q->task->workspace);
}

void wf_cpu_mark_bad(wf_cpu_status *status, uint32_t task_idx)
{
    uint32_t now = atomic_load(status);
    while (task_idx < now && !atomic_compare_exchange_weak(status, &now, task_idx))
        ;
}
