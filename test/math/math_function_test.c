// Elementary functions of src/math against libm's double: a strided sample of all 2^32 floats,
// every power of two with its neighbours, the ends of each function's range; special values
// exactly; symmetry; pow on random pairs. The sweep over all inputs is weft-exhaustive
// (test/math/exhaustive.c).
#include <math.h>
#include <stdio.h>

#include "wf_test.h"

#include "math_table.h"

// Prime strides: the sample visits every exponent and no pattern of low bits. Unoptimised builds
// take fewer.
#ifdef __OPTIMIZE__
enum { STRIDE = 6007, N_PAIRS = 1 << 19 };
#else
enum { STRIDE = 600011, N_PAIRS = 1 << 14 };
#endif

typedef struct {
    const char *name;
    double bound;
    wf_f32 (*value)(wf_f32);
    double (*truth)(double);
} function_row;

#define DEFINE_ROW(fn, bound, expression)                                                          \
    static wf_f32 value_##fn(wf_f32 x)                                                             \
    {                                                                                              \
        return wf_##fn(x);                                                                         \
    }                                                                                              \
    static double truth_##fn(double x)                                                             \
    {                                                                                              \
        return expression;                                                                         \
    }
WF_MATH_FUNCTIONS(DEFINE_ROW)
#define TABLE_ROW(fn, bound, expression) {#fn, bound, value_##fn, truth_##fn},
static const function_row rows[] = {WF_MATH_FUNCTIONS(TABLE_ROW)};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

static void check_one(const function_row *f, wf_u32 bits)
{
    const wf_f32 x = wf_as_f32(bits);
    const wf_f32 y = f->value(x);
    const double t = f->truth((double)x);
    const double ulp = wf_ulp_error(y, t);
    if (ulp > f->bound)
        fail_msg("%s(%a): got %a, want %a, %.3g ulp, bound %.3g", f->name, (double)x, (double)y, t,
                 ulp, f->bound);
}

static void functions_stay_within_their_bounds(void **state)
{
    (void)state;
    for (int i = 0; i < N_ROWS; i++) {
        for (wf_u64 bits = (wf_u64)(i * 331); bits < ((wf_u64)1 << 32); bits += STRIDE)
            check_one(&rows[i], (wf_u32)bits);
        // Every binade's edges, subnormals, infinities and NaN, both signs.
        for (wf_u32 top = 0; top < 512; top++)
            for (wf_u32 near = 0; near < 33; near++)
                check_one(&rows[i], (top << 23) + near - 16);
    }
}

// The neighbourhoods of the places where a method changes or a result leaves the range.
static void functions_stay_within_their_bounds_at_their_edges(void **state)
{
    static const float edges[] = {
        0.3465736f, 0.6931472f,  1.0397208f,  17.32868f,   88.02969f,   88.72284f,   87.33655f,
        103.2789f,  103.97208f,  104.0f,      89.0f,       110.0f,      127.5f,      128.0f,
        126.0f,     149.5f,      150.0f,      151.0f,      0.625f,      9.01f,       10.0f,
        0.9f,       3.83f,       3.95f,       9.19f,       10.05f,      10.2f,       0.70710678f,
        1.4142135f, 0.41421356f, 0.29289322f, 0.78539816f, 1.57079633f, 3.14159265f, 2.3561945f,
        6.2831853f, 13.0f,       14.2f,       15.0f,       10.6f,       11.0f,       18.0f,
        18.7f,      108.7f};
    (void)state;
    for (int i = 0; i < N_ROWS; i++)
        for (size_t e = 0; e < sizeof edges / sizeof edges[0]; e++)
            for (wf_u32 near = 0; near < 600; near++) {
                check_one(&rows[i], wf_as_u32(edges[e]) + near - 300u);
                check_one(&rows[i], wf_as_u32(-edges[e]) + near - 300u);
            }
}

static void odd_functions_are_odd_and_cos_is_even(void **state)
{
    (void)state;
    for (wf_u64 bits = 0; bits <= 0x7f800000u; bits += STRIDE) {
        const wf_f32 x = wf_as_f32((wf_u32)bits);
        assert_int_equal(wf_as_u32(wf_tanh(-x)), wf_as_u32(-wf_tanh(x)));
        assert_int_equal(wf_as_u32(wf_erf(-x)), wf_as_u32(-wf_erf(x)));
        assert_int_equal(wf_as_u32(wf_sin(-x)), wf_as_u32(-wf_sin(x)));
        assert_int_equal(wf_as_u32(wf_cos(-x)), wf_as_u32(wf_cos(x)));
    }
}

