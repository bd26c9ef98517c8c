// The cpu device: the driver's entries. Tasks are lowered once; a run calls their phases one after
// another on the pool and returns when the last is done. Nothing allocates while a program runs.
#include "device/cpu/cpu_lower.h"
#include "device/cpu/cpu_peak.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"
#include "device/cpu/cpu_fenv.h"

// A process may ask for more threads than processors; beyond this it is a mistake.
#define MAX_THREADS 1024

static wf_cpu_device *get_device(weft_device *dev)
{
    return (wf_cpu_device *)dev;
}

static uint64_t memory_bytes(void)
{
    const long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return n_pages > 0 && page_bytes > 0 ? (uint64_t)n_pages * (uint64_t)page_bytes : 0;
}

static void enumerate(weft_context *ctx, void (*found)(void *user, const weft_device_info *info),
                      void *user)
{
    weft_device_info info = {.id = "cpu", .kind = WEFT_DEVICE_CPU, .usable = true};
    (void)ctx;
    (void)wf_cpu_isa_processor(info.name, sizeof info.name);
    info.exact = WEFT_EXACT_NATIVE;
    info.memory_bytes = memory_bytes();
    info.compute_units = (uint32_t)wf_thread_n_processors();
    const uint32_t isas = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    if (isas == 1 && strcmp(wf_cpu_isa_at(0)->name, "scalar") == 0) {
        info.exact = WEFT_EXACT_EMULATED;
        (void)snprintf(info.reason, sizeof info.reason,
                       "no fma instruction: fma in software, slow");
    }
    found(user, &info);
}

static weft_status open_device(weft_context *ctx, const char *selector,
                               const weft_device_options *options, weft_device **out_device,
                               weft_error *err)
{
    wf_cpu_device *dev = NULL;
    const wf_cpu_kernels *kernels;
    *out_device = NULL;
    if (selector && selector[0]) {
        WEFT_FAIL(err, WEFT_ERR_NAME,
                  "cpu: there is one cpu device, '%s' names another, expected "
                  "'cpu'",
                  selector);
    }
    WEFT_TRY(wf_cpu_isa_choose(options->isa, &kernels, err));
    const uint32_t n_processors = (uint32_t)wf_thread_n_processors();
    const uint32_t n_threads = options->n_threads ? options->n_threads : n_processors;
    if (n_threads > MAX_THREADS) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "cpu: %u threads asked for, expected at most %d", n_threads,
                  MAX_THREADS);
    }
    WEFT_TRY(wf_alloc(&ctx->allocator, 1, sizeof *dev, &dev, err));
    weft_status status =
        wf_cpu_pool_create(&ctx->allocator, n_threads, n_threads <= n_processors, &dev->pool, err);
    if (status != WEFT_OK) {
        wf_free(&ctx->allocator, dev);
        return status;
    }
    dev->kernels = kernels;
    dev->with_winograd = options->arithmetic == WEFT_FAST && !options->no_winograd;
    dev->base.driver = &wf_driver_cpu;
    dev->base.context = ctx;
    dev->base.arithmetic = options->arithmetic;
    dev->base.caps = (wf_device_caps){
        .fuse = true,
        .apart_rows = true,
        .channels_last = true,
        .epilogues = 1u << WF_TASK_CONTRACT,
        .max_buffer_bytes = PTRDIFF_MAX,
        .n_threads = n_threads,
        .isa = kernels->name,
    };
    for (int d = 1; d < WEFT_N_DTYPES; d++)
        dev->base.caps.elem_bytes[d] = weft_dtype_size((weft_dtype)d);
    (void)snprintf(dev->base.id, sizeof dev->base.id, "cpu");
    (void)wf_cpu_isa_processor(dev->base.name, sizeof dev->base.name);
    *out_device = &dev->base;
    return WEFT_OK;
}

static void close_device(weft_device *base)
{
    if (!base)
        return;
    wf_cpu_device *dev = get_device(base);
    wf_cpu_pool_destroy(dev->pool);
    wf_free(&base->context->allocator, dev);
}

// What a thread zeroes at a time: a huge page.
#define ZERO_BYTES ((size_t)2 * 1024 * 1024)

static void zero_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_device_buffer *buffer = params;
    const size_t first = (size_t)item * ZERO_BYTES, left = buffer->size_bytes - first;
    (void)worker;
    memset(buffer->data + first, 0, left < ZERO_BYTES ? left : ZERO_BYTES);
}

// Zeroing is the first touch of each page, by the thread that is to have this part in a task cut
// evenly: a run meets no page fault, and with several memories each thread has its part near by.
static weft_status buffer_create(weft_device *dev, size_t size_bytes, wf_device_buffer **out,
                                 weft_error *err)
{
    WEFT_TRY(wf_host_buffer_take(dev, size_bytes, out, err));
    wf_cpu_pool_run(get_device(dev)->pool, zero_item, *out,
                    (int64_t)((size_bytes + ZERO_BYTES - 1) / ZERO_BYTES));
    return WEFT_OK;
}

static size_t task_workspace(weft_device *dev, const wf_task *task)
{
    return wf_cpu_task_workspace(get_device(dev), task);
}

