// Tensors in eval: see tensor.h.
#include "op/tensor.h"

#include <math.h>
#include <string.h>

#include "math/half.h"

int64_t wf_tensor_find_nonfinite(const wf_tensor *t)
{
    if (t->type.dtype != WEFT_F32 || t->is_truth)
        return -1;
    const float *x = t->data;
    for (int64_t i = 0, n = wf_type_count(&t->type); i < n; i++) {
        if (!isfinite(x[i]))
            return i;
    }
    return -1;
}

size_t wf_tensor_elem_bytes(const wf_tensor *t)
{
    return t->is_truth && wf_dtype_is_float(t->type.dtype) ? sizeof(double)
                                                           : weft_dtype_size(t->type.dtype);
}

int64_t wf_tensor_get_int(const wf_tensor *t, int64_t i)
{
    switch ((int)t->type.dtype) {
    case WEFT_I8: return ((const int8_t *)t->data)[i];
    case WEFT_I32: return ((const int32_t *)t->data)[i];
    case WEFT_I64: return ((const int64_t *)t->data)[i];
    default: return ((const uint8_t *)t->data)[i];
    }
}

void wf_tensor_set_int(const wf_tensor *t, int64_t i, int64_t value)
{
    switch ((int)t->type.dtype) {
    case WEFT_I8: ((int8_t *)t->data)[i] = (int8_t)value; break;
    case WEFT_I32: ((int32_t *)t->data)[i] = (int32_t)value; break;
    case WEFT_I64: ((int64_t *)t->data)[i] = value; break;
    case WEFT_BOOL: ((uint8_t *)t->data)[i] = (uint8_t)(value & 1); break;
    default: ((uint8_t *)t->data)[i] = (uint8_t)value; break;
    }
}

double wf_scalar_decode(weft_dtype dtype, const void *data, int64_t i)
{
    const wf_tensor t = {{dtype, 0, {0}}, (void *)(uintptr_t)data, false};
    switch ((int)dtype) {
    case WEFT_F32: return (double)((const float *)data)[i];
    case WEFT_F64: return ((const double *)data)[i];
    case WEFT_F16: return (double)wf_f16_to_f32(((const uint16_t *)data)[i]);
    case WEFT_BF16: return (double)wf_bf16_to_f32(((const uint16_t *)data)[i]);
    default: return (double)wf_tensor_get_int(&t, i);
    }
}

double wf_tensor_get_float(const wf_tensor *t, int64_t i)
{
    return t->is_truth ? wf_tensor_get_f64(t, i) : wf_scalar_decode(t->type.dtype, t->data, i);
}

void wf_dims_strides(const weft_type *t, int64_t strides[WEFT_MAX_DIM])
{
    int64_t stride = 1;
    for (int32_t i = t->ndim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= t->dims[i];
    }
}

wf_walk wf_walk_dense(const wf_tensor *t)
{
    wf_walk walk = {t, 0, {0}};
    wf_dims_strides(&t->type, walk.strides);
    return walk;
}

void wf_tensor_move(const wf_walk *dst, const wf_walk *src, int32_t ndim, const int64_t *dims)
{
    const size_t bytes = wf_tensor_elem_bytes(dst->t);
    int64_t at[WEFT_MAX_DIM] = {0};
    int64_t to = dst->offset, from = src->offset;
    for (int32_t i = 0; i < ndim; i++) {
        if (dims[i] == 0) {
            return;
        }
    }
    for (;;) {
        memcpy((char *)dst->t->data + (size_t)to * bytes,
               (const char *)src->t->data + (size_t)from * bytes, bytes);
        // The next point: the last axis turns fastest, a full one starts again and turns the one before.
        int32_t axis = ndim - 1;
        for (; axis >= 0; axis--) {
            to += dst->strides[axis];
            from += src->strides[axis];
            if (++at[axis] < dims[axis]) {
                break;
            }
            to -= dst->strides[axis] * dims[axis];
            from -= src->strides[axis] * dims[axis];
            at[axis] = 0;
        }
        if (axis < 0) {
            return;
        }
    }
}

// The f32 below or above x, towards zero unless its last bit is odd: rounding that to a half rounds x
// once (a half has less than 24 - 2 bits).
static float round_to_odd(double x)
{
    float f = (float)x;
    if (isnan(x) || (double)f == x) {
        return f;
    }
    uint32_t bits = wf_as_u32(f);
    if (fabs((double)f) > fabs(x)) {
        bits--; // also from infinity to the greatest finite
    }
    return wf_as_f32(bits | 1u);
}

static bool encode_int(weft_dtype dtype, double value, void *out_bytes)
{
    static const double low[WEFT_N_DTYPES] = {
        [WEFT_I8] = -128.0, [WEFT_I32] = -0x1p31, [WEFT_I64] = -0x1p63};
    static const double end[WEFT_N_DTYPES] = {[WEFT_I8] = 128.0,
                                              [WEFT_U8] = 256.0,
                                              [WEFT_I32] = 0x1p31,
                                              [WEFT_I64] = 0x1p63,
                                              [WEFT_BOOL] = 2.0};
    const wf_tensor t = {{dtype, 0, {0}}, out_bytes, false};
    if (!(value >= low[dtype] && value < end[dtype]) || value != trunc(value)) {
        return false;
    }
    wf_tensor_set_int(&t, 0, (int64_t)value);
    return true;
}

bool wf_scalar_encode(weft_dtype dtype, double value, void *out_bytes)
{
    const float f = (float)value;
    uint16_t half;
    switch ((int)dtype) {
    case WEFT_F32: memcpy(out_bytes, &f, sizeof f); return true;
    case WEFT_F64: memcpy(out_bytes, &value, sizeof value); return true;
    case WEFT_F16: half = wf_f32_to_f16(round_to_odd(value)); break;
    case WEFT_BF16: half = wf_f32_to_bf16(round_to_odd(value)); break;
    default: return encode_int(dtype, value, out_bytes);
    }
    memcpy(out_bytes, &half, sizeof half);
    return true;
}

double wf_scalar_round(weft_dtype dtype, double value)
{
    double bytes = 0.0; // room for any dtype, aligned for all
    return wf_scalar_encode(dtype, value, &bytes) ? wf_scalar_decode(dtype, &bytes, 0) : value;
}

void wf_tensor_load(const wf_tensor *t, const void *data)
{
    const int64_t count = wf_type_count(&t->type);
    if (!t->is_truth || !wf_dtype_is_float(t->type.dtype)) {
        const size_t bytes = (size_t)count * wf_tensor_elem_bytes(t);
        if (bytes > 0) {
            memcpy(t->data, data, bytes);
        }
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        ((double *)t->data)[i] = wf_scalar_decode(t->type.dtype, data, i);
    }
}

void wf_tensor_fill(const wf_tensor *t, double value)
{
    const int64_t count = wf_type_count(&t->type);
    const size_t bytes = wf_tensor_elem_bytes(t);
    double elem = value;
    if (!t->is_truth || !wf_dtype_is_float(t->type.dtype)) {
        (void)wf_scalar_encode(t->type.dtype, value, &elem);
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy((char *)t->data + (size_t)i * bytes, &elem, bytes);
    }
}