static void expect_bits(const char *what, wf_f32 got, wf_f32 want)
{
    const wf_u32 g = wf_as_u32(wf_canonical(got)), w = wf_as_u32(wf_canonical(want));
    if (g != w)
        fail_msg("%s: got %a (%08x), want %a (%08x)", what, (double)got, g, (double)want, w);
}
#define EXPECT(call, want) expect_bits(#call, call, want)

static void special_values_are_exact(void **state)
{
    (void)state;
    const wf_f32 inf = WF_INF, nan = WF_NAN;
    EXPECT(wf_exp(0.0f), 1.0f), EXPECT(wf_exp(-0.0f), 1.0f), EXPECT(wf_exp(inf), inf),
        EXPECT(wf_exp(-inf), 0.0f);
    EXPECT(wf_exp2(10.0f), 1024.0f), EXPECT(wf_exp2(-149.0f), 0x1p-149f),
        EXPECT(wf_exp2(-inf), 0.0f);
    EXPECT(wf_exp2(127.0f), 0x1p127f), EXPECT(wf_exp2(128.0f), inf);
    EXPECT(wf_expm1(-0.0f), -0.0f), EXPECT(wf_expm1(-inf), -1.0f), EXPECT(wf_expm1(inf), inf);
    EXPECT(wf_log(1.0f), 0.0f), EXPECT(wf_log(0.0f), -inf), EXPECT(wf_log(-0.0f), -inf),
        EXPECT(wf_log(inf), inf);
    EXPECT(wf_log(-1.0f), nan), EXPECT(wf_log(-inf), nan), EXPECT(wf_log2(8.0f), 3.0f);
    EXPECT(wf_log2(0x1p-149f), -149.0f), EXPECT(wf_log2(1.0f), 0.0f),
        EXPECT(wf_log2(-0x1p-149f), nan);
    EXPECT(wf_log1p(-0.0f), -0.0f), EXPECT(wf_log1p(-1.0f), -inf), EXPECT(wf_log1p(-1.5f), nan);
    EXPECT(wf_log1p(inf), inf), EXPECT(wf_tanh(inf), 1.0f), EXPECT(wf_tanh(-inf), -1.0f),
        EXPECT(wf_tanh(-0.0f), -0.0f);
    EXPECT(wf_erf(inf), 1.0f), EXPECT(wf_erf(-0.0f), -0.0f), EXPECT(wf_erfc(-inf), 2.0f),
        EXPECT(wf_erfc(inf), 0.0f);
    EXPECT(wf_sin(-0.0f), -0.0f), EXPECT(wf_sin(inf), nan), EXPECT(wf_cos(-inf), nan),
        EXPECT(wf_cos(0.0f), 1.0f);
    EXPECT(wf_sigmoid(0.0f), 0.5f), EXPECT(wf_sigmoid(inf), 1.0f), EXPECT(wf_sigmoid(-inf), 0.0f);
    EXPECT(wf_silu(-inf), -0.0f), EXPECT(wf_silu(inf), inf), EXPECT(wf_silu(-0.0f), -0.0f),
        EXPECT(wf_silu(0.0f), 0.0f);
    EXPECT(wf_gelu(-inf), -0.0f), EXPECT(wf_gelu(inf), inf), EXPECT(wf_gelu(-0.0f), -0.0f),
        EXPECT(wf_gelu(0.0f), 0.0f);
    EXPECT(wf_gelu_tanh(-inf), -0.0f), EXPECT(wf_gelu_tanh(inf), inf),
        EXPECT(wf_gelu_tanh(-0.0f), -0.0f);
    EXPECT(wf_softplus(-inf), 0.0f), EXPECT(wf_softplus(inf), inf), EXPECT(wf_rsqrt(0.0f), inf);
    EXPECT(wf_rsqrt(-0.0f), -inf), EXPECT(wf_rsqrt(inf), 0.0f), EXPECT(wf_rsqrt(-1.0f), nan);
    for (int i = 0; i < N_ROWS; i++) { // any NaN gives NaN
        expect_bits(rows[i].name, rows[i].value(nan), nan);
        expect_bits(rows[i].name, rows[i].value(wf_as_f32(0xffffffffu)), nan);
        expect_bits(rows[i].name, rows[i].value(wf_as_f32(0x7f800001u)), nan);
    }
    // GELU in its two forms, to the digits in which they differ.
    assert_true(fabs((double)wf_gelu(-2.0f) + 0.0455003) < 1e-7);
    assert_true(fabs((double)wf_gelu_tanh(-2.0f) + 0.0454023) < 1e-7);
}

