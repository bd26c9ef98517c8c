// max, min, relu, flush, is_finite: the cases that hardware disagrees about, decided here.
//
// max and min: a NaN wins, then -0 < +0. relu(NaN) = NaN, relu(-0) = +0. flush: magnitude below
// 2^-126 becomes a zero of the same sign. By comparison and bits, never fmax.
#ifndef WF_MATH_COMPARE_H
#define WF_MATH_COMPARE_H

#include "math/dialect.h"

WF_FN wf_f32 wf_max(wf_f32 a, wf_f32 b)
{
    wf_f32 r = a > b ? a : b;                                // b if either is NaN
    r = a == b ? wf_as_f32(wf_as_u32(a) & wf_as_u32(b)) : r; // zeros: + wins
    return a != a ? a : r;
}

WF_FN wf_f32 wf_min(wf_f32 a, wf_f32 b)
{
    wf_f32 r = a < b ? a : b;
    r = a == b ? wf_as_f32(wf_as_u32(a) | wf_as_u32(b)) : r; // zeros: - wins
    return a != a ? a : r;
}

WF_FN wf_f32 wf_relu(wf_f32 x)
{
    return x <= 0.0f ? 0.0f : x;
}

WF_FN wf_i32 wf_is_nan(wf_f32 x)
{
    return (wf_as_u32(x) & 0x7fffffffu) > 0x7f800000u;
}
WF_FN wf_i32 wf_is_finite(wf_f32 x)
{
    return (wf_as_u32(x) & 0x7f800000u) != 0x7f800000u;
}

WF_FN wf_f32 wf_flush(wf_f32 x)
{
    const wf_u32 u = wf_as_u32(x);
    return wf_as_f32((u & 0x7f800000u) == 0u ? u & 0x80000000u : u);
}

// The value with any NaN made the one NaN.
WF_FN wf_f32 wf_canonical(wf_f32 x)
{
    return x != x ? WF_NAN : x;
}

// A key whose unsigned order is that of sorting: -inf .. -0 < +0 .. +inf < NaN.
WF_FN wf_u32 wf_sort_key(wf_f32 x)
{
    const wf_u32 u = wf_as_u32(wf_canonical(x));
    return u ^ ((u >> 31) != 0u ? 0xffffffffu : 0x80000000u);
}

#endif
