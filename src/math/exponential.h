// exp, exp2 and expm1.
//
// In: any float. Out: at most 1 ulp (doc/arithmetic.md has the measured worst of each); subnormal
// results come from one more rounding of an exactly scaled value. Coefficients:
// tools/math/minimax.py.
// Method: x = n ln2 + r with n by the rounding of a large constant (W. J. Cody, W. Waite, "Software
// Manual for the Elementary Functions", 1980), n ln2 taken off in two parts by fma; a polynomial;
// 2^n by the exponent field.
#ifndef WF_MATH_EXPONENTIAL_H
#define WF_MATH_EXPONENTIAL_H

#include "math/divide.h"

#define WF_LOG2E 0x1.715476p+0f
#define WF_LN2_HI                                                                                  \
    0x1.62e430p-1f // 20 bits: n * WF_LN2_HI is a multiple of 2^-21, x - n * WF_LN2_HI is exact
#define WF_LN2_LO -0x1.05c610p-29f
#define WF_ROUND_BIAS 0x1.8p+23f // adding it leaves an integer in the low bits

// exp(x) = 2^n (1 + p), |p| < 0.42.
typedef struct {
    wf_i32 n;
    wf_f32 p;
} wf_exp_parts;

// (exp(r) - 1 - r) / r^2 for |r| <= ln2 / 2.
WF_FN wf_f32 wf_exp_poly(wf_f32 r)
{
    wf_f32 q = WF_FMA(0x1.6a4d60p-10f, r, 0x1.12398ep-7f);
    q = WF_FMA(q, r, 0x1.5558b0p-5f);
    q = WF_FMA(q, r, 0x1.555492p-3f);
    return WF_FMA(q, r, 0x1.fffffcp-2f);
}

// Of exp(hi + lo), |hi| < 2^15, lo below an ulp of hi. The caller keeps hi in range; NaN gives p =
// NaN and any n.
WF_FN wf_exp_parts wf_exp_reduce(wf_f32 hi, wf_f32 lo)
{
    wf_exp_parts out;
    const wf_f32 t = WF_FMA(hi, WF_LOG2E, WF_ROUND_BIAS);
    const wf_f32 n = t - WF_ROUND_BIAS;
    const wf_f32 lead = WF_FMA(n, -WF_LN2_HI, hi); // exact
    const wf_f32 rest = WF_FMA(n, -WF_LN2_LO, lo);
    const wf_f32 r = lead + rest;
    out.n = (wf_i32)(wf_as_u32(t) - wf_as_u32(WF_ROUND_BIAS));
    // r enters the leading term unrounded, as lead + rest.
    out.p = lead + WF_FMA(r * r, wf_exp_poly(r), rest);
    return out;
}

// 2^n as a product of two floats, so that a subnormal result is rounded when it is stored and no
// factor overflows.
WF_FN wf_pair wf_pow2_split(wf_i32 n)
{
    wf_pair s;
    const wf_i32 first = n >> 1;
    s.hi = wf_as_f32(((wf_u32)first << 23) + 0x3f800000u);
    s.lo = wf_as_f32(((wf_u32)(n - first) << 23) + 0x3f800000u);
    return s;
}

WF_FN wf_f32 wf_exp(wf_f32 x)
{
    wf_f32 c = x > 89.0f ? 89.0f : x; // overflows; comparisons let NaN pass
    c = c < -104.0f ? -104.0f : c;    // below half of 2^-149
    const wf_exp_parts e = wf_exp_reduce(c, 0.0f);
    const wf_pair s = wf_pow2_split(e.n);
    return WF_FMA(s.hi, e.p, s.hi) * s.lo;
}

WF_FN wf_f32 wf_exp2(wf_f32 x)
{
    wf_f32 c = x > 129.0f ? 129.0f : x;
    c = c < -151.0f ? -151.0f : c;
    const wf_f32 t = c + WF_ROUND_BIAS;
    const wf_f32 r = c - (t - WF_ROUND_BIAS); // exact
    wf_f32 q = WF_FMA(0x1.0103f2p-16f, r, 0x1.442074p-13f);
    q = WF_FMA(q, r, 0x1.5d8706p-10f);
    q = WF_FMA(q, r, 0x1.3b2a4cp-7f);
    q = WF_FMA(q, r, 0x1.c6b08ep-5f);
    q = WF_FMA(q, r, 0x1.ebfbe0p-3f);
    const wf_f32 low = r * WF_LN2_LO;
    const wf_f32 p = WF_FMA(r, WF_LN2_HI, WF_FMA(r * r, q, low));
    const wf_pair s = wf_pow2_split((wf_i32)(wf_as_u32(t) - wf_as_u32(WF_ROUND_BIAS)));
    return WF_FMA(s.hi, p, s.hi) * s.lo;
}

// exp(x) - 1 with small relative error near 0.
WF_FN wf_f32 wf_expm1(wf_f32 x)
{
    wf_f32 c = x > 89.0f ? 89.0f : x;
    c = c < -20.0f ? -20.0f : c;
    const wf_f32 t = WF_FMA(c, WF_LOG2E, WF_ROUND_BIAS);
    const wf_f32 n = t - WF_ROUND_BIAS;
    const wf_f32 r1 = WF_FMA(n, -WF_LN2_HI, c);
    const wf_f32 rest = WF_FMA(n, -WF_LN2_LO, 0.0f);
    const wf_f32 r = r1 + rest;
    wf_f32 q = WF_FMA(0x1.6d722cp-10f, r, 0x1.122680p-7f);
    q = WF_FMA(q, r, 0x1.5554c8p-5f);
    q = WF_FMA(q, r, 0x1.5554b2p-3f);
    q = WF_FMA(q, r, 0.5f);
    const wf_f32 small = WF_FMA(r * r, q, rest);
    // Half of the result, s (1 + r1 + small) - 1/2 with s = 2^(n-1), which never overflows: the two
    // large terms are added with their error (TwoSum; D. Knuth, TAOCP 2, 4.2.2), the small one
    // joins the error.
    const wf_f32 s = wf_as_f32((wf_as_u32(t) << 23) + 0x3f000000u);
    const wf_f32 b = s - 0.5f;
    const wf_f32 h = WF_FMA(s, r1, b);
    const wf_f32 v = h - b;
    const wf_f32 err = (b - (h - v)) + WF_FMA(s, r1, -v);
    const wf_f32 y = (h + WF_FMA(s, small, err)) * 2.0f;
    return wf_abs(x) < 0x1p-25f ? x : y; // also keeps -0 and subnormals
}

#endif
