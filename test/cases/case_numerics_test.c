// Numerics that other systems got wrong, on every device: softmax of extreme logits, the two forms of
// GELU, norms of half-precision values beyond f16's squares, clipping with crossed bounds, integer
// remainders, gather from the end, constants in generated kernels, random numbers by seed.
// labels: opencl
#include "cases_run.h"

#include <float.h>

#include "base/sha256.h"
#include "math/half.h"

// pytorch/pytorch#795, uTensor#175
static void softmax_of_far_logits(void **state)
{
    static const float x[] = {-249.87f, -424.13f, -460.29f, 378.10f, -292.61f};
    static const double y[] = {0, 0, 0, 1, 0};
    case_run r = case_begin(state);
    case_expect(&r, weft_softmax(r.g, case_f32(&r, CASE_DIMS(1, 5), x), 1), y, 5, 1e-6);
    case_end(&r);
}

// pytorch/pytorch#725; cornell-brg/hb-pytorch#61: exp of 88.72284 overflows alone
static void log_softmax_of_one(void **state)
{
    static const float x[] = {88.72284f};
    static const double y[] = {0};
    case_run r = case_begin(state);
    case_expect(&r, weft_log_softmax(r.g, case_f32(&r, CASE_DIMS(1, 1), x), -1), y, 1, 0);
    case_end(&r);
}

static void log_softmax_of_a_wide_row(void **state)
{
    static const float x[] = {-40.1f, 0.0f, 94.7f};
    static const double y[] = {-134.8, -94.7, 0}; // an ulp is 1.5e-5
    case_run r = case_begin(state);
    case_expect(&r, weft_log_softmax(r.g, case_f32(&r, CASE_DIMS(1, 3), x), -1), y, 3, 2e-5);
    case_end(&r);
}

// pytorch/pytorch#158310: f16 values all near -20000
static void softmax_of_far_halves(void **state)
{
    uint16_t x[4];
    static const double y[] = {0.25, 0.25, 0.25, 0.25};
    case_run r = case_begin(state);
    for (int i = 0; i < 4; i++) {
        x[i] = wf_f32_to_f16(-20000.0f);
    }
    const weft_val wide = weft_cast(r.g, case_input(&r, WEFT_F16, CASE_DIMS(1, 4), x), WEFT_F32);
    case_expect(&r, weft_softmax(r.g, wide, 1), y, 4, 0);
    case_end(&r);
}

// Which values are normalised together depends on the axis alone (openvino#37823, tvm#19420)
static void softmax_by_its_axis(void **state)
{
    float x[24];
    static const double together[] = {0.0453300, 0.0500974, 0.0553662, 0.0611891};
    static const double last[] = {0.2138382, 0.2363278, 0.2611826, 0.2886514};
    for (int i = 0; i < 24; i++) {
        x[i] = (float)i / 10.0f;
    }
    case_run r = case_begin(state);
    const weft_val v = case_f32(&r, CASE_DIMS(2, 3, 4), x);
    const int64_t zero[] = {0, 0}, four[] = {1, 4};
    const weft_val y = weft_softmax(r.g, weft_reshape(r.g, v, CASE_DIMS(2, 12)), 1);
    case_expect(&r, weft_slice(r.g, y, zero, four, NULL), together, 4, 1e-6);
    case_end(&r);
    r = case_begin(state);
    const weft_val u = weft_softmax(r.g, case_f32(&r, CASE_DIMS(2, 3, 4), x), -1);
    case_expect(&r, weft_slice(r.g, weft_reshape(r.g, u, CASE_DIMS(6, 4)), zero, four, NULL), last,
                4, 1e-6);
    case_end(&r);
}

static void both_forms_of_gelu(void **state)
{
    static const float x[] = {1.0f, -2.0f};
    static const double by_erf[] = {0.8413447, -0.0455003}, by_tanh[] = {0.8411920, -0.0454023};
    case_run r = case_begin(state);
    case_expect(&r, weft_gelu(r.g, case_f32(&r, CASE_DIMS(2), x)), by_erf, 2, 1e-7);
    case_end(&r);
    r = case_begin(state);
    case_expect(&r, weft_gelu_tanh(r.g, case_f32(&r, CASE_DIMS(2), x)), by_tanh, 2, 1e-7);
    case_end(&r);
}

// microsoft/onnxruntime#17692, #29034: the variance is 260000, beyond f16
static void norm_of_halves(void **state)
{
    static const float values[] = {400.0f, -400.0f, 600.0f, -600.0f};
    static const double y[] = {0.7844645, -0.7844645, 1.1766968, -1.1766968};
    static const int32_t axis = 1;
    uint16_t x[4];
    for (int i = 0; i < 4; i++) {
        x[i] = wf_f32_to_f16(values[i]);
    }
    case_run r = case_begin(state);
    const weft_val v = weft_cast(r.g, case_input(&r, WEFT_F16, CASE_DIMS(1, 4), x), WEFT_F32);
    weft_val mean, variance;
    weft_moments(r.g, v, &axis, 1, &mean, &variance);
    const weft_val scale =
        weft_rsqrt(r.g, weft_add(r.g, variance, weft_scalar(r.g, WEFT_F32, 1e-5)));
    case_expect(&r, weft_mul(r.g, weft_sub(r.g, v, mean), scale), y, 4, 1e-6);
    case_end(&r);
}

