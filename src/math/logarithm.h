// log, log2 and log1p.
//
// In: any float. Out: at most 1 ulp (log), 1.5 (log2, log1p); 0 gives -inf, below the domain NaN.
// Method: x = 2^n (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)), so that n = 0 around x = 1 and
// nothing cancels there; n ln2 + f is exact as a sum of two floats, polynomial and small parts go
// into the lower one. Coefficients: tools/math/minimax.py.
#ifndef WF_MATH_LOGARITHM_H
#define WF_MATH_LOGARITHM_H

#include "math/divide.h"

#define WF_SQRT_HALF_BITS 0x3f3504f3u
#define WF_LOG_LN2_HI 0x1.62e400p-1f // 15 bits: n times it is exact
#define WF_LOG_LN2_LO 0x1.7f7d1cp-20f

// (log(1 + f) - f) / f^2 for 1 + f in [sqrt(1/2), sqrt(2)).
WF_FN wf_f32 wf_log_poly(wf_f32 f)
{
    wf_f32 q = WF_FMA(-0x1.38c9dep-4f, f, 0x1.055ec6p-3f);
    q = WF_FMA(q, f, -0x1.0d8242p-3f);
    q = WF_FMA(q, f, 0x1.22d92ep-3f);
    q = WF_FMA(q, f, -0x1.54728ap-3f);
    q = WF_FMA(q, f, 0x1.99a01cp-3f);
    q = WF_FMA(q, f, -0x1.000226p-2f);
    q = WF_FMA(q, f, 0x1.555554p-2f);
    return WF_FMA(q, f, -0.5f);
}

// n ln2 + log(1 + f) + low (1 - f + f^2): low stands for a rounding error of 1 + f, so that 1 / (1
// + f) need not be exact.
WF_FN wf_f32 wf_log_join(wf_f32 n, wf_f32 f, wf_f32 low)
{
    const wf_f32 a = WF_FMA(n, WF_LOG_LN2_HI, f);
    const wf_f32 err = WF_FMA(n, WF_LOG_LN2_HI, -a) + f;
    wf_f32 small = WF_FMA(n, WF_LOG_LN2_LO, err);
    small = WF_FMA(low, WF_FMA(f, f - 1.0f, 1.0f), small);
    return a + WF_FMA(f * f, wf_log_poly(f), small);
}

// x = 2^n (1 + f) for positive finite x.
typedef struct {
    wf_f32 n, f;
} wf_log_parts;

WF_FN wf_log_parts wf_log_reduce(wf_f32 x)
{
    wf_log_parts out;
    const wf_f32 y = x < 0x1p-126f ? x * 0x1p23f : x;
    const wf_u32 i = wf_as_u32(y) - WF_SQRT_HALF_BITS;
    out.n = (wf_f32)(((wf_i32)i >> 23) - (x < 0x1p-126f ? 23 : 0));
    out.f = wf_as_f32((i & 0x007fffffu) + WF_SQRT_HALF_BITS) - 1.0f;
    return out;
}

// y where x is positive and finite; what log and log2 give elsewhere.
WF_FN wf_f32 wf_log_special(wf_f32 x, wf_f32 y)
{
    const wf_f32 outside = x < 0.0f ? WF_NAN : x; // inf and NaN are their own
    const wf_f32 special = x == 0.0f ? -WF_INF : outside;
    return ((x > 0.0f) & (x < WF_INF)) ? y : special;
}

WF_FN wf_f32 wf_log(wf_f32 x)
{
    const wf_log_parts m = wf_log_reduce(x);
    const wf_f32 a = WF_FMA(m.n, WF_LOG_LN2_HI, m.f);
    const wf_f32 err = WF_FMA(m.n, WF_LOG_LN2_HI, -a) + m.f;
    const wf_f32 small = WF_FMA(m.n, WF_LOG_LN2_LO, err);
    return wf_log_special(x, a + WF_FMA(m.f * m.f, wf_log_poly(m.f), small));
}

WF_FN wf_f32 wf_log2(wf_f32 x)
{
    const wf_log_parts m = wf_log_reduce(x);
    const wf_f32 f = m.f;
    wf_f32 q = WF_FMA(-0x1.c39bb6p-4f, f, 0x1.7f2818p-3f);
    q = WF_FMA(q, f, -0x1.87f7eap-3f);
    q = WF_FMA(q, f, 0x1.a2c9dcp-3f);
    q = WF_FMA(q, f, -0x1.eaa24ap-3f);
    q = WF_FMA(q, f, 0x1.277f44p-2f);
    q = WF_FMA(q, f, -0x1.715afep-2f);
    q = WF_FMA(q, f, 0x1.ec7094p-2f);
    q = WF_FMA(q, f, -0x1.715470p-1f);
    // n + f log2(e): the product enters unrounded, the sum's error is kept.
    const wf_f32 a = WF_FMA(f, 0x1.715476p+0f, m.n);
    const wf_f32 err = WF_FMA(f, 0x1.715476p+0f, m.n - a);
    const wf_f32 small = WF_FMA(f * f, q, WF_FMA(f, 0x1.4ae0c0p-26f, err));
    return wf_log_special(x, a + small);
}

// log(1 + x) with small relative error near 0.
WF_FN wf_f32 wf_log1p(wf_f32 x)
{
    const wf_f32 u = 1.0f + x;
    const wf_f32 v = u - 1.0f;
    const wf_f32 err = (1.0f - (u - v)) + (x - v); // 1 + x = u + err exactly (TwoSum)
    const wf_u32 i = wf_as_u32(u) - WF_SQRT_HALF_BITS;
    const wf_i32 n = (wf_i32)i >> 23;
    const wf_f32 m = wf_as_f32((i & 0x007fffffu) + WF_SQRT_HALF_BITS);
    const wf_f32 f = n == 0 ? x : m - 1.0f; // x itself carries no rounding
    const wf_f32 scaled = err * wf_pow2(n > 64 ? -64 : -n);
    const wf_f32 y = wf_log_join((wf_f32)n, f, n == 0 ? 0.0f : scaled);
    const wf_f32 outside = x < -1.0f ? WF_NAN : x;
    const wf_f32 special = x == -1.0f ? -WF_INF : outside;
    const wf_f32 r = ((x > -1.0f) & (x < WF_INF)) ? y : special;
    return wf_abs(x) < 0x1p-25f ? x : r;
}

#endif
