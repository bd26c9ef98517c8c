// The elementwise loops of one instruction set: every op's formula over n elements, casts, select,
// copies, iota, random numbers. Stage: RUN, inside the tile interpreter.
//
// The formulas come out of the op files (op/elementwise.h) by way of elementwise_list.inc, which is
// read twice: once for the functions, <op>_<dtype>_loop, and once for the table's rows.
#include "device/cpu/kernel/cpu_kernel.h"

#include <string.h>

#include "math/weft_math.h"

// clang warns of a loop that stays scalar in spite of WF_CPU_VECTOR_LOOP: integer divisions do.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#define ARGS_1(T_) const T_ a = ((const T_ *)pa)[i];
#define ARGS_2(T_) ARGS_1(T_) const T_ b = ((const T_ *)pb)[i];
#define ARGS_3(T_) ARGS_2(T_) const T_ c = ((const T_ *)pc)[i];

#define LOOP(function, n_args, T_, U_, O_, expr)                                                   \
    static void function(void *dst, const void *pa, const void *pb, const void *pc, size_t n)      \
    {                                                                                              \
        typedef T_ T WF_UNUSED;                                                                    \
        typedef U_ U WF_UNUSED;                                                                    \
        (void)pa, (void)pb, (void)pc;                                                              \
        WF_CPU_VECTOR_LOOP                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            ARGS_##n_args(T_)((O_ *)dst)[i] = (O_)(expr);                                          \
        }                                                                                          \
    }

