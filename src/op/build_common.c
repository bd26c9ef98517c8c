// What constructors and gradients share: see build.h.
#include "op/build.h"

#include "op/elementwise.h"

bool wf_build_ready(weft_graph *g, const wf_op *op, const weft_val *in, size_t n)
{
    if (!wf_graph_is_ok(g))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (in[i].id == 0)
            return false;
        if (in[i].id >= g->n_values) {
            wf_graph_fail(g, op, WEFT_ERR_USAGE, "operand %zu is value %u, the graph has %zu", i,
                          in[i].id, g->n_values - 1);
            return false;
        }
    }
    return true;
}

bool wf_build_axis(weft_graph *g, const wf_op *op, const weft_type *x, int32_t axis,
                   int32_t *out_axis)
{
    char text[WF_TYPE_TEXT];
    *out_axis = axis < 0 ? axis + x->ndim : axis;
    if (*out_axis >= 0 && *out_axis < x->ndim)
        return true;
    wf_graph_fail(g, op, WEFT_ERR_SHAPE, "axis %d is out of range, x is %s", axis,
                  wf_dims_text(x->dims, x->ndim, text));
    return false;
}

bool wf_build_axes(weft_graph *g, const wf_op *op, const weft_type *x, const int32_t *axes,
                   size_t n, int64_t out_axes[WEFT_MAX_DIM], size_t *out_n)
{
    bool is_named[WEFT_MAX_DIM] = {false};
    const bool is_all = !axes && n == 0;
    for (size_t i = 0; i < n; i++) {
        int32_t axis;
        if (!wf_build_axis(g, op, x, axes[i], &axis))
            return false;
        if (is_named[axis]) {
            wf_graph_fail(g, op, WEFT_ERR_ATTR, "axis %d is named twice", axes[i]);
            return false;
        }
        is_named[axis] = true;
    }
    *out_n = 0;
    for (int32_t i = 0; i < x->ndim; i++) {
        if (is_all || is_named[i])
            out_axes[(*out_n)++] = i;
    }
    return true;
}

bool wf_dims_broadcast(const weft_type *const *types, size_t n, int32_t *out_ndim,
                       int64_t out_dims[WEFT_MAX_DIM])
{
    int32_t ndim = 0;
    for (size_t i = 0; i < n; i++) {
        if (types[i]->ndim > ndim)
            ndim = types[i]->ndim;
    }
    for (int32_t axis = 0; axis < ndim; axis++) {
        out_dims[axis] = 1;
        for (size_t i = 0; i < n; i++) {
            const int32_t own = axis - (ndim - types[i]->ndim); // matched from the right
            const int64_t size = own < 0 ? 1 : types[i]->dims[own];
            if (size == 1 || size == out_dims[axis])
                continue;
            if (out_dims[axis] != 1)
                return false;
            out_dims[axis] = size;
        }
    }
    *out_ndim = ndim;
    return true;
}

static bool has_dims(const weft_graph *g, weft_val val, int32_t ndim, const int64_t *dims)
{
    const weft_type *t = wf_graph_type(g, val.id);
    if (t->ndim != ndim)
        return false;
    for (int32_t i = 0; i < ndim; i++) {
        if (t->dims[i] != dims[i])
            return false;
    }
    return true;
}

weft_val wf_build_broadcast(weft_graph *g, weft_val val, int32_t ndim, const int64_t *dims)
{
    if (!wf_graph_is_ok(g) || val.id == 0)
        return WEFT_NONE;
    return has_dims(g, val, ndim, dims) ? val : weft_broadcast(g, val, dims, ndim);
}

weft_val wf_build_reshape(weft_graph *g, weft_val val, int32_t ndim, const int64_t *dims)
{
    if (!wf_graph_is_ok(g) || val.id == 0)
        return WEFT_NONE;
    return has_dims(g, val, ndim, dims) ? val : weft_reshape(g, val, dims, ndim);
}

weft_val wf_build_sum_to(weft_graph *g, weft_val val, int32_t ndim, const int64_t *dims)
{
    int32_t axes[WEFT_MAX_DIM];
    size_t n = 0;
    if (!wf_graph_is_ok(g) || val.id == 0)
        return WEFT_NONE;
    const weft_type t = *wf_graph_type(g, val.id);
    const int32_t lead = t.ndim - ndim;
    for (int32_t i = 0; i < t.ndim; i++) {
        if (i < lead || (dims[i - lead] == 1 && t.dims[i] != 1))
            axes[n++] = i;
    }
    return wf_build_reshape(g, n > 0 ? weft_sum(g, val, axes, n, true) : val, ndim, dims);
}

weft_val wf_build_elementwise(weft_graph *g, const wf_op *op, const weft_val *in, size_t n)
{
    weft_val full[3] = {{0}, {0}, {0}};
    const weft_type *types[3] = {NULL, NULL, NULL};
    int64_t dims[WEFT_MAX_DIM];
    int32_t ndim;
    WEFT_ASSERT(n <= WF_COUNT_OF(full));
    if (!wf_build_ready(g, op, in, n))
        return WEFT_NONE;
    for (size_t i = 0; i < n; i++) {
        types[i] = wf_graph_type(g, in[i].id);
    }
    if (!wf_dims_broadcast(types, n, &ndim, dims)) {
        char text[3][WF_TYPE_TEXT];
        for (size_t i = 0; i < n; i++) {
            wf_dims_text(types[i]->dims, types[i]->ndim, text[i]);
        }
        if (n == 2) {
            wf_graph_fail(g, op, WEFT_ERR_SHAPE, "shapes do not broadcast, a is %s, b is %s",
                          text[0], text[1]);
        } else {
            wf_graph_fail(g, op, WEFT_ERR_SHAPE, "shapes do not broadcast, operands are %s, %s, %s",
                          text[0], text[1], text[2]);
        }
        return WEFT_NONE;
    }
    // Before the operands are stretched, so that the message shows what the caller gave.
    if (n == 2 && types[0]->dtype != types[1]->dtype) {
        char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
        wf_graph_fail(g, op, WEFT_ERR_DTYPE, "dtypes differ, a is %s, b is %s",
                      wf_type_text(types[0], a), wf_type_text(types[1], b));
        return WEFT_NONE;
    }
    for (size_t i = 0; i < n; i++) {
        full[i] = wf_build_broadcast(g, in[i], ndim, dims);
    }
    return wf_graph_add(g, op, full, n, NULL);
}

weft_val wf_build_scalar_like(weft_graph *g, weft_val val, double value)
{
    if (!wf_graph_is_ok(g) || val.id == 0)
        return WEFT_NONE;
    return weft_scalar(g, wf_graph_type(g, val.id)->dtype, value);
}

weft_val wf_build_fill_like(weft_graph *g, weft_val val, double value)
{
    if (!wf_graph_is_ok(g) || val.id == 0)
        return WEFT_NONE;
    const weft_type t = *wf_graph_type(g, val.id);
    return weft_fill(g, t.dtype, t.dims, t.ndim, value);
}

weft_val wf_build_scale(weft_graph *g, weft_val val, double value)
{
    return weft_mul(g, val, wf_build_scalar_like(g, val, value));
}

weft_val wf_build_exp_flush(weft_graph *g, weft_val val)
{
    return weft_flush(g, weft_exp(g, val));
}

weft_val wf_build_sigmoid_slope(weft_graph *g, weft_val x)
{
    const weft_val e = wf_build_exp_flush(g, weft_neg(g, weft_abs(g, x)));
    const weft_val d = weft_add(g, e, wf_build_scalar_like(g, e, 1.0));
    return weft_div(g, weft_div(g, e, d), d);
}
