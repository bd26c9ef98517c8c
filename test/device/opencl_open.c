// See opencl_open.h.
#include "opencl_open.h"

#include <stdlib.h>

#include "device/opencl/opencl_common.h"
#include "wf_test.h"

extern const wf_driver wf_driver_opencl;

weft_device *opencl_open_exact(weft_context **out_ctx)
{
    weft_error err = {0};
    weft_device *dev = NULL;
    const weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    assert_int_equal(weft_context_create(NULL, out_ctx, &err), WEFT_OK);
    weft_status status = wf_driver_opencl.open(*out_ctx, "", &options, &dev, &err);
    if (status == WEFT_ERR_DEVICE) {
        weft_context_destroy(*out_ctx);
        WF_SKIP("%s", err.message);
    }
    if (status != WEFT_OK)
        fail_msg("%s", err.message);
    return dev;
}

void opencl_as_gpu(weft_device *dev)
{
#if WEFT_HAVE_OPENCL
    ((wf_gpu_device *)(void *)dev)->render.is_cpu = false;
    ((wf_gpu_device *)(void *)dev)->tile = (wf_gpu_tile){16, 8, 8, 4, 4};
    wf_opencl_set_prefix(wf_opencl_of(dev), false, false);
#else
    (void)dev;
#endif
}

#if WEFT_HAVE_OPENCL
static const wf_driver *plain;

// Everything in the buffer, read and written again in one piece.
static weft_status write_whole(weft_device *dev, wf_device_buffer *buffer, weft_error *err)
{
    uint8_t *bytes = malloc(buffer->size_bytes);
    assert_non_null(bytes);
    weft_status status = plain->buffer_read(dev, buffer, 0, bytes, buffer->size_bytes, err);
    if (status == WEFT_OK)
        status = plain->buffer_write(dev, buffer, 0, bytes, buffer->size_bytes, err);
    free(bytes);
    return status;
}

static weft_status whole_create(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                weft_error *err)
{
    WEFT_TRY(plain->buffer_create(dev, size_bytes, out, err));
    return write_whole(dev, *out, err);
}

static weft_status whole_write(weft_device *dev, wf_device_buffer *dst, size_t offset_bytes,
                               const void *src, size_t size_bytes, weft_error *err)
{
    WEFT_TRY(plain->buffer_write(dev, dst, offset_bytes, src, size_bytes, err));
    return write_whole(dev, dst, err);
}

static weft_status whole_copy(weft_device *dev, wf_device_buffer *src, size_t src_offset_bytes,
                              wf_device_buffer *dst, size_t dst_offset_bytes, size_t size_bytes,
                              weft_error *err)
{
    WEFT_TRY(
        plain->buffer_copy(dev, src, src_offset_bytes, dst, dst_offset_bytes, size_bytes, err));
    return write_whole(dev, dst, err);
}
#endif

void opencl_write_whole(weft_device *dev)
{
#if WEFT_HAVE_OPENCL
    static wf_driver whole;
    plain = &wf_driver_opencl;
    whole = *plain;
    whole.buffer_create = whole_create;
    whole.buffer_write = whole_write;
    whole.buffer_copy = whole_copy;
    dev->driver = &whole;
#else
    (void)dev;
#endif
}
