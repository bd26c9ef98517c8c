// What devices that compute in host memory share: null, ref and cpu put these into their vtables.
#ifndef WF_DEVICE_HOST_BUFFER_H
#define WF_DEVICE_HOST_BUFFER_H

#include "device/device.h"

struct wf_device_buffer {
    char *data; // page-aligned
    size_t size_bytes;
    uint64_t version; // grows when its contents are replaced: what was made of them is out of date
};

// Zeroed ...
weft_status wf_host_buffer_create(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                  weft_error *err);
// ... or left as it is, for a device that zeroes it by itself.
weft_status wf_host_buffer_take(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                weft_error *err);
void wf_host_buffer_destroy(weft_device *dev, wf_device_buffer *buffer);
// Runs are over when they return, so copies have nothing to wait for.
weft_status wf_host_buffer_write(weft_device *dev, wf_device_buffer *dst, size_t offset_bytes,
                                 const void *src, size_t size_bytes, weft_error *err);
weft_status wf_host_buffer_read(weft_device *dev, wf_device_buffer *src, size_t offset_bytes,
                                void *dst, size_t size_bytes, weft_error *err);
weft_status wf_host_buffer_copy(weft_device *dev, wf_device_buffer *src, size_t src_offset_bytes,
                                wf_device_buffer *dst, size_t dst_offset_bytes, size_t size_bytes,
                                weft_error *err);

// Their runs are over when enqueue returns, and they compile nothing.
weft_status wf_host_wait(weft_device *dev, weft_error *err);
size_t wf_host_n_compiled(weft_device *dev);

#endif
