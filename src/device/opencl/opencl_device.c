// The OpenCL device: listing, opening, and its entry in the driver table. To follow: wf_opencl_scan finds
// devices, wf_opencl_init makes context and queue, the probe decides whether `exact` may be claimed,
// and everything else is shared with the other GPU drivers (device/gpu).
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "opencl_common.h"

#if WEFT_HAVE_OPENCL

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%.*s", (int)(size - 1), text);
}

void wf_opencl_set_prefix(wf_opencl_device *dev, bool soft_div, bool soft_sqrt)
{
    wf_text *t = &dev->gpu.prefix;
    wf_text_clear(t);
    if (soft_div)
        wf_text_append(t, "#define WF_SOFT_DIV\n");
    if (soft_sqrt)
        wf_text_append(t, "#define WF_SOFT_SQRT\n");
    if (dev->found.has_f64)
        wf_text_append(t, "#define WF_HAVE_F64\n");
    if (dev->gpu.render.is_cpu)
        wf_text_append(t, "#define WF_CPU_LANES\n");
}

static void set_limits(wf_opencl_device *dev)
{
    const wf_opencl_found *f = &dev->found;
    wf_gpu_device *gpu = &dev->gpu;
    gpu->max_group_size = f->max_group_size > UINT32_MAX ? UINT32_MAX : (uint32_t)f->max_group_size;
    gpu->local_bytes = f->local_bytes;
    // A device that calls itself both (Oclgrind) gets the forms of a GPU.
    // So does llvmpipe, which silently leaves every loop once a work-item has gone round 65535 times in
    // all (Mesa's LP_MAX_TGSI_LOOP_ITERATIONS): one work-item for a whole tile would be cut short.
    const bool is_llvmpipe = strncmp(f->name, "llvmpipe", strlen("llvmpipe")) == 0;
    gpu->render.is_cpu =
        (f->type & CL_DEVICE_TYPE_CPU) && !(f->type & CL_DEVICE_TYPE_GPU) && !is_llvmpipe;
    gpu->render.has_f64 = f->has_f64;
    gpu->render.group_size = gpu->max_group_size < 256 ? 64 : 256;
    gpu->render.n_units = f->compute_units ? f->compute_units : 1;
    wf_device_caps *caps = &gpu->base.caps;
    caps->fuse = true;
    caps->max_buffer_bytes = (size_t)f->max_buffer_bytes;
    caps->n_threads = f->compute_units;
    caps->program_bytes = sizeof(uint32_t); // the status word
    caps->isa = gpu->base.name;
    for (int d = 0; d < WEFT_N_DTYPES; d++)
        caps->elem_bytes[d] = weft_dtype_size((weft_dtype)d);
}

weft_status wf_opencl_init(wf_opencl_device *dev, const wf_opencl_found *found, weft_error *err)
{
    dev->cl = wf_opencl_load(err);
    if (!dev->cl)
        return WEFT_ERR_DEVICE;
    dev->found = *found;
    dev->gpu.api = &wf_opencl_api;
    wf_text_init(&dev->gpu.prefix, &dev->gpu.base.context->allocator);
    copy_text(dev->gpu.base.name, sizeof dev->gpu.base.name, found->name);
    set_limits(dev);
    // The option is passed only where the device reports it: some drivers refuse it, some ignore it.
    copy_text(dev->options, sizeof dev->options,
              found->can_divide_exactly ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                                        : "-cl-std=CL1.2");
    snprintf(dev->gpu.identity, sizeof dev->gpu.identity, "opencl|%s|%s|%s|%d", found->name,
             found->driver, dev->options, WEFT_ARITHMETIC_VERSION);
    wf_opencl_set_prefix(dev, false, false);
    cl_int code;
    const cl_context_properties props[] = {CL_CONTEXT_PLATFORM,
                                           (cl_context_properties)found->platform, 0};
    dev->context = dev->cl->clCreateContext(props, 1, &found->device, NULL, NULL, &code);
    WEFT_TRY(wf_opencl_check(code, "clCreateContext", err));
    dev->queue = dev->cl->clCreateCommandQueue(dev->context, found->device, 0, &code);
    return wf_opencl_check(code, "clCreateCommandQueue", err);
}

