// Resizing, adaptive pooling, transposed, grouped and dilated convolutions: PyTorch's values, and the same
// bits on every device; the values of public reports; errors.
// labels: opencl sweep (every fourth case on OpenCL, all of them in check-full)
#include "nn_run.h"

typedef weft_val builder(nn_run *r, weft_val x);
typedef struct spatial_case {
    const char *name;
    builder *build;
} spatial_case;

// ---- resizing
static weft_val resize(nn_run *r, weft_val x, weft_resize_mode mode,
                       weft_resize_coordinates coordinates, weft_resize_rounding rounding,
                       const int64_t *size)
{
    const weft_resize_options o = {sizeof o, mode, coordinates, rounding};
    return weft_resize(r->g, x, size, &o);
}
#define RESIZE(name, mode, coordinates, rounding, ...)                                             \
    static weft_val name(nn_run *r, weft_val x)                                                    \
    {                                                                                              \
        static const int64_t size[] = {__VA_ARGS__};                                               \
        return resize(r, x, WEFT_RESIZE_##mode, WEFT_RESIZE_##coordinates, WEFT_RESIZE_##rounding, \
                      size);                                                                       \
    }
RESIZE(build_nearest1d, NEAREST, ASYMMETRIC, FLOOR, 17)
RESIZE(build_nearest2d, NEAREST, ASYMMETRIC, FLOOR, 10, 4)
RESIZE(build_nearest_exact2d, NEAREST, HALF_PIXEL, PREFER_CEIL, 9, 3)
RESIZE(build_nearest3d, NEAREST, ASYMMETRIC, FLOOR, 4, 3, 9)
RESIZE(build_linear1d, LINEAR, HALF_PIXEL, FLOOR, 13)
RESIZE(build_bilinear, LINEAR, HALF_PIXEL, FLOOR, 10, 4)
RESIZE(build_bilinear_corners, LINEAR, ALIGN_CORNERS, FLOOR, 11, 3)
RESIZE(build_trilinear, LINEAR, HALF_PIXEL, FLOOR, 4, 3, 9)

// ---- adaptive pooling
#define ADAPTIVE(name, kind, ...)                                                                  \
    static weft_val name(nn_run *r, weft_val x)                                                    \
    {                                                                                              \
        static const int64_t size[] = {__VA_ARGS__};                                               \
        return weft_adaptive_##kind##_pool(r->g, x, size);                                         \
    }
ADAPTIVE(build_mean1d, mean, 4)
ADAPTIVE(build_mean2d, mean, 3, 5)
ADAPTIVE(build_mean_up, mean, 5, 6)
ADAPTIVE(build_mean3d, mean, 2, 2, 3)
ADAPTIVE(build_max1d, max, 4)
ADAPTIVE(build_max2d, max, 3, 5)
ADAPTIVE(build_max3d, max, 2, 2, 3)

// ---- convolutions
static weft_val build_transposed1d(nn_run *r, weft_val x)
{
    static const int64_t window[] = {5}, stride[] = {3}, pad[] = {2}, extra[] = {1},
                         dilation[] = {2};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.dilation = dilation;
    o.conv.groups = 2;
    o.output_extra = extra;
    return weft_conv_transpose_layer(r->nn, "layer", x, 4, window, &o);
}
static weft_val build_transposed2d(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3, 2}, stride[] = {2, 1}, pad[] = {1, 0}, extra[] = {1, 0};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.output_extra = extra;
    return weft_conv_transpose_layer(r->nn, "layer", x, 5, window, &o);
}
static weft_val build_transposed2d_depthwise(nn_run *r, weft_val x)
{
    static const int64_t window[] = {4, 4}, stride[] = {2, 2}, pad[] = {1, 1};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.groups = 4;
    o.no_bias = true;
    return weft_conv_transpose_layer(r->nn, "layer", x, 8, window, &o);
}
static weft_val build_transposed3d(nn_run *r, weft_val x)
{
    static const int64_t window[] = {2, 3, 2}, stride[] = {1, 2, 2}, pad[] = {0, 1, 0},
                         dilation[] = {2, 1, 1};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.dilation = dilation;
    return weft_conv_transpose_layer(r->nn, "layer", x, 3, window, &o);
}
static weft_val build_conv1d_groups(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3}, stride[] = {2}, pad[] = {2}, dilation[] = {3};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.dilation = dilation;
    o.conv.groups = 3;
    return weft_conv_layer(r->nn, "layer", x, 9, window, &o);
}
static weft_val build_conv3d_groups(nn_run *r, weft_val x)
{
    static const int64_t window[] = {2, 3, 2}, stride[] = {1, 2, 1}, pad[] = {1, 2, 1},
                         dilation[] = {2, 2, 1};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.stride = stride;
    o.conv.pad_before = pad;
    o.conv.dilation = dilation;
    o.conv.groups = 2;
    return weft_conv_layer(r->nn, "layer", x, 6, window, &o);
}
static weft_val build_conv3d_depthwise(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3, 3, 3}, pad[] = {1, 1, 1};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.pad_before = pad;
    o.conv.groups = 4;
    o.no_bias = true;
    return weft_conv_layer(r->nn, "layer", x, 4, window, &o);
}

