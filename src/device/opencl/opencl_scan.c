// Finding OpenCL: the library, its platforms, their devices, and why one cannot be used.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"
#include "opencl_common.h"

#if WEFT_HAVE_OPENCL

#define INSTALL                                                                                    \
    "install an OpenCL driver (Debian: pocl-opencl-icd for the processor, or the GPU vendor's ICD)"

static wf_once load_once = WF_ONCE_INIT;
static wf_opencl_symbols symbols;
static weft_status load_status;
static weft_error load_error;

static void load_symbols(void)
{
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so"};
    wf_dylib lib;
    load_status = wf_dylib_open(names, WF_COUNT_OF(names), &lib, &load_error);
    if (load_status != WEFT_OK) {
        char text[512];
        snprintf(text, sizeof text, "%.500s", load_error.message);
        load_status = wf_error_set(&load_error, WEFT_ERR_DEVICE, "no OpenCL driver found: %s; %s",
                                   text, INSTALL);
        return;
    }
#define WF_CL(result, symbol, args)                                                                \
    if (!wf_dylib_symbol(&lib, #symbol, &symbols.symbol)) {                                        \
        load_status =                                                                              \
            wf_error_set(&load_error, WEFT_ERR_DEVICE,                                             \
                         "%s has no %s, OpenCL 1.2 or later was expected", lib.name, #symbol);     \
    }
#include "opencl_symbols.inc"
#undef WF_CL
}

const wf_opencl_symbols *wf_opencl_load(weft_error *err)
{
    wf_once_run(&load_once, load_symbols);
    if (load_status == WEFT_OK)
        return &symbols;
    if (err)
        *err = load_error;
    return NULL;
}

static void text_of(const wf_opencl_symbols *cl, cl_device_id dev, cl_device_info what, char *out,
                    size_t size)
{
    out[0] = 0;
    char buf[1024] = {0};
    if (cl->clGetDeviceInfo(dev, what, sizeof buf - 1, buf, NULL) == CL_SUCCESS) {
        // Some drivers pad names with blanks on either side.
        const char *start = buf + strspn(buf, " ");
        snprintf(out, size, "%s", start);
        for (size_t n = strlen(out); n > 0 && out[n - 1] == ' ';)
            out[--n] = 0;
    }
}

static uint64_t number_of(const wf_opencl_symbols *cl, cl_device_id dev, cl_device_info what,
                          size_t size)
{
    uint64_t value64 = 0;
    cl_uint value32 = 0;
    void *out = size == sizeof value64 ? (void *)&value64 : (void *)&value32;
    if (cl->clGetDeviceInfo(dev, what, size, out, NULL) != CL_SUCCESS)
        return 0;
    return size == sizeof value64 ? value64 : value32;
}

static void find_reason(wf_opencl_found *f, const char *version)
{
    int major = 0;
    int minor = 0;
    if (!f->is_available) {
        snprintf(f->reason, sizeof f->reason, "the driver says that the device is not available");
    } else if (!f->has_compiler) {
        snprintf(f->reason, sizeof f->reason, "the driver has no compiler");
    } else if (!f->is_little_endian) {
        snprintf(f->reason, sizeof f->reason, "the device is big-endian");
    } else if (sscanf(version, "OpenCL %d.%d", &major, &minor) != 2 || major * 10 + minor < 12) {
        snprintf(f->reason, sizeof f->reason, "%.100s, OpenCL 1.2 or later was expected", version);
    } else if (f->max_group_size < 64) {
        snprintf(f->reason, sizeof f->reason, "work-groups of at most %zu, 64 were expected",
                 f->max_group_size);
    } else if (f->type == CL_DEVICE_TYPE_CUSTOM) {
        snprintf(f->reason, sizeof f->reason, "a device of fixed functions");
    }
}

static void describe(const wf_opencl_symbols *cl, wf_opencl_found *f)
{
    char version[128], driver[128], platform[128] = {0};
    text_of(cl, f->device, CL_DEVICE_NAME, f->name, sizeof f->name);
    text_of(cl, f->device, CL_DEVICE_VERSION, version, sizeof version);
    text_of(cl, f->device, CL_DRIVER_VERSION, driver, sizeof driver);
    cl->clGetPlatformInfo(f->platform, CL_PLATFORM_NAME, sizeof platform - 1, platform, NULL);
    snprintf(f->driver, sizeof f->driver, "%.80s, %.80s, %.80s", platform, version, driver);
    f->type = number_of(cl, f->device, CL_DEVICE_TYPE, sizeof(cl_device_type));
    f->memory_bytes = number_of(cl, f->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    f->max_buffer_bytes = number_of(cl, f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    f->local_bytes = (size_t)number_of(cl, f->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
    f->max_group_size =
        (size_t)number_of(cl, f->device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    f->max_argument_bytes =
        (size_t)number_of(cl, f->device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(size_t));
    f->compute_units =
        (uint32_t)number_of(cl, f->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    f->is_available = number_of(cl, f->device, CL_DEVICE_AVAILABLE, sizeof(cl_bool)) != 0;
    f->has_compiler = number_of(cl, f->device, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool)) != 0;
    f->is_little_endian = number_of(cl, f->device, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool)) != 0;
    uint64_t single =
        number_of(cl, f->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));
    f->can_divide_exactly = (single & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    f->has_f64 =
        number_of(cl, f->device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config)) != 0;
    find_reason(f, version);
}

weft_status wf_opencl_scan(wf_opencl_found out_found[WF_OPENCL_MAX_DEVICES], size_t *out_n,
                           weft_error *err)
{
    *out_n = 0;
    const wf_opencl_symbols *cl = wf_opencl_load(err);
    if (!cl)
        return WEFT_ERR_DEVICE;
    cl_platform_id platforms[WF_OPENCL_MAX_DEVICES];
    cl_uint n_platforms = 0;
    cl_int code = cl->clGetPlatformIDs(WF_OPENCL_MAX_DEVICES, platforms, &n_platforms);
    if (code != CL_SUCCESS || n_platforms == 0) {
        const char *vendors = getenv("OCL_ICD_VENDORS"); // what the loader goes by
        WEFT_FAIL(err, WEFT_ERR_DEVICE,
                  "no OpenCL driver found: libOpenCL lists no platform (%s), searched %s; %s",
                  code == CL_SUCCESS ? "none" : wf_opencl_code_name(code),
                  vendors ? vendors : "/etc/OpenCL/vendors", INSTALL);
    }
    if (n_platforms > WF_OPENCL_MAX_DEVICES)
        n_platforms = WF_OPENCL_MAX_DEVICES;
    for (cl_uint p = 0; p < n_platforms; p++) {
        cl_device_id devices[WF_OPENCL_MAX_DEVICES];
        cl_uint n = 0;
        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, WF_OPENCL_MAX_DEVICES, devices,
                               &n) != CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < n && *out_n < WF_OPENCL_MAX_DEVICES; d++) {
            wf_opencl_found *f = &out_found[(*out_n)++];
            memset(f, 0, sizeof *f);
            f->platform = platforms[p];
            f->device = devices[d];
            describe(cl, f);
        }
    }
    if (*out_n == 0) {
        WEFT_FAIL(err, WEFT_ERR_DEVICE, "no OpenCL device found: %u platform(s) list none; %s",
                  n_platforms, INSTALL);
    }
    return WEFT_OK;
}

#endif