void wf_opencl_deinit(wf_opencl_device *dev)
{
    if (dev->queue)
        dev->cl->clFinish(dev->queue);
    wf_gpu_device_deinit(&dev->gpu);
    if (dev->queue)
        dev->cl->clReleaseCommandQueue(dev->queue);
    if (dev->context)
        dev->cl->clReleaseContext(dev->context);
}

static void describe(weft_context *ctx, const wf_opencl_found *f, size_t idx,
                     weft_device_info *info)
{
    memset(info, 0, sizeof *info);
    snprintf(info->id, sizeof info->id, "opencl:%zu", idx);
    copy_text(info->name, sizeof info->name, f->name);
    info->kind = f->type & CL_DEVICE_TYPE_CPU   ? WEFT_DEVICE_CPU
                 : f->type & CL_DEVICE_TYPE_GPU ? WEFT_DEVICE_GPU
                                                : WEFT_DEVICE_ACCELERATOR;
    info->memory_bytes = f->memory_bytes;
    info->compute_units = f->compute_units;
    copy_text(info->reason, sizeof info->reason, f->reason);
    if (f->reason[0])
        return;
    wf_opencl_probe probe;
    weft_error err = {0};
    if (wf_opencl_probe_found(ctx, f, &probe, &err) != WEFT_OK) {
        copy_text(info->reason, sizeof info->reason, err.message);
        return;
    }
    info->usable = true;
    info->exact = probe.exact;
    copy_text(info->reason, sizeof info->reason, probe.reason);
}

static void enumerate(weft_context *ctx, void (*found)(void *user, const weft_device_info *info),
                      void *user)
{
    wf_opencl_found list[WF_OPENCL_MAX_DEVICES];
    size_t n;
    weft_error err = {0};
    weft_device_info info;
    if (wf_opencl_scan(list, &n, &err) != WEFT_OK) {
        memset(&info, 0, sizeof info);
        copy_text(info.id, sizeof info.id, "opencl");
        copy_text(info.name, sizeof info.name, "OpenCL");
        info.kind = WEFT_DEVICE_GPU;
        copy_text(info.reason, sizeof info.reason, err.message);
        found(user, &info);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        describe(ctx, &list[i], i, &info);
        found(user, &info);
    }
}

// The device that a selector names: an index, or the first usable one.
static weft_status choose(const wf_opencl_found *list, size_t n, const char *selector,
                          size_t *out_idx, weft_error *err)
{
    if (selector[0] == 0) {
        for (size_t i = 0; i < n; i++) {
            *out_idx = i;
            if (list[i].reason[0] == 0)
                return WEFT_OK;
        }
        WEFT_FAIL(err, WEFT_ERR_DEVICE,
                  "opencl: none of %zu devices is usable; opencl:0 %s: %.300s", n, list[0].name,
                  list[0].reason);
    }
    uint64_t idx;
    if (!wf_text_parse_u64(selector, &idx)) {
        WEFT_FAIL(err, WEFT_ERR_NAME,
                  "opencl:%s: no such device, a number from 0 to %zu was expected", selector,
                  n - 1);
    }
    if (idx >= n) {
        WEFT_FAIL(err, WEFT_ERR_DEVICE, "opencl:%s: no such device, there are %zu", selector, n);
    }
    *out_idx = (size_t)idx;
    if (list[idx].reason[0])
        WEFT_FAIL(err, WEFT_ERR_DEVICE, "opencl:%s: %s", selector, list[idx].reason);
    return WEFT_OK;
}

static weft_status open_found(wf_opencl_device *dev, const wf_opencl_found *found, weft_error *err)
{
    WEFT_TRY(wf_opencl_init(dev, found, err));
    wf_opencl_probe probe;
    WEFT_TRY(wf_opencl_probe_run(dev, &probe, err));
    if (dev->gpu.base.arithmetic == WEFT_EXACT && probe.exact == WEFT_EXACT_NO) {
        WEFT_FAIL(err, WEFT_ERR_DEVICE, "%s (%s) is not exact: %s; ask for precision fast",
                  dev->gpu.base.id, found->name, probe.reason);
    }
    bool is_exact = dev->gpu.base.arithmetic == WEFT_EXACT;
    wf_opencl_set_prefix(dev, is_exact && probe.soft_div, is_exact && probe.soft_sqrt);
    WEFT_TRY(wf_text_status(&dev->gpu.prefix, err));
    return wf_gpu_device_init(&dev->gpu, err);
}

