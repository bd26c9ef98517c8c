// Square 2-D convolution as a benchmark: forward, input gradient, weight gradient.
#include "bench/bench.h"
#include "weft/ops.h"

typedef struct sizes {
    int64_t x[4], w[4], y[4];
} sizes;

static sizes sizes_of(const weft_bench_conv_shape *s)
{
    const int64_t p = (s->size + 2 * s->pad - s->window) / s->stride + 1;
    const sizes z = {{s->batch, s->in, s->size, s->size},
                     {s->out, s->in / s->groups, s->window, s->window},
                     {s->batch, s->out, p, p}};
    return z;
}

static double count(const int64_t d[4])
{
    return (double)d[0] * (double)d[1] * (double)d[2] * (double)d[3];
}

// What a network hands from layer to layer, so that a layer is measured and no change of layout is.
static weft_val input(wf_bench_job *job, const char *name, const int64_t d[4])
{
    static const int32_t channels_second[] = {0, 3, 1, 2};
    const int64_t in_memory[] = {d[0], d[2], d[3], d[1]};
    job->inputs[job->n_inputs++] = name;
    return weft_permute(job->g, weft_input(job->g, name, WEFT_F32, in_memory, 4), channels_second);
}

static weft_status build(wf_bench_job *job, const weft_bench_conv_shape *s,
                         weft_bench_direction direction, weft_error *err)
{
    const sizes z = sizes_of(s);
    static const int32_t channels_last[] = {0, 2, 3, 1};
    const int64_t stride[] = {s->stride, s->stride}, pad[] = {s->pad, s->pad};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    weft_graph *g = job->g;
    weft_val out;
    o.stride = stride;
    o.pad_before = o.pad_after = pad;
    o.groups = s->groups;
    if (direction == WEFT_BENCH_FORWARD) {
        const weft_val x = input(job, "x", z.x);
        out = weft_permute(g, weft_conv(g, x, wf_bench_weight(g, z.w, 4), &o), channels_last);
    } else if (direction == WEFT_BENCH_GRAD_INPUT) {
        const weft_val dy = input(job, "dy", z.y);
        const weft_val w = wf_bench_weight(g, z.w, 4);
        out = weft_permute(g, weft_conv_grad_input(g, dy, w, z.x + 2, &o), channels_last);
    } else {
        const weft_val x = input(job, "x", z.x);
        out = weft_conv_grad_weight(g, x, input(job, "dy", z.y), z.w + 2, &o);
    }
    weft_output(g, "out", out);
    return weft_graph_status(g, err);
}

static weft_status check_shape(const weft_bench_conv_shape *s, weft_error *err)
{
    const int64_t all[] = {s->batch, s->in, s->size, s->out, s->window, s->stride, s->groups};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] < 1) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE,
                      "bench: a size of the convolution is %lld, expected 1 or more",
                      (long long)all[i]);
        }
    }
    if (s->pad < 0 || s->window > s->size + 2 * s->pad) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "bench: window %lld is larger than the padded input, %lld + 2 * %lld",
                  (long long)s->window, (long long)s->size, (long long)s->pad);
    }
    if (s->in % s->groups != 0 || s->out % s->groups != 0) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "bench: %lld and %lld channels do not divide by %lld groups",
                  (long long)s->in, (long long)s->out, (long long)s->groups);
    }
    return WEFT_OK;
}

weft_status weft_bench_conv(weft_context *context, weft_device *device,
                            const weft_bench_conv_shape *s, weft_bench_direction direction,
                            double peak_gflops, const weft_bench_options *options,
                            weft_bench_result *out_result, weft_error *err)
{
    WEFT_REQUIRE(err, context && device && s && out_result, "bench: without device or shape");
    *out_result = (weft_bench_result){.batch = s->batch};
    WEFT_TRY(check_shape(s, err));
    const sizes z = sizes_of(s);
    wf_bench_job job = {.ctx = context,
                        .device = device,
                        .scale = {.flops = 2.0 * count(z.y) * (double)(s->in / s->groups) *
                                           (double)(s->window * s->window),
                                  .bytes = 4.0 * (count(z.x) + count(z.w) + count(z.y)),
                                  .peak_gflops = peak_gflops}};
    WEFT_TRY(wf_bench_options_get(options, &job.scale.options, err));
    WEFT_TRY(weft_graph_create(context, &job.g, err));
    weft_status status = build(&job, s, direction, err);
    if (status == WEFT_OK) {
        status = wf_bench_measure(&job, out_result, err);
    }
    weft_graph_destroy(job.g);
    return status;
}
