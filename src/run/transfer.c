// Tensors between host and device. The only conversion is for ref's truth mode, which holds floats of
// every width as double.
#include <string.h>

#include "math/half.h"
#include "run/run_internal.h"

static bool is_widened(const weft_device *dev, weft_dtype dtype)
{
    return dev->caps.is_truth && wf_dtype_is_float(dtype);
}

static double widen(weft_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case WEFT_F32: return (double)((const float *)data)[i];
    case WEFT_F16: return (double)wf_f16_to_f32(((const uint16_t *)data)[i]);
    case WEFT_BF16: return (double)wf_bf16_to_f32(((const uint16_t *)data)[i]);
    default: return ((const double *)data)[i];
    }
}

static void narrow(weft_dtype dtype, double value, void *data, size_t i)
{
    switch (dtype) {
    case WEFT_F32: ((float *)data)[i] = (float)value; break;
    case WEFT_F16: ((uint16_t *)data)[i] = (uint16_t)wf_f32_to_f16((float)value); break;
    case WEFT_BF16: ((uint16_t *)data)[i] = (uint16_t)wf_f32_to_bf16((float)value); break;
    default: ((double *)data)[i] = value; break;
    }
}

weft_status wf_device_put(weft_device *dev, wf_device_buffer *dst, size_t offset_bytes,
                          weft_dtype dtype, size_t count, const void *data, weft_error *err)
{
    const wf_driver *d = dev->driver;
    if (!is_widened(dev, dtype)) {
        return d->buffer_write(dev, dst, offset_bytes, data, count * weft_dtype_size(dtype), err);
    }
    double *wide;
    WEFT_TRY(wf_alloc(&dev->context->allocator, count, sizeof *wide, &wide, err));
    for (size_t i = 0; i < count; i++)
        wide[i] = widen(dtype, data, i);
    weft_status status = d->buffer_write(dev, dst, offset_bytes, wide, count * sizeof *wide, err);
    wf_free(&dev->context->allocator, wide);
    return status;
}

weft_status wf_device_get(weft_device *dev, wf_device_buffer *src, size_t offset_bytes,
                          weft_dtype dtype, size_t count, void *data, weft_error *err)
{
    const wf_driver *d = dev->driver;
    if (!is_widened(dev, dtype)) {
        return d->buffer_read(dev, src, offset_bytes, data, count * weft_dtype_size(dtype), err);
    }
    double *wide;
    WEFT_TRY(wf_alloc(&dev->context->allocator, count, sizeof *wide, &wide, err));
    weft_status status = d->buffer_read(dev, src, offset_bytes, wide, count * sizeof *wide, err);
    for (size_t i = 0; i < count && status == WEFT_OK; i++)
        narrow(dtype, wide[i], data, i);
    wf_free(&dev->context->allocator, wide);
    return status;
}