static void pow_agrees_with_libm(void **state)
{
    static const float values[] = {0.0f,
                                   1.0f,
                                   2.0f,
                                   3.0f,
                                   0.5f,
                                   1.5f,
                                   2.5f,
                                   7.0f,
                                   0x1p-149f,
                                   0x1p-126f,
                                   0x1.fffffep127f,
                                   8388607.0f,
                                   8388608.0f,
                                   8388609.0f,
                                   16777215.0f,
                                   16777216.0f,
                                   0x1p30f,
                                   0.99999994f,
                                   1.0000001f,
                                   100.0f,
                                   INFINITY,
                                   NAN};
    enum { N = sizeof values / sizeof values[0] };
    (void)state;
    for (int i = 0; i < 4 * N * N; i++) {
        const float x = (i & 1 ? -1.0f : 1.0f) * values[i / 4 % N];
        const float y = (i & 2 ? -1.0f : 1.0f) * values[i / 4 / N];
        const double ulp = wf_ulp_error(wf_pow(x, y), pow((double)x, (double)y));
        if (ulp > 1.5)
            fail_msg("pow(%a, %a): got %a, want %a", (double)x, (double)y, (double)wf_pow(x, y),
                     pow((double)x, (double)y));
    }
    wf_u64 h = 1;
    for (int i = 0; i < N_PAIRS; i++) {
        h = h * 6364136223846793005u + 1442695040888963407u;
        const wf_f32 x = wf_as_f32((wf_u32)(h >> 33) % 0x7f800000u);
        h = h * 6364136223846793005u + 1442695040888963407u;
        const double goal = (double)(wf_u32)(h >> 32) * (280.0 / 4294967296.0) - 151.0;
        const wf_f32 y = (wf_f32)(goal / log2((double)x));
        const double ulp = wf_ulp_error(wf_pow(x, y), pow((double)x, (double)y));
        if (ulp > 1.5)
            fail_msg("pow(%a, %a): got %a, %.3g ulp", (double)x, (double)y, (double)wf_pow(x, y),
                     ulp);
    }
}

static void turns_agree_with_libm(void **state)
{
    (void)state;
    for (wf_u64 t = 0; t < ((wf_u64)1 << 32); t += STRIDE) {
        // Long double: 2 pi t / 2^32 in double would be off by more than the zeros of sin allow.
        const long double angle = (long double)t * 0x1p-32L * 6.283185307179586476925286766559L;
        assert_true(wf_ulp_error(wf_sin_turn((wf_u32)t), (double)sinl(angle)) < 1.5 ||
                    t % 0x80000000u == 0);
        assert_true(wf_ulp_error(wf_cos_turn((wf_u32)t), (double)cosl(angle)) < 1.5 ||
                    t % 0x40000000u == 0);
    }
    assert_int_equal(wf_as_u32(wf_cos_turn(0)), wf_as_u32(1.0f));
    assert_int_equal(wf_as_u32(wf_sin_turn(0x40000000u)), wf_as_u32(1.0f));
    assert_true(wf_sin_turn(0x80000000u) == 0.0f);
}

const struct CMUnitTest wf_tests_math_function[] = {
    cmocka_unit_test(functions_stay_within_their_bounds),
    cmocka_unit_test(functions_stay_within_their_bounds_at_their_edges),
    cmocka_unit_test(odd_functions_are_odd_and_cos_is_even),
    cmocka_unit_test(special_values_are_exact),
    cmocka_unit_test(pow_agrees_with_libm),
    cmocka_unit_test(turns_agree_with_libm),
};
const unsigned long wf_n_tests_math_function = WF_N_TESTS(wf_tests_math_function);