static const spatial_case cases[] = {
    {"nearest1d", build_nearest1d},
    {"nearest2d", build_nearest2d},
    {"nearest_exact2d", build_nearest_exact2d},
    {"nearest3d", build_nearest3d},
    {"linear1d", build_linear1d},
    {"bilinear", build_bilinear},
    {"bilinear_corners", build_bilinear_corners},
    {"trilinear", build_trilinear},
    {"adaptive_mean1d", build_mean1d},
    {"adaptive_mean2d", build_mean2d},
    {"adaptive_mean_up", build_mean_up},
    {"adaptive_mean3d", build_mean3d},
    {"adaptive_max1d", build_max1d},
    {"adaptive_max2d", build_max2d},
    {"adaptive_max3d", build_max3d},
    {"transposed1d", build_transposed1d},
    {"transposed2d", build_transposed2d},
    {"transposed2d_depthwise", build_transposed2d_depthwise},
    {"transposed3d", build_transposed3d},
    {"conv1d_groups", build_conv1d_groups},
    {"conv3d_groups", build_conv3d_groups},
    {"conv3d_depthwise", build_conv3d_depthwise},
};

#define MAX_OUTPUTS 4
#define MAX_ELEMS 2048

typedef struct results {
    float values[MAX_OUTPUTS][MAX_ELEMS];
    size_t counts[MAX_OUTPUTS];
    size_t n;
} results;

// y, dx and the parameters' gradients of a case on a device.
static void take(const spatial_case *c, const char *device, const char *isa, results *out)
{
    static const char *const roles[] = {"y", "dx", "d.layer.weight", "d.layer.bias"};
    nn_run r;
    weft_val wrt[3], grads[3];
    nn_begin_on(&r, device, isa, "nn_spatial", true);
    r.test_case = c->name;
    nn_load_state(&r);
    const weft_val x = nn_input(&r, "x"), y = c->build(&r, x);
    const weft_val loss = weft_sum(r.g, weft_mul(r.g, y, nn_input(&r, "g")), NULL, 0, false);
    const size_t n = weft_nn_n_parameters(r.nn);
    assert_true(n < NN_COUNT(wrt));
    wrt[0] = x;
    for (size_t i = 0; i < n; i++)
        wrt[1 + i] = weft_nn_parameter(r.nn, i).val;
    weft_grad(r.g, loss, wrt, n + 1, grads);
    weft_output(r.g, roles[0], y);
    for (size_t i = 0; i <= n; i++)
        weft_output(r.g, roles[1 + i], grads[i]);
    nn_go(&r);
    out->n = n + 2;
    for (size_t i = 0; i < out->n; i++) {
        const wf_st_tensor *t = nn_get(&r, roles[i]);
        char what[160];
        snprintf(what, sizeof what, "%s.%s", c->name, roles[i]);
        out->counts[i] = t->size_bytes / 4;
        assert_true(out->counts[i] <= MAX_ELEMS);
        NN_OK(weft_program_read(r.program, roles[i], out->values[i], t->size_bytes, err));
        nn_near(what, out->values[i], t->data, out->counts[i], NN_TOLERANCE);
    }
    nn_end(&r);
}

