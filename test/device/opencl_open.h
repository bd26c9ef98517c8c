// The first exact OpenCL device, or a counted skip with the reason.
#ifndef OPENCL_OPEN_H
#define OPENCL_OPEN_H

#include "device/device.h"

weft_device *opencl_open_exact(weft_context **out_ctx);
// From now on the kernels have the form that they have on a GPU: lanes are work-items, tiles, small
// ones, lie in local memory.
void opencl_as_gpu(weft_device *dev);

#endif
