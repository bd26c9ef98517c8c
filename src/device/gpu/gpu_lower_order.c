// sort and top_k on a GPU. Kernels and method: gpu_order.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"
#include "device/gpu/gpu_source.h"
#include "op/order.h"

#define GROUP 64
#define RANK_RUN 256 // keys that one launch sorts by counting

// The kernel's wf_order, in its order.
typedef struct order_values {
    int64_t n_rows, n, k, inner, is_descending, is_gated;
    int64_t x_offset, values_offset, indices_offset;
    int64_t keys_offset, places_offset, to_keys_offset, to_places_offset;
    int64_t run;
} order_values;

static size_t key_bytes(weft_dtype dtype)
{
    return weft_dtype_size(dtype) == 8 ? 8 : 4;
}

size_t wf_gpu_workspace_order(const wf_gpu_device *dev, const wf_task *task)
{
    (void)dev;
    const weft_type *x = &task->inputs[0].type;
    return 2 * (size_t)wf_type_count(x) * (key_bytes(x->dtype) + sizeof(int32_t));
}

typedef struct launcher {
    wf_gpu_builder *b;
    wf_text source;
    order_values v;
} launcher;

static weft_status launcher_init(launcher *l, wf_gpu_builder *b)
{
    static const char *const elems[WEFT_N_DTYPES] = {
        [WEFT_F32] = "wf_f32", [WEFT_I8] = "wf_i8",   [WEFT_U8] = "wf_u8",
        [WEFT_I32] = "wf_i32", [WEFT_I64] = "wf_i64", [WEFT_BOOL] = "wf_u8"};
    const weft_dtype dtype = b->task->inputs[0].type.dtype;
    const char *kind = dtype == WEFT_F32                        ? "F32"
                       : dtype == WEFT_U8 || dtype == WEFT_BOOL ? "UNSIGNED"
                                                                : "SIGNED";
    l->b = b;
    WEFT_TRY(wf_gpu_source_start(b, &l->source));
    wf_text_printf(&l->source, "#define WF_ELEM %s\n#define WF_KEY %s\n#define WF_ORDER_%s\n",
                   elems[dtype], key_bytes(dtype) == 8 ? "wf_u64" : "wf_u32", kind);
    return wf_gpu_source_append(&l->source, "gpu_order.h", b->err);
}

static void get_values(launcher *l)
{
    const wf_task *t = l->b->task;
    const weft_type *x = &t->inputs[0].type;
    const int64_t axis = t->node->attrs[WF_ORDER_AXIS].u.i;
    order_values *v = &l->v;
    *v = (order_values){.n_rows = 1, .n = x->dims[axis], .inner = 1, .run = RANK_RUN};
    v->k = t->outputs[0].type.dims[axis];
    v->is_descending = t->node->attrs[WF_ORDER_DESCENDING].u.i;
    v->is_gated = t->is_gated;
    for (int32_t i = 0; i < x->ndim; i++) {
        v->n_rows *= i != axis ? x->dims[i] : 1;
        v->inner *= i > axis ? x->dims[i] : 1;
    }
}

static weft_status launch(launcher *l, const char *kernel, int64_t n_items,
                          wf_device_buffer *const *buffers, size_t n_buffers)
{
    wf_gpu_arg args[6] = {{NULL, NULL, 0}};
    for (size_t i = 0; i < n_buffers; i++)
        args[i].buffer = buffers[i];
    args[n_buffers].buffer = l->b->dev->status;
    args[n_buffers + 1].data = &l->v;
    args[n_buffers + 1].size_bytes = sizeof l->v;
    const int64_t n_groups = (n_items + GROUP - 1) / GROUP;
    if (n_groups > INT32_MAX) {
        WEFT_FAIL(l->b->err, WEFT_ERR_UNSUPPORTED, "%s: more than 2^31 work-groups",
                  l->b->task->node->op->name);
    }
    const wf_gpu_launch_spec spec = {
        kernel, {GROUP, 1, 1}, {(uint32_t)n_groups, 1, 1}, n_buffers + 2, args};
    return wf_gpu_add_launch(l->b, wf_text_str(&l->source), &spec);
}

static void swap(int64_t *a, int64_t *b)
{
    const int64_t keep = *a;
    *a = *b;
    *b = keep;
}

static weft_status add_launches(launcher *l)
{
    wf_gpu_builder *b = l->b;
    const wf_task *t = b->task;
    order_values *v = &l->v;
    const int64_t count = v->n_rows * v->n;
    const int64_t bytes = count * (int64_t)key_bytes(t->inputs[0].type.dtype);
    const wf_gpu_place x = wf_gpu_place_view(b, &t->inputs[0]);
    const wf_gpu_place values = wf_gpu_place_view(b, &t->outputs[0]);
    const wf_gpu_place indices = wf_gpu_place_view(b, &t->outputs[1]);
    const wf_gpu_place work = wf_gpu_place_of(b, t->workspace, WEFT_U8, 0);
    v->x_offset = x.offset;
    v->values_offset = values.offset;
    v->indices_offset = indices.offset;
    // Keys first, so that 8-byte ones are aligned.
    v->keys_offset = work.offset;
    v->to_keys_offset = v->keys_offset + bytes;
    v->places_offset = v->to_keys_offset + bytes;
    v->to_places_offset = v->places_offset + count * (int64_t)sizeof(int32_t);
    wf_device_buffer *const first[] = {x.buffer, work.buffer};
    wf_device_buffer *const only[] = {work.buffer};
    wf_device_buffer *const last[] = {x.buffer, values.buffer, indices.buffer, work.buffer};
    WEFT_TRY(launch(l, "wf_order_keys", count, first, 2));
    for (int64_t run = 0; run < v->n; run = run ? 2 * run : RANK_RUN) {
        v->run = run ? run : RANK_RUN;
        WEFT_TRY(launch(l, run ? "wf_order_merge" : "wf_order_rank", count, only, 1));
        swap(&v->keys_offset, &v->to_keys_offset);
        swap(&v->places_offset, &v->to_places_offset);
    }
    return launch(l, "wf_order_write", v->n_rows * v->k, last, 4);
}

weft_status wf_gpu_lower_order(wf_gpu_builder *b)
{
    launcher l;
    if (wf_type_count(&b->task->outputs[0].type) == 0)
        return WEFT_OK;
    if (!wf_view_is_dense(&b->task->inputs[0]))
        WEFT_FAIL(b->err, WEFT_ERR_INTERNAL, "%s: x is not dense", b->task->node->op->name);
    weft_status status = launcher_init(&l, b);
    get_values(&l);
    if (status == WEFT_OK)
        status = add_launches(&l);
    wf_text_deinit(&l.source);
    return status;
}
