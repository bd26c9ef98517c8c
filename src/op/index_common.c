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