// and 2048 values above 180, whose sum of squares is beyond f16
static void norm_of_a_long_row(void **state)
{
    enum { N = 2048 };
    static float x[N];
    static double y[N];
    static const int32_t axis = 1;
    for (int i = 0; i < N; i++) {
        x[i] = i % 2 ? 200.0f : 181.0f;
        y[i] = i % 2 ? 1.0 : -1.0;
    }
    case_run r = case_begin(state);
    const weft_val v = case_f32(&r, CASE_DIMS(1, N), x);
    weft_val mean, variance;
    weft_moments(r.g, v, &axis, 1, &mean, &variance);
    case_expect(&r, weft_mul(r.g, weft_sub(r.g, v, mean), weft_rsqrt(r.g, variance)), y, N, 1e-6);
    case_end(&r);
}

// onnx PR#6395, onnxruntime PR#25057: min(max, max(x, min)) with min above max
static void clip_with_crossed_bounds(void **state)
{
    static const float x[] = {-2.0f, 0.0f, 6.0f};
    static const double y[] = {1, 1, 1};
    case_run r = case_begin(state);
    const weft_val low = weft_scalar(r.g, WEFT_F32, 2.0), high = weft_scalar(r.g, WEFT_F32, 1.0);
    const weft_val v = case_f32(&r, CASE_DIMS(3), x);
    case_expect(&r, weft_min(r.g, weft_max(r.g, v, low), high), y, 3, 0);
    case_end(&r);
}

// tracel-ai/burn-onnx PR#329: the remainder has the sign of a; i64 beyond 2^53 stays exact
static void integer_remainder_and_bounds(void **state)
{
    static const int64_t a[] = {-7, 7, -7, 5, INT64_MIN, (INT64_C(1) << 53) + 1};
    static const int64_t b[] = {3, -3, -3, 0, -1, INT64_MAX};
    static const int64_t rem[] = {-1, 1, -1, 0, 0, (INT64_C(1) << 53) + 1};
    case_run r = case_begin(state);
    const weft_val x = case_input(&r, WEFT_I64, CASE_DIMS(6), a);
    const weft_val y = case_input(&r, WEFT_I64, CASE_DIMS(6), b);
    case_expect_bits(&r, weft_rem(r.g, x, y), rem, sizeof rem);
    case_end(&r);
}

// onnxruntime#1533, tvm#19436, burn#3739: -1 is the last row
static void gather_from_the_end(void **state)
{
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const int32_t rows[] = {0, -1};
    static const float y[] = {1, 2, 3, 4, 9, 10, 11, 12};
    case_run r = case_begin(state);
    const weft_val v = case_f32(&r, CASE_DIMS(3, 4), x);
    const weft_val idx = case_input(&r, WEFT_I32, CASE_DIMS(2), rows);
    case_expect_bits(&r, weft_gather(r.g, v, idx, 0), y, sizeof y);
    case_end(&r);
}

static void expect_bad_start(void **state, bool is_update, const char *message)
{
    static const float x[] = {1, 2, 3, 4, 5, 6}, part[] = {7, 8};
    static const int32_t before[] = {0}, beyond[] = {5};
    case_run r = case_begin(state);
    weft_error err = {0};
    const weft_val v = case_f32(&r, CASE_DIMS(6), x);
    const weft_val start = case_input(&r, WEFT_I32, CASE_DIMS(1), beyond);
    const weft_val old = case_input(&r, WEFT_I32, CASE_DIMS(1), before); // good: not the one named
    const weft_val y = is_update
                           ? weft_dynamic_update(r.g, v, start, case_f32(&r, CASE_DIMS(2), part), 0)
                           : weft_dynamic_slice(r.g, v, start, 0, 2);
    weft_output(r.g, "y", y);
    weft_output(r.g, "z", weft_dynamic_slice(r.g, v, old, 0, 2));
    assert_int_equal(case_go(&r, &err), WEFT_ERR_INDEX);
    assert_string_equal(err.message, message);
    case_end(&r);
}

// The same kind of fault where the start of a part is known late: no clamp.
static void slice_beyond_the_end(void **state)
{
    expect_bad_start(state, false,
                     "dynamic_slice: index 5 is out of range [0,4], at element 0 of i32[1]");
}

static void update_beyond_the_end(void **state)
{
    expect_bad_start(state, true,
                     "dynamic_update: index 5 is out of range [0,4], at element 0 of i32[1]");
}

