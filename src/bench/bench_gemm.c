// The matrix product as a benchmark: C[m,n] = op(A) op(B).
#include "bench/bench.h"
#include "weft/ops.h"

static weft_status build(weft_graph *g, const weft_bench_gemm_shape *s, weft_error *err)
{
    const int64_t a[] = {s->transpose_a ? s->k : s->m, s->transpose_a ? s->m : s->k};
    const int64_t b[] = {s->transpose_b ? s->n : s->k, s->transpose_b ? s->k : s->n};
    const weft_val x = weft_input(g, "x", WEFT_F32, a, 2);
    const weft_val y = weft_matmul(g, x, wf_bench_weight(g, b, 2), s->transpose_a, s->transpose_b);
    weft_output(g, "out", y);
    return weft_graph_status(g, err);
}

weft_status weft_bench_gemm(weft_context *context, weft_device *device,
                            const weft_bench_gemm_shape *s, double peak_gflops,
                            const weft_bench_options *options, weft_bench_result *out_result,
                            weft_error *err)
{
    WEFT_REQUIRE(err, context && device && s && out_result, "bench: without device or shape");
    *out_result = (weft_bench_result){.batch = s->m};
    if (s->m < 1 || s->k < 1 || s->n < 1) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "bench: m, k, n are %lld, %lld, %lld, expected 1 or more",
                  (long long)s->m, (long long)s->k, (long long)s->n);
    }
    wf_bench_job job = {
        .ctx = context,
        .device = device,
        .n_inputs = 1,
        .inputs = {"x"},
        .scale = {.flops = 2.0 * (double)s->m * (double)s->k * (double)s->n,
                  .bytes = 4.0 * ((double)s->m * (double)s->k + (double)s->k * (double)s->n +
                                  (double)s->m * (double)s->n),
                  .peak_gflops = peak_gflops}};
    WEFT_TRY(wf_bench_options_get(options, &job.scale.options, err));
    WEFT_TRY(weft_graph_create(context, &job.g, err));
    weft_status status = build(job.g, s, err);
    if (status == WEFT_OK) {
        status = wf_bench_measure(&job, out_result, err);
    }
    weft_graph_destroy(job.g);
    return status;
}
