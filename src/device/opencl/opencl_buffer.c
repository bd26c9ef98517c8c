// Buffers of the OpenCL device: counted, zeroed, copied in the one queue.
#include "opencl_common.h"

#if WEFT_HAVE_OPENCL

weft_status wf_opencl_buffer_create(weft_device *base, size_t size_bytes, wf_device_buffer **out,
                                    weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of(base);
    const wf_allocator *a = &base->context->allocator;
    *out = NULL;
    if (size_bytes > dev->found.max_buffer_bytes) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY,
                  "%s: a buffer of %zu bytes, the device allows %llu in one piece", base->id,
                  size_bytes, (unsigned long long)dev->found.max_buffer_bytes);
    }
    wf_device_buffer *buffer;
    WEFT_TRY(wf_alloc(a, 1, sizeof *buffer, &buffer, err));
    cl_int code;
    // OpenCL has no empty buffers.
    buffer->size_bytes = size_bytes ? size_bytes : sizeof(uint32_t);
    buffer->mem =
        dev->cl->clCreateBuffer(dev->context, CL_MEM_READ_WRITE, buffer->size_bytes, NULL, &code);
    if (code != CL_SUCCESS) {
        wf_free(a, buffer);
        weft_status status = wf_opencl_check(code, "clCreateBuffer", err);
        wf_error_prefix(err, "%s: a buffer of %zu bytes", base->id, size_bytes);
        return status;
    }
    base->buffer_bytes += buffer->size_bytes;
    if (base->buffer_bytes > base->peak_buffer_bytes)
        base->peak_buffer_bytes = base->buffer_bytes;
    uint32_t zero = 0;
    size_t pattern = buffer->size_bytes % sizeof zero ? 1 : sizeof zero;
    code = dev->cl->clEnqueueFillBuffer(dev->queue, buffer->mem, &zero, pattern, 0,
                                        buffer->size_bytes, 0, NULL, NULL);
    if (code != CL_SUCCESS) {
        wf_opencl_buffer_destroy(base, buffer);
        return wf_opencl_check(code, "clEnqueueFillBuffer", err);
    }
    *out = buffer;
    return WEFT_OK;
}

void wf_opencl_buffer_destroy(weft_device *base, wf_device_buffer *buffer)
{
    if (!buffer)
        return;
    // What is enqueued keeps its own reference to the memory.
    wf_opencl_of(base)->cl->clReleaseMemObject(buffer->mem);
    base->buffer_bytes -= buffer->size_bytes;
    wf_free(&base->context->allocator, buffer);
}

weft_status wf_opencl_buffer_write(weft_device *base, wf_device_buffer *dst, size_t offset_bytes,
                                   const void *src, size_t size_bytes, weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of(base);
    if (size_bytes == 0)
        return WEFT_OK;
    return wf_opencl_check(dev->cl->clEnqueueWriteBuffer(dev->queue, dst->mem, CL_TRUE,
                                                         offset_bytes, size_bytes, src, 0, NULL,
                                                         NULL),
                           "clEnqueueWriteBuffer", err);
}

weft_status wf_opencl_buffer_read(weft_device *base, wf_device_buffer *src, size_t offset_bytes,
                                  void *dst, size_t size_bytes, weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of(base);
    if (size_bytes == 0)
        return WEFT_OK;
    return wf_opencl_check(dev->cl->clEnqueueReadBuffer(dev->queue, src->mem, CL_TRUE, offset_bytes,
                                                        size_bytes, dst, 0, NULL, NULL),
                           "clEnqueueReadBuffer", err);
}

weft_status wf_opencl_buffer_copy(weft_device *base, wf_device_buffer *src, size_t src_offset_bytes,
                                  wf_device_buffer *dst, size_t dst_offset_bytes, size_t size_bytes,
                                  weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of(base);
    if (size_bytes == 0)
        return WEFT_OK;
    return wf_opencl_check(dev->cl->clEnqueueCopyBuffer(dev->queue, src->mem, dst->mem,
                                                        src_offset_bytes, dst_offset_bytes,
                                                        size_bytes, 0, NULL, NULL),
                           "clEnqueueCopyBuffer", err);
}

#endif
