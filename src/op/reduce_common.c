// What the reductions share: see reduce.h.
#include "op/reduce.h"

#include <string.h>

const wf_attr_spec wf_reduce_attrs[2] = {{"axes", WF_ATTR_INTS}, {"rule", WF_ATTR_TEXT}};

static bool is_reduced(const wf_node_info *info, int32_t axis)
{
    const wf_attr *axes = &info->attrs[WF_REDUCE_AXES];
    for (size_t i = 0; i < axes->n; i++) {
        if (axes->u.ints[i] == axis) {
            return true;
        }
    }
    return false;
}

weft_status wf_infer_reduce(const wf_node_info *info, uint32_t allowed, weft_type *out,
                            weft_error *err)
{
    const wf_attr *axes = &info->attrs[WF_REDUCE_AXES];
    WEFT_TRY(wf_infer_check_dtypes(info, allowed, err));
    WEFT_TRY(wf_infer_axes(&info->in[0], axes, err));
    *out = info->in[0];
    for (size_t i = 0; i < axes->n; i++)
        out->dims[axes->u.ints[i]] = 1;
    return WEFT_OK;
}

weft_status wf_infer_reduce_rule(const wf_node_info *info, weft_error *err)
{
    const weft_type *x = &info->in[0];
    wf_attr *rule = &info->attrs[WF_REDUCE_RULE];
    if (rule->u.text) {
        if (strcmp(rule->u.text, "row") != 0 && strcmp(rule->u.text, "column") != 0) {
            WEFT_FAIL(err, WEFT_ERR_ATTR, "rule is %s, expected row or column", rule->u.text);
        }
        return WEFT_OK;
    }
    bool has_reduced = false;
    rule->u.text = "row";
    for (int32_t i = 0; i < x->ndim; i++) {
        if (x->dims[i] == 1) {
            continue;
        }
        if (is_reduced(info, i)) {
            has_reduced = true;
        } else if (has_reduced) {
            rule->u.text = "column";
        }
    }
    return WEFT_OK;
}

weft_status wf_infer_reduce_some(const wf_node_info *info, const weft_type *out, weft_error *err)
{
    char text[WF_TYPE_TEXT];
    if (wf_type_count(out) > 0 && wf_type_count(&info->in[0]) == 0) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "nothing to reduce, x is %s, expected sizes above 0",
                  wf_dims_text(info->in[0].dims, info->in[0].ndim, text));
    }
    return WEFT_OK;
}

weft_status wf_infer_reduce_index(const wf_node_info *info, uint32_t allowed, weft_type *out,
                                  weft_error *err)
{
    const wf_attr *axes = &info->attrs[WF_REDUCE_AXES];
    char text[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_reduce(info, allowed, out, err));
    if (axes->n != 1) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "%zu axes, expected 1", axes->n);
    }
    if (info->in[0].dims[axes->u.ints[0]] > INT32_MAX) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is too long for an i32, x is %s",
                  (long long)axes->u.ints[0],
                  wf_dims_text(info->in[0].dims, info->in[0].ndim, text));
    }
    out->dtype = WEFT_I32;
    return wf_infer_reduce_some(info, out, err);
}

weft_val wf_build_reduce(weft_graph *g, const wf_op *op, weft_val x, const int32_t *axes,
                         size_t n_axes, bool keep_dims)
{
    int64_t list[WEFT_MAX_DIM];
    size_t n;
    if (!wf_build_ready(g, op, &x, 1)) {
        return WEFT_NONE;
    }
    const weft_type t = *wf_graph_type(g, x.id);
    if (!wf_build_axes(g, op, &t, axes, n_axes, list, &n)) {
        return WEFT_NONE;
    }
    const wf_attr attrs[2] = {wf_attr_ints(list, n), wf_attr_text(NULL)};
    const weft_val y = wf_graph_add(g, op, &x, 1, attrs);
    if (keep_dims) {
        return y;
    }
    int64_t dims[WEFT_MAX_DIM];
    int32_t ndim = 0;
    for (int32_t i = 0, next = 0; i < t.ndim; i++) {
        if (next < (int32_t)n && list[next] == i) {
            next++;
        } else {
            dims[ndim++] = t.dims[i];
        }
    }
    return wf_build_reshape(g, y, ndim, dims);
}

int64_t wf_reduce_inner(const wf_node_info *info)
{
    int64_t count = 1;
    for (size_t i = 0; i < info->attrs[WF_REDUCE_AXES].n; i++) {
        count *= info->in[0].dims[info->attrs[WF_REDUCE_AXES].u.ints[i]];
    }
    return count;
}

wf_cost wf_cost_reduce(const wf_node_info *info)
{
    const wf_cost cost = {(double)wf_type_count(&info->in[0]), wf_cost_bytes(info)};
    return cost;
}

wf_reduce_walk wf_reduce_walk_make(const wf_node_info *info)
{
    wf_reduce_walk walk = {.n_outer = 1, .n_inner = 1};
    const weft_type *x = &info->in[0];
    int64_t strides[WEFT_MAX_DIM];
    wf_dims_strides(x, strides);
    for (int32_t i = 0; i < x->ndim; i++) {
        if (is_reduced(info, i)) {
            walk.reduced_dims[walk.n_reduced] = x->dims[i];
            walk.reduced_strides[walk.n_reduced++] = strides[i];
            walk.n_inner *= x->dims[i];
        } else {
            walk.kept_dims[walk.n_kept] = x->dims[i];
            walk.kept_strides[walk.n_kept++] = strides[i];
            walk.n_outer *= x->dims[i];
        }
    }
    return walk;
}

// The element that row-major index `at` of dims is at, by strides.
static int64_t offset_of(int64_t at, int32_t n, const int64_t *dims, const int64_t *strides)
{
    int64_t offset = 0;
    for (int32_t i = n - 1; i >= 0; i--) {
        offset += at % dims[i] * strides[i];
        at /= dims[i];
    }
    return offset;
}

int64_t wf_reduce_at(const wf_reduce_walk *walk, int64_t outer, int64_t inner)
{
    return offset_of(outer, walk->n_kept, walk->kept_dims, walk->kept_strides) +
           offset_of(inner, walk->n_reduced, walk->reduced_dims, walk->reduced_strides);
}

void wf_reduce_gather(const wf_reduce_walk *walk, const wf_tensor *x, int64_t outer, void *buf)
{
    const int64_t base = offset_of(outer, walk->n_kept, walk->kept_dims, walk->kept_strides);
    for (int64_t i = 0; i < walk->n_inner; i++) {
        const int64_t at =
            base + offset_of(i, walk->n_reduced, walk->reduced_dims, walk->reduced_strides);
        if (x->is_truth) {
            ((double *)buf)[i] = ((const double *)x->data)[at];
        } else {
            ((float *)buf)[i] = ((const float *)x->data)[at];
        }
    }
}

void wf_grad_reduce_extreme(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const wf_attr *list = &q->info->attrs[WF_REDUCE_AXES];
    const weft_type *x = &q->info->in[0];
    int32_t axes[WEFT_MAX_DIM];
    for (size_t i = 0; i < list->n; i++) {
        axes[i] = (int32_t)list->u.ints[i];
    }
    const weft_val mask =
        weft_cast(g, weft_equal(g, q->in[0], q->out[0]), x->dtype); // broadcasts the result
    const weft_val count = list->n ? weft_sum(g, mask, axes, list->n, true) : mask;
    const weft_val share = weft_div(g, q->dout[0], count);
    q->din[0] = weft_mul(g, mask, share);
}
