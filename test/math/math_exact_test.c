// The exact functions of src/math: half formats, rounding and conversions, comparisons, integers,
// Philox.
#include <math.h>
#include <stdio.h>

#include "wf_test.h"

#include "math/compare.h"
#include "math/half.h"
#include "math/integer.h"
#include "math/philox.h"
#include "math/rounding.h"

#ifdef __OPTIMIZE__
enum { STRIDE = 509 };
#else
enum { STRIDE = 60013 };
#endif

// A format of `exponent` and `mantissa` bits by its definition, in double. Infinity is the next
// power of two, so that rounding to it is rounding to a neighbour.
static double small_value(wf_u32 h, int exponent, int mantissa)
{
    const int e = (int)(h >> mantissa) & ((1 << exponent) - 1);
    const double m = (double)(h & ((1u << mantissa) - 1u));
    const int bias = (1 << (exponent - 1)) - 1;
    return e == 0 ? ldexp(m, 1 - bias - mantissa)
                  : ldexp(m + ldexp(1.0, mantissa), e - bias - mantissa);
}

// h is x rounded to nearest even: no neighbour is nearer, and of two equally near the even one was
// taken.
static void check_nearest(wf_f32 x, wf_u32 h, int exponent, int mantissa)
{
    const wf_u32 mag = h & 0x7fffu;
    const double a = fabs((double)x);
    const double here = fabs(a - small_value(mag, exponent, mantissa));
    const wf_u32 last = ((1u << exponent) - 1u) << mantissa;
    bool is_right = mag <= last && h >> 15 == wf_as_u32(x) >> 31;
    for (int side = -1; side <= 1; side += 2) {
        const wf_u32 other = mag + (wf_u32)side;
        if (other > last)
            continue;
        const double there = fabs(a - small_value(other, exponent, mantissa));
        is_right = is_right && (here < there || (here == there && mag % 2 == 0));
    }
    if (mag == last)
        is_right = is_right && a >= 0.5 * (small_value(last, exponent, mantissa) +
                                           small_value(last - 1, exponent, mantissa));
    if (!is_right)
        fail_msg("%a narrowed to %04x (%d exponent bits)", (double)x, h, exponent);
}

static void narrowing_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (wf_u64 bits = 0; bits <= 0xffffffffu; bits += STRIDE) {
        const wf_f32 x = wf_as_f32((wf_u32)bits);
        if (x != x) {
            assert_int_equal(wf_f32_to_f16(x), 0x7e00);
            assert_int_equal(wf_f32_to_bf16(x), 0x7fc0);
            continue;
        }
        if (fabsf(x) < INFINITY) {
            check_nearest(x, wf_f32_to_f16(x), 5, 10);
            check_nearest(x, wf_f32_to_bf16(x), 8, 7);
        }
    }
    assert_int_equal(wf_f32_to_f16(-INFINITY), 0xfc00);
    assert_int_equal(wf_f32_to_bf16(-INFINITY), 0xff80);
}

static void every_half_survives_the_round_trip(void **state)
{
    (void)state;
    for (wf_u32 h = 0; h < 0x10000u; h++) {
        const wf_f32 x = wf_f16_to_f32((wf_u16)h), y = wf_bf16_to_f32((wf_u16)h);
        const wf_f32 sign = h >> 15 ? -1.0f : 1.0f;
        if ((h & 0x7fffu) > 0x7c00u) {
            assert_true(x != x);
        } else {
            if ((h & 0x7fffu) < 0x7c00u)
                assert_true((double)(x * sign) == small_value(h & 0x7fffu, 5, 10));
            assert_int_equal(wf_f32_to_f16(x), h);
        }
        if ((h & 0x7fffu) > 0x7f80u)
            assert_true(y != y);
        else
            assert_int_equal(wf_f32_to_bf16(y), h);
        // The midpoints between this half and the next, and their neighbours: ties and the last bit
        // beside them.
        if ((h & 0x7fffu) < 0x7c00u) {
            const double middle =
                0.5 * (small_value(h & 0x7fffu, 5, 10) + small_value((h & 0x7fffu) + 1u, 5, 10));
            const wf_u32 bits = wf_as_u32((wf_f32)middle * sign);
            for (wf_u32 near = 0; near < 3; near++)
                check_nearest(wf_as_f32(bits + near - 1u),
                              wf_f32_to_f16(wf_as_f32(bits + near - 1u)), 5, 10);
        }
    }
}