// onnxruntime#10234, #25251; openvino PR#35756: the same words on every device, and no value written
static void gather_beyond_the_end(void **state)
{
    static const float x[] = {1, 2, 3, 4, 5};
    static const int32_t idx[] = {5};
    case_run r = case_begin(state);
    weft_error err = {0};
    const weft_val old = weft_variable(r.g, "kept", weft_scalar(r.g, WEFT_F32, 7.0));
    weft_scope_push(r.g, "table");
    const weft_val y = weft_gather(r.g, case_f32(&r, CASE_DIMS(5), x),
                                   case_input(&r, WEFT_I32, CASE_DIMS(1), idx), 0);
    weft_scope_pop(r.g);
    weft_assign(r.g, old, weft_reshape(r.g, y, NULL, 0));
    assert_int_equal(case_go(&r, &err), WEFT_ERR_INDEX);
    assert_string_equal(err.message,
                        "table/gather: index 5 is out of range [-5,4], at element 0 of i32[1]");
    float kept = 0.0f;
    assert_int_equal(weft_state_read(r.state, "kept", &kept, sizeof kept, NULL), WEFT_OK);
    assert_true(kept == 7.0f);
    case_end(&r);
}

// tracel-ai/burn#2118: constants in kernels keep every bit
static void constants_keep_their_bits(void **state)
{
    static const float constants[] = {1.0f / 3.0f, 1e-8f,       FLT_MAX,     -0.0f,
                                      0x1p-149f,   16777217.0f, 3.14159274f, 0.1f};
    enum { N = sizeof constants / sizeof constants[0] };
    static const float one[] = {1.0f};
    case_run r = case_begin(state);
    const weft_val x = case_f32(&r, CASE_DIMS(1), one);
    weft_val parts[N];
    for (int i = 0; i < N; i++) {
        parts[i] = weft_mul(r.g, x, weft_constant(r.g, WEFT_F32, NULL, 0, &constants[i]));
    }
    case_expect_bits(&r, weft_concat(r.g, parts, N, 0), constants, sizeof constants);
    case_end(&r);
}

// pytorch/pytorch#2976, #25690, #196613: one mask for one seed, whatever computes it
static void masks_follow_the_seed(void **state)
{
    static const struct {
        int64_t n;
        const char *sha;
    } sizes[] = {
        {INT64_C(1) << 12, "d31c481f9909c845b956ca7ad319036546048c8e72bb56864832e215810af4f1"},
        {INT64_C(1) << 18, "ec8a91da0043a6cd2899bdf9d6070867238e52dbc48e0fe12f8c1b2b2e5280dc"},
        {INT64_C(1) << 22, "f99f41c84a3c61e360f6b747a6a3056c7f6ad55448df67299fc489363ccfe370"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        static const int64_t counters[] = {0, 0};
        case_run r = case_begin(state);
        uint8_t digest[WF_SHA256_BYTES];
        char hex[WF_SHA256_HEX_BYTES];
        wf_sha256 sha;
        weft_error err;
        const weft_val seed = case_input(&r, WEFT_I64, NULL, 0, &counters[0]);
        const weft_val step = case_input(&r, WEFT_I64, NULL, 0, &counters[1]);
        const weft_val u = weft_random_uniform(r.g, seed, step, &sizes[i].n, 1);
        weft_output(r.g, "mask", weft_less(r.g, weft_scalar(r.g, WEFT_F32, 0.5), u));
        weft_output(r.g, "normal", weft_random_normal(r.g, seed, step, &sizes[i].n, 1));
        assert_int_equal(case_go(&r, &err), WEFT_OK);
        uint8_t *mask = malloc((size_t)sizes[i].n * 5);
        assert_non_null(mask);
        assert_int_equal(weft_program_read(r.program, "mask", mask, (size_t)sizes[i].n, NULL),
                         WEFT_OK);
        assert_int_equal(
            weft_program_read(r.program, "normal", mask + sizes[i].n, (size_t)sizes[i].n * 4, NULL),
            WEFT_OK);
        wf_sha256_init(&sha);
        wf_sha256_update(&sha, mask, (size_t)sizes[i].n * 5);
        wf_sha256_final(&sha, digest);
        wf_sha256_hex(digest, hex);
        assert_string_equal(hex, sizes[i].sha);
        free(mask);
        case_end(&r);
    }
}

const struct CMUnitTest wf_tests_case_numerics[] = {
    CASE_TEST(softmax_of_far_logits),
    CASE_TEST(log_softmax_of_one),
    CASE_TEST(log_softmax_of_a_wide_row),
    CASE_TEST(softmax_of_far_halves),
    CASE_TEST(softmax_by_its_axis),
    CASE_TEST(both_forms_of_gelu),
    CASE_TEST(norm_of_halves),
    CASE_TEST(norm_of_a_long_row),
    CASE_TEST(clip_with_crossed_bounds),
    CASE_TEST(integer_remainder_and_bounds),
    CASE_TEST(gather_from_the_end),
    CASE_TEST(gather_beyond_the_end),
    CASE_TEST(slice_beyond_the_end),
    CASE_TEST(update_beyond_the_end),
    CASE_TEST(constants_keep_their_bits),
    CASE_TEST(masks_follow_the_seed),
};
const unsigned long wf_n_tests_case_numerics = WF_N_TESTS(wf_tests_case_numerics);
