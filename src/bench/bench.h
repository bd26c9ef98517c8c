// The benchmark inside: a graph with data, measured. Stage: beside the pipeline.
#ifndef WF_BENCH_BENCH_H
#define WF_BENCH_BENCH_H

#include "run/run_internal.h"
#include "weft/bench.h"

#define WF_BENCH_MAX_INPUTS 2

// What a measurement is held against, and how long it takes.
typedef struct wf_bench_scale {
    double flops, bytes;        // of a run
    double peak_gflops;         // 0: not known
    weft_bench_options options; // with its defaults filled in
} wf_bench_scale;

typedef struct wf_bench_job {
    weft_context *ctx;
    weft_device *device;
    weft_graph *g; // with the output "out"
    size_t n_inputs;
    const char *inputs[WF_BENCH_MAX_INPUTS]; // filled with random numbers
    wf_bench_scale scale;
} wf_bench_job;

// Warms up and measures a program whose inputs are written. Sets all of out but batch.
weft_status wf_bench_program(weft_program *program, const wf_bench_scale *scale,
                             weft_bench_result *out, weft_error *err);
// Compiles, fills, measures.
weft_status wf_bench_measure(const wf_bench_job *job, weft_bench_result *out, weft_error *err);
// Defaults, and whether the struct is of this version.
weft_status wf_bench_options_get(const weft_bench_options *options, weft_bench_options *out,
                                 weft_error *err);
#define WF_BENCH_N_WINDOWS 9
void wf_bench_sort(double *windows, int n);
// Runs in each window, when one takes `once` seconds.
uint64_t wf_bench_window_runs(const weft_bench_options *options, double once);
// Times task by task, and tells options->task of those that are alike together, the dearest first.
weft_status wf_bench_tasks(weft_program *program, const weft_bench_options *options, double once,
                           weft_error *err);
// A variable "w" of random numbers.
weft_val wf_bench_weight(weft_graph *g, const int64_t *dims, int32_t ndim);

#endif
