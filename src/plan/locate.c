// Where values live. A value is an own dense buffer in its layout, the memory of a source, or a view
// into another value's memory; where strides cannot say a view, its operand is copied first.
#include <string.h>

#include "op/inst.h"
#include "plan/planner.h"

weft_status wf_plan_take(wf_planner *p, size_t count, size_t size_bytes, void *out_ptr)
{
    size_t bytes;
    void *ptr = NULL;
    if (wf_mul_size(count, size_bytes, &bytes))
        ptr = wf_arena_take(&p->plan->memory, bytes);
    memcpy(out_ptr, &ptr, sizeof ptr);
    if (!ptr)
        WEFT_FAIL(p->err, WEFT_ERR_MEMORY, "plan: memory is not available");
    return WEFT_OK;
}

weft_status wf_plan_grow(wf_planner *p, void *inout_ptr, size_t n, size_t size_bytes,
                         size_t *inout_capacity)
{
    void *array, *larger;
    if (n < *inout_capacity)
        return WEFT_OK;
    const size_t capacity = n ? 2 * n : 64;
    WEFT_TRY(wf_plan_take(p, capacity, size_bytes, &larger));
    memcpy(&array, inout_ptr, sizeof array);
    if (n)
        memcpy(larger, array, n * size_bytes);
    memcpy(inout_ptr, &larger, sizeof larger);
    *inout_capacity = capacity;
    return WEFT_OK;
}

size_t wf_plan_type_bytes(const wf_planner *p, const weft_type *t)
{
    return (size_t)wf_type_count(t) * p->options->elem_bytes[t->dtype];
}

void wf_dense_strides(const weft_type *t, bool is_channels_last, int64_t strides[WEFT_MAX_DIM])
{
    int64_t stride = 1;
    memset(strides, 0, WEFT_MAX_DIM * sizeof *strides);
    if (is_channels_last && t->ndim >= 3) {
        strides[1] = 1;
        stride = t->dims[1];
    }
    for (int32_t i = t->ndim - 1; i >= 0; i--) {
        if (is_channels_last && t->ndim >= 3 && i == 1)
            continue;
        strides[i] = stride;
        stride *= t->dims[i];
    }
}

weft_status wf_plan_add_buffer(wf_planner *p, wf_buffer_kind kind, size_t size_bytes,
                               uint32_t *out_buffer)
{
    wf_plan *plan = p->plan;
    WEFT_TRY(wf_plan_grow(p, &plan->buffers, plan->n_buffers, sizeof *plan->buffers,
                          &plan->buffers_capacity));
    *out_buffer = (uint32_t)plan->n_buffers;
    plan->buffers[plan->n_buffers++] = (wf_buffer){.kind = kind,
                                                   .size_bytes = size_bytes,
                                                   .variable = WF_NO_INDEX,
                                                   .first_task = WF_NO_INDEX,
                                                   .last_task = 0,
                                                   .alias_of = WF_NO_INDEX};
    return WEFT_OK;
}

wf_location wf_plan_dense(uint32_t buffer, const weft_type *t, bool is_channels_last)
{
    wf_location l = {.is_known = true, .buffer = buffer, .at = {.ndim = t->ndim}};
    memcpy(l.at.dims, t->dims, sizeof l.at.dims);
    wf_dense_strides(t, is_channels_last, l.at.strides);
    return l;
}

wf_location wf_plan_place_of(const wf_node_info *info, size_t input, const wf_location *whole)
{
    wf_location l = *whole;
    int64_t start[WEFT_MAX_DIM] = {0};
    info->op->place(info, input, start);
    for (int32_t d = 0; d < l.at.ndim; d++) {
        l.at.offset += start[d] * l.at.strides[d];
        l.at.dims[d] = info->in[input].dims[d];
    }
    return l;
}

weft_status wf_plan_place_value(wf_planner *p, wf_id id, wf_buffer_kind kind)
{
    const weft_type *t = wf_planner_type(p, id);
    wf_location *l = &p->locations[id];
    if (l->is_known)
        return WEFT_OK;
    uint32_t buffer;
    WEFT_TRY(wf_plan_add_buffer(p, kind, wf_plan_type_bytes(p, t), &buffer));
    *l = wf_plan_dense(buffer, t, kind == WF_BUFFER_ARENA && p->is_channels_last[id]);
    return WEFT_OK;
}

wf_view wf_plan_view(const wf_location *l, weft_dtype dtype)
{
    wf_view v = {.buffer = l->buffer, .offset = l->at.offset};
    v.type = wf_type_make(dtype, l->at.ndim, l->at.dims);
    memcpy(v.strides, l->at.strides, sizeof v.strides);
    return v;
}

bool wf_plan_is_dense(const wf_location *l, bool is_channels_last)
{
    const weft_type t = wf_type_make(WEFT_F32, l->at.ndim, l->at.dims);
    int64_t want[WEFT_MAX_DIM];
    wf_dense_strides(&t, is_channels_last, want);
    for (int32_t i = 0; i < t.ndim; i++) {
        if (t.dims[i] != 1 && l->at.strides[i] != want[i])
            return false;
    }
    return true;
}

