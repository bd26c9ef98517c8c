// Correctly rounded f32 square root from fma and integers, for devices whose own is not; and
// 1/sqrt(x).
//
// In: any float. Out: sqrt(x), round to nearest even; NaN below zero, sqrt(-0) = -0.
// Method: scaled by integers into [1, 4) with an even exponent; the bit-shift seed, three Newton
// steps for 1/sqrt, one correction of the root. Right for every significand: all 2^24 of two
// binades are run in test/math/math_divide_test.c, so the neighbour test that a proof would need is
// left out. The result is never subnormal.
#ifndef WF_MATH_SQUARE_ROOT_H
#define WF_MATH_SQUARE_ROOT_H

#include "math/divide.h"

// Square root of x in [1, 4).
WF_FN wf_f32 wf_sqrt_significand(wf_f32 x)
{
    wf_f32 y = wf_as_f32(0x5f3759dfu - (wf_as_u32(x) >> 1));
    y = WF_FMA(0.5f * y, WF_FMA(-(x * y), y, 1.0f), y);
    y = WF_FMA(0.5f * y, WF_FMA(-(x * y), y, 1.0f), y);
    y = WF_FMA(0.5f * y, WF_FMA(-(x * y), y, 1.0f), y);
    const wf_f32 s = x * y;
    return WF_FMA(WF_FMA(-s, s, x), 0.5f * y, s);
}

WF_FN wf_f32 wf_sqrt_soft(wf_f32 x)
{
    const wf_u32 bits = wf_as_u32(x);
    const wf_u32 mag = bits & 0x7fffffffu;
    const wf_i32 e = wf_div_exponent(mag);
    const wf_u32 odd = (wf_u32)e & 1u;
    const wf_f32 m = wf_as_f32(wf_as_u32(wf_div_significand(mag)) + (odd << 23));
    const wf_u32 root = wf_as_u32(wf_sqrt_significand(m)) + ((wf_u32)((e - (wf_i32)odd) / 2) << 23);
    wf_u32 r = bits > 0x7f800000u ? 0x7fc00000u : root; // NaN, or below zero
    r = bits == 0x7f800000u ? bits : r;
    r = mag == 0u ? bits : r;
    return wf_as_f32(r);
}

// 1 / sqrt(x) by two correctly rounded operations: at most 1.5 ulp.
WF_FN wf_f32 wf_rsqrt(wf_f32 x)
{
    return WF_DIV(1.0f, WF_SQRT(x));
}

#endif
