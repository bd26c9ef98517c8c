// The elementwise loops of one instruction set: every op's formula over n elements, casts, select,
// copies, iota. Stage: RUN, inside the tile interpreter.
//
// The formulas come out of the op files (op/elementwise.h) by way of elementwise_list.inc, which is
// read twice: once for the functions, <op>_<dtype>_loop, and once for the table's rows.
#include "device/cpu/kernel/cpu_kernel.h"
#include "device/cpu/kernel/cpu_turn.h"

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

// ---- select, copies and spreads, by size
#define MOVES(T_)                                                                                  \
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
    }                                                                                              \
    static void spread_##T_(void *dst, const void *src, size_t n_rows, size_t n)                   \
    {                                                                                              \
        T_ *d = dst;                                                                               \
        for (size_t i = 0; i < n_rows; i++, d += n) {                                              \
            const T_ value = ((const T_ *)src)[i];                                                 \
            for (size_t j = 0; j < n; j++)                                                         \
                d[j] = value;                                                                      \
        }                                                                                          \
    }
MOVES(uint8_t)
MOVES(uint16_t)
MOVES(uint32_t)
MOVES(uint64_t)

static void turn(void *dst, int64_t dst_pitch, const void *src, int64_t src_pitch, size_t n_rows,
                 size_t n_cols)
{
    wf_turn(dst, dst_pitch, src, src_pitch, (int64_t)n_rows, (int64_t)n_cols);
}

// ---- past the caches. Measured on a Sapphire Rapids (2 MiB of L2, memory hardly slower than L3): a sum of
// two arrays is written 1.4 to 1.5 times as fast, and read again no slower. Processors without AVX-512 have a
// near L3 that may hold more.
#if defined(WF_ISA_AVX512)
#define STREAM_BYTES ((size_t)1 << 21)
#elif defined(WF_ISA_AVX2)
#define STREAM_BYTES ((size_t)1 << 24)
#else
#define STREAM_BYTES SIZE_MAX
#endif

static void stream(void *dst, const void *src, size_t size_bytes)
{
    char *d = dst;
    const char *s = src;
    size_t head = (size_t)(-(uintptr_t)dst % 64);
    if (head > size_bytes)
        head = size_bytes;
    memcpy(d, s, head);
    size_t i = head;
    for (; i + sizeof(vf) <= size_bytes; i += sizeof(vf))
        v_stream((float *)(void *)(d + i), v_load((const float *)(const void *)(s + i)));
    memcpy(d + i, s + i, size_bytes - i);
}

static void stream_end(void)
{
    v_stream_end();
}

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
    .spreads = {spread_uint8_t, spread_uint16_t, spread_uint32_t, spread_uint64_t},
    .turn = turn,
    .stream = stream,
    .stream_end = stream_end,
    .stream_bytes = STREAM_BYTES,
    .iota = iota,
    .first_nonfinite = first_nonfinite,
};
