// Rounding to whole numbers, and conversions between f32 and integers.
//
// In: any value. Out: exact; the sign of zero is kept (floor(-0) = -0, ceil(-0.5) = -0). float ->
// integer truncates toward zero and saturates, NaN -> 0; integer -> float rounds to nearest even.
#ifndef WF_MATH_ROUNDING_H
#define WF_MATH_ROUNDING_H

#include "math/dialect.h"

// To nearest, ties to even: adding 2^23 leaves no bits after the point.
WF_FN wf_f32 wf_round_even(wf_f32 x)
{
    const wf_f32 a = wf_abs(x);
    const wf_f32 r = (a + 0x1p23f) - 0x1p23f;
    return a < 0x1p23f ? wf_copysign(r, x) : x;
}

WF_FN wf_f32 wf_floor(wf_f32 x)
{
    const wf_f32 r = wf_round_even(x);
    const wf_f32 f = r > x ? r - 1.0f : r;
    return x != x ? x : wf_copysign(f, x);
}

WF_FN wf_f32 wf_ceil(wf_f32 x)
{
    const wf_f32 r = wf_round_even(x);
    const wf_f32 f = r < x ? r + 1.0f : r;
    return x != x ? x : wf_copysign(f, x);
}

WF_FN wf_f32 wf_trunc(wf_f32 x)
{
    const wf_f32 a = wf_abs(x);
    const wf_f32 r = wf_round_even(a);
    const wf_f32 f = r > a ? r - 1.0f : r;
    return x != x ? x : wf_copysign(f, x);
}

// Both clamps before the conversion, because a value out of range is undefined in C and differs
// between GPUs.
WF_FN wf_i32 wf_f32_to_i32(wf_f32 x)
{
    wf_f32 c = x < -0x1p31f ? -0x1p31f : x;
    c = x < 0x1p31f ? c : 0.0f; // NaN too
    const wf_i32 i = (wf_i32)c;
    return x >= 0x1p31f ? 2147483647 : i;
}

WF_FN wf_i64 wf_f32_to_i64(wf_f32 x)
{
    wf_f32 c = x < -0x1p63f ? -0x1p63f : x;
    c = x < 0x1p63f ? c : 0.0f;
    const wf_i64 i = (wf_i64)c;
    return x >= 0x1p63f ? (wf_i64)0x7fffffffffffffff : i;
}

WF_FN wf_u8 wf_f32_to_u8(wf_f32 x)
{
    wf_f32 c = x > 255.0f ? 255.0f : x;
    c = c > 0.0f ? c : 0.0f; // NaN too
    return (wf_u8)(wf_i32)c;
}

WF_FN wf_i8 wf_f32_to_i8(wf_f32 x)
{
    wf_f32 c = x > 127.0f ? 127.0f : x;
    c = c < -128.0f ? -128.0f : c;
    c = c == c ? c : 0.0f;
    return (wf_i8)(wf_i32)c;
}

WF_FN wf_f32 wf_i32_to_f32(wf_i32 i)
{
    return (wf_f32)i;
}
WF_FN wf_f32 wf_i64_to_f32(wf_i64 i)
{
    return (wf_f32)i;
}

#endif
