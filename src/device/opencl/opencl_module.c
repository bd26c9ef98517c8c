// Programs and launches of OpenCL behind wf_gpu_api: build, binaries, arguments, enqueue.
#include <stdio.h>
#include <string.h>

#include "opencl_common.h"

#if WEFT_HAVE_OPENCL

struct wf_gpu_module {
    cl_program program;
};

// A kernel object of its own for each launch: its arguments are set once, and a run only enqueues.
struct wf_gpu_launch {
    cl_kernel kernel;
    size_t local[3], global[3];
};

// The first line of the log that says "error", or the first line.
static void first_error(const char *log, char *out, size_t size)
{
    const char *hit = strstr(log, "error");
    if (!hit)
        hit = log;
    while (hit > log && hit[-1] != '\n')
        hit--;
    size_t n = strcspn(hit, "\n");
    snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), hit);
}

static weft_status build_failed(wf_opencl_device *dev, cl_program program, cl_int code,
                                weft_error *err)
{
    const wf_allocator *a = &dev->gpu.base.context->allocator;
    size_t size = 0;
    char *log = NULL;
    char line[400] = "no log";
    dev->cl->clGetProgramBuildInfo(program, dev->found.device, CL_PROGRAM_BUILD_LOG, 0, NULL,
                                   &size);
    if (size > 1 && wf_alloc(a, size + 1, 1, &log, NULL) == WEFT_OK) {
        dev->cl->clGetProgramBuildInfo(program, dev->found.device, CL_PROGRAM_BUILD_LOG, size, log,
                                       NULL);
        wf_context_log(dev->gpu.base.context, WEFT_LOG_WARNING, "%s", log);
        first_error(log, line, sizeof line);
        wf_free(a, log);
    }
    WEFT_FAIL(err, WEFT_ERR_COMPILE, "kernel does not compile on %s (%s): %s", dev->gpu.base.id,
              wf_opencl_code_name(code), line);
}

static weft_status wrap_program(wf_opencl_device *dev, cl_program program,
                                wf_gpu_module **out_module, weft_error *err)
{
    cl_int code = dev->cl->clBuildProgram(program, 1, &dev->found.device, dev->options, NULL, NULL);
    weft_status status = WEFT_OK;
    if (code != CL_SUCCESS)
        status = build_failed(dev, program, code, err);
    if (status == WEFT_OK) {
        status =
            wf_alloc(&dev->gpu.base.context->allocator, 1, sizeof **out_module, out_module, err);
    }
    if (status != WEFT_OK) {
        dev->cl->clReleaseProgram(program);
        return status;
    }
    (*out_module)->program = program;
    return WEFT_OK;
}

static weft_status module_build(wf_gpu_device *gpu, const char *source, wf_gpu_module **out_module,
                                weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of_gpu(gpu);
    *out_module = NULL;
    cl_int code;
    cl_program program = dev->cl->clCreateProgramWithSource(dev->context, 1, &source, NULL, &code);
    WEFT_TRY(wf_opencl_check(code, "clCreateProgramWithSource", err));
    return wrap_program(dev, program, out_module, err);
}

static weft_status module_load(wf_gpu_device *gpu, const uint8_t *binary, size_t size_bytes,
                               wf_gpu_module **out_module)
{
    wf_opencl_device *dev = wf_opencl_of_gpu(gpu);
    *out_module = NULL;
    cl_int code, binary_status;
    cl_program program = dev->cl->clCreateProgramWithBinary(
        dev->context, 1, &dev->found.device, &size_bytes, &binary, &binary_status, &code);
    if (code != CL_SUCCESS)
        return WEFT_ERR_DRIVER;
    if (binary_status != CL_SUCCESS ||
        dev->cl->clBuildProgram(program, 1, &dev->found.device, dev->options, NULL, NULL) !=
            CL_SUCCESS ||
        wf_alloc(&gpu->base.context->allocator, 1, sizeof **out_module, out_module, NULL) !=
            WEFT_OK) {
        dev->cl->clReleaseProgram(program);
        return WEFT_ERR_DRIVER;
    }
    (*out_module)->program = program;
    return WEFT_OK;
}