static void same(const char *what, wf_f32 x, wf_f32 got, wf_f32 want)
{
    if (wf_as_u32(wf_canonical(got)) != wf_as_u32(wf_canonical(want)))
        fail_msg("%s(%a): got %a, want %a", what, (double)x, (double)got, (double)want);
}

static void check_rounding(wf_f32 x)
{
    same("round", x, wf_round_even(x), rintf(x));
    same("floor", x, wf_floor(x), floorf(x));
    same("ceil", x, wf_ceil(x), ceilf(x));
    same("trunc", x, wf_trunc(x), truncf(x));
    const double t = x != x ? 0.0 : trunc((double)x);
    const double i32 = fmin(fmax(t, -2147483648.0), 2147483647.0);
    assert_true((double)wf_f32_to_i32(x) == i32);
    assert_true((double)wf_f32_to_u8(x) == fmin(fmax(t, 0.0), 255.0));
    assert_true((double)wf_f32_to_i8(x) == fmin(fmax(t, -128.0), 127.0));
    const wf_i64 i64 = wf_f32_to_i64(x);
    if (t >= 0x1p63)
        assert_true(i64 == INT64_MAX);
    else
        assert_true((double)i64 == fmax(t, -0x1p63));
    same("flush", x, wf_flush(x), fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x);
    same("relu", x, wf_relu(x), x != x ? x : x > 0.0f ? x : 0.0f);
    assert_int_equal(wf_is_finite(x), isfinite(x) != 0);
    assert_int_equal(wf_is_nan(x), x != x);
}

static void rounding_agrees_with_libm(void **state)
{
    (void)state;
    for (wf_u64 bits = 0; bits <= 0xffffffffu; bits += STRIDE)
        check_rounding(wf_as_f32((wf_u32)bits));
    for (wf_u32 top = 0; top < 512; top++)
        for (wf_u32 near = 0; near < 9; near++)
            check_rounding(wf_as_f32((top << 23) + near - 4u));
    for (int i = -600; i <= 600; i++)
        check_rounding((wf_f32)i * 0.25f);
    assert_true(wf_i32_to_f32(16777217) == 16777216.0f && wf_i32_to_f32(16777219) == 16777220.0f);
    assert_true(wf_i64_to_f32(INT64_MAX) == 0x1p63f);
    // Halfway plus one: a conversion through double would round twice.
    assert_true(wf_i64_to_f32(((wf_i64)1 << 60) + ((wf_i64)1 << 36) + 1) == 0x1.000002p60f);
}

static void comparisons_are_decided(void **state)
{
    static const float v[] = {-INFINITY, -1.0f,     -0x1p-149f, -0.0f,
                              0.0f,      0x1p-149f, 1.0f,       INFINITY}; // ascending
    enum { N = sizeof v / sizeof v[0] };
    (void)state;
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++) {
            same("max", v[i], wf_max(v[i], v[k]), v[i > k ? i : k]);
            same("min", v[i], wf_min(v[i], v[k]), v[i < k ? i : k]);
            assert_int_equal(wf_sort_key(v[i]) < wf_sort_key(v[k]), i < k);
        }
        assert_true(isnan(wf_max(v[i], NAN)) && isnan(wf_max(NAN, v[i])));
        assert_true(isnan(wf_min(v[i], NAN)) && isnan(wf_min(NAN, v[i])));
        assert_true(wf_sort_key(v[i]) < wf_sort_key(-NAN) && wf_sort_key(NAN) == wf_sort_key(-NAN));
    }
    same("relu", -0.0f, wf_relu(-0.0f), 0.0f);
    assert_true(isnan(wf_relu(NAN)));
    assert_int_equal(wf_as_u32(wf_canonical(wf_as_f32(0xffc12345u))), 0x7fc00000);
}

