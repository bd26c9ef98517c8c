// gather, scatter_add and the guards on a GPU. Kernels and method: gpu_index.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"
#include "device/gpu/gpu_source.h"

#define GROUP 64
#define RANK_RUN 256   // keys that one launch sorts by counting
#define SMALL 256      // elements that one work-item guards
#define SCANNERS 16384 // work-items of a guard's scan

// The kernel's wf_index, in its order.
typedef struct index_values {
    int64_t outer, size, inner, n_idx, task, is_gated;
    int64_t x_offset, idx_offset, updates_offset, y_offset;
    int64_t keys_offset, sorted_offset, starts_offset;
    int64_t run;
} index_values;

static void split_axis(const weft_type *t, int64_t axis, index_values *v)
{
    v->outer = v->inner = 1;
    v->size = t->dims[axis];
    for (int32_t i = 0; i < t->ndim; i++) {
        if (i < axis)
            v->outer *= t->dims[i];
        if (i > axis)
            v->inner *= t->dims[i];
    }
}

static weft_status check_dense(const wf_gpu_builder *b)
{
    for (size_t i = 0; i < b->task->n_inputs; i++) {
        if (!wf_view_is_dense(&b->task->inputs[i])) {
            WEFT_FAIL(b->err, WEFT_ERR_INTERNAL, "%s: operand %zu is not dense",
                      b->task->node->op->name, i);
        }
    }
    return WEFT_OK;
}

static bool is_op(const wf_task *task, const char *name)
{
    return strcmp(task->node->op->name, name) == 0;
}

static size_t scatter_bytes(int64_t n_idx, int64_t size)
{
    return 2 * (size_t)n_idx * sizeof(uint64_t) + ((size_t)size + 1) * sizeof(uint32_t);
}

size_t wf_gpu_workspace_index(const wf_gpu_device *dev, const wf_task *task)
{
    (void)dev;
    if (!is_op(task, "scatter_add"))
        return 0;
    index_values v;
    split_axis(&task->inputs[0].type, task->node->attrs[0].u.i, &v);
    return scatter_bytes(wf_type_count(&task->inputs[1].type), v.size);
}

size_t wf_gpu_workspace_guard(const wf_gpu_device *dev, const wf_task *task)
{
    (void)dev;
    return wf_type_count(&task->inputs[0].type) > SMALL ? sizeof(uint32_t) : 0;
}

static const char *elem_type(weft_dtype dtype, bool by_size)
{
    if (by_size)
        return wf_gpu_bits_type(dtype);
    return dtype == WEFT_F32 ? "wf_f32" : dtype == WEFT_I64 ? "wf_i64" : "wf_i32";
}

// One launch of a kernel in gpu_index.h.
typedef struct index_launcher {
    wf_gpu_builder *b;
    wf_text source;
} index_launcher;

static weft_status launcher_init(index_launcher *l, wf_gpu_builder *b, weft_dtype elem,
                                 bool by_size, weft_dtype index)
{
    l->b = b;
    WEFT_TRY(wf_gpu_source_start(b, &l->source));
    wf_text_printf(
        &l->source, "#define WF_ELEM %s\n%s#define WF_INDEX %s\n", elem_type(elem, by_size),
        elem == WEFT_F32 && !by_size ? "#define WF_ELEM_IS_F32\n" : "", elem_type(index, false));
    return wf_gpu_source_append(&l->source, "gpu_index.h", b->err);
}

static weft_status launch(index_launcher *l, const char *kernel, uint32_t group, int64_t n_items,
                          const index_values *v, wf_device_buffer *const *buffers, size_t n_buffers)
{
    wf_gpu_arg args[8] = {{NULL, NULL, 0}};
    size_t n = 0;
    if (n_items == 0)
        return WEFT_OK;
    while (n < n_buffers) {
        args[n].buffer = buffers[n];
        n++;
    }
    args[n++].buffer = l->b->dev->status;
    args[n].data = v;
    args[n++].size_bytes = sizeof *v;
    int64_t n_groups = (n_items + group - 1) / group;
    if (n_groups > INT32_MAX) {
        WEFT_FAIL(l->b->err, WEFT_ERR_UNSUPPORTED, "%s: more than 2^31 work-groups",
                  l->b->task->node->op->name);
    }
    const wf_gpu_launch_spec spec = {kernel, {group, 1, 1}, {(uint32_t)n_groups, 1, 1}, n, args};
    return wf_gpu_add_launch(l->b, wf_text_str(&l->source), &spec);
}

static weft_status lower_gather(index_launcher *l, index_values *v)
{
    wf_gpu_builder *b = l->b;
    const wf_task *t = b->task;
    wf_gpu_place x = wf_gpu_place_view(b, &t->inputs[0]);
    wf_gpu_place idx = wf_gpu_place_view(b, &t->inputs[1]);
    wf_gpu_place y = wf_gpu_place_view(b, &t->outputs[0]);
    v->x_offset = x.offset;
    v->idx_offset = idx.offset;
    v->y_offset = y.offset;
    wf_device_buffer *const buffers[] = {x.buffer, idx.buffer, y.buffer};
    return launch(l, "wf_gather", GROUP, v->outer * v->n_idx * v->inner, v, buffers, 3);
}

static void swap_keys(index_values *v)
{
    int64_t keys = v->keys_offset;
    v->keys_offset = v->sorted_offset;
    v->sorted_offset = keys;
}

