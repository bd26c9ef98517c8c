// See opencl_open.h.
#include "opencl_open.h"

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