static bool keeps_workspace(weft_device *dev, const wf_task *task)
{
    return wf_cpu_task_keeps_workspace(get_device(dev), task);
}

static void program_destroy(weft_device *dev, wf_device_program *program)
{
    if (!program)
        return;
    const wf_allocator allocator = dev->context->allocator;
    wf_arena_deinit(&program->memory);
    wf_free(&allocator, program->phases);
    wf_free(&allocator, program->tasks);
    wf_free(&allocator, program);
}

static weft_status program_create(weft_device *base, const wf_plan *plan,
                                  const wf_program_memory *memory, wf_device_program **out,
                                  weft_error *err)
{
    wf_cpu_device *dev = get_device(base);
    const wf_allocator *a = &base->context->allocator;
    weft_status status = WEFT_OK;
    wf_device_program *program = NULL;
    *out = NULL;
    WEFT_TRY(wf_alloc(a, 1, sizeof *program, &program, err));
    wf_arena_init(&program->memory, a);
    atomic_init(&program->status, WF_STATUS_GOOD);
    WEFT_TRY_GOTO(wf_alloc(a, plan->n_tasks, sizeof *program->tasks, &program->tasks, err));
    program->plan = plan;
    program->plan_memory = memory;
    program->n_tasks = plan->n_tasks;
    for (size_t i = 0; i < plan->n_tasks; i++) {
        wf_cpu_lower q = {.device = dev,
                          .kernels = dev->kernels,
                          .plan = plan,
                          .memory = memory,
                          .task = &plan->tasks[i],
                          .task_idx = (uint32_t)i,
                          .allocator = *a,
                          .status = &program->status,
                          .failure = &program->failure,
                          .program = program};
        const size_t first = program->n_phases;
        WEFT_TRY_GOTO(wf_cpu_lower_task(&q, err));
        program->tasks[i] =
            (wf_cpu_task){first, program->n_phases - first, plan->tasks[i].is_gated};
    }
    WEFT_TRY_GOTO(wf_cpu_pool_reserve(dev->pool, program->scratch_bytes, err));
    *out = program;
    return WEFT_OK;
fail:
    program_destroy(base, program);
    return status;
}

// Where a run is: the phases of tasks [task, end).
typedef struct run_place {
    wf_device_program *program;
    size_t task, end;
    size_t phase; // of the task
} run_place;

// Is what the phase makes there already? Else it will be.
static bool is_there(wf_cpu_kept *kept)
{
    const uint64_t version = (kept->source ? kept->source->version : 0) + 1;
    const bool is_it = kept->version == version;
    kept->version = version;
    return is_it;
}

static const wf_cpu_job *next_phase(void *user)
{
    run_place *at = user;
    wf_device_program *program = at->program;
    for (; at->task < at->end && program->failure.code == WEFT_OK; at->task++, at->phase = 0) {
        const wf_cpu_task *task = &program->tasks[at->task];
        const bool is_left_out =
            at->phase == 0 && task->is_gated && atomic_load(&program->status) != WF_STATUS_GOOD;
        while (!is_left_out && at->phase < task->n_phases) {
            const wf_cpu_phase *phase = &program->phases[task->first_phase + at->phase++];
            if (!phase->kept || !is_there(phase->kept))
                return &phase->job;
        }
    }
    return NULL;
}

static weft_status enqueue(weft_device *base, wf_device_program *program, size_t first, size_t n,
                           weft_error *err)
{
    WEFT_REQUIRE(err, first <= program->n_tasks && n <= program->n_tasks - first,
                 "cpu: tasks %zu to %zu were asked for, the program has %zu", first, first + n,
                 program->n_tasks);
    if (first == 0)
        atomic_store(&program->status, WF_STATUS_GOOD);
    program->failure.code = WEFT_OK;
    for (size_t i = 0; i < program->plan->n_variables; i++) {
        if (program->plan->variables[i].is_written)
            program->plan_memory->variables[i]->version++;
    }
    run_place at = {program, first, first + n, 0};
    const uint64_t mode = wf_cpu_fenv_get();
    wf_cpu_fenv_set();
    wf_cpu_pool_run_row(get_device(base)->pool, next_phase, &at);
    wf_cpu_fenv_restore(mode);
    if (program->failure.code != WEFT_OK && err)
        *err = program->failure.error;
    return program->failure.code;
}

static weft_status status_read(weft_device *dev, wf_device_program *program, uint32_t *out_word,
                               weft_error *err)
{
    (void)dev, (void)err;
    *out_word = atomic_load(&program->status);
    return WEFT_OK;
}

const wf_driver wf_driver_cpu = {
    .name = "cpu",
    .enumerate = enumerate,
    .open = open_device,
    .close = close_device,
    .buffer_create = buffer_create,
    .buffer_destroy = wf_host_buffer_destroy,
    .buffer_write = wf_host_buffer_write,
    .buffer_read = wf_host_buffer_read,
    .buffer_copy = wf_host_buffer_copy,
    .task_workspace = task_workspace,
    .keeps_workspace = keeps_workspace,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .enqueue = enqueue,
    .wait = wf_host_wait,
    .status_read = status_read,
    .n_compiled = wf_host_n_compiled,
    .peak_gflops = wf_cpu_peak_gflops,
};
