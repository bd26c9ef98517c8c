// The benchmark inside: a graph with data, measured. Stage: beside the pipeline.
#ifndef WF_BENCH_BENCH_H
#define WF_BENCH_BENCH_H

#include "run/run_internal.h"
#include "weft/bench.h"

#define WF_BENCH_MAX_INPUTS 2

// What a measurement is held against, and how long it takes.
typedef struct wf_bench_scale {
    double flops, bytes; // of a run
    double peak_gflops;  // 0: not known
    double seconds;
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
weft_status wf_bench_seconds(const weft_bench_options *options, double *out, weft_error *err);
// A variable "w" of random numbers.
weft_val wf_bench_weight(weft_graph *g, const int64_t *dims, int32_t ndim);

#endif
