// The software divide, square root and fma: what proves them (all 2^23 reciprocals, all 2^24 roots)
// and what would break them (quotients beside midpoints, subnormal results, specials), against the
// processor's own operations.
#include <math.h>
#include <stdio.h>

#include "wf_test.h"

#include "math/compare.h"
#include "math/divide.h"
#include "math/square_root.h"

#ifdef __OPTIMIZE__
enum { N_MIDPOINTS = 1 << 22, N_RANDOM = 1 << 21, STEP = 1 };
#else
enum { N_MIDPOINTS = 1 << 18, N_RANDOM = 1 << 18, STEP = 17 };
#endif

static wf_u64 random_state = 0x853c49e6748fea9bu;

static wf_u32 random_u32(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (wf_u32)(random_state >> 32);
}

static wf_u32 bits_of(wf_f32 x)
{
    return wf_as_u32(wf_canonical(x));
}

static void check_quotient(wf_f32 a, wf_f32 b)
{
    if (bits_of(wf_div_soft(a, b)) != bits_of(a / b))
        fail_msg("%a / %a: got %a, want %a", (double)a, (double)b, (double)wf_div_soft(a, b),
                 (double)(a / b));
}

// Markstein's theorem needs |1 - b y| < 2^-24, which the nearest float y has. The double is exact:
// 24 + 24 bits.
static void every_reciprocal_meets_the_theorem(void **state)
{
    (void)state;
    for (wf_u32 m = 0; m < (1u << 23); m += STEP) {
        const wf_f32 b = wf_as_f32(0x3f800000u + m);
        const wf_f32 y = wf_div_reciprocal(b);
        if (y != 1.0f / b || fabs(1.0 - (double)b * (double)y) >= 0x1p-24)
            fail_msg("1 / %a: got %a, want %a", (double)b, (double)y, (double)(1.0f / b));
    }
    assert_true(wf_div_reciprocal(0x1.fffffep0f) == 0x1.000002p-1f);
}

// a / b a little beside a midpoint of two floats: a 2^25 = m b + d, m odd of 25 bits, d small; m =
// -d / b mod 2^25.
static void quotients_beside_midpoints_round_right(void **state)
{
    (void)state;
    for (int i = 0; i < N_MIDPOINTS; i++) {
        const wf_u32 b = (random_u32() >> 9) | 0x800001u;
        wf_u32 inverse = b; // Newton in the integers mod 2^32
        for (int k = 0; k < 5; k++)
            inverse *= 2u - b * inverse;
        const wf_i32 d = (i & 8 ? -1 : 1) * (1 + 2 * (i & 7));
        const wf_u32 m = ((wf_u32)-d * inverse) & 0x1ffffffu;
        const wf_u64 a = (wf_u64)((wf_i64)((wf_u64)m * b) + d) >> 25;
        if (a == 0)
            continue;
        check_quotient((wf_f32)a, (wf_f32)b);
        // The same digits where the quotient is subnormal: there other bits decide.
        check_quotient((wf_f32)a * 0x1p-100f, (wf_f32)b * (i & 16 ? 0x1p30f : 0x1p38f));
    }
}

static void random_quotients_round_right(void **state)
{
    (void)state;
    for (int i = 0; i < N_RANDOM; i++)
        check_quotient(wf_as_f32(random_u32()), wf_as_f32(random_u32()));
    // Dividing by powers of two makes exact halves of the last subnormal bit.
    for (int i = 0; i < N_RANDOM / 8; i++)
        check_quotient(wf_as_f32(random_u32() & 0x0fffffffu),
                       wf_pow2((wf_i32)(random_u32() % 254u) - 126));
    for (int i = 0; i < N_RANDOM / 8; i++)
        check_quotient(wf_as_f32(random_u32() & 0x80ffffffu),
                       wf_as_f32(random_u32() & 0x80ffffffu));
}

