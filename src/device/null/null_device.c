// The null device: takes every program and computes nothing. The template for a new device, and what
// tests use to plan, bind and run without arithmetic. Buffers are host memory, so that what is
// written can be read back.
#include <stdio.h>
#include <string.h>

#include "device/host_buffer.h"

struct wf_device_program {
    const wf_plan *plan;
    size_t n_enqueued; // tasks, over all runs
};

static void enumerate(weft_context *ctx, void (*found)(void *user, const weft_device_info *info),
                      void *user)
{
    (void)ctx;
    weft_device_info info = {.id = "null",
                             .name = "computes nothing",
                             .kind = WEFT_DEVICE_CPU,
                             .usable = false,
                             .exact = WEFT_EXACT_NO,
                             .reason = "computes nothing: for planning and tests only",
                             .compute_units = 0};
    found(user, &info);
}

static weft_status open_device(weft_context *ctx, const char *selector,
                               const weft_device_options *options, weft_device **out_device,
                               weft_error *err)
{
    weft_device *dev;
    if (*selector)
        WEFT_FAIL(err, WEFT_ERR_NAME, "device null:%s: null has no parts", selector);
    WEFT_TRY(wf_alloc(&ctx->allocator, 1, sizeof *dev, &dev, err));
    extern const wf_driver wf_driver_null;
    dev->driver = &wf_driver_null;
    dev->context = ctx;
    dev->arithmetic = options->arithmetic;
    dev->caps = (wf_device_caps){.fuse = true,
                                 .apart_rows = true,
                                 .channels_last = true,
                                 .max_buffer_bytes = SIZE_MAX,
                                 .n_threads = 1,
                                 .isa = "none"};
    for (int d = 0; d < WEFT_N_DTYPES; d++) {
        dev->caps.elem_bytes[d] = weft_dtype_size((weft_dtype)d);
    }
    snprintf(dev->id, sizeof dev->id, "null");
    snprintf(dev->name, sizeof dev->name, "computes nothing");
    *out_device = dev;
    return WEFT_OK;
}

static void close_device(weft_device *dev)
{
    wf_free(&dev->context->allocator, dev);
}

static size_t task_workspace(weft_device *dev, const wf_task *task)
{
    (void)dev;
    (void)task;
    return 0;
}

static weft_status program_create(weft_device *dev, const wf_plan *plan,
                                  const wf_program_memory *memory, wf_device_program **out,
                                  weft_error *err)
{
    (void)memory;
    *out = NULL;
    wf_device_program *program;
    WEFT_TRY(wf_alloc(&dev->context->allocator, 1, sizeof *program, &program, err));
    program->plan = plan;
    *out = program;
    return WEFT_OK;
}

static void program_destroy(weft_device *dev, wf_device_program *program)
{
    wf_free(&dev->context->allocator, program);
}

static weft_status enqueue(weft_device *dev, wf_device_program *program, size_t first, size_t n,
                           weft_error *err)
{
    (void)dev;
    (void)first;
    (void)err;
    program->n_enqueued += n;
    return WEFT_OK;
}

static weft_status status_read(weft_device *dev, wf_device_program *program, uint32_t *out_word,
                               weft_error *err)
{
    (void)dev;
    (void)program;
    (void)err;
    *out_word = WF_STATUS_GOOD;
    return WEFT_OK;
}

const wf_driver wf_driver_null = {
    .name = "null",
    .enumerate = enumerate,
    .open = open_device,
    .close = close_device,
    .buffer_create = wf_host_buffer_create,
    .buffer_destroy = wf_host_buffer_destroy,
    .buffer_write = wf_host_buffer_write,
    .buffer_read = wf_host_buffer_read,
    .buffer_copy = wf_host_buffer_copy,
    .task_workspace = task_workspace,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .enqueue = enqueue,
    .wait = wf_host_wait,
    .status_read = status_read,
    .n_compiled = wf_host_n_compiled,
};
