// How fast is a device at products, convolutions and networks, against its own limit? What `weft bench` runs:
// real programs, compiled and run as any other.
#ifndef WEFT_BENCH_H
#define WEFT_BENCH_H

#include <weft/device.h>

#ifdef __cplusplus
extern "C" {
#endif

// C[m,n] = op(A) op(B), row-major. The right side is a variable, as weights are.
typedef struct weft_bench_gemm_shape {
    int64_t m, k, n;
    bool transpose_a, transpose_b;
} weft_bench_gemm_shape;

// Square 2-D convolution: x [batch,in,size,size], w [out,in/groups,window,window]. x and y lie in memory as they do
// between the layers of a network, channels last; w as a variable does.
typedef struct weft_bench_conv_shape {
    int64_t batch, in, size, out, window, stride, pad, groups;
} weft_bench_conv_shape;

typedef enum weft_bench_direction {
    WEFT_BENCH_FORWARD = 0,
    WEFT_BENCH_GRAD_INPUT = 1,
    WEFT_BENCH_GRAD_WEIGHT = 2,
} weft_bench_direction;

// What a program's tasks take that are alike: the same work on operands of the same shapes, such as that of
// several layers or of a scan's steps.
typedef struct weft_bench_task {
    const char *kind;  // "contract", "map" (doc/architecture.md, Plan)
    const char *name;  // of the first, its scope and op: "h/0/qkv/matmul"
    const char *shape; // of operands and result: "[2048,384] [384,1152] -> [2048,1152]"
    uint64_t n_tasks;  // in a run
    double ms;         // of a run, all of them
    double share;      // of the sum over all tasks
    double flops, bytes;
} weft_bench_task;

typedef struct weft_bench_options {
    size_t struct_size;
    double seconds;     // to measure for, warm-up aside; 0: 1
    weft_dtype storage; // of networks, as weft_nn_options has it; WEFT_DTYPE_NONE: f32
    // The processor's time that all threads took, instead of the time that passed: on a machine that others use, and for
    // one thread (threads that wait for each other take time, too).
    bool is_cpu_time;
    // Not NULL: as long again task by task, each waited for; called once for each kind of tasks, the dearest
    // first, with strings that live until it returns.
    void (*task)(void *user, const weft_bench_task *task);
    void *user;
} weft_bench_options;
#define WEFT_BENCH_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(weft_bench_options), 0, WEFT_DTYPE_NONE, false, NULL, NULL                          \
    }

typedef struct weft_bench_result {
    int64_t batch;    // samples of a run: rows of a product, pictures of a convolution
    double median_ms; // of one run, over windows of several runs
    double spread;    // (third quartile - first) / median of the windows
    double gflops;
    double peak_fraction; // of weft_bench_peak; 0: the peak is not known
    uint64_t flops;       // 2 per fma; padding counts, as usual
    uint64_t bytes;       // operands and result, once each
    uint64_t planned_bytes;
    uint64_t peak_rss_bytes; // of the process so far
    uint64_t n_runs;
    int64_t n_tokens; // of a run, where samples are sequences of tokens; else 0
} weft_bench_result;

// Greatest f32 rate of the device, in GFLOP/s, measured by independent chains of fma in registers on
// all its threads; 0 where there is no such measure.
WEFT_API weft_status weft_bench_peak(weft_device *device, double *out_gflops, weft_error *err);

// peak_gflops: what weft_bench_peak gave, or 0. options may be NULL.
// Errors: WEFT_ERR_SHAPE (a size that is not positive, a window beyond the padded input),
// WEFT_ERR_MEMORY, and what compiling and running give.
WEFT_API weft_status weft_bench_gemm(weft_context *context, weft_device *device,
                                     const weft_bench_gemm_shape *shape, double peak_gflops,
                                     const weft_bench_options *options,
                                     weft_bench_result *out_result, weft_error *err);
WEFT_API weft_status weft_bench_conv(weft_context *context, weft_device *device,
                                     const weft_bench_conv_shape *shape,
                                     weft_bench_direction direction, double peak_gflops,
                                     const weft_bench_options *options,
                                     weft_bench_result *out_result, weft_error *err);

// A network of recipes/bench: NAME is a step of training, with its batch, loss and optimiser; NAME-infer is what
// it says of one sample. flops and bytes are those of the plan's tasks.
// Errors: WEFT_ERR_NAME, WEFT_ERR_RECIPE (no such storage), WEFT_ERR_MEMORY, and what training gives.
WEFT_API weft_status weft_bench_network(weft_context *context, weft_device *device,
                                        const char *name, double peak_gflops,
                                        const weft_bench_options *options,
                                        weft_bench_result *out_result, weft_error *err);
// The networks there are: the name of idx, or NULL beyond the last.
WEFT_API const char *weft_bench_network_name(size_t idx);

#ifdef __cplusplus
}
#endif
#endif
