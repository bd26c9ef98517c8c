// pow.
//
// In: any two floats. Out: at most 1.5 ulp. Special values as IEEE 754-2019 and C have them: pow(x,
// +-0) = 1 and pow(1, y) = 1 for every x and y, NaN too; a negative base needs an integer exponent,
// else NaN.
// Method: log2|x| to about 2^-34 relative as two floats (atanh series in s = f / (2 + f), its first
// two terms in two floats), times y as two floats, exp2. Coefficients: tools/math/minimax.py.
#ifndef WF_MATH_POWER_H
#define WF_MATH_POWER_H

#include "math/exponential.h"
#include "math/logarithm.h"

// log2(x) as hi + lo, x positive and finite.
WF_FN wf_pair wf_log2_pair(wf_f32 x)
{
    wf_pair out;
    const wf_log_parts k = wf_log_reduce(x);
    const wf_f32 f = k.f;
    // s = f / (2 + f), |s| < 0.172: sh by the reciprocal, sl from the exact residual.
    const wf_f32 d = 2.0f + f;
    const wf_f32 dl = f - (d - 2.0f);
    const wf_f32 y = WF_DIV(1.0f, d);
    const wf_f32 sh = f * y;
    const wf_f32 sl = WF_FMA(-sh, dl, WF_FMA(-sh, d, f)) * y;
    const wf_f32 zh = sh * sh;
    const wf_f32 zl = WF_FMA(sh + sh, sl, WF_FMA(sh, sh, -zh));
    // log2(1 + f) = s (C0 + z (C1 + z T(z))), C0 = 2 / ln2, C1 = C0 / 3
    wf_f32 t = WF_FMA(0x1.5a11d6p-2f, zh, 0x1.a5ba72p-2f);
    t = WF_FMA(t, zh, 0x1.277710p-1f);
    const wf_f32 wh = WF_FMA(t, zh, 0x1.ec709ep-1f);
    const wf_f32 wl = WF_FMA(t, zh, 0x1.ec709ep-1f - wh) + -0x1.e2fe02p-28f;
    const wf_f32 vl = WF_FMA(zh, wl, zl * wh);
    const wf_f32 uh = WF_FMA(zh, wh, 0x1.715476p+1f);
    const wf_f32 ul = (WF_FMA(zh, wh, 0x1.715476p+1f - uh) + vl) + 0x1.4ae0c0p-25f;
    const wf_f32 ll = WF_FMA(sh, ul, sl * uh);
    const wf_f32 a = WF_FMA(sh, uh, k.n);
    const wf_f32 al = WF_FMA(sh, uh, k.n - a) + ll;
    out.hi = a + al;
    out.lo = al - (out.hi - a);
    return out;
}

WF_FN wf_f32 wf_pow(wf_f32 x, wf_f32 y)
{
    const wf_f32 ax = wf_abs(x);
    const wf_f32 ay = wf_abs(y);
    const wf_pair l = wf_log2_pair(ax);
    // y log2(x), held inside [-160, 160]: beyond, the result is 0 or infinite whatever the low part
    // is.
    const wf_f32 eh = y * l.hi;
    const wf_f32 el = WF_FMA(y, l.hi, -eh) + WF_FMA(y, l.lo, 0.0f);
    const wf_i32 inside = wf_abs(eh) < 160.0f;
    const wf_f32 edge = eh > 0.0f ? 160.0f : -160.0f;
    const wf_f32 hi = inside ? eh : edge;
    const wf_f32 lo = inside ? el : 0.0f;
    const wf_f32 t = hi + WF_ROUND_BIAS;
    const wf_f32 r = (hi - (t - WF_ROUND_BIAS)) + lo;
    wf_f32 q = WF_FMA(0x1.0103f2p-16f, r, 0x1.442074p-13f);
    q = WF_FMA(q, r, 0x1.5d8706p-10f);
    q = WF_FMA(q, r, 0x1.3b2a4cp-7f);
    q = WF_FMA(q, r, 0x1.c6b08ep-5f);
    q = WF_FMA(q, r, 0x1.ebfbe0p-3f);
    const wf_f32 p = WF_FMA(r, WF_LN2_HI, WF_FMA(r * r, q, r * WF_LN2_LO));
    const wf_pair s = wf_pow2_split((wf_i32)(wf_as_u32(t) - wf_as_u32(WF_ROUND_BIAS)));
    wf_f32 z = WF_FMA(s.hi, p, s.hi) * s.lo;

    // Zero and infinite bases, infinite exponents.
    const wf_f32 grows = y > 0.0f ? ax : WF_DIV(1.0f, ax);
    z = ((ax == 0.0f) | (ax == WF_INF)) ? grows : z;
    const wf_f32 end = (ax > 1.0f) == (y > 0.0f) ? WF_INF : 0.0f;
    z = ay == WF_INF ? end : z;
    // Negative bases. Below 2^23 adding 2^23 shows the integer's last bit; from 2^24 on all are
    // even.
    const wf_f32 whole = ay + 0x1p23f;
    const wf_i32 integer = (ay >= 0x1p23f) | (whole - 0x1p23f == ay);
    const wf_u32 last = (ay < 0x1p23f ? wf_as_u32(whole) : wf_as_u32(ay)) & (wf_u32)(ay < 0x1p24f);
    const wf_u32 negative = wf_as_u32(x) >> 31;
    const wf_u32 flip = negative & last & (wf_u32)integer;
    z = wf_as_f32(wf_as_u32(z) ^ (flip << 31));
    z = ((x < 0.0f) & (ax < WF_INF) & (integer == 0)) ? WF_NAN : z;
    z = ((x != x) | (y != y)) ? WF_NAN : z;
    return ((y == 0.0f) | (x == 1.0f) | ((ax == 1.0f) & (ay == WF_INF))) ? 1.0f : z;
}

#endif
