// Measures one program: windows of several runs each, their median and quartiles. A run is timed until
// the device is done with it. Stage: beside the pipeline.
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "bench/bench.h"
#include "math/philox.h"
#include "op/op.h"

#define N_WINDOWS WF_BENCH_N_WINDOWS // at most ...
#define MIN_WINDOWS 3 // ... and at least, where a run takes longer than a window should
// Shorter windows would measure the clock and the wake-up of threads.
#define WINDOW_MIN_SECONDS 0.02

weft_status wf_bench_options_get(const weft_bench_options *options, weft_bench_options *out,
                                 weft_error *err)
{
    static const weft_bench_options none = WEFT_BENCH_OPTIONS_INIT;
    WEFT_REQUIRE(err, !options || options->struct_size == sizeof *options,
                 "bench: struct_size is %zu, expected %zu", options->struct_size, sizeof *options);
    *out = options ? *options : none;
    out->seconds = out->seconds > 0.0 ? out->seconds : 1.0;
    return WEFT_OK;
}

uint64_t wf_bench_window_runs(const weft_bench_options *options, double once)
{
    double window = options->seconds / N_WINDOWS;
    window = window > WINDOW_MIN_SECONDS ? window : WINDOW_MIN_SECONDS;
    return once < window ? (uint64_t)(window / (once > 1e-7 ? once : 1e-7)) + 1 : 1;
}

weft_val wf_bench_weight(weft_graph *g, const int64_t *dims, int32_t ndim)
{
    const weft_val zero = weft_scalar(g, WEFT_I64, 0.0);
    const weft_val u = weft_random_uniform(g, zero, zero, dims, ndim);
    return weft_variable(g, "w", weft_sub(g, u, weft_scalar(g, WEFT_F32, 0.5)));
}

static weft_status fill_input(const wf_bench_job *job, weft_program *program, size_t idx,
                              weft_error *err)
{
    const wf_plan *plan = program->plan;
    for (size_t i = 0; i < plan->n_inputs; i++) {
        if (strcmp(plan->inputs[i].name, job->inputs[idx]) != 0) {
            continue;
        }
        const size_t count = (size_t)wf_type_count(&plan->inputs[i].view.type);
        const wf_allocator *a = &job->ctx->allocator;
        float *data;
        WEFT_TRY(wf_alloc(a, count, sizeof *data, &data, err));
        for (size_t k = 0; k < count; k++) {
            data[k] = wf_random_uniform(7, 0, (uint32_t)idx, k) - 0.5f;
        }
        const weft_status status =
            weft_program_write(program, job->inputs[idx], data, count * sizeof *data, err);
        wf_free(a, data);
        return status;
    }
    WEFT_FAIL(err, WEFT_ERR_INTERNAL, "bench: the program has no input %s", job->inputs[idx]);
}

static uint64_t clock_ns(bool is_cpu_time)
{
    struct timespec t;
    if (!is_cpu_time || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) != 0)
        return wf_clock_ns();
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Seconds of n runs, one after the other.
static weft_status time_runs(weft_program *program, bool is_cpu_time, uint64_t n, double *out,
                             weft_error *err)
{
    const uint64_t start = clock_ns(is_cpu_time);
    for (uint64_t i = 0; i < n; i++) {
        WEFT_TRY(weft_program_run(program, err));
    }
    WEFT_TRY(weft_program_check(program, err)); // waits
    *out = (double)(clock_ns(is_cpu_time) - start) * 1e-9;
    return WEFT_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void wf_bench_sort(double *windows, int n)
{
    qsort(windows, (size_t)n, sizeof windows[0], compare_doubles);
}

static uint64_t peak_rss(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

weft_status wf_bench_program(weft_program *program, const wf_bench_scale *scale,
                             weft_bench_result *out, weft_error *err)
{
    double windows[N_WINDOWS], once = 0.0;
    for (int i = 0; i < 2; i++) { // the first touches pages and compiles kernels
        WEFT_TRY(time_runs(program, scale->options.is_cpu_time, 1, &once, err));
    }
    const uint64_t n = wf_bench_window_runs(&scale->options, once);
    const double fit = scale->options.seconds / once;
    const int n_windows = fit > N_WINDOWS ? N_WINDOWS : fit < MIN_WINDOWS ? MIN_WINDOWS : (int)fit;
    for (int i = 0; i < n_windows; i++) {
        WEFT_TRY(time_runs(program, scale->options.is_cpu_time, n, &windows[i], err));
        windows[i] /= (double)n;
    }
    wf_bench_sort(windows, n_windows);
    const double median = windows[n_windows / 2];
    out->n_runs = n * (uint64_t)n_windows + 2;
    out->median_ms = median * 1e3;
    out->spread = (windows[n_windows * 3 / 4] - windows[n_windows / 4]) / median;
    out->gflops = scale->flops / median * 1e-9;
    out->peak_fraction = scale->peak_gflops > 0.0 ? out->gflops / scale->peak_gflops : 0.0;
    out->flops = (uint64_t)scale->flops;
    out->bytes = (uint64_t)scale->bytes;
    out->planned_bytes = weft_program_planned_bytes(program);
    out->peak_rss_bytes = peak_rss();
    return scale->options.task ? wf_bench_tasks(program, &scale->options, once, err) : WEFT_OK;
}

weft_status wf_bench_measure(const wf_bench_job *job, weft_bench_result *out, weft_error *err)
{
    weft_state *state = NULL;
    weft_program *program = NULL;
    weft_status status = weft_graph_status(job->g, err);
    if (status == WEFT_OK) {
        status = weft_state_create(job->device, &state, err);
    }
    if (status == WEFT_OK) {
        status = weft_compile(state, job->g, NULL, &program, err);
    }
    for (size_t i = 0; status == WEFT_OK && i < job->n_inputs; i++) {
        status = fill_input(job, program, i, err);
    }
    if (status == WEFT_OK) {
        status = wf_bench_program(program, &job->scale, out, err);
    }
    weft_program_destroy(program);
    weft_state_destroy(state);
    return status;
}

weft_status weft_bench_peak(weft_device *device, double *out_gflops, weft_error *err)
{
    WEFT_REQUIRE(err, device && out_gflops, "bench: without device or result");
    *out_gflops = device->driver->peak_gflops ? device->driver->peak_gflops(device) : 0.0;
    return WEFT_OK;
}
