// MAP, ROW and COLUMN tasks on a GPU: rendered, compiled, their arguments bound. See gpu_lower.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"
#include "device/gpu/gpu_source.h"

size_t wf_gpu_workspace_kernel(const wf_gpu_device *dev, const wf_task *task)
{
    return wf_render_workspace(task->kernel, &dev->render);
}

// The kernel with offsets that count from the start of the buffer that will be passed.
static weft_status place_kernel(wf_gpu_builder *b, wf_arena *memory, wf_kernel *out,
                                wf_gpu_arg *args)
{
    const wf_task *task = b->task;
    const wf_kernel *k = task->kernel;
    *out = *k;
    size_t n = k->n_inputs + k->n_outputs;
    wf_access *accesses = wf_arena_take(memory, (n + 1) * sizeof *accesses);
    if (!accesses)
        WEFT_FAIL(b->err, WEFT_ERR_MEMORY, "no memory to lower a kernel");
    for (size_t i = 0; i < n; i++) {
        bool is_input = i < k->n_inputs;
        const wf_view *view = is_input ? &task->inputs[i] : &task->outputs[i - k->n_inputs];
        const wf_access *access = is_input ? &k->inputs[i] : &k->outputs[i - k->n_inputs];
        wf_gpu_place place = wf_gpu_place_of(b, view->buffer, access->dtype, access->offset);
        accesses[i] = *access;
        accesses[i].offset = place.offset;
        args[i].buffer = place.buffer;
    }
    out->inputs = accesses;
    out->outputs = accesses + k->n_inputs;
    return WEFT_OK;
}

// The values as the device reads them.
static void pack_values(const wf_render *r, const int64_t *values, void *out)
{
    for (size_t i = 0; i < r->n_values; i++) {
        if (r->is_wide) {
            ((int64_t *)out)[i] = values[i];
        } else {
            ((int32_t *)out)[i] = (int32_t)values[i];
        }
    }
}

static weft_status add_launches(wf_gpu_builder *b, wf_render *r, wf_gpu_arg *args,
                                size_t n_operands)
{
    wf_gpu_device *dev = b->dev;
    wf_text source;
    WEFT_TRY(wf_gpu_source_start(b, &source));
    static const char *const parts[] = {"gpu_reduce.h", "gpu_cast.h"};
    if (dev->joined_kernel.len == 0)
        WEFT_TRY(wf_gpu_source_join(&dev->joined_kernel, parts, 2, b->err));
    wf_text_append(&source, wf_text_str(&dev->joined_kernel));
    wf_text_append(&source, wf_text_str(&r->source));
    weft_status status = wf_text_status(&source, b->err);
    void *packed = wf_arena_take(&r->memory, r->n_values * sizeof(int64_t));
    if (status == WEFT_OK && !packed) {
        status = wf_error_set(b->err, WEFT_ERR_MEMORY, "no memory to lower a kernel");
    }
    size_t n_args = n_operands;
    if (r->has_workspace) {
        // A kernel that reduces no points names the workspace and never touches it.
        args[n_args].buffer = b->dev->status;
        if (b->task->workspace != WF_NO_INDEX) {
            args[n_args].buffer = wf_gpu_place_of(b, b->task->workspace, WEFT_U8, 0).buffer;
        }
        n_args++;
    }
    args[n_args++].buffer = dev->status;
    args[n_args].data = packed;
    args[n_args++].size_bytes = wf_render_values_bytes(r);
    for (size_t i = 0; i < r->n_launches && status == WEFT_OK; i++) {
        const wf_render_launch *l = &r->launches[i];
        if (l->n_groups == 0)
            continue;
        pack_values(r, l->values, packed);
        wf_gpu_launch_spec spec = {
            .kernel = l->name,
            .group = {l->group_size, 1, 1},
            .n_groups = {(uint32_t)l->n_groups, 1, 1},
            .n_args = n_args,
            .args = args,
        };
        status = wf_gpu_add_launch(b, wf_text_str(&source), &spec);
    }
    wf_text_deinit(&source);
    return status;
}

weft_status wf_gpu_lower_kernel(wf_gpu_builder *b)
{
    const wf_allocator *a = &b->dev->base.context->allocator;
    const wf_kernel *k = b->task->kernel;
    size_t n_operands = k->n_inputs + k->n_outputs;
    wf_arena memory;
    wf_arena_init(&memory, a);
    wf_kernel placed;
    wf_render render = {0};
    wf_gpu_arg *args = wf_arena_take(&memory, (n_operands + 3) * sizeof *args);
    weft_status status = args
                             ? place_kernel(b, &memory, &placed, args)
                             : wf_error_set(b->err, WEFT_ERR_MEMORY, "no memory to lower a kernel");
    bool is_rendered = false;
    if (status == WEFT_OK) {
        wf_render_task task = {b->task_idx, b->task->is_gated, 0};
        if (b->task->workspace != WF_NO_INDEX) {
            task.workspace_offset = wf_gpu_place_of(b, b->task->workspace, WEFT_U8, 0).offset;
        }
        status = wf_render_create(a, &placed, &b->dev->render, &task, &render, b->err);
        is_rendered = status == WEFT_OK;
    }
    if (status == WEFT_OK && render.n_launches > 0)
        status = add_launches(b, &render, args, n_operands);
    if (is_rendered)
        wf_render_destroy(&render);
    wf_arena_deinit(&memory);
    return status;
}