static void all_are_equal_on(const char *device, const char *isa, size_t step)
{
    static results expected, got;
    for (size_t c = 0; c < NN_COUNT(cases); c += step) {
        take(&cases[c], "ref", NULL, &expected);
        take(&cases[c], device, isa, &got);
        for (size_t i = 0; i < expected.n; i++) {
            if (memcmp(got.values[i], expected.values[i], 4 * expected.counts[i]) != 0)
                fail_msg("%s %s: result %zu differs from ref's", device, cases[c].name, i);
        }
    }
}

static void cpu_agrees(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    (void)state;
    for (size_t i = 0; i < NN_COUNT(isas); i++) {
        if (nn_has_device("cpu", isas[i]))
            all_are_equal_on("cpu", isas[i], 1);
    }
}

static void opencl_agrees(void **state)
{
    (void)state;
    if (!nn_has_device("opencl", NULL))
        WF_SKIP("opencl: no device that can run exact");
    all_are_equal_on("opencl", NULL, wf_test_is_full() ? 1 : 4);
}

// ---- public reports
static void expect_resized(const float *x, int64_t in, const float *y, int64_t out,
                           weft_resize_mode mode, weft_resize_coordinates coordinates,
                           weft_resize_rounding rounding)
{
    nn_run r;
    float got[32];
    const int64_t dims[] = {1, 1, in};
    nn_begin(&r, NULL, true);
    const weft_val v =
        resize(&r, weft_constant(r.g, WEFT_F32, dims, 3, x), mode, coordinates, rounding, &out);
    weft_output(r.g, "y", v);
    nn_go(&r);
    NN_OK(weft_program_read(r.program, "y", got, (size_t)out * 4, err));
    nn_near("resized", got, y, (size_t)out, NN_TOLERANCE);
    nn_end(&r);
}

// microsoft/onnxruntime#28291: 4.5 * 20 / 6 - 0.5 is 14.5, and no rounding may hide it.
static void finds_the_nearest_with_whole_numbers(void **state)
{
    static const int ceil_at[] = {1, 5, 8, 11, 15, 18}, floor_at[] = {1, 4, 8, 11, 14, 18};
    float x[20], y[6];
    (void)state;
    for (int i = 0; i < 20; i++)
        x[i] = (float)i / 19.0f;
    for (int i = 0; i < 6; i++)
        y[i] = x[ceil_at[i]];
    expect_resized(x, 20, y, 6, WEFT_RESIZE_NEAREST, WEFT_RESIZE_HALF_PIXEL,
                   WEFT_RESIZE_PREFER_CEIL);
    for (int i = 0; i < 6; i++)
        y[i] = x[floor_at[i]];
    expect_resized(x, 20, y, 6, WEFT_RESIZE_NEAREST, WEFT_RESIZE_HALF_PIXEL,
                   WEFT_RESIZE_PREFER_FLOOR);
}

// microsoft/onnxruntime#17564, NVIDIA/TensorRT#273: three rules, three answers.
static void has_three_coordinate_rules(void **state)
{
    static const float x[] = {1, 2}, half[] = {1, 1.25f, 1.75f, 2},
                       corners[] = {1, 1.3333333f, 1.6666667f, 2}, asymmetric[] = {1, 1.5f, 2, 2};
    (void)state;
    expect_resized(x, 2, half, 4, WEFT_RESIZE_LINEAR, WEFT_RESIZE_HALF_PIXEL, WEFT_RESIZE_FLOOR);
    expect_resized(x, 2, corners, 4, WEFT_RESIZE_LINEAR, WEFT_RESIZE_ALIGN_CORNERS,
                   WEFT_RESIZE_FLOOR);
    expect_resized(x, 2, asymmetric, 4, WEFT_RESIZE_LINEAR, WEFT_RESIZE_ASYMMETRIC,
                   WEFT_RESIZE_FLOOR);
}

