// What the ops with indices share: see index_common.h.
#include "op/index_common.h"

weft_status wf_infer_index(const wf_node_info *info, size_t x, size_t idx, weft_error *err)
{
    const weft_type *t = &info->in[x];
    const int64_t axis = info->attrs[0].u.i;
    char text[WF_TYPE_TEXT];
    if (info->in[idx].dtype != WEFT_I32 && info->in[idx].dtype != WEFT_I64) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "idx is %s, expected i32 i64",
                  wf_type_text(&info->in[idx], text));
    }
    if (axis < 0 || axis >= t->ndim) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is out of range, %s is %s", (long long)axis,
                  x == 0 ? "x" : "base", wf_type_text(t, text));
    }
    return WEFT_OK;
}

wf_index_walk wf_index_walk_make(const weft_type *x, int64_t axis, const wf_tensor *idx)
{
    wf_index_walk w = {1, x->dims[axis], 1, wf_type_count(&idx->type)};
    for (int32_t i = 0; i < x->ndim; i++) {
        if (i < axis)
            w.outer *= x->dims[i];
        else if (i > axis)
            w.inner *= x->dims[i];
    }
    return w;
}

int64_t wf_index_get(wf_eval *q, const wf_index_walk *w, const wf_tensor *idx, int64_t j)
{
    const int64_t given = wf_tensor_get_int(idx, j);
    const int64_t at = given < 0 ? given + w->size : given;
    if (at >= 0 && at < w->size)
        return at;
    if (!q->is_bad) {
        q->is_bad = true;
        q->bad_elem = j;
    }
    return -1;
}

wf_cost wf_cost_index(const wf_node_info *info)
{
    const double moved =
        (double)wf_type_count(&info->out[0]) * (double)weft_dtype_size(info->out[0].dtype);
    double read = 0.0;
    for (size_t i = 1; i < info->n_inputs; i++) {
        read += (double)wf_type_count(&info->in[i]) * (double)weft_dtype_size(info->in[i].dtype);
    }
    const wf_cost cost = {0.0, 2.0 * moved + read};
    return cost;
}

wf_index_range wf_index_range_axis(const wf_node_info *info)
{
    const int64_t size = info->in[0].dims[info->attrs[0].u.i];
    return (wf_index_range){1, -size, size - 1};
}

weft_status wf_infer_start(const wf_node_info *info, weft_error *err)
{
    const weft_type *x = &info->in[0], *start = &info->in[1];
    const int64_t axis = info->attrs[0].u.i;
    char text[WF_TYPE_TEXT];
    if ((start->dtype != WEFT_I32 && start->dtype != WEFT_I64) || wf_type_count(start) != 1) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "start is %s, expected one i32 or i64",
                  wf_type_text(start, text));
    }
    if (axis < 0 || axis >= x->ndim) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is out of range, x is %s", (long long)axis,
                  wf_type_text(x, text));
    }
    return WEFT_OK;
}

const weft_type *wf_start_part(const wf_node_info *info)
{
    return info->n_inputs == 3 ? &info->in[2] : &info->out[0];
}

wf_index_range wf_index_range_start(const wf_node_info *info)
{
    const int64_t axis = info->attrs[0].u.i;
    return (wf_index_range){1, 0, info->in[0].dims[axis] - wf_start_part(info)->dims[axis]};
}

int64_t wf_start_get(wf_eval *q)
{
    const wf_index_range range = wf_index_range_start(q->info);
    const int64_t start = wf_tensor_get_int(&q->in[1], 0);
    if (start >= range.low && start <= range.high)
        return start;
    q->is_bad = true;
    q->bad_elem = 0;
    return -1;
}
