// A plan on a GPU: every task lowered once to launches, which a run only enqueues. See gpu_api.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"

typedef struct lowering {
    wf_gpu_lower lower;
    size_t (*workspace)(const wf_gpu_device *dev, const wf_task *task);
} lowering;

static const lowering lowerings[WF_N_TASK_KINDS] = {
    [WF_TASK_MAP] = {wf_gpu_lower_kernel, NULL},
    [WF_TASK_ROW] = {wf_gpu_lower_kernel, wf_gpu_workspace_kernel},
    [WF_TASK_COLUMN] = {wf_gpu_lower_kernel, wf_gpu_workspace_kernel},
    [WF_TASK_CONTRACT] = {wf_gpu_lower_contract, wf_gpu_workspace_contract},
    [WF_TASK_CONV] = {wf_gpu_lower_conv, wf_gpu_workspace_conv},
    [WF_TASK_WINDOW] = {wf_gpu_lower_window, NULL},
    [WF_TASK_CHAIN] = {wf_gpu_lower_chain, wf_gpu_workspace_chain},
    [WF_TASK_INDEX] = {wf_gpu_lower_index, wf_gpu_workspace_index},
    [WF_TASK_ATTENTION] = {wf_gpu_lower_attention, NULL},
    [WF_TASK_ORDER] = {wf_gpu_lower_order, wf_gpu_workspace_order},
    [WF_TASK_GUARD] = {wf_gpu_lower_guard, wf_gpu_workspace_guard},
};

size_t wf_gpu_task_workspace(weft_device *dev, const wf_task *task)
{
    const lowering *l = &lowerings[task->kind];
    return l->workspace ? l->workspace((wf_gpu_device *)dev, task) : 0;
}

wf_gpu_place wf_gpu_place_of(const wf_gpu_builder *b, uint32_t plan_buffer, weft_dtype dtype,
                             int64_t offset)
{
    const wf_plan *plan = b->program->plan;
    const wf_program_memory *memory = b->program->memory;
    const wf_buffer *buffer = &plan->buffers[plan_buffer];
    while (buffer->alias_of != WF_NO_INDEX)
        buffer = &plan->buffers[buffer->alias_of];
    size_t bytes = b->dev->base.caps.elem_bytes[dtype];
    wf_gpu_place place = {memory->arena,
                          offset + (int64_t)(buffer->offset_bytes / (bytes ? bytes : 1))};
    if (buffer->kind == WF_BUFFER_CONSTANT)
        place.buffer = memory->constants;
    if (buffer->kind == WF_BUFFER_VARIABLE) {
        place.buffer = memory->variables[buffer->variable];
        place.offset = offset;
    }
    return place;
}

weft_status wf_gpu_source_start(const wf_gpu_builder *b, wf_text *out_text)
{
    wf_text_init(out_text, &b->dev->base.context->allocator);
    return WEFT_OK;
}

weft_status wf_gpu_add_launch(wf_gpu_builder *b, const char *source, const wf_gpu_launch_spec *spec)
{
    wf_device_program *p = b->program;
    const wf_allocator *a = &b->dev->base.context->allocator;
    WEFT_TRY(wf_array_reserve(a, &p->steps, &p->steps_capacity, p->n_steps + 1, sizeof *p->steps,
                              b->err));
    wf_gpu_step step = {NULL, NULL, b->task_idx};
    WEFT_TRY(wf_gpu_module_get(b->dev, source, &step.module, b->err));
    weft_status status =
        b->dev->api->launch_create(b->dev, step.module, spec, &step.launch, b->err);
    if (status != WEFT_OK) {
        wf_gpu_module_release(b->dev, step.module);
        return status;
    }
    p->steps[p->n_steps++] = step;
    return WEFT_OK;
}

static weft_status lower_task(wf_gpu_builder *b)
{
    const lowering *l = &lowerings[b->task->kind];
    if (b->task->kind == WF_TASK_NONE)
        return WEFT_OK;
    if (!l->lower) {
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "%s has no kernel for %s",
                  b->task->node ? b->task->node->op->name : "a task", b->dev->base.id);
    }
    return l->lower(b);
}

weft_status wf_gpu_program_create(weft_device *dev, const wf_plan *plan,
                                  const wf_program_memory *memory, wf_device_program **out_program,
                                  weft_error *err)
{
    *out_program = NULL;
    const wf_allocator *a = &dev->context->allocator;
    wf_device_program *p;
    WEFT_TRY(wf_alloc(a, 1, sizeof *p, &p, err));
    p->dev = (wf_gpu_device *)dev;
    p->plan = plan;
    p->memory = memory;
    weft_status status = wf_alloc(a, plan->n_tasks + 1, sizeof *p->first_step, &p->first_step, err);
    for (size_t i = 0; i < plan->n_tasks && status == WEFT_OK; i++) {
        wf_gpu_builder b = {p, p->dev, &plan->tasks[i], (uint32_t)i, err};
        status = lower_task(&b);
        if (status != WEFT_OK)
            wf_error_prefix(err, "task %zu", i);
        p->first_step[i + 1] = p->n_steps;
    }
    if (status != WEFT_OK) {
        wf_gpu_program_destroy(dev, p);
        return status;
    }
    *out_program = p;
    return WEFT_OK;
}

void wf_gpu_program_destroy(weft_device *dev, wf_device_program *program)
{
    if (!program)
        return;
    const wf_allocator *a = &dev->context->allocator;
    // Launches that still run hold their own arguments: drivers keep what is in the queue.
    for (size_t i = 0; i < program->n_steps; i++) {
        program->dev->api->launch_destroy(program->dev, program->steps[i].launch);
        wf_gpu_module_release(program->dev, program->steps[i].module);
    }
    wf_free(a, program->steps);
    wf_free(a, program->first_step);
    wf_free(a, program);
}

weft_status wf_gpu_enqueue(weft_device *dev, wf_device_program *program, size_t first, size_t n,
                           weft_error *err)
{
    wf_gpu_device *gpu = (wf_gpu_device *)dev;
    if (first == 0)
        WEFT_TRY(gpu->api->fill_u32(gpu, gpu->status, WF_STATUS_GOOD, err));
    if (n == 0)
        return WEFT_OK;
    for (size_t i = program->first_step[first]; i < program->first_step[first + n]; i++) {
        WEFT_TRY(gpu->api->launch_enqueue(gpu, program->steps[i].launch, err));
    }
    return WEFT_OK;
}

weft_status wf_gpu_status_read(weft_device *dev, wf_device_program *program, uint32_t *out_word,
                               weft_error *err)
{
    (void)program;
    *out_word = WF_STATUS_GOOD;
    return dev->driver->buffer_read(dev, ((wf_gpu_device *)dev)->status, 0, out_word,
                                    sizeof *out_word, err);
}
