// The first exact OpenCL device, or a counted skip with the reason.
#ifndef OPENCL_OPEN_H
#define OPENCL_OPEN_H

#include "device/device.h"

weft_device *opencl_open_exact(weft_context **out_ctx);

#endif