// ---- the ops' functions
#define LOOPS_INT(name, n_args, expr)                                                              \
    LOOP(name##_i8_loop, n_args, int8_t, uint8_t, int8_t, expr)                                    \
    LOOP(name##_u8_loop, n_args, uint8_t, uint8_t, uint8_t, expr)                                  \
    LOOP(name##_i32_loop, n_args, int32_t, uint32_t, int32_t, expr)                                \
    LOOP(name##_i64_loop, n_args, int64_t, uint64_t, int64_t, expr)
#define LOOPS_COMPARE(name, n_args, f32_expr, int_expr)                                            \
    LOOP(name##_f32_loop, n_args, float, uint32_t, uint8_t, f32_expr)                              \
    LOOP(name##_i8_loop, n_args, int8_t, uint8_t, uint8_t, int_expr)                               \
    LOOP(name##_u8_loop, n_args, uint8_t, uint8_t, uint8_t, int_expr)                              \
    LOOP(name##_i32_loop, n_args, int32_t, uint32_t, uint8_t, int_expr)                            \
    LOOP(name##_i64_loop, n_args, int64_t, uint64_t, uint8_t, int_expr)                            \
    LOOP(name##_bool_loop, n_args, uint8_t, uint8_t, uint8_t, int_expr)
#define LOOPS_F(name, n_args, expr) LOOP(name##_f32_loop, n_args, float, uint32_t, float, expr)
#define LOOPS_N(name, n_args, f32_expr, int_expr)                                                  \
    LOOPS_F(name, n_args, f32_expr) LOOPS_INT(name, n_args, int_expr)
#define LOOPS_I(name, n_args, expr)                                                                \
    LOOPS_INT(name, n_args, expr)                                                                  \
    LOOP(name##_bool_loop, n_args, uint8_t, uint8_t, uint8_t, (expr)&1)

#define WF_ELEMENTWISE_F1(name, f32, truth, grad, flags) LOOPS_F(name, 1, f32)
#define WF_ELEMENTWISE_F2(name, f32, truth, grad, flags) LOOPS_F(name, 2, f32)
#define WF_ELEMENTWISE_F3(name, f32, truth, grad, flags) LOOPS_F(name, 3, f32)
#define WF_ELEMENTWISE_N1(name, f32, int_, truth, grad, flags) LOOPS_N(name, 1, f32, int_)
#define WF_ELEMENTWISE_N2(name, f32, int_, truth, grad, flags) LOOPS_N(name, 2, f32, int_)
#define WF_ELEMENTWISE_I1(name, int_, flags) LOOPS_I(name, 1, int_)
#define WF_ELEMENTWISE_I2(name, int_, flags) LOOPS_I(name, 2, int_)
#define WF_ELEMENTWISE_C1(name, f32, int_, truth, flags) LOOPS_COMPARE(name, 1, f32, int_)
#define WF_ELEMENTWISE_C2(name, expr, flags) LOOPS_COMPARE(name, 2, expr, expr)
#include "weft_generated/elementwise_list.inc"
#undef WF_ELEMENTWISE_F1
#undef WF_ELEMENTWISE_F2
#undef WF_ELEMENTWISE_F3
#undef WF_ELEMENTWISE_N1
#undef WF_ELEMENTWISE_N2
#undef WF_ELEMENTWISE_I1
#undef WF_ELEMENTWISE_I2
#undef WF_ELEMENTWISE_C1
#undef WF_ELEMENTWISE_C2

// ---- their rows
#define ROWS_F(name) {#name, WEFT_F32, name##_f32_loop},
#define ROWS_INT(name)                                                                             \
    {#name, WEFT_I8, name##_i8_loop}, {#name, WEFT_U8, name##_u8_loop},                            \
        {#name, WEFT_I32, name##_i32_loop}, {#name, WEFT_I64, name##_i64_loop},
#define ROWS_BOOL(name) {#name, WEFT_BOOL, name##_bool_loop},

#define WF_ELEMENTWISE_F1(name, f32, truth, grad, flags) ROWS_F(name)
#define WF_ELEMENTWISE_F2(name, f32, truth, grad, flags) ROWS_F(name)
#define WF_ELEMENTWISE_F3(name, f32, truth, grad, flags) ROWS_F(name)
#define WF_ELEMENTWISE_N1(name, f32, int_, truth, grad, flags) ROWS_F(name) ROWS_INT(name)
#define WF_ELEMENTWISE_N2(name, f32, int_, truth, grad, flags) ROWS_F(name) ROWS_INT(name)
#define WF_ELEMENTWISE_I1(name, int_, flags) ROWS_INT(name) ROWS_BOOL(name)
#define WF_ELEMENTWISE_I2(name, int_, flags) ROWS_INT(name) ROWS_BOOL(name)
#define WF_ELEMENTWISE_C1(name, f32, int_, truth, flags) ROWS_F(name) ROWS_INT(name) ROWS_BOOL(name)
#define WF_ELEMENTWISE_C2(name, expr, flags) ROWS_F(name) ROWS_INT(name) ROWS_BOOL(name)
static const wf_cpu_apply applies[] = {
#include "weft_generated/elementwise_list.inc"
};

// ---- casts: cast_<from>_<to>. FLOAT_OF(a) is the operand as f32, exact but for f64.
#define CASTS_FLOAT(from, T_, float_of)                                                            \
    LOOP(cast_##from##_f32, 1, T_, T_, float, float_of)                                            \
    LOOP(cast_##from##_f64, 1, T_, T_, double, (double)(float_of))                                 \
    LOOP(cast_##from##_f16, 1, T_, T_, uint16_t, wf_f32_to_f16(float_of))                          \
    LOOP(cast_##from##_bf16, 1, T_, T_, uint16_t, wf_f32_to_bf16(float_of))                        \
    LOOP(cast_##from##_i8, 1, T_, T_, int8_t, wf_f32_to_i8(float_of))                              \
    LOOP(cast_##from##_u8, 1, T_, T_, uint8_t, wf_f32_to_u8(float_of))                             \
    LOOP(cast_##from##_i32, 1, T_, T_, int32_t, wf_f32_to_i32(float_of))                           \
    LOOP(cast_##from##_i64, 1, T_, T_, int64_t, wf_f32_to_i64(float_of))                           \
    LOOP(cast_##from##_bool, 1, T_, T_, uint8_t, (float_of) != 0.0f)
#define CASTS_INT(from, T_)                                                                        \
    LOOP(cast_##from##_f32, 1, T_, T_, float, (float)a)                                            \
    LOOP(cast_##from##_f64, 1, T_, T_, double, (double)a)                                          \
    LOOP(cast_##from##_f16, 1, T_, T_, uint16_t, wf_f32_to_f16((float)a))                          \
    LOOP(cast_##from##_bf16, 1, T_, T_, uint16_t, wf_f32_to_bf16((float)a))                        \
    LOOP(cast_##from##_i8, 1, T_, T_, int8_t, a)                                                   \
    LOOP(cast_##from##_u8, 1, T_, T_, uint8_t, a)                                                  \
    LOOP(cast_##from##_i32, 1, T_, T_, int32_t, a)                                                 \
    LOOP(cast_##from##_i64, 1, T_, T_, int64_t, a)                                                 \
    LOOP(cast_##from##_bool, 1, T_, T_, uint8_t, a != 0)
CASTS_FLOAT(f32, float, a)
CASTS_FLOAT(f16, uint16_t, wf_f16_to_f32(a))
CASTS_FLOAT(bf16, uint16_t, wf_bf16_to_f32(a))
CASTS_INT(i8, int8_t)
CASTS_INT(u8, uint8_t)
CASTS_INT(i32, int32_t)
CASTS_INT(i64, int64_t)
CASTS_INT(bool, uint8_t)

// From f64 the value is truncated as it is; only the halves go through f32.
static inline int64_t int_of_f64(double x, double low, double high, int64_t highest)
{
    const double in_range = x > low ? x : low; // NaN: low
    return x != x ? 0 : in_range >= high ? highest : (int64_t)in_range;
}
LOOP(cast_f64_f32, 1, double, uint64_t, float, a)
LOOP(cast_f64_f64, 1, double, uint64_t, double, a)
LOOP(cast_f64_f16, 1, double, uint64_t, uint16_t, wf_f32_to_f16((float)a))
LOOP(cast_f64_bf16, 1, double, uint64_t, uint16_t, wf_f32_to_bf16((float)a))
LOOP(cast_f64_i8, 1, double, uint64_t, int8_t, int_of_f64(a, -128.0, 127.0, INT8_MAX))
LOOP(cast_f64_u8, 1, double, uint64_t, uint8_t, int_of_f64(a, 0.0, 255.0, UINT8_MAX))
LOOP(cast_f64_i32, 1, double, uint64_t, int32_t, int_of_f64(a, -0x1p31, 2147483647.0, INT32_MAX))
LOOP(cast_f64_i64, 1, double, uint64_t, int64_t, int_of_f64(a, -0x1p63, 0x1p63, INT64_MAX))
LOOP(cast_f64_bool, 1, double, uint64_t, uint8_t, a != 0.0)

#define CAST_ROW(from)                                                                             \
    {                                                                                              \
        [WEFT_F32] = cast_##from##_f32, [WEFT_F64] = cast_##from##_f64,                            \
        [WEFT_F16] = cast_##from##_f16, [WEFT_BF16] = cast_##from##_bf16,                          \
        [WEFT_I8] = cast_##from##_i8, [WEFT_U8] = cast_##from##_u8,                                \
        [WEFT_I32] = cast_##from##_i32, [WEFT_I64] = cast_##from##_i64,                            \
        [WEFT_BOOL] = cast_##from##_bool,                                                          \
    }

// ---- select and copies, by size
#define SELECT_AND_COPY(T_)                                                                        \
    static void select_##T_(void *dst, const void *pa, const void *pb, const void *pc, size_t n)   \
    {                                                                                              \
        const uint8_t *cond = pa;                                                                  \
        WF_CPU_VECTOR_LOOP                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            const T_ b = ((const T_ *)pb)[i], c = ((const T_ *)pc)[i];                             \
            ((T_ *)dst)[i] = cond[i] ? b : c;                                                      \
        }                                                                                          \
    }                                                                                              \
    static void copy_##T_(void *dst, int64_t dst_stride, const void *src, int64_t src_stride,      \
                          size_t n)                                                                \
    {                                                                                              \
        T_ *d = dst;                                                                               \
        const T_ *s = src;                                                                         \
        const int64_t len = (int64_t)n;                                                            \
        if (dst_stride == 1 && src_stride == 1) {                                                  \
            memcpy(d, s, n * sizeof(T_));                                                          \
        } else if (dst_stride == 1 && src_stride == 0) {                                           \
            const T_ value = n ? *s : (T_)0;                                                       \
            for (int64_t i = 0; i < len; i++)                                                      \
                d[i] = value;                                                                      \
        } else if (dst_stride == 1) {                                                              \
            WF_CPU_VECTOR_LOOP                                                                     \
            for (int64_t i = 0; i < len; i++)                                                      \
                d[i] = s[i * src_stride];                                                          \
        } else {                                                                                   \
            for (int64_t i = 0; i < len; i++)                                                      \
                d[i * dst_stride] = s[i * src_stride];                                             \
        }                                                                                          \
    }
SELECT_AND_COPY(uint8_t)
SELECT_AND_COPY(uint16_t)
SELECT_AND_COPY(uint32_t)
SELECT_AND_COPY(uint64_t)

static void iota(void *dst, weft_dtype dtype, int64_t first, int64_t stride, size_t n)
{
    const int64_t len = (int64_t)n;
    if (dtype == WEFT_I64) {
        for (int64_t i = 0; i < len; i++)
            ((int64_t *)dst)[i] = first + i * stride;
    } else if (dtype == WEFT_I32) {
        for (int64_t i = 0; i < len; i++)
            ((int32_t *)dst)[i] = (int32_t)(first + i * stride);
    } else {
        for (int64_t i = 0; i < len; i++)
            ((float *)dst)[i] = (float)(first + i * stride);
    }
}

// ---- random numbers: the words of N_BLOCKS blocks of four side by side, so that the rounds become
// vector code, then spread.
#define N_BLOCKS 64

static void random_words(wf_u32 word[4][N_BLOCKS], const wf_cpu_random *r, uint64_t first_block)
{
    const wf_u64 seed = (wf_u64)r->seed;
    const wf_u32 step = (wf_u32)r->step, stream = r->stream;
    WF_CPU_VECTOR_LOOP
    for (uint32_t i = 0; i < N_BLOCKS; i++) {
        const wf_philox_block b = wf_random_block(seed, step, stream, (first_block + i) * 4);
        word[0][i] = b.w0;
        word[1][i] = b.w1;
        word[2][i] = b.w2;
        word[3][i] = b.w3;
    }
}

// The words, or what is made of them, of 4 * N_BLOCKS consecutive numbers.
static void random_tile(wf_u32 out[4 * N_BLOCKS], const wf_cpu_random *r, uint64_t first_block)
{
    wf_u32 word[4][N_BLOCKS];
    random_words(word, r, first_block);
    if (r->kind == WF_RANDOM_UNIFORM) {
        for (uint32_t j = 0; j < 4; j++) {
            for (uint32_t i = 0; i < N_BLOCKS; i++)
                word[j][i] = wf_as_u32(wf_uniform_from_word(word[j][i]));
        }
    } else if (r->kind == WF_RANDOM_NORMAL) {
        for (uint32_t half = 0; half < 4; half += 2) {
            WF_CPU_VECTOR_LOOP
            for (uint32_t i = 0; i < N_BLOCKS; i++) {
                const wf_pair pair = wf_normal_from_words(word[half][i], word[half + 1][i]);
                word[half][i] = wf_as_u32(pair.hi);
                word[half + 1][i] = wf_as_u32(pair.lo);
            }
        }
    }
    for (uint32_t i = 0; i < N_BLOCKS; i++) {
        for (uint32_t j = 0; j < 4; j++)
            out[4 * i + j] = word[j][i];
    }
}

static wf_u32 random_one(const wf_cpu_random *r, uint64_t idx)
{
    const wf_u64 seed = (wf_u64)r->seed;
    const wf_u32 step = (wf_u32)r->step;
    if (r->kind == WF_RANDOM_UNIFORM)
        return wf_as_u32(wf_random_uniform(seed, step, r->stream, idx));
    if (r->kind == WF_RANDOM_NORMAL)
        return wf_as_u32(wf_random_normal(seed, step, r->stream, idx));
    return wf_random_word(seed, step, r->stream, idx);
}

static void random_numbers(void *dst, const wf_cpu_random *r, int64_t first, int64_t stride,
                           size_t n)
{
    wf_u32 *d = dst;
    if (stride != 1 || n < 8) {
        for (size_t i = 0; i < n; i++)
            d[i] = random_one(r, (uint64_t)(first + (int64_t)i * stride));
        return;
    }
    wf_u32 tile[4 * N_BLOCKS];
    for (size_t i = 0; i < n;) {
        const uint64_t idx = (uint64_t)first + i;
        const size_t skip = (size_t)(idx % 4);
        size_t len = 4 * N_BLOCKS - skip;
        if (len > n - i)
            len = n - i;
        random_tile(tile, r, idx / 4);
        memcpy(d + i, tile + skip, len * sizeof *d);
        i += len;
    }
}

#define FINITE_BLOCK 256
static size_t first_nonfinite(const float *a, size_t n)
{
    for (size_t i = 0; i < n; i += FINITE_BLOCK) {
        const size_t end = i + FINITE_BLOCK < n ? i + FINITE_BLOCK : n;
        wf_u32 bad = 0;
        for (size_t j = i; j < end; j++)
            bad |= (wf_u32)!wf_is_finite(a[j]);
        for (size_t j = i; bad && j < end; j++) {
            if (!wf_is_finite(a[j]))
                return j;
        }
    }
    return n;
}

const wf_cpu_elementwise WF_CPU_NAME(wf_cpu_elementwise);
const wf_cpu_elementwise WF_CPU_NAME(wf_cpu_elementwise) = {
    .applies = applies,
    .n_applies = WF_COUNT_OF(applies),
    .casts = {[WEFT_F32] = CAST_ROW(f32),
              [WEFT_F64] = CAST_ROW(f64),
              [WEFT_F16] = CAST_ROW(f16),
              [WEFT_BF16] = CAST_ROW(bf16),
              [WEFT_I8] = CAST_ROW(i8),
              [WEFT_U8] = CAST_ROW(u8),
              [WEFT_I32] = CAST_ROW(i32),
              [WEFT_I64] = CAST_ROW(i64),
              [WEFT_BOOL] = CAST_ROW(bool)},
    .selects = {select_uint8_t, select_uint16_t, select_uint32_t, select_uint64_t},
    .copies = {copy_uint8_t, copy_uint16_t, copy_uint32_t, copy_uint64_t},
    .iota = iota,
    .random = random_numbers,
    .first_nonfinite = first_nonfinite,
};
