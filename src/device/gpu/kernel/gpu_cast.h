// Casts of rendered kernels, named wf_cast_<from>_<to>: those in which a float takes part.
// Narrowing rounds to nearest even, to integers truncates and saturates, NaN -> 0 (doc/arithmetic.md).
#ifndef WF_GPU_CAST_H
#define WF_GPU_CAST_H

#include "gpu_dialect.h"

WF_FN wf_u16 wf_cast_f32_f16(wf_f32 x)
{
    return wf_f32_to_f16(x);
}
WF_FN wf_u16 wf_cast_f32_bf16(wf_f32 x)
{
    return wf_f32_to_bf16(x);
}
WF_FN wf_i8 wf_cast_f32_i8(wf_f32 x)
{
    return wf_f32_to_i8(x);
}
WF_FN wf_u8 wf_cast_f32_u8(wf_f32 x)
{
    return wf_f32_to_u8(x);
}
WF_FN wf_i32 wf_cast_f32_i32(wf_f32 x)
{
    return wf_f32_to_i32(x);
}
WF_FN wf_i64 wf_cast_f32_i64(wf_f32 x)
{
    return wf_f32_to_i64(x);
}
WF_FN wf_u8 wf_cast_f32_bool(wf_f32 x)
{
    return (wf_u8)(x != 0.0f);
}
WF_FN wf_f32 wf_cast_i8_f32(wf_i8 x)
{
    return (wf_f32)x;
}
WF_FN wf_f32 wf_cast_u8_f32(wf_u8 x)
{
    return (wf_f32)x;
}
WF_FN wf_f32 wf_cast_bool_f32(wf_u8 x)
{
    return (wf_f32)x;
}
WF_FN wf_f32 wf_cast_i32_f32(wf_i32 x)
{
    return (wf_f32)x;
}
WF_FN wf_f32 wf_cast_i64_f32(wf_i64 x)
{
    return wf_i64_to_f32(x);
}

// Half types are widened, which is exact, and then cast as f32; and the other way round: integers
// beyond f32's 24 bits round once here and once more there, as the op's definition does.
#define WF_CASTS_OF_HALF(h)                                                                        \
    WF_FN wf_f32 wf_cast_##h##_f32(wf_u16 x)                                                       \
    {                                                                                              \
        return wf_##h##_to_f32(x);                                                                 \
    }                                                                                              \
    WF_FN wf_i8 wf_cast_##h##_i8(wf_u16 x)                                                         \
    {                                                                                              \
        return wf_f32_to_i8(wf_##h##_to_f32(x));                                                   \
    }                                                                                              \
    WF_FN wf_u8 wf_cast_##h##_u8(wf_u16 x)                                                         \
    {                                                                                              \
        return wf_f32_to_u8(wf_##h##_to_f32(x));                                                   \
    }                                                                                              \
    WF_FN wf_i32 wf_cast_##h##_i32(wf_u16 x)                                                       \
    {                                                                                              \
        return wf_f32_to_i32(wf_##h##_to_f32(x));                                                  \
    }                                                                                              \
    WF_FN wf_i64 wf_cast_##h##_i64(wf_u16 x)                                                       \
    {                                                                                              \
        return wf_f32_to_i64(wf_##h##_to_f32(x));                                                  \
    }                                                                                              \
    WF_FN wf_u8 wf_cast_##h##_bool(wf_u16 x)                                                       \
    {                                                                                              \
        return (wf_u8)(wf_##h##_to_f32(x) != 0.0f);                                                \
    }                                                                                              \
    WF_FN wf_u16 wf_cast_i8_##h(wf_i8 x)                                                           \
    {                                                                                              \
        return wf_f32_to_##h((wf_f32)x);                                                           \
    }                                                                                              \
    WF_FN wf_u16 wf_cast_u8_##h(wf_u8 x)                                                           \
    {                                                                                              \
        return wf_f32_to_##h((wf_f32)x);                                                           \
    }                                                                                              \
    WF_FN wf_u16 wf_cast_bool_##h(wf_u8 x)                                                         \
    {                                                                                              \
        return wf_f32_to_##h((wf_f32)x);                                                           \
    }                                                                                              \
    WF_FN wf_u16 wf_cast_i32_##h(wf_i32 x)                                                         \
    {                                                                                              \
        return wf_f32_to_##h((wf_f32)x);                                                           \
    }                                                                                              \
    WF_FN wf_u16 wf_cast_i64_##h(wf_i64 x)                                                         \
    {                                                                                              \
        return wf_f32_to_##h(wf_i64_to_f32(x));                                                    \
    }
WF_CASTS_OF_HALF(f16)
WF_CASTS_OF_HALF(bf16)
WF_FN wf_u16 wf_cast_f16_bf16(wf_u16 x)
{
    return wf_f32_to_bf16(wf_f16_to_f32(x));
}
WF_FN wf_u16 wf_cast_bf16_f16(wf_u16 x)
{
    return wf_f32_to_f16(wf_bf16_to_f32(x));
}

// f64 is f32 with a wider store: integers and halves pass through f32 on the way in both directions but for
// f64 itself, which holds every i32 and rounds an i64 once.
#ifdef WF_HAVE_F64
WF_FN wf_f32 wf_cast_f64_f32(wf_f64 x)
{
    return (wf_f32)x;
}
WF_FN wf_f64 wf_cast_f32_f64(wf_f32 x)
{
    return (wf_f64)x;
}
WF_FN wf_u16 wf_cast_f64_f16(wf_f64 x)
{
    return wf_f32_to_f16((wf_f32)x);
}
WF_FN wf_u16 wf_cast_f64_bf16(wf_f64 x)
{
    return wf_f32_to_bf16((wf_f32)x);
}
WF_FN wf_f64 wf_cast_f16_f64(wf_u16 x)
{
    return (wf_f64)wf_f16_to_f32(x);
}
WF_FN wf_f64 wf_cast_bf16_f64(wf_u16 x)
{
    return (wf_f64)wf_bf16_to_f32(x);
}
WF_FN wf_u8 wf_cast_f64_bool(wf_f64 x)
{
    return (wf_u8)(x != 0.0);
}
// Names: wf_cast_f64_<d>, wf_cast_<d>_f64. LOW and HIGH are the type's ends, as doubles (HIGH rounds up for
// i64: whatever reaches it saturates).
#define WF_CASTS_OF_F64(d, T, LOW, HIGH, LAST)                                                     \
    WF_FN T wf_cast_f64_##d(wf_f64 x)                                                              \
    {                                                                                              \
        const wf_f64 low = x <= LOW ? LOW : x;                                                     \
        const wf_i64 cut = x != x || low >= HIGH ? 0 : (wf_i64)low;                                \
        return x != x ? (T)0 : low >= HIGH ? (T)LAST : (T)cut;                                     \
    }                                                                                              \
    WF_FN wf_f64 wf_cast_##d##_f64(T x)                                                            \
    {                                                                                              \
        return (wf_f64)x;                                                                          \
    }
WF_CASTS_OF_F64(i8, wf_i8, -128.0, 127.0, 127)
WF_CASTS_OF_F64(u8, wf_u8, 0.0, 255.0, 255)
WF_CASTS_OF_F64(i32, wf_i32, -2147483648.0, 2147483647.0, 2147483647)
WF_CASTS_OF_F64(i64, wf_i64, -9223372036854775808.0, 9223372036854775808.0, (((wf_u64)1 << 63) - 1))
WF_FN wf_f64 wf_cast_bool_f64(wf_u8 x)
{
    return (wf_f64)x;
}
#endif

#endif
