// What the files of the OpenCL device share. Everything from CL/cl.h stays below this folder.
#ifndef WF_OPENCL_COMMON_H
#define WF_OPENCL_COMMON_H

#include "weft_config.h"

#if WEFT_HAVE_OPENCL

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include "base/dylib.h"
#include "device/gpu/gpu_api.h"

typedef struct wf_opencl_symbols {
#define WF_CL(result, name, args) result(CL_API_CALL *name) args;
#include "opencl_symbols.inc"
#undef WF_CL
} wf_opencl_symbols;

// The library, loaded once; NULL, and the reason in err, when there is none. It stays open: drivers
// start threads that outlive a close.
const wf_opencl_symbols *wf_opencl_load(weft_error *err);

// One device as its driver describes it.
typedef struct wf_opencl_found {
    cl_platform_id platform;
    cl_device_id device;
    char name[256];
    char driver[256]; // platform, its version, the driver's version
    cl_device_type type;
    uint64_t memory_bytes, max_buffer_bytes;
    size_t local_bytes, max_group_size, max_argument_bytes;
    uint32_t compute_units;
    bool is_available, has_compiler, is_little_endian;
    bool has_f64;
    bool
        can_divide_exactly; // reports correctly rounded divide and square root: the option is legal
    char reason[512];       // why it cannot be used at all; ""
} wf_opencl_found;

#define WF_OPENCL_MAX_DEVICES 32 // of all platforms together; more than any machine was seen with

// Lists every device of every platform. Errors: WEFT_ERR_DEVICE (no driver library, no platform): the
// message says what to install.
weft_status wf_opencl_scan(wf_opencl_found out_found[WF_OPENCL_MAX_DEVICES], size_t *out_n,
                           weft_error *err);

typedef struct wf_opencl_device {
    wf_gpu_device gpu; // first
    const wf_opencl_symbols *cl;
    wf_opencl_found found;
    cl_context context;
    cl_command_queue queue;
    char options[96]; // of clBuildProgram
} wf_opencl_device;

struct wf_device_buffer {
    cl_mem mem;
    size_t size_bytes;
};

static inline wf_opencl_device *wf_opencl_of(weft_device *dev)
{
    return (wf_opencl_device *)(void *)dev;
}
static inline wf_opencl_device *wf_opencl_of_gpu(wf_gpu_device *dev)
{
    return (wf_opencl_device *)(void *)dev;
}

// WEFT_OK for CL_SUCCESS; else a status and "what: CL_NAME (-5)".
weft_status wf_opencl_check(cl_int code, const char *what, weft_error *err);
const char *wf_opencl_code_name(cl_int code);

extern const wf_gpu_api wf_opencl_api;

// Context, queue, compile options; no probe yet. Deinit accepts what init left on failure.
weft_status wf_opencl_init(wf_opencl_device *dev, const wf_opencl_found *found, weft_error *err);
void wf_opencl_deinit(wf_opencl_device *dev);
// Sets the prefix for software divide and square root, or native ones.
void wf_opencl_set_prefix(wf_opencl_device *dev, bool soft_div, bool soft_sqrt);

// ---- the probe: is the device's arithmetic the definition's? doc/arithmetic.md
typedef struct wf_opencl_probe {
    weft_exactness exact;
    bool soft_div, soft_sqrt;
    char
        reason[400]; // not exact: the property and the first operand that failed; emulated: what is
} wf_opencl_probe;

// From the cache on disk, or measured now, on a device that init made.
weft_status wf_opencl_probe_run(wf_opencl_device *dev, wf_opencl_probe *out_probe, weft_error *err);
// Without a device in hand: opens one for the time of the probe unless the answer is cached.
weft_status wf_opencl_probe_found(weft_context *ctx, const wf_opencl_found *found,
                                  wf_opencl_probe *out_probe, weft_error *err);
// The name of the first environment variable that would add compiler options which change arithmetic;
// NULL when there is none.
const char *wf_opencl_bad_environment(char out_value[128]);

weft_status wf_opencl_buffer_create(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                    weft_error *err);
void wf_opencl_buffer_destroy(weft_device *dev, wf_device_buffer *buffer);
weft_status wf_opencl_buffer_write(weft_device *dev, wf_device_buffer *dst, size_t offset_bytes,
                                   const void *src, size_t size_bytes, weft_error *err);
weft_status wf_opencl_buffer_read(weft_device *dev, wf_device_buffer *src, size_t offset_bytes,
                                  void *dst, size_t size_bytes, weft_error *err);
weft_status wf_opencl_buffer_copy(weft_device *dev, wf_device_buffer *src, size_t src_offset_bytes,
                                  wf_device_buffer *dst, size_t dst_offset_bytes, size_t size_bytes,
                                  weft_error *err);

#endif
#endif
