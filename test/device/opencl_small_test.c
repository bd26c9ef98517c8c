// labels: full oclgrind
// Small cases of every kernel of the OpenCL device, for Oclgrind to watch: out of bounds, data races,
// uninitialised reads, divergent barriers. On another driver they are compared like any others.
#include <stdlib.h>
#include <string.h>

#include "kernel_case.h"
#include "opencl_open.h"
#include "weft/run.h"
#include "weft/weft.h"
#include "wf_test.h"

static void fused(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    opencl_as_gpu(dev);
    opencl_write_whole(dev);
    for (uint64_t seed = 1; seed <= 24; seed++) {
        kernel_case c;
        kernel_case_make(ctx, seed, 200, &c);
        kernel_case_run(dev, &c, seed);
        kernel_case_free(&c);
    }
    dev->driver->close(dev);
    weft_context_destroy(ctx);
}

typedef weft_val (*build_fn)(weft_graph *g);

// The inputs of the graph in hand, in order.
static struct {
    const char *name;
    weft_type type;
} inputs[4];
static size_t n_inputs;

static weft_val input(weft_graph *g, const char *name, weft_dtype dtype, int32_t ndim,
                      const int64_t *dims)
{
    weft_val x = weft_input(g, name, dtype, dims, ndim);
    inputs[n_inputs].name = name;
    inputs[n_inputs++].type = weft_val_type(g, x);
    return x;
}

static weft_val matmul(weft_graph *g)
{
    return weft_matmul(g, input(g, "a", WEFT_F32, 3, (int64_t[]){2, 5, 33}),
                       input(g, "b", WEFT_F32, 3, (int64_t[]){2, 9, 33}), false, true);
}

static weft_val matmul_long(weft_graph *g)
{
    return weft_matmul(g, input(g, "a", WEFT_F32, 2, (int64_t[]){4100, 2}),
                       input(g, "b", WEFT_F32, 2, (int64_t[]){4100, 1}), true, false);
}

static weft_conv_options conv_options(void)
{
    static const int64_t stride[] = {2, 1}, pad[] = {1, 1}, dilation[] = {1, 2};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.dilation = dilation;
    o.groups = 2;
    return o;
}

static weft_val conv(weft_graph *g)
{
    weft_conv_options o = conv_options();
    return weft_conv(g, input(g, "a", WEFT_F32, 4, (int64_t[]){2, 4, 6, 7}),
                     input(g, "b", WEFT_F32, 4, (int64_t[]){6, 2, 3, 3}), &o);
}

static weft_val conv_grad_input(weft_graph *g)
{
    weft_conv_options o = conv_options();
    return weft_conv_grad_input(g, input(g, "a", WEFT_F32, 4, (int64_t[]){2, 6, 3, 5}),
                                input(g, "b", WEFT_F32, 4, (int64_t[]){6, 2, 3, 3}),
                                (int64_t[]){6, 7}, &o);
}

static weft_val conv_grad_weight(weft_graph *g)
{
    weft_conv_options o = conv_options();
    return weft_conv_grad_weight(g, input(g, "a", WEFT_F32, 4, (int64_t[]){2, 4, 6, 7}),
                                 input(g, "b", WEFT_F32, 4, (int64_t[]){2, 6, 3, 5}),
                                 (int64_t[]){3, 3}, &o);
}

