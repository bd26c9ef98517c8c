// The benchmark inside: a graph with data, measured. Stage: beside the pipeline.
#ifndef WF_BENCH_BENCH_H
#define WF_BENCH_BENCH_H

#include "run/run_internal.h"
#include "weft/bench.h"

#define WF_BENCH_MAX_INPUTS 2

typedef struct wf_bench_job {
    weft_context *ctx;
    weft_device *device;
    weft_graph *g; // with the output "out"
    size_t n_inputs;
    const char *inputs[WF_BENCH_MAX_INPUTS]; // filled with random numbers
    double flops, bytes;
    double peak_gflops;
    double seconds;
} wf_bench_job;

// Compiles, fills, warms up, measures.
weft_status wf_bench_measure(const wf_bench_job *job, weft_bench_result *out, weft_error *err);
// Defaults, and whether the struct is of this version.
weft_status wf_bench_seconds(const weft_bench_options *options, double *out, weft_error *err);
// A variable "w" of random numbers.
weft_val wf_bench_weight(weft_graph *g, const int64_t *dims, int32_t ndim);

#endif
