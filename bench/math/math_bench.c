// Speed of src/math as vector code: ns per element of a loop over 4096 floats that stay in L1, best
// of many runs, with the number of loops that the compiler left scalar found by bench/math/run
// (-fopt-info-vec-missed).
//
// In:  one optional argument, the name printed for this build. Out: a line per function.
// Compiled once per instruction set by bench/math/run.
#include <stdio.h>
#include <time.h>

#include "math/weft_math.h"

enum { N = 4096, RUNS = 400 };

static float x[N], y[N], z[N];
static uint16_t h[N];

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// A loop per function, not inlined, so that each is one vectorised loop in the compiler's report.
// clang-format never settles on a layout of several calls a line.
// clang-format off
#define UNARY(X) \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log1p) X(tanh) X(erf) X(erfc) X(sin) X(cos) \
    X(sigmoid) X(silu) X(softplus) X(gelu) X(gelu_tanh) X(rsqrt) X(sqrt_soft) X(round_even) \
    X(floor) X(trunc) X(relu) X(flush)
#define BINARY(X) \
    X(pow) X(div_soft) X(max) X(min)
// clang-format on

#define DEFINE_UNARY(fn)                                                                           \
    __attribute__((noinline)) static void loop_##fn(void)                                          \
    {                                                                                              \
        for (int i = 0; i < N; i++)                                                                \
            z[i] = wf_##fn(x[i]);                                                                  \
    }
#define DEFINE_BINARY(fn)                                                                          \
    __attribute__((noinline)) static void loop_##fn(void)                                          \
    {                                                                                              \
        for (int i = 0; i < N; i++)                                                                \
            z[i] = wf_##fn(x[i], y[i]);                                                            \
    }
UNARY(DEFINE_UNARY)
BINARY(DEFINE_BINARY)

__attribute__((noinline)) static void loop_fma(void)
{
    for (int i = 0; i < N; i++)
        z[i] = WF_FMA(x[i], y[i], z[i]);
}

__attribute__((noinline)) static void loop_to_f16(void)
{
    for (int i = 0; i < N; i++)
        h[i] = wf_f32_to_f16(x[i]);
}

__attribute__((noinline)) static void loop_from_f16(void)
{
    for (int i = 0; i < N; i++)
        z[i] = wf_f16_to_f32(h[i]);
}

__attribute__((noinline)) static void loop_to_bf16(void)
{
    for (int i = 0; i < N; i++)
        h[i] = wf_f32_to_bf16(x[i]);
}

// A block of four words, or two pairs of normals, per iteration.
__attribute__((noinline)) static void loop_uniform(void)
{
    for (int i = 0; i < N / 4; i++) {
        const wf_philox_block b = wf_random_block(42, 1, 2, (wf_u64)(wf_u32)i * 4u);
        z[4 * i] = wf_uniform_from_word(b.w0);
        z[4 * i + 1] = wf_uniform_from_word(b.w1);
        z[4 * i + 2] = wf_uniform_from_word(b.w2);
        z[4 * i + 3] = wf_uniform_from_word(b.w3);
    }
}

__attribute__((noinline)) static void loop_normal(void)
{
    for (int i = 0; i < N / 4; i++) {
        const wf_philox_block b = wf_random_block(42, 1, 2, (wf_u64)(wf_u32)i * 4u);
        const wf_pair p = wf_normal_from_words(b.w0, b.w1), q = wf_normal_from_words(b.w2, b.w3);
        z[4 * i] = p.hi;
        z[4 * i + 1] = p.lo;
        z[4 * i + 2] = q.hi;
        z[4 * i + 3] = q.lo;
    }
}

static void measure(const char *build, const char *name, void (*loop)(void))
{
    double best = 1e30;
    for (int r = 0; r < RUNS; r++) {
        const double start = now_ns();
        loop();
        const double t = now_ns() - start;
        best = t < best ? t : best;
    }
    printf("%-8s %-11s %7.3f ns/element\n", build, name, best / N);
}

int main(int argc, char **argv)
{
    const char *build = argc > 1 ? argv[1] : "";
    for (int i = 0; i < N; i++) {
        x[i] = 8.0f * wf_random_uniform(1, 0, 0, (wf_u64)i) - 4.0f;
        y[i] = 4.0f * wf_random_uniform(1, 1, 0, (wf_u64)i);
        z[i] = 0.0f;
    }
#define MEASURE(fn) measure(build, #fn, loop_##fn);
    UNARY(MEASURE)
    BINARY(MEASURE)
    MEASURE(fma)
    MEASURE(to_f16) MEASURE(from_f16) MEASURE(to_bf16) MEASURE(uniform) MEASURE(normal) return 0;
}