static void rounds_four_ways(void **state)
{
    // Asymmetric 4 -> 8: 0 0.5 1 1.5 ..
    static const float x[] = {0, 1, 2, 3};
    static const float floors[] = {0, 0, 1, 1, 2, 2, 3, 3}, ceils[] = {0, 1, 1, 2, 2, 3, 3, 3};
    (void)state;
    expect_resized(x, 4, floors, 8, WEFT_RESIZE_NEAREST, WEFT_RESIZE_ASYMMETRIC, WEFT_RESIZE_FLOOR);
    expect_resized(x, 4, floors, 8, WEFT_RESIZE_NEAREST, WEFT_RESIZE_ASYMMETRIC,
                   WEFT_RESIZE_PREFER_FLOOR);
    expect_resized(x, 4, ceils, 8, WEFT_RESIZE_NEAREST, WEFT_RESIZE_ASYMMETRIC, WEFT_RESIZE_CEIL);
    expect_resized(x, 4, ceils, 8, WEFT_RESIZE_NEAREST, WEFT_RESIZE_ASYMMETRIC,
                   WEFT_RESIZE_PREFER_CEIL);
}

// ---- errors
static void expect_error(weft_status code, const char *message,
                         weft_val (*build)(nn_run *r, weft_val x), weft_dtype dtype)
{
    static const int64_t dims[] = {1, 2, 4, 6};
    nn_run r;
    nn_begin(&r, NULL, true);
    const weft_val y = build(&r, weft_input(r.g, "x", dtype, dims, 4));
    assert_int_equal(y.id, 0);
    nn_expect_error(&r, code, message);
    nn_end(&r);
}

ADAPTIVE(build_mean_empty, mean, 0, 3)
RESIZE(build_linear_u8, LINEAR, HALF_PIXEL, FLOOR, 2, 3)
static weft_val build_null(nn_run *r, weft_val x)
{
    return weft_resize(r->g, x, NULL, NULL);
}
static weft_val build_extra(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3, 3}, extra[] = {0, 1};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.output_extra = extra;
    return weft_conv_transpose_layer(r->nn, "layer", x, 3, window, &o);
}
static weft_val build_extra_of_conv(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3, 3}, extra[] = {0, 1};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.output_extra = extra;
    return weft_conv_layer(r->nn, "layer", x, 3, window, &o);
}
static weft_val build_channels(nn_run *r, weft_val x)
{
    static const int64_t window[] = {3, 3};
    weft_conv_layer_options o = WEFT_CONV_LAYER_OPTIONS_INIT;
    o.conv.groups = 2;
    return weft_conv_transpose_layer(r->nn, "layer", x, 3, window, &o);
}

static void refuses(void **state)
{
    (void)state;
    expect_error(
        WEFT_ERR_SHAPE,
        "adaptive_mean_pool: x is f32[1,2,4,6], size is [0,3], expected spatial sizes of 1 "
        "to 2147483647",
        build_mean_empty, WEFT_F32);
    expect_error(WEFT_ERR_DTYPE, "resize: x is u8[1,2,4,6], expected f32 to be linear",
                 build_linear_u8, WEFT_U8);
    expect_error(WEFT_ERR_USAGE, "resize: size is NULL, expected 2 entries", build_null, WEFT_F32);
    expect_error(WEFT_ERR_SHAPE,
                 "conv_transpose: spatial axis 1 becomes 9, x is f32[1,2,4,6], output_extra is 1, "
                 "expected a size of 1 or more and output_extra below the stride, 1",
                 build_extra, WEFT_F32);
    expect_error(WEFT_ERR_ATTR, "conv: output_extra is for conv_transpose only",
                 build_extra_of_conv, WEFT_F32);
    expect_error(
        WEFT_ERR_SHAPE,
        "conv_transpose: x is f32[1,2,4,6], out is 3, groups is 2, expected "
        "[n,c,spatial..] with 1 to 3 spatial axes, a window, and groups dividing c and out",
        build_channels, WEFT_F32);
}

const struct CMUnitTest wf_tests_nn_spatial[] = {
    cmocka_unit_test(cpu_agrees),
    cmocka_unit_test(opencl_agrees),
    cmocka_unit_test(finds_the_nearest_with_whole_numbers),
    cmocka_unit_test(has_three_coordinate_rules),
    cmocka_unit_test(rounds_four_ways),
    cmocka_unit_test(refuses),
};
const unsigned long wf_n_tests_nn_spatial = WF_N_TESTS(wf_tests_nn_spatial);