static void special_quotients_are_ieee(void **state)
{
    static const float v[] = {0.0f,
                              1.0f,
                              1.5f,
                              3.0f,
                              0x1p-149f,
                              0x1p-126f,
                              0x1.fffffcp-127f,
                              0x1.fffffep127f,
                              0x1p127f,
                              0x1.fffffep0f,
                              INFINITY,
                              NAN};
    enum { N = sizeof v / sizeof v[0] };
    (void)state;
    for (int i = 0; i < 4 * N * N; i++)
        check_quotient((i & 1 ? -1.0f : 1.0f) * v[i / 4 % N],
                       (i & 2 ? -1.0f : 1.0f) * v[i / 4 / N]);
}

static void check_root(wf_u32 bits)
{
    const wf_f32 x = wf_as_f32(bits);
    if (bits_of(wf_sqrt_soft(x)) != bits_of(sqrtf(x)))
        fail_msg("sqrt(%a): got %a, want %a", (double)x, (double)wf_sqrt_soft(x), (double)sqrtf(x));
}

static void every_root_of_two_binades_rounds_right(void **state)
{
    (void)state;
    for (wf_u32 m = 0; m < (1u << 24); m += STEP)
        check_root(0x3f800000u + m);
}

static void roots_elsewhere_round_right(void **state)
{
    (void)state;
    for (int i = 0; i < N_RANDOM / 4; i++) {
        check_root(random_u32());
        check_root(random_u32() & 0x007fffffu);
    }
    for (wf_u32 top = 0; top < 512; top++)
        for (wf_u32 near = 0; near < 5; near++)
            check_root((top << 23) + near - 2u);
}

// Where the test's own processor code has no fma, WF_FMA is the emulation; elsewhere it is the
// processor's.
static void fma_rounds_once(void **state)
{
    (void)state;
    for (int i = 0; i < N_RANDOM; i++) {
        const wf_f32 a = wf_as_f32(random_u32()), b = wf_as_f32(random_u32());
        wf_f32 c = wf_as_f32(random_u32());
        // Most random sums have one term that matters; near cancellation and subnormals is where a
        // second rounding shows.
        if (i & 1)
            c = wf_as_f32(wf_as_u32(-(a * b)) + (random_u32() & 3u));
        if (bits_of(WF_FMA(a, b, c)) != bits_of(fmaf(a, b, c)))
            fail_msg("fma(%a, %a, %a): got %a, want %a", (double)a, (double)b, (double)c,
                     (double)WF_FMA(a, b, c), (double)fmaf(a, b, c));
    }
    for (int i = 0; i < N_RANDOM / 4; i++) { // products around 2^-149, where c decides the rounding
        const wf_f32 a = wf_as_f32((random_u32() & 0x807fffffu) + 0x20000000u);
        const wf_f32 b =
            wf_as_f32((random_u32() & 0x807fffffu) + 0x14000000u + (random_u32() & 0x0f800000u));
        const wf_f32 c = wf_as_f32(random_u32() & 0x8003ffffu);
        if (bits_of(WF_FMA(a, b, c)) != bits_of(fmaf(a, b, c)))
            fail_msg("fma(%a, %a, %a): got %a, want %a", (double)a, (double)b, (double)c,
                     (double)WF_FMA(a, b, c), (double)fmaf(a, b, c));
    }
}

const struct CMUnitTest wf_tests_math_divide[] = {
    cmocka_unit_test(every_reciprocal_meets_the_theorem),
    cmocka_unit_test(quotients_beside_midpoints_round_right),
    cmocka_unit_test(random_quotients_round_right),
    cmocka_unit_test(special_quotients_are_ieee),
    cmocka_unit_test(every_root_of_two_binades_rounds_right),
    cmocka_unit_test(roots_elsewhere_round_right),
    cmocka_unit_test(fma_rounds_once),
};
const unsigned long wf_n_tests_math_divide = WF_N_TESTS(wf_tests_math_divide);
