// Cumulative sums and products on a GPU. Kernels and method: gpu_chain.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"
#include "device/gpu/gpu_source.h"
#include "op/chain_common.h"

#define GROUP 64

// The kernel's wf_chain, in its order.
typedef struct chain_values {
    int64_t outer, size, inner, n_chunks, is_exclusive, is_reverse;
    int64_t x_offset, y_offset, totals_offset;
} chain_values;

static wf_chain_walk get_walk(const wf_task *task)
{
    const weft_type in = task->inputs[0].type, out = task->outputs[0].type;
    const wf_node_info info = {task->node->op, 1, &in, 1, &out, task->node->attrs};
    return wf_chain_walk_make(&info);
}

static int64_t count_chunks(const wf_chain_walk *w)
{
    return (w->size + WF_CHAIN_CHUNK - 1) / WF_CHAIN_CHUNK;
}

static bool is_cumsum(const wf_task *task)
{
    return strcmp(task->node->op->name, "cumsum") == 0;
}

// The totals of a cumulative sum's chunks, where there is more than one.
size_t wf_gpu_workspace_chain(const wf_gpu_device *dev, const wf_task *task)
{
    const wf_chain_walk w = get_walk(task);
    const int64_t n_chunks = count_chunks(&w);
    if (!is_cumsum(task) || n_chunks < 2)
        return 0;
    return (size_t)(w.outer * n_chunks * w.inner) *
           dev->base.caps.elem_bytes[task->inputs[0].type.dtype];
}

static weft_status launch(wf_gpu_builder *b, const wf_text *source, const char *kernel,
                          int64_t n_items, wf_device_buffer *const *buffers, size_t n_buffers,
                          const chain_values *v)
{
    wf_gpu_arg args[4] = {{NULL, NULL, 0}};
    const int64_t n_groups = (n_items + GROUP - 1) / GROUP;
    if (n_items == 0)
        return WEFT_OK;
    if (n_groups > INT32_MAX) {
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "%s: more than 2^31 work-groups",
                  b->task->node->op->name);
    }
    for (size_t i = 0; i < n_buffers; i++)
        args[i].buffer = buffers[i];
    args[n_buffers].data = v;
    args[n_buffers].size_bytes = sizeof *v;
    const wf_gpu_launch_spec spec = {
        kernel, {GROUP, 1, 1}, {(uint32_t)n_groups, 1, 1}, n_buffers + 1, args};
    return wf_gpu_add_launch(b, wf_text_str(source), &spec);
}

static weft_status add_launches(wf_gpu_builder *b, const wf_text *source)
{
    const wf_task *t = b->task;
    const wf_chain_walk w = get_walk(t);
    const wf_gpu_place x = wf_gpu_place_view(b, &t->inputs[0]);
    const wf_gpu_place y = wf_gpu_place_view(b, &t->outputs[0]);
    chain_values v = {.outer = w.outer,
                      .size = w.size,
                      .inner = w.inner,
                      .n_chunks = count_chunks(&w),
                      .is_exclusive = w.is_exclusive,
                      .is_reverse = w.is_reverse,
                      .x_offset = x.offset,
                      .y_offset = y.offset};
    if (!is_cumsum(t)) {
        const bool is_reduce = strcmp(t->node->op->name, "reduce_prod") == 0;
        wf_device_buffer *const buffers[] = {x.buffer, y.buffer};
        return launch(b, source, is_reduce ? "wf_reduce_prod" : "wf_cumprod", w.outer * w.inner,
                      buffers, 2, &v);
    }
    // A single chunk reads no totals: any buffer will do.
    wf_gpu_place totals = x;
    const int64_t n_items = v.outer * v.n_chunks * v.inner;
    if (t->workspace != WF_NO_INDEX) {
        totals = wf_gpu_place_of(b, t->workspace, t->inputs[0].type.dtype, 0);
        v.totals_offset = totals.offset;
        wf_device_buffer *const first[] = {x.buffer, totals.buffer};
        WEFT_TRY(launch(b, source, "wf_cumsum_totals", n_items, first, 2, &v));
    }
    wf_device_buffer *const second[] = {x.buffer, y.buffer, totals.buffer};
    return launch(b, source, "wf_cumsum", n_items, second, 3, &v);
}

weft_status wf_gpu_lower_chain(wf_gpu_builder *b)
{
    const weft_dtype dtype = b->task->inputs[0].type.dtype;
    wf_text source;
    if (!wf_view_is_dense(&b->task->inputs[0])) {
        WEFT_FAIL(b->err, WEFT_ERR_INTERNAL, "%s: the operand is not dense",
                  b->task->node->op->name);
    }
    WEFT_TRY(wf_gpu_source_start(b, &source));
    wf_text_printf(&source, "#define WF_ELEM %s\n",
                   dtype == WEFT_F32   ? "wf_f32"
                   : dtype == WEFT_I64 ? "wf_u64"
                                       : "wf_u32");
    weft_status status = wf_gpu_source_append(&source, "gpu_chain.h", b->err);
    if (status == WEFT_OK)
        status = add_launches(b, &source);
    wf_text_deinit(&source);
    return status;
}
