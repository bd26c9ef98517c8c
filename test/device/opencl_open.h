// The first exact OpenCL device, or a counted skip with the reason.
#ifndef OPENCL_OPEN_H
#define OPENCL_OPEN_H

#include "device/device.h"

weft_device *opencl_open_exact(weft_context **out_ctx);
// From now on the kernels have the form that they have on a GPU: lanes are work-items, tiles, small
// ones, lie in local memory.
void opencl_as_gpu(weft_device *dev);
// For Oclgrind: after each fill, write or copy by the host the whole buffer is written again. Oclgrind 21.10
// forgets at a host's store of n bytes what it knew of the buffer, and keeps a note of n bytes, from the
// buffer's start (hostMemoryStore in its Uninitialized.cpp allocates the shadow anew): a fill leaves the length
// of its pattern, and all behind it counts as never written. Nothing real is hidden: our buffers are zeroed, and
// a kernel that stores an undefined value is reported at the store.
void opencl_write_whole(weft_device *dev);

#endif