static weft_val pool(weft_graph *g, bool is_mean)
{
    static const int64_t window[] = {3, 2}, pad[] = {1, 0}, stride[] = {2, 1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.pad_before = pad;
    o.stride = stride;
    weft_val x = input(g, "a", WEFT_F32, 4, (int64_t[]){1, 2, 5, 6});
    weft_val y = is_mean ? weft_mean_pool(g, x, window, &o) : weft_max_pool(g, x, window, &o);
    weft_val dx;
    weft_grad(g, weft_sum(g, weft_mul(g, y, y), NULL, 0, false), &x, 1, &dx);
    return dx;
}

static weft_val max_pool(weft_graph *g)
{
    return pool(g, false);
}

static weft_val mean_pool(weft_graph *g)
{
    return pool(g, true);
}

static weft_val gather(weft_graph *g)
{
    return weft_gather(g, input(g, "a", WEFT_F32, 2, (int64_t[]){7, 3}),
                       input(g, "i", WEFT_I32, 1, (int64_t[]){5}), 0);
}

static weft_val scatter_add(weft_graph *g)
{
    return weft_scatter_add(g, input(g, "a", WEFT_F32, 2, (int64_t[]){7, 3}),
                            input(g, "i", WEFT_I32, 1, (int64_t[]){300}),
                            input(g, "u", WEFT_F32, 2, (int64_t[]){300, 3}), 0);
}

static weft_val dynamic_slice(weft_graph *g)
{
    return weft_dynamic_slice(g, input(g, "a", WEFT_F32, 2, (int64_t[]){11, 3}),
                              input(g, "i", WEFT_I32, 1, (int64_t[]){1}), 0, 5);
}

static weft_val dynamic_update(weft_graph *g)
{
    return weft_dynamic_update(g, input(g, "a", WEFT_F32, 2, (int64_t[]){11, 3}),
                               input(g, "i", WEFT_I32, 1, (int64_t[]){1}),
                               input(g, "u", WEFT_F32, 2, (int64_t[]){5, 3}), 0);
}

// Two runs of keys, merged; only the first of each are written.
static weft_val top_k(weft_graph *g)
{
    weft_val values;
    weft_top_k(g, input(g, "a", WEFT_F32, 2, (int64_t[]){2, 300}), 40, 1, true, &values, NULL);
    return values;
}

static weft_val cumsum(weft_graph *g)
{
    return weft_cumsum(g, input(g, "a", WEFT_F32, 3, (int64_t[]){2, 1030, 3}), 1, true, true);
}

static weft_val cumprod(weft_graph *g)
{
    return weft_cumprod(g, input(g, "a", WEFT_F32, 2, (int64_t[]){3, 33}), 1, false, true);
}

static weft_val reduce_prod(weft_graph *g)
{
    static const int32_t axes[] = {0, 2};
    return weft_reduce_prod(g, input(g, "a", WEFT_F32, 3, (int64_t[]){3, 5, 7}), axes, 2, false);
}

static weft_val flip(weft_graph *g)
{
    static const int32_t axes[] = {0, 2};
    const weft_val a = input(g, "a", WEFT_F32, 3, (int64_t[]){3, 5, 33});
    return weft_add(g, weft_exp(g, weft_flip(g, a, axes, 2)), a);
}

// Two heads share keys; causal, and every third pair hidden.
static weft_val attend(weft_graph *g, weft_val x[3])
{
    static const int64_t dims[] = {1, 1, 9, 70};
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    x[0] = input(g, "q", WEFT_F32, 4, (int64_t[]){1, 2, 9, 5});
    x[1] = input(g, "k", WEFT_F32, 4, (int64_t[]){1, 1, 70, 5});
    x[2] = input(g, "v", WEFT_F32, 4, (int64_t[]){1, 1, 70, 5});
    const weft_val place =
        weft_add(g, weft_iota(g, WEFT_I32, dims, 4, 2), weft_iota(g, WEFT_I32, dims, 4, 3));
    o.is_causal = true;
    o.mask = weft_less(g, weft_rem(g, place, weft_scalar(g, WEFT_I32, 3.0)),
                       weft_scalar(g, WEFT_I32, 2.0));
    return weft_attention(g, x[0], x[1], x[2], &o, NULL);
}

static weft_val attention(weft_graph *g)
{
    weft_val x[3];
    return attend(g, x);
}

static weft_val attention_grad(weft_graph *g)
{
    weft_val x[3], dx[3];
    const weft_val y = attend(g, x);
    weft_grad(g, weft_sum(g, weft_mul(g, y, y), NULL, 0, false), x, 3, dx);
    return weft_concat(g, dx + 1, 2, 1); // dq is computed, too
}

static weft_val attention_grad_q(weft_graph *g)
{
    weft_val x[3], dx[3];
    const weft_val y = attend(g, x);
    weft_grad(g, weft_sum(g, weft_mul(g, y, y), NULL, 0, false), x, 3, dx);
    return dx[0];
}

static weft_val guard(weft_graph *g)
{
    return weft_guard(g, input(g, "a", WEFT_F32, 1, (int64_t[]){300}));
}

static weft_val row_staged(weft_graph *g)
{
    return weft_sum(g, input(g, "a", WEFT_F32, 1, (int64_t[]){9000}), NULL, 0, false);
}

static weft_val random_cast(weft_graph *g)
{
    int64_t dims[] = {33};
    return weft_cast(g,
                     weft_random_normal(g, weft_scalar(g, WEFT_I64, 5.0),
                                        weft_scalar(g, WEFT_I64, 2.0), dims, 1),
                     WEFT_BF16);
}

static const struct {
    const char *name;
    build_fn build;
} cases[] = {
    {"matmul", matmul},
    {"matmul, two blocks", matmul_long},
    {"conv", conv},
    {"conv_grad_input", conv_grad_input},
    {"conv_grad_weight", conv_grad_weight},
    {"max_pool", max_pool},
    {"mean_pool", mean_pool},
    {"gather", gather},
    {"scatter_add", scatter_add},
    {"dynamic_slice", dynamic_slice},
    {"dynamic_update", dynamic_update},
    {"top_k", top_k},
    {"cumsum", cumsum},
    {"cumprod", cumprod},
    {"reduce_prod", reduce_prod},
    {"flip", flip},
    {"attention", attention},
    {"attention, dk and dv", attention_grad},
    {"attention, dq", attention_grad_q},
    {"guard", guard},
    {"row in two launches", row_staged},
    {"random and cast", random_cast},
};

// The data of an input: small numbers, or indices below 7.
static void fill_input(weft_program *program, const char *name, const weft_type *t)
{
    uint64_t state = 1;
    size_t n = 1;
    for (int32_t i = 0; i < t->ndim; i++)
        n *= (size_t)t->dims[i];
    uint32_t *data = malloc(n * 4);
    for (size_t j = 0; j < n; j++) {
        uint32_t u = kernel_case_random(&state);
        data[j] = t->dtype == WEFT_I32 ? u % 7 : (u & 0x80ffffffu) | 0x3f000000u;
    }
    assert_int_equal(weft_program_write(program, name, data, n * 4, NULL), WEFT_OK);
    free(data);
}

static void run_on(weft_device *dev, weft_context *ctx, build_fn build, uint8_t *out,
                   size_t *out_bytes)
{
    weft_error err = {0};
    weft_graph *g;
    weft_state *st;
    weft_program *program;
    assert_int_equal(weft_graph_create(ctx, &g, &err), WEFT_OK);
    n_inputs = 0;
    weft_val y = build(g);
    weft_output(g, "y", y);
    weft_type t = weft_val_type(g, y);
    *out_bytes = (size_t)weft_val_count(g, y) * weft_dtype_size(t.dtype);
    assert_int_equal(weft_state_create(dev, &st, &err), WEFT_OK);
    if (weft_compile(st, g, NULL, &program, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < n_inputs; i++)
        fill_input(program, inputs[i].name, &inputs[i].type);
    assert_int_equal(weft_program_run(program, &err), WEFT_OK);
    assert_int_equal(weft_program_read(program, "y", out, *out_bytes, &err), WEFT_OK);
    weft_program_destroy(program);
    weft_state_destroy(st);
    weft_graph_destroy(g);
}

static void every_kernel(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    weft_device *ref;
    opencl_as_gpu(dev);
    opencl_write_whole(dev);
    assert_int_equal(weft_device_open(ctx, "ref", NULL, &ref, NULL), WEFT_OK);
    uint8_t *got = malloc(1 << 16), *want = malloc(1 << 16);
    for (size_t i = 0; i < WF_N_TESTS(cases); i++) {
        size_t n, n_ref;
        run_on(dev, ctx, cases[i].build, got, &n);
        run_on(ref, ctx, cases[i].build, want, &n_ref);
        assert_int_equal(n, n_ref);
        if (memcmp(got, want, n) != 0)
            fail_msg("%s differs from ref", cases[i].name);
    }
    free(got);
    free(want);
    weft_device_close(ref);
    weft_device_close(dev);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_opencl_small[] = {cmocka_unit_test(fused),
                                                   cmocka_unit_test(every_kernel)};
const unsigned long wf_n_tests_opencl_small = WF_N_TESTS(wf_tests_opencl_small);
