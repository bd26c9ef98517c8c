// Lowering tasks to launches: what the files gpu_lower_*.c share. Stage: PLAN -> PROGRAM.
#ifndef WF_GPU_LOWER_H
#define WF_GPU_LOWER_H

#include "device/gpu/gpu_api.h"

typedef struct wf_gpu_step {
    wf_gpu_module *module;
    wf_gpu_launch *launch;
    uint32_t task;
} wf_gpu_step;

struct wf_device_program {
    wf_gpu_device *dev;
    const wf_plan *plan;
    const wf_program_memory *memory;
    size_t n_steps, steps_capacity;
    wf_gpu_step *steps;
    size_t *first_step; // per task; plan->n_tasks + 1 entries
};

// One task being lowered.
typedef struct wf_gpu_builder {
    wf_device_program *program;
    wf_gpu_device *dev;
    const wf_task *task;
    uint32_t task_idx;
    weft_error *err;
} wf_gpu_builder;

// Where a view's elements are: the buffer to pass, and the element that offset 0 of the view means.
typedef struct wf_gpu_place {
    wf_device_buffer *buffer;
    int64_t offset; // elements
} wf_gpu_place;

wf_gpu_place wf_gpu_place_of(const wf_gpu_builder *b, uint32_t plan_buffer, weft_dtype dtype,
                             int64_t offset);
static inline wf_gpu_place wf_gpu_place_view(const wf_gpu_builder *b, const wf_view *v)
{
    return wf_gpu_place_of(b, v->buffer, v->type.dtype, v->offset);
}

// Adds a launch of a kernel in a source (joined text, without the prefix).
weft_status wf_gpu_add_launch(wf_gpu_builder *b, const char *source,
                              const wf_gpu_launch_spec *spec);

// Sources made of #defines and embedded files: a text that is built, used and freed.
weft_status wf_gpu_source_start(const wf_gpu_builder *b, wf_text *out_text);

// A type of the elements' size, for kernels that only move them.
static inline const char *wf_gpu_bits_type(weft_dtype dtype)
{
    switch (weft_dtype_size(dtype)) {
    case 1: return "wf_u8";
    case 2: return "wf_u16";
    case 4: return "wf_u32";
    default: return "wf_u64";
    }
}

typedef weft_status (*wf_gpu_lower)(wf_gpu_builder *b);
weft_status wf_gpu_lower_kernel(wf_gpu_builder *b);
weft_status wf_gpu_lower_contract(wf_gpu_builder *b);
weft_status wf_gpu_lower_conv(wf_gpu_builder *b);
weft_status wf_gpu_lower_window(wf_gpu_builder *b);
weft_status wf_gpu_lower_chain(wf_gpu_builder *b);
weft_status wf_gpu_lower_index(wf_gpu_builder *b);
weft_status wf_gpu_lower_dynamic(wf_gpu_builder *b); // of INDEX tasks
weft_status wf_gpu_lower_order(wf_gpu_builder *b);
weft_status wf_gpu_lower_guard(wf_gpu_builder *b);
weft_status wf_gpu_lower_attention(wf_gpu_builder *b);

size_t wf_gpu_workspace_kernel(const wf_gpu_device *dev, const wf_task *task);
size_t wf_gpu_workspace_contract(const wf_gpu_device *dev, const wf_task *task);
size_t wf_gpu_workspace_conv(const wf_gpu_device *dev, const wf_task *task);
size_t wf_gpu_workspace_chain(const wf_gpu_device *dev, const wf_task *task);
size_t wf_gpu_workspace_index(const wf_gpu_device *dev, const wf_task *task);
size_t wf_gpu_workspace_order(const wf_gpu_device *dev, const wf_task *task);
size_t wf_gpu_workspace_guard(const wf_gpu_device *dev, const wf_task *task);

#endif
