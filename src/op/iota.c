// y[.., i, ..] = i along one axis.
#include "op/check_case.h"
#include "op/inst.h"
#include "op/source.h"

enum { ATTR_DTYPE, ATTR_DIMS, ATTR_AXIS };
static const wf_attr_spec attrs[] = {
    {"dtype", WF_ATTR_DTYPE}, {"dims", WF_ATTR_INTS}, {"axis", WF_ATTR_INT}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const uint32_t allowed =
        WF_DTYPE_BIT(WEFT_F32) | WF_DTYPE_BIT(WEFT_I32) | WF_DTYPE_BIT(WEFT_I64);
    const int64_t axis = info->attrs[ATTR_AXIS].u.i;
    char text[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_source(&info->attrs[ATTR_DTYPE], &info->attrs[ATTR_DIMS], out, err));
    if (!((allowed >> out->dtype) & 1u)) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "dtype is %s, expected f32 i32 i64",
                  weft_dtype_name(out->dtype));
    }
    if (axis < 0 || axis >= out->ndim) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is out of range, dims are %s", (long long)axis,
                  wf_dims_text(out->dims, out->ndim, text));
    }
    if (out->dtype == WEFT_I32 && out->dims[axis] > INT32_MAX) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is too long for an i32, dims are %s",
                  (long long)axis, wf_dims_text(out->dims, out->ndim, text));
    }
    return WEFT_OK;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_tensor *y = &q->out[0];
    const int64_t axis = q->info->attrs[ATTR_AXIS].u.i;
    int64_t strides[WEFT_MAX_DIM];
    wf_dims_strides(&y->type, strides);
    const int64_t count = wf_type_count(&y->type);
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = i / strides[axis] % y->type.dims[axis];
        if (!wf_dtype_is_float(y->type.dtype)) {
            wf_tensor_set_int(y, i, at);
        } else if (y->is_truth) {
            ((double *)y->data)[i] = (double)at;
        } else {
            ((float *)y->data)[i] = (float)at;
        }
    }
    return WEFT_OK;
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    out->kind = WF_INST_IOTA;
    out->axis = (int32_t)info->attrs[ATTR_AXIS].u.i;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)in;
    return weft_iota(g, (weft_dtype)p[0], p + 2, 3, (int32_t)p[1]);
}

static void cases(wf_check_list *list)
{
    static const weft_dtype dtypes[] = {WEFT_F32, WEFT_I32, WEFT_I64};
    static const int64_t dims[][3] = {{1, 1, 1}, {3, 5, 33},  {31, 2, 1},
                                      {0, 4, 2}, {70, 65, 3}, {4, 2, 32}};
    for (size_t d = 0; d < WF_COUNT_OF(dtypes); d++) {
        for (size_t i = 0; i < WF_COUNT_OF(dims); i++) {
            const int64_t axis = (int64_t)((i + d) % 3);
            char text[WF_TYPE_TEXT];
            wf_check_add(list,
                         (wf_check_case){
                             .name = wf_check_name(list, "%s%s axis %d", weft_dtype_name(dtypes[d]),
                                                   wf_dims_text(dims[i], 3, text), (int)axis),
                             .build = build_case,
                             .params = {dtypes[d], axis, dims[i][0], dims[i][1], dims[i][2]},
                             .no_gradient = true,
                             .bound = 1.0});
        }
    }
}

const wf_op wf_op_iota = {
    .name = "iota",
    .n_outputs = 1,
    .task = WF_TASK_MAP,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .lower = lower,
    .eval = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

weft_val weft_iota(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim, int32_t axis)
{
    if (!wf_build_dims(g, &wf_op_iota, dims, ndim)) {
        return WEFT_NONE;
    }
    const wf_attr list[] = {wf_attr_int(dtype), wf_attr_ints(dims, (size_t)ndim),
                            wf_attr_int(axis < 0 ? axis + ndim : axis)};
    return wf_graph_add(g, &wf_op_iota, NULL, 0, list);
}
