// A digest per function of src/math over many inputs, to compare builds of the same sources with
// different compilers, instruction sets and contraction (test/house/house_math_bits.sh).
//
// In:  the number of inputs. Out: a line per function: name and a 64-bit hash of the results' bits.
// Inputs: half have any 32 bits (from Philox), half lie where the functions are not flat.
#include <stdio.h>
#include <stdlib.h>

#include "math/weft_math.h"

enum { BLOCK = 4096 };

static wf_f32 x[BLOCK], y[BLOCK], z[BLOCK];

static void fill(wf_u64 first)
{
    for (wf_u64 i = 0; i < BLOCK; i++) {
        const wf_u32 a = wf_random_word(7, 1, 2, first + i), b = wf_random_word(7, 3, 4, first + i);
        x[i] = i & 1 ? wf_as_f32(a) : WF_FMA(40.0f, wf_uniform_from_word(a), -20.0f);
        y[i] = i & 2 ? wf_as_f32(b) : WF_FMA(8.0f, wf_uniform_from_word(b), -4.0f);
    }
}

static wf_u64 mix(wf_u64 hash)
{
    for (int i = 0; i < BLOCK; i++)
        hash = (hash ^ wf_as_u32(wf_canonical(z[i]))) * 0x100000001b3u;
    return hash;
}

// X(name, expression of the inputs v and w)
// clang-format never settles on a layout of several calls a line.
// clang-format off
#define FUNCTIONS(X) \
    X(exp, wf_exp(v)) X(exp2, wf_exp2(v)) X(expm1, wf_expm1(v)) X(log, wf_log(v)) \
    X(log2, wf_log2(v)) X(log1p, wf_log1p(v)) X(tanh, wf_tanh(v)) X(erf, wf_erf(v)) \
    X(erfc, wf_erfc(v)) X(sin, wf_sin(v)) X(cos, wf_cos(v)) X(sigmoid, wf_sigmoid(v)) \
    X(silu, wf_silu(v)) X(softplus, wf_softplus(v)) X(gelu, wf_gelu(v)) \
    X(gelu_tanh, wf_gelu_tanh(v)) X(rsqrt, wf_rsqrt(v)) X(pow, wf_pow(v, w)) \
    X(fma, WF_FMA(v, w, -v)) X(div, WF_DIV(v, w)) X(sqrt, WF_SQRT(v)) \
    X(normal, wf_normal_from_words(wf_as_u32(v), wf_as_u32(w)).hi) X(floor, wf_floor(v)) \
    X(ceil, wf_ceil(v)) X(trunc, wf_trunc(v)) X( round, wf_round_even(v)) X(max, wf_max(v, w)) \
    X(min, wf_min(v, w)) X(relu, wf_relu(v)) X(flush, wf_flush(v)) \
    X(f16, wf_f16_to_f32(wf_f32_to_f16(v))) X(bf16, wf_bf16_to_f32(wf_f32_to_bf16(v))) \
    X(i32, wf_i32_to_f32(wf_f32_to_i32(v))) X(i64, wf_i64_to_f32(wf_f32_to_i64(v)))
// clang-format on
#define DEFINE_LOOP(name, expression)                                                              \
    __attribute__((noinline)) static void loop_##name(void)                                        \
    {                                                                                              \
        for (int i = 0; i < BLOCK; i++) {                                                          \
            const wf_f32 v = x[i], w = y[i];                                                       \
            (void)w;                                                                               \
            z[i] = expression;                                                                     \
        }                                                                                          \
    }
FUNCTIONS(DEFINE_LOOP)

typedef struct {
    const char *name;
    void (*loop)(void);
    wf_u64 hash;
} digest_row;

#define TABLE_ROW(name, expression) {#name, loop_##name, 0xcbf29ce484222325u},
static digest_row rows[] = {FUNCTIONS(TABLE_ROW)};
enum { N_ROWS = sizeof rows / sizeof rows[0] };

int main(int argc, char **argv)
{
    const wf_u64 n = argc > 1 ? strtoull(argv[1], NULL, 10) : (wf_u64)1 << 20;
    for (wf_u64 first = 0; first < n; first += BLOCK) {
        fill(first);
        for (int i = 0; i < N_ROWS; i++) {
            rows[i].loop();
            rows[i].hash = mix(rows[i].hash);
        }
    }
    for (int i = 0; i < N_ROWS; i++)
        printf("%-10s %016llx\n", rows[i].name, (unsigned long long)rows[i].hash);
    return 0;
}
