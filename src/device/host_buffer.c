// See host_buffer.h.
#include "device/host_buffer.h"

#include <string.h>

weft_status wf_host_buffer_take(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                weft_error *err)
{
    wf_device_buffer *buffer = NULL;
    *out = NULL;
    WEFT_TRY(wf_alloc(&dev->context->allocator, 1, sizeof *buffer, &buffer, err));
    const weft_status status = wf_pages_alloc(size_bytes, &buffer->data, err);
    if (status != WEFT_OK) {
        wf_free(&dev->context->allocator, buffer);
        return status;
    }
    buffer->size_bytes = size_bytes;
    dev->buffer_bytes += size_bytes;
    if (dev->buffer_bytes > dev->peak_buffer_bytes)
        dev->peak_buffer_bytes = dev->buffer_bytes;
    *out = buffer;
    return WEFT_OK;
}

weft_status wf_host_buffer_create(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                  weft_error *err)
{
    WEFT_TRY(wf_host_buffer_take(dev, size_bytes, out, err));
    // Also the first touch of each page: a run meets no page fault.
    memset((*out)->data, 0, size_bytes);
    return WEFT_OK;
}

void wf_host_buffer_destroy(weft_device *dev, wf_device_buffer *buffer)
{
    if (!buffer)
        return;
    dev->buffer_bytes -= buffer->size_bytes;
    wf_aligned_free(buffer->data);
    wf_free(&dev->context->allocator, buffer);
}

static weft_status check_range(const wf_device_buffer *buffer, size_t offset_bytes,
                               size_t size_bytes, weft_error *err)
{
    WEFT_REQUIRE(
        err, offset_bytes <= buffer->size_bytes && size_bytes <= buffer->size_bytes - offset_bytes,
        "device: copy of %zu bytes at %zu is outside a buffer of %zu bytes", size_bytes,
        offset_bytes, buffer->size_bytes);
    return WEFT_OK;
}

weft_status wf_host_buffer_write(weft_device *dev, wf_device_buffer *dst, size_t offset_bytes,
                                 const void *src, size_t size_bytes, weft_error *err)
{
    (void)dev;
    WEFT_TRY(check_range(dst, offset_bytes, size_bytes, err));
    dst->version++;
    if (size_bytes)
        memcpy(dst->data + offset_bytes, src, size_bytes);
    return WEFT_OK;
}

weft_status wf_host_buffer_read(weft_device *dev, wf_device_buffer *src, size_t offset_bytes,
                                void *dst, size_t size_bytes, weft_error *err)
{
    (void)dev;
    WEFT_TRY(check_range(src, offset_bytes, size_bytes, err));
    if (size_bytes)
        memcpy(dst, src->data + offset_bytes, size_bytes);
    return WEFT_OK;
}

weft_status wf_host_buffer_copy(weft_device *dev, wf_device_buffer *src, size_t src_offset_bytes,
                                wf_device_buffer *dst, size_t dst_offset_bytes, size_t size_bytes,
                                weft_error *err)
{
    (void)dev;
    WEFT_TRY(check_range(src, src_offset_bytes, size_bytes, err));
    WEFT_TRY(check_range(dst, dst_offset_bytes, size_bytes, err));
    dst->version++;
    if (size_bytes)
        memmove(dst->data + dst_offset_bytes, src->data + src_offset_bytes, size_bytes);
    return WEFT_OK;
}

weft_status wf_host_wait(weft_device *dev, weft_error *err)
{
    (void)dev;
    (void)err;
    return WEFT_OK;
}

size_t wf_host_n_compiled(weft_device *dev)
{
    (void)dev;
    return 0;
}
