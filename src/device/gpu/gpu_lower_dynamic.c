// dynamic_slice and dynamic_update on a GPU. Kernels: gpu_dynamic.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"
#include "device/gpu/gpu_source.h"

#define GROUP 64

// The kernel's wf_dynamic, in its order.
typedef struct dynamic_values {
    int64_t outer, size, inner, n_part, task, is_gated;
    int64_t x_offset, start_offset, part_offset, y_offset;
} dynamic_values;

static dynamic_values get_values(const wf_task *t, uint32_t task_idx)
{
    const weft_type *x = &t->inputs[0].type;
    const int64_t axis = t->node->attrs[0].u.i;
    dynamic_values v = {.outer = 1, .size = x->dims[axis], .inner = 1, .task = task_idx};
    v.n_part = (t->n_inputs == 3 ? &t->inputs[2] : &t->outputs[0])->type.dims[axis];
    v.is_gated = t->is_gated;
    for (int32_t i = 0; i < x->ndim; i++) {
        if (i < axis)
            v.outer *= x->dims[i];
        if (i > axis)
            v.inner *= x->dims[i];
    }
    return v;
}

static weft_status launch(wf_gpu_builder *b, const char *source, const char *kernel, int64_t n,
                          const dynamic_values *v, wf_device_buffer *const *buffers,
                          size_t n_buffers)
{
    wf_gpu_arg args[6] = {{NULL, NULL, 0}};
    for (size_t i = 0; i < n_buffers; i++)
        args[i].buffer = buffers[i];
    args[n_buffers].buffer = b->dev->status;
    args[n_buffers + 1].data = v;
    args[n_buffers + 1].size_bytes = sizeof *v;
    const int64_t n_groups = n > 0 ? (n + GROUP - 1) / GROUP : 1; // the start is looked at anyway
    if (n_groups > INT32_MAX) {
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "%s: more than 2^31 work-groups",
                  b->task->node->op->name);
    }
    const wf_gpu_launch_spec spec = {
        kernel, {GROUP, 1, 1}, {(uint32_t)n_groups, 1, 1}, n_buffers + 2, args};
    return wf_gpu_add_launch(b, source, &spec);
}

static weft_status lower_with(wf_gpu_builder *b, const char *source)
{
    const wf_task *t = b->task;
    const wf_gpu_place x = wf_gpu_place_view(b, &t->inputs[0]);
    const wf_gpu_place start = wf_gpu_place_view(b, &t->inputs[1]);
    const wf_gpu_place y = wf_gpu_place_view(b, &t->outputs[0]);
    dynamic_values v = get_values(t, b->task_idx);
    const int64_t n_part = v.outer * v.n_part * v.inner;
    v.x_offset = x.offset;
    v.start_offset = start.offset;
    v.y_offset = y.offset;
    if (t->n_inputs == 2) {
        wf_device_buffer *const buffers[] = {x.buffer, start.buffer, y.buffer};
        return launch(b, source, "wf_dynamic_slice", n_part, &v, buffers, 3);
    }
    const wf_gpu_place part = wf_gpu_place_view(b, &t->inputs[2]);
    v.part_offset = part.offset;
    if (x.buffer == y.buffer && x.offset == y.offset) {
        wf_device_buffer *const buffers[] = {start.buffer, part.buffer, y.buffer};
        return launch(b, source, "wf_dynamic_write", n_part, &v, buffers, 3);
    }
    wf_device_buffer *const buffers[] = {x.buffer, start.buffer, part.buffer, y.buffer};
    return launch(b, source, "wf_dynamic_update", v.outer * v.size * v.inner, &v, buffers, 4);
}

weft_status wf_gpu_lower_dynamic(wf_gpu_builder *b)
{
    const wf_task *t = b->task;
    wf_text source;
    for (size_t i = 0; i < t->n_inputs; i++) {
        if (!wf_view_is_dense(&t->inputs[i])) {
            WEFT_FAIL(b->err, WEFT_ERR_INTERNAL, "%s: operand %zu is not dense", t->node->op->name,
                      i);
        }
    }
    WEFT_TRY(wf_gpu_source_start(b, &source));
    wf_text_printf(&source, "#define WF_ELEM %s\n#define WF_INDEX %s\n",
                   wf_gpu_bits_type(t->inputs[0].type.dtype),
                   t->inputs[1].type.dtype == WEFT_I64 ? "wf_i64" : "wf_i32");
    weft_status status = wf_gpu_source_append(&source, "gpu_dynamic.h", b->err);
    if (status == WEFT_OK)
        status = lower_with(b, wf_text_str(&source));
    wf_text_deinit(&source);
    return status;
}