static weft_status lower_scatter(index_launcher *l, index_values *v)
{
    wf_gpu_builder *b = l->b;
    const wf_task *t = b->task;
    wf_gpu_place x = wf_gpu_place_view(b, &t->inputs[0]);
    wf_gpu_place idx = wf_gpu_place_view(b, &t->inputs[1]);
    wf_gpu_place updates = wf_gpu_place_view(b, &t->inputs[2]);
    wf_gpu_place y = wf_gpu_place_view(b, &t->outputs[0]);
    wf_gpu_place work = wf_gpu_place_of(b, t->workspace, WEFT_U8, 0);
    v->x_offset = x.offset;
    v->idx_offset = idx.offset;
    v->updates_offset = updates.offset;
    v->y_offset = y.offset;
    v->keys_offset = work.offset;
    v->sorted_offset = v->keys_offset + v->n_idx * 8;
    v->starts_offset = v->sorted_offset + v->n_idx * 8;
    if (v->n_idx > (int64_t)UINT32_MAX || v->size >= (int64_t)UINT32_MAX) {
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "scatter_add: more than 2^32 indices or places");
    }
    wf_device_buffer *const keys[] = {idx.buffer, work.buffer};
    wf_device_buffer *const only[] = {work.buffer};
    wf_device_buffer *const sums[] = {x.buffer, updates.buffer, y.buffer, work.buffer};
    WEFT_TRY(launch(l, "wf_scatter_keys", GROUP, v->n_idx, v, keys, 2));
    v->run = RANK_RUN;
    WEFT_TRY(launch(l, "wf_scatter_rank", GROUP, v->n_idx, v, only, 1));
    swap_keys(v);
    for (; v->run < v->n_idx; v->run *= 2) {
        WEFT_TRY(launch(l, "wf_scatter_merge", GROUP, v->n_idx, v, only, 1));
        swap_keys(v);
    }
    WEFT_TRY(launch(l, "wf_scatter_starts", GROUP, v->size + 1, v, only, 1));
    return launch(l, "wf_scatter_add", GROUP, v->outer * v->size * v->inner, v, sums, 4);
}

weft_status wf_gpu_lower_index(wf_gpu_builder *b)
{
    const wf_task *t = b->task;
    const bool is_scatter = is_op(t, "scatter_add");
    index_values v;
    if (strncmp(t->node->op->name, "dynamic_", 8) == 0)
        return wf_gpu_lower_dynamic(b);
    if (!is_scatter && !is_op(t, "gather")) {
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "index tasks of op %s are not known here",
                  t->node->op->name);
    }
    memset(&v, 0, sizeof v);
    WEFT_TRY(check_dense(b));
    split_axis(&t->inputs[0].type, t->node->attrs[0].u.i, &v);
    v.n_idx = wf_type_count(&t->inputs[1].type);
    v.task = b->task_idx;
    v.is_gated = t->is_gated;
    index_launcher l;
    weft_status status =
        launcher_init(&l, b, t->inputs[0].type.dtype, !is_scatter, t->inputs[1].type.dtype);
    if (status == WEFT_OK)
        status = is_scatter ? lower_scatter(&l, &v) : lower_gather(&l, &v);
    wf_text_deinit(&l.source);
    return status;
}

weft_status wf_gpu_lower_guard(wf_gpu_builder *b)
{
    const wf_task *t = b->task;
    wf_gpu_place x = wf_gpu_place_view(b, &t->inputs[0]);
    wf_gpu_place y = wf_gpu_place_view(b, &t->outputs[0]);
    index_values v;
    memset(&v, 0, sizeof v);
    WEFT_TRY(check_dense(b));
    v.size = t->node->op->n_attrs ? t->node->attrs[0].u.i : 0;
    v.n_idx = wf_type_count(&t->inputs[0].type);
    v.task = b->task_idx;
    v.is_gated = t->is_gated;
    v.x_offset = x.offset;
    v.y_offset = y.offset;
    index_launcher l;
    weft_status status = launcher_init(&l, b, t->inputs[0].type.dtype, false, WEFT_I32);
    if (status == WEFT_OK && t->workspace == WF_NO_INDEX) {
        wf_device_buffer *const buffers[] = {x.buffer, y.buffer};
        status = launch(&l, "wf_guard_small", 1, 1, &v, buffers, 2);
    } else if (status == WEFT_OK) {
        wf_gpu_place work = wf_gpu_place_of(b, t->workspace, WEFT_U8, 0);
        wf_device_buffer *const start[] = {work.buffer};
        wf_device_buffer *const scan[] = {x.buffer, work.buffer};
        wf_device_buffer *const end[] = {y.buffer, work.buffer};
        int64_t n_items = v.n_idx < SCANNERS ? v.n_idx : SCANNERS;
        v.keys_offset = work.offset;
        v.run = (n_items + GROUP - 1) / GROUP * GROUP;
        status = launch(&l, "wf_guard_start", 1, 1, &v, start, 1);
        if (status == WEFT_OK)
            status = launch(&l, "wf_guard_scan", GROUP, n_items, &v, scan, 2);
        if (status == WEFT_OK)
            status = launch(&l, "wf_guard_end", 1, 1, &v, end, 2);
    }
    wf_text_deinit(&l.source);
    return status;
}
