// y = a tensor written in the graph. weft_scalar is one of no axes, weft_fill that one broadcast.
#include "op/check_case.h"
#include "op/source.h"

enum { ATTR_DTYPE, ATTR_DIMS, ATTR_DATA };
static const wf_attr_spec attrs[] = {
    {"dtype", WF_ATTR_DTYPE}, {"dims", WF_ATTR_INTS}, {"data", WF_ATTR_DATA}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    char text[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_source(&info->attrs[ATTR_DTYPE], &info->attrs[ATTR_DIMS], out, err));
    const size_t bytes = (size_t)wf_type_count(out) * weft_dtype_size(out->dtype);
    if (info->attrs[ATTR_DATA].n != bytes) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "data has %zu bytes, %s has %zu", info->attrs[ATTR_DATA].n,
                  wf_type_text(out, text), bytes);
    }
    return WEFT_OK;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    wf_tensor_load(&q->out[0], q->info->attrs[ATTR_DATA].u.data);
    return WEFT_OK;
}

// p: dtype, form. A tensor, or one value in every element.
static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    static const float values[] = {1.0f / 3.0f, 1e-8f, 3.402823466e38f, -0.0f, 0x1p-149f};
    const int64_t dims[] = {5, 7};
    (void)in;
    return p[1] ? weft_fill(g, (weft_dtype)p[0], dims, 2,
                            p[0] == WEFT_F32 ? (double)values[p[1] - 1] : 1.0)
                : weft_constant(g, WEFT_F32, dims, 1, values);
}

static void cases(wf_check_list *list)
{
    wf_check_add(list, (wf_check_case){.name = "tensor",
                                       .build = build_case,
                                       .params = {WEFT_F32, 0},
                                       .no_gradient = true,
                                       .bound = 1.0});
    for (int64_t dtype = 1; dtype < WEFT_N_DTYPES; dtype++) {
        for (int64_t form = 1; form <= (dtype == WEFT_F32 ? 5 : 1); form++) {
            wf_check_add(list, (wf_check_case){.name = wf_check_name(
                                                   list, "fill %s %d",
                                                   weft_dtype_name((weft_dtype)dtype), (int)form),
                                               .build = build_case,
                                               .params = {dtype, form},
                                               .no_gradient = true,
                                               .bound = 1.0});
        }
    }
}

const wf_op wf_op_constant = {
    .name = "constant",
    .n_outputs = 1,
    .flags = WF_OP_SOURCE,
    .task = WF_TASK_NONE,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .eval = eval,
    .cost = wf_cost_none,
    .cases = cases,
};

weft_val weft_constant(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                       const void *data)
{
    weft_type t;
    weft_error err;
    if (!wf_build_dims(g, &wf_op_constant, dims, ndim)) {
        return WEFT_NONE;
    }
    // Before the data is read: their size must be known.
    const weft_status status = wf_infer_dims(dtype, dims, (size_t)ndim, &t, &err);
    if (status != WEFT_OK) {
        wf_graph_fail(g, &wf_op_constant, status, "%s", err.message);
        return WEFT_NONE;
    }
    const size_t bytes = (size_t)wf_type_count(&t) * weft_dtype_size(dtype);
    if (!data && bytes > 0) {
        wf_graph_fail(g, &wf_op_constant, WEFT_ERR_USAGE, "data is NULL, expected %zu bytes",
                      bytes);
        return WEFT_NONE;
    }
    const wf_attr list[] = {wf_attr_int(dtype), wf_attr_ints(dims, (size_t)ndim),
                            wf_attr_data(data, bytes)};
    return wf_graph_add(g, &wf_op_constant, NULL, 0, list);
}

weft_val weft_scalar(weft_graph *g, weft_dtype dtype, double value)
{
    double bytes = 0.0; // room for any dtype
    if (!wf_graph_is_ok(g)) {
        return WEFT_NONE;
    }
    if (dtype > WEFT_DTYPE_NONE && dtype < WEFT_N_DTYPES &&
        !wf_scalar_encode(dtype, value, &bytes)) {
        wf_graph_fail(g, &wf_op_constant, WEFT_ERR_ATTR, "value %g is no %s", value,
                      weft_dtype_name(dtype));
        return WEFT_NONE;
    }
    return weft_constant(g, dtype, NULL, 0, &bytes);
}

weft_val weft_fill(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim, double value)
{
    if (!wf_build_dims(g, &wf_op_constant, dims, ndim)) {
        return WEFT_NONE;
    }
    return wf_build_broadcast(g, weft_scalar(g, dtype, value), ndim, dims);
}