static void integers_are_defined_everywhere(void **state)
{
    (void)state;
    assert_int_equal(wf_div_i32(7, -2), -3);
    assert_int_equal(wf_rem_i32(-7, 2), -1);
    assert_int_equal(wf_div_i32(5, 0), 0);
    assert_int_equal(wf_rem_i32(5, 0), 0);
    assert_int_equal(wf_div_i32(INT32_MIN, -1), INT32_MIN);
    assert_int_equal(wf_rem_i32(INT32_MIN, -1), 0);
    assert_int_equal(wf_div_i32(9, -1), -9);
    assert_true(wf_div_i64(INT64_MIN, -1) == INT64_MIN && wf_div_i64(1, 0) == 0 &&
                wf_rem_i64(INT64_MIN, -1) == 0);
    assert_true(wf_div_i64(-9, 4) == -2 && wf_rem_i64(-9, 4) == -1);
    assert_int_equal(wf_add_i32(INT32_MAX, 1), INT32_MIN);
    assert_int_equal(wf_mul_i32(65536, 65537), 65536);
    assert_int_equal(wf_shl_i32(1, 31), INT32_MIN);
    assert_int_equal(wf_shl_i32(1, 32), 0);
    assert_int_equal(wf_shl_i32(1, -1), 0);
    assert_int_equal(wf_shr_i32(-8, 1), -4);
    assert_int_equal(wf_shr_i32(-8, 32), -1);
    assert_int_equal(wf_shr_i32(8, 40), 0);
    assert_int_equal(wf_shr_u32(0x80000000u, 31), 1);
    assert_int_equal(wf_shr_u32(0x80000000u, 32), 0);
    assert_true(wf_shl_i64(1, 63) == INT64_MIN && wf_shl_i64(1, 64) == 0 &&
                wf_shr_i64(-1, 99) == -1);
}

// The published known answers (Random123, kat_vectors, philox4x32 with 10 rounds).
static void philox_gives_the_published_words(void **state)
{
    static const wf_u32 cases[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u},
        {0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu, 0x408f276du,
         0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu},
        {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u, 0xa4093822u, 0x299f31d0u, 0xd16cfe09u,
         0x94fdccebu, 0x5001e420u, 0x24126ea1u}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const wf_u32 *c = cases[i];
        const wf_philox_block in = {c[0], c[1], c[2], c[3]};
        const wf_philox_block b = wf_philox(in, c[4], c[5]);
        assert_true(b.w0 == c[6] && b.w1 == c[7] && b.w2 == c[8] && b.w3 == c[9]);
        // The same through seed, step, stream and index of the element.
        const wf_u64 seed = (wf_u64)c[5] << 32 | c[4];
        const wf_u64 index = ((wf_u64)(c[1] & 0x3fffffffu) << 34) | ((wf_u64)c[0] << 2);
        if (c[1] >> 30 == 0)
            for (wf_u32 w = 0; w < 4; w++)
                assert_int_equal(wf_random_word(seed, c[2], c[3], index + w), c[6 + w]);
    }
}

static void random_numbers_have_their_moments(void **state)
{
    enum { N = 1 << 16 };
    double sum = 0.0, square = 0.0, fourth = 0.0, uniform = 0.0;
    (void)state;
    for (wf_u32 i = 0; i < N; i++) {
        const double x = (double)wf_random_normal(42, 3, 7, i);
        const double u = (double)wf_random_uniform(42, 4, 7, i);
        assert_true(fabs(x) < 5.8 && u >= 0.0 && u < 1.0);
        sum += x, square += x * x, fourth += x * x * x * x, uniform += u;
        const wf_philox_block b = wf_random_block(42, 3, 7, i);
        const wf_pair p =
            i & 2u ? wf_normal_from_words(b.w2, b.w3) : wf_normal_from_words(b.w0, b.w1);
        assert_int_equal(wf_as_u32(i & 1u ? p.lo : p.hi), wf_as_u32(wf_random_normal(42, 3, 7, i)));
    }
    assert_true(fabs(sum / N) < 0.02 && fabs(square / N - 1.0) < 0.03 &&
                fabs(fourth / N - 3.0) < 0.2);
    assert_true(fabs(uniform / N - 0.5) < 0.005);
    // The ends of the words: radius 0, and the largest.
    assert_true(wf_normal_from_words(0xffffffffu, 0).hi == 0.0f);
    assert_true(fabs((double)wf_normal_from_words(0, 0).hi - sqrt(48.0 * log(2.0))) < 1e-6);
    assert_true(wf_uniform_from_word(0xffffffffu) < 1.0f && wf_uniform_from_word(0xffu) == 0.0f);
}

const struct CMUnitTest wf_tests_math_exact[] = {
    cmocka_unit_test(narrowing_rounds_to_nearest_even),
    cmocka_unit_test(every_half_survives_the_round_trip),
    cmocka_unit_test(rounding_agrees_with_libm),
    cmocka_unit_test(comparisons_are_decided),
    cmocka_unit_test(integers_are_defined_everywhere),
    cmocka_unit_test(philox_gives_the_published_words),
    cmocka_unit_test(random_numbers_have_their_moments),
};
const unsigned long wf_n_tests_math_exact = WF_N_TESTS(wf_tests_math_exact);