static weft_status module_save(wf_gpu_device *gpu, wf_gpu_module *module, uint8_t **out_binary,
                               size_t *out_size_bytes, weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of_gpu(gpu);
    const wf_allocator *a = &gpu->base.context->allocator;
    *out_binary = NULL;
    *out_size_bytes = 0;
    size_t size = 0;
    cl_int code = dev->cl->clGetProgramInfo(module->program, CL_PROGRAM_BINARY_SIZES, sizeof size,
                                            &size, NULL);
    WEFT_TRY(wf_opencl_check(code, "clGetProgramInfo", err));
    if (size == 0)
        WEFT_FAIL(err, WEFT_ERR_DRIVER, "the driver gives no binary");
    uint8_t *binary;
    WEFT_TRY(wf_alloc(a, size, 1, &binary, err));
    code = dev->cl->clGetProgramInfo(module->program, CL_PROGRAM_BINARIES, sizeof binary, &binary,
                                     NULL);
    if (code != CL_SUCCESS) {
        wf_free(a, binary);
        return wf_opencl_check(code, "clGetProgramInfo", err);
    }
    *out_binary = binary;
    *out_size_bytes = size;
    return WEFT_OK;
}

static void module_destroy(wf_gpu_device *gpu, wf_gpu_module *module)
{
    if (!module)
        return;
    wf_opencl_of_gpu(gpu)->cl->clReleaseProgram(module->program);
    wf_free(&gpu->base.context->allocator, module);
}

static weft_status set_args(wf_opencl_device *dev, cl_kernel kernel, const wf_gpu_launch_spec *spec,
                            weft_error *err)
{
    size_t bytes = 0;
    for (size_t i = 0; i < spec->n_args; i++) {
        const wf_gpu_arg *arg = &spec->args[i];
        bytes += arg->buffer ? sizeof(cl_mem) : arg->size_bytes;
        if (bytes > dev->found.max_argument_bytes) {
            WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: more than %zu bytes of kernel arguments",
                      spec->kernel, dev->found.max_argument_bytes);
        }
        cl_int code =
            arg->buffer
                ? dev->cl->clSetKernelArg(kernel, (cl_uint)i, sizeof(cl_mem), &arg->buffer->mem)
                : dev->cl->clSetKernelArg(kernel, (cl_uint)i, arg->size_bytes, arg->data);
        WEFT_TRY(wf_opencl_check(code, "clSetKernelArg", err));
    }
    return WEFT_OK;
}

static weft_status launch_create(wf_gpu_device *gpu, wf_gpu_module *module,
                                 const wf_gpu_launch_spec *spec, wf_gpu_launch **out_launch,
                                 weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of_gpu(gpu);
    const wf_allocator *a = &gpu->base.context->allocator;
    *out_launch = NULL;
    cl_int code;
    cl_kernel kernel = dev->cl->clCreateKernel(module->program, spec->kernel, &code);
    if (code != CL_SUCCESS) {
        weft_status status = wf_opencl_check(code, "clCreateKernel", err);
        wf_error_prefix(err, "%s", spec->kernel);
        return status;
    }
    wf_gpu_launch *launch = NULL;
    weft_status status = set_args(dev, kernel, spec, err);
    if (status == WEFT_OK)
        status = wf_alloc(a, 1, sizeof *launch, &launch, err);
    if (status != WEFT_OK) {
        dev->cl->clReleaseKernel(kernel);
        return status;
    }
    launch->kernel = kernel;
    for (int i = 0; i < 3; i++) {
        launch->local[i] = spec->group[i];
        launch->global[i] = (size_t)spec->group[i] * spec->n_groups[i];
    }
    *out_launch = launch;
    return WEFT_OK;
}

static void launch_destroy(wf_gpu_device *gpu, wf_gpu_launch *launch)
{
    if (!launch)
        return;
    wf_opencl_of_gpu(gpu)->cl->clReleaseKernel(launch->kernel);
    wf_free(&gpu->base.context->allocator, launch);
}

static weft_status launch_enqueue(wf_gpu_device *gpu, wf_gpu_launch *launch, weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of_gpu(gpu);
    cl_int code = dev->cl->clEnqueueNDRangeKernel(dev->queue, launch->kernel, 3, NULL,
                                                  launch->global, launch->local, 0, NULL, NULL);
    return wf_opencl_check(code, "clEnqueueNDRangeKernel", err);
}

static weft_status fill_u32(wf_gpu_device *gpu, wf_device_buffer *buffer, uint32_t value,
                            weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of_gpu(gpu);
    cl_int code = dev->cl->clEnqueueFillBuffer(dev->queue, buffer->mem, &value, sizeof value, 0,
                                               buffer->size_bytes / sizeof value * sizeof value, 0,
                                               NULL, NULL);
    return wf_opencl_check(code, "clEnqueueFillBuffer", err);
}

const wf_gpu_api wf_opencl_api = {
    .module_build = module_build,
    .module_load = module_load,
    .module_save = module_save,
    .module_destroy = module_destroy,
    .launch_create = launch_create,
    .launch_destroy = launch_destroy,
    .launch_enqueue = launch_enqueue,
    .fill_u32 = fill_u32,
};

#endif