static weft_status open_device(weft_context *ctx, const char *selector,
                               const weft_device_options *options, weft_device **out_device,
                               weft_error *err);

static void close_device(weft_device *base)
{
    wf_opencl_device *dev = wf_opencl_of(base);
    weft_context *ctx = base->context;
    wf_opencl_deinit(dev);
    wf_free(&ctx->allocator, dev);
}

static weft_status wait_device(weft_device *base, weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of(base);
    return wf_opencl_check(dev->cl->clFinish(dev->queue), "clFinish", err);
}

static weft_status enqueue(weft_device *base, wf_device_program *program, size_t first, size_t n,
                           weft_error *err)
{
    wf_opencl_device *dev = wf_opencl_of(base);
    WEFT_TRY(wf_gpu_enqueue(base, program, first, n, err));
    // Without it a driver may hold the work back until somebody waits.
    return wf_opencl_check(dev->cl->clFlush(dev->queue), "clFlush", err);
}

const wf_driver wf_driver_opencl = {
    .name = "opencl",
    .enumerate = enumerate,
    .open = open_device,
    .close = close_device,
    .buffer_create = wf_opencl_buffer_create,
    .buffer_destroy = wf_opencl_buffer_destroy,
    .buffer_write = wf_opencl_buffer_write,
    .buffer_read = wf_opencl_buffer_read,
    .buffer_copy = wf_opencl_buffer_copy,
    .task_workspace = wf_gpu_task_workspace,
    .program_create = wf_gpu_program_create,
    .program_destroy = wf_gpu_program_destroy,
    .enqueue = enqueue,
    .wait = wait_device,
    .status_read = wf_gpu_status_read,
    .n_compiled = wf_gpu_n_compiled,
};

static weft_status open_device(weft_context *ctx, const char *selector,
                               const weft_device_options *options, weft_device **out_device,
                               weft_error *err)
{
    *out_device = NULL;
    char value[128];
    const char *variable = wf_opencl_bad_environment(value);
    if (variable) {
        WEFT_FAIL(err, WEFT_ERR_DEVICE,
                  "opencl: %s='%s' adds compiler options that change results, unset it", variable,
                  value);
    }
    wf_opencl_found list[WF_OPENCL_MAX_DEVICES];
    size_t n, idx = 0;
    WEFT_TRY(wf_opencl_scan(list, &n, err));
    WEFT_TRY(choose(list, n, selector, &idx, err));
    wf_opencl_device *dev;
    WEFT_TRY(wf_alloc(&ctx->allocator, 1, sizeof *dev, &dev, err));
    dev->gpu.base.driver = &wf_driver_opencl;
    dev->gpu.base.context = ctx;
    dev->gpu.base.arithmetic = options->arithmetic;
    snprintf(dev->gpu.base.id, sizeof dev->gpu.base.id, "opencl:%zu", idx);
    weft_status status = open_found(dev, &list[idx], err);
    if (status != WEFT_OK) {
        close_device(&dev->gpu.base);
        return status;
    }
    *out_device = &dev->gpu.base;
    return WEFT_OK;
}

#else

// Built without CL/cl.h: the device exists, and says why it cannot be used.
#define REASON                                                                                     \
    "this weft was built without OpenCL headers; install opencl-headers and build it again"

static void enumerate(weft_context *ctx, void (*found)(void *user, const weft_device_info *info),
                      void *user)
{
    (void)ctx;
    weft_device_info info = {
        .id = "opencl", .name = "OpenCL", .kind = WEFT_DEVICE_GPU, .reason = REASON};
    found(user, &info);
}

static weft_status open_device(weft_context *ctx, const char *selector,
                               const weft_device_options *options, weft_device **out_device,
                               weft_error *err)
{
    (void)ctx;
    (void)selector;
    (void)options;
    *out_device = NULL;
    WEFT_FAIL(err, WEFT_ERR_DEVICE, "opencl: " REASON);
}

const wf_driver wf_driver_opencl = {.name = "opencl", .enumerate = enumerate, .open = open_device};

#endif
