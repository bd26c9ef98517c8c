// What ops' infer and cost functions share: dtypes, equal shapes, dims; the same errors worded once.
#include <string.h>

#include "op/build.h"
#include "op/elementwise.h"

// "a", "b", ... as the constructors name their operands; a lone operand of another op is "x".
static const char *operand_name(const wf_node_info *info, size_t input)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    if (info->n_inputs == 1 && !(info->op->flags & WF_OP_ELEMENTWISE))
        return "x";
    return input < WF_COUNT_OF(names) ? names[input] : "operand";
}

weft_status wf_infer_dtype_error(const wf_node_info *info, size_t input, uint32_t allowed,
                                 weft_error *err)
{
    char type[WF_TYPE_TEXT];
    char list[128] = "";
    for (int d = 1; d < WEFT_N_DTYPES; d++) {
        if ((allowed >> d) & 1u) {
            strcat(list, " ");
            strcat(list, weft_dtype_name((weft_dtype)d));
        }
    }
    WEFT_FAIL(err, WEFT_ERR_DTYPE, "%s is %s, expected%s", operand_name(info, input),
              wf_type_text(&info->in[input], type), list);
}

weft_status wf_infer_check_dtypes(const wf_node_info *info, uint32_t allowed, weft_error *err)
{
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    for (size_t i = 0; i < info->n_inputs; i++) {
        if (!((allowed >> info->in[i].dtype) & 1u)) {
            return wf_infer_dtype_error(info, i, allowed, err);
        }
    }
    for (size_t i = 1; i < info->n_inputs; i++) {
        if (info->in[i].dtype != info->in[0].dtype) {
            WEFT_FAIL(err, WEFT_ERR_DTYPE, "dtypes differ, %s is %s, %s is %s",
                      operand_name(info, 0), wf_type_text(&info->in[0], a), operand_name(info, i),
                      wf_type_text(&info->in[i], b));
        }
    }
    return WEFT_OK;
}

weft_status wf_infer_axes(const weft_type *x, const wf_attr *axes, weft_error *err)
{
    char text[WF_TYPE_TEXT];
    for (size_t i = 0; i < axes->n; i++) {
        const int64_t axis = axes->u.ints[i];
        if (axis < 0 || axis >= x->ndim) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is out of range, x is %s", (long long)axis,
                      wf_dims_text(x->dims, x->ndim, text));
        }
        if (i > 0 && axis <= axes->u.ints[i - 1]) {
            WEFT_FAIL(err, WEFT_ERR_ATTR, "axis %lld follows axis %lld, expected ascending axes",
                      (long long)axis, (long long)axes->u.ints[i - 1]);
        }
    }
    return WEFT_OK;
}

weft_status wf_infer_elementwise(const wf_node_info *info, uint32_t allowed, weft_type *out,
                                 weft_error *err)
{
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_check_dtypes(info, allowed, err));
    for (size_t i = 1; i < info->n_inputs; i++) {
        if (!wf_type_same_dims(&info->in[0], &info->in[i])) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "shapes differ, %s is %s, %s is %s",
                      operand_name(info, 0), wf_type_text(&info->in[0], a), operand_name(info, i),
                      wf_type_text(&info->in[i], b));
        }
    }
    out[0] = info->in[0];
    if (info->op->elementwise && info->op->elementwise->is_compare)
        out[0].dtype = WEFT_BOOL;
    return WEFT_OK;
}

weft_status wf_infer_dims(weft_dtype dtype, const int64_t *dims, size_t ndim, weft_type *out,
                          weft_error *err)
{
    if (dtype <= WEFT_DTYPE_NONE || dtype >= WEFT_N_DTYPES) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "dtype %d is unknown", (int)dtype);
    }
    if (ndim > WEFT_MAX_DIM) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "%zu dims, expected at most %d", ndim, WEFT_MAX_DIM);
    }
    char text[WF_TYPE_TEXT];
    int64_t count = 1;
    for (size_t i = 0; i < ndim; i++) {
        if (dims[i] < 0) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "dims are %s, expected none below 0",
                      wf_dims_text(dims, (int32_t)ndim, text));
        }
        // A size of 0 must not hide an overflow: strides are products of the other sizes.
        int64_t size = dims[i] > 0 ? dims[i] : 1;
        if (count > INT64_MAX / 16 / size) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "dims are %s, expected fewer elements than 2^59",
                      wf_dims_text(dims, (int32_t)ndim, text));
        }
        count *= size;
    }
    *out = wf_type_make(dtype, (int32_t)ndim, dims);
    return WEFT_OK;
}

double wf_cost_bytes(const wf_node_info *info)
{
    double bytes = 0.0;
    for (size_t i = 0; i < info->n_inputs; i++) {
        bytes += (double)wf_type_count(&info->in[i]) * (double)weft_dtype_size(info->in[i].dtype);
    }
    for (size_t i = 0; i < info->n_outputs; i++) {
        bytes += (double)wf_type_count(&info->out[i]) * (double)weft_dtype_size(info->out[i].dtype);
    }
    return bytes;
}

wf_cost wf_cost_elementwise(const wf_node_info *info)
{
    const wf_cost cost = {(double)wf_type_count(&info->out[0]), wf_cost_bytes(info)};
    return cost;
}

wf_cost wf_cost_none(const wf_node_info *info)
{
    (void)info;
    const wf_cost cost = {0.0, 0.0};
    return cost;
}

wf_cost wf_cost_move(const wf_node_info *info)
{
    const wf_cost cost = {0.0, wf_cost_bytes(info)};
    return cost;
}