static weft_status copy_dense(wf_planner *p, wf_id id, const wf_location *src,
                              bool is_channels_last, wf_location *out)
{
    const weft_type *t = wf_planner_type(p, id);
    const uint32_t node_idx = wf_graph_value(p->g, id)->node;
    uint32_t buffer;
    WEFT_TRY(wf_plan_add_buffer(p, WF_BUFFER_ARENA, wf_plan_type_bytes(p, t), &buffer));
    const wf_location dst = wf_plan_dense(buffer, t, is_channels_last);
    WEFT_TRY(wf_plan_add_copy(p, t->dtype, src, &dst, false, node_idx));
    *out = dst;
    return WEFT_OK;
}

weft_status wf_plan_locate_dense(wf_planner *p, wf_id id, wf_density density, wf_location *out)
{
    const bool is_channels_last = density == WF_DENSE_CHANNELS_LAST;
    WEFT_TRY(wf_plan_locate(p, id, out));
    if (wf_plan_is_dense(out, is_channels_last)) {
        const weft_type *t = wf_planner_type(p, id);
        wf_dense_strides(t, is_channels_last, out->at.strides); // size-1 axes get tidy strides
        return WEFT_OK;
    }
    const wf_location src = *out;
    return copy_dense(p, id, &src, is_channels_last, out);
}

bool wf_plan_scalar_bits(const wf_planner *p, wf_id id, uint64_t *out_bits)
{
    const wf_node *node = wf_graph_producer(p->g, id);
    while ((node->op->flags & WF_OP_VIEW) && node->n_inputs == 1) {
        node = wf_graph_producer(p->g, node->inputs[0]);
    }
    const weft_type *t = wf_planner_type(p, node->first_output);
    if (!(node->op->flags & WF_OP_SOURCE) || node->op->n_attrs == 0 || wf_type_count(t) != 1) {
        return false;
    }
    const size_t last = node->op->n_attrs - 1;
    if (node->op->attrs[last].kind != WF_ATTR_DATA)
        return false;
    *out_bits = 0;
    memcpy(out_bits, node->attrs[last].u.data, weft_dtype_size(t->dtype));
    return true;
}

static weft_status locate_constant(wf_planner *p, const wf_node *node)
{
    const wf_id id = node->first_output;
    WEFT_TRY(wf_plan_place_value(p, id, WF_BUFFER_CONSTANT));
    wf_buffer *b = &p->plan->buffers[p->locations[id].buffer];
    b->data = node->attrs[node->op->n_attrs - 1].u.data;
    b->dtype = wf_planner_type(p, id)->dtype;
    return WEFT_OK;
}

static weft_status locate_view(wf_planner *p, const wf_node *node)
{
    const wf_id id = node->first_output;
    const weft_type *t = wf_planner_type(p, id);
    wf_location base;
    WEFT_TRY(wf_plan_locate(p, node->inputs[0], &base));
    const weft_type in = *wf_planner_type(p, node->inputs[0]);
    const wf_node_info info = {node->op, 1, &in, 1, t, node->attrs};
    wf_location view = {.is_known = true, .buffer = base.buffer};
    view.at.ndim = t->ndim;
    memcpy(view.at.dims, t->dims, sizeof view.at.dims);
    if (!node->op->view) { // stop_gradient: the operand itself
        view.at = base.at;
    } else if (!node->op->view(&info, &base.at, &view.at)) {
        WEFT_TRY(wf_plan_locate_dense(p, node->inputs[0], WF_DENSE_ROW_MAJOR, &base));
        view.buffer = base.buffer;
        if (!node->op->view(&info, &base.at, &view.at)) {
            WEFT_FAIL(p->err, WEFT_ERR_INTERNAL, "plan: %s has no view of a dense operand",
                      node->op->name);
        }
    }
    p->locations[id] = view;
    return WEFT_OK;
}

weft_status wf_plan_locate(wf_planner *p, wf_id id, wf_location *out)
{
    wf_location *l = &p->locations[id];
    if (!l->is_known) {
        const wf_node *node = wf_graph_producer(p->g, id);
        if (node->op->flags & WF_OP_VIEW) {
            WEFT_TRY(locate_view(p, node));
        } else if ((node->op->flags & WF_OP_SOURCE) && node->op->n_attrs &&
                   node->op->attrs[node->op->n_attrs - 1].kind == WF_ATTR_DATA) {
            WEFT_TRY(locate_constant(p, node));
        } else if ((node->op->flags & WF_OP_EFFECT) && node->op->task == WF_TASK_NONE) {
            WEFT_TRY(wf_plan_locate(p, node->inputs[1], out)); // assign's result is its value
            *l = *out;
        } else {
            WEFT_FAIL(p->err, WEFT_ERR_INTERNAL, "plan: %s is read before it is computed",
                      node->op->name);
        }
    }
    *out = *l;
    return WEFT_OK;
}
