// erf and erfc.
//
// In: any float. Out: at most 1.5 ulp; erfc keeps its relative error down to the last subnormal.
// Method: erf: x + x E(x^2) below 0.9, 1 - exp(-x - x G(x)) above. erfc: exp(-x^2) with x^2 as two
// floats, times erfcx(x) = P(q) / (x + 2), q = (x - 2) / (x + 2) (M. M. Shepherd, J. G.
// Laframboise, "Chebyshev approximation of (1 + 2x) exp(x^2) erfc x", Math. Comp. 36, 1981, uses
// the same variable). Coefficients: tools/math/minimax.py.
#ifndef WF_MATH_ERROR_FUNCTION_H
#define WF_MATH_ERROR_FUNCTION_H

#include "math/exponential.h"

WF_FN wf_f32 wf_erf(wf_f32 x)
{
    const wf_f32 a = wf_abs(x);
    const wf_f32 z = a * a;
    wf_f32 q = WF_FMA(0x1.4e3674p-14f, z, -0x1.a5b786p-11f);
    q = WF_FMA(q, z, 0x1.54423cp-8f);
    q = WF_FMA(q, z, -0x1.b8007ep-6f);
    q = WF_FMA(q, z, 0x1.ce2d60p-4f);
    q = WF_FMA(q, z, -0x1.812740p-2f);
    q = WF_FMA(q, z, 0x1.06eba8p-3f);
    const wf_f32 small = WF_FMA(a, q, a);

    const wf_f32 b = a > 3.95f ? 3.95f : a; // 1 to f32 from 3.84 on
    wf_f32 g = WF_FMA(0x1.638a90p-18f, b, -0x1.a30554p-15f);
    g = WF_FMA(g, b, -0x1.cb8110p-16f);
    g = WF_FMA(g, b, 0x1.780c44p-9f);
    g = WF_FMA(g, b, -0x1.71e07cp-6f);
    g = WF_FMA(g, b, 0x1.aec622p-4f);
    g = WF_FMA(g, b, 0x1.4576f4p-1f);
    g = WF_FMA(g, b, 0x1.0740bcp-3f);
    const wf_exp_parts e = wf_exp_reduce(-WF_FMA(b, g, b), 0.0f);
    const wf_f32 s = wf_as_f32(((wf_u32)e.n << 23) + 0x3f800000u);
    const wf_f32 large = WF_FMA(-s, e.p, 1.0f - s);
    return wf_copysign(a < 0.9f ? small : large, x);
}

// 1 / (a + 2) and what it lacks, for 0 <= a < 16: the reciprocal is t (1 + e); q + ql = (a - 2) /
// (a + 2).
typedef struct {
    wf_f32 t, e, q, ql;
} wf_erfc_ratio;

WF_FN wf_erfc_ratio wf_erfc_reduce(wf_f32 a)
{
    wf_erfc_ratio out;
    const wf_f32 d = a + 2.0f;
    const wf_f32 low = a - (d - 2.0f); // d - 2 is exact, so this is the rounding error of d
    out.t = WF_DIV(1.0f, d);
    out.e = WF_FMA(-out.t, low, WF_FMA(-out.t, d, 1.0f));
    out.q = WF_FMA(-4.0f, out.t, 1.0f);
    out.ql = WF_FMA(-4.0f, out.t * out.e, WF_FMA(-4.0f, out.t, 1.0f - out.q));
    return out;
}

WF_FN wf_f32 wf_erfc(wf_f32 x)
{
    const wf_f32 a = wf_abs(x);
    const wf_f32 b = a > 10.2f ? 10.2f : a; // erfc(10.2) is below half of 2^-149
    const wf_f32 h = b * b;
    const wf_f32 low = WF_FMA(b, b, -h);
    const wf_exp_parts e = wf_exp_reduce(-h, -low);
    const wf_erfc_ratio k = wf_erfc_reduce(b);
    const wf_f32 q = k.q;
    wf_f32 p = WF_FMA(0x1.ea01fcp-16f, q, 0x1.fbd18cp-14f);
    p = WF_FMA(p, q, 0x1.0d387cp-15f);
    p = WF_FMA(p, q, -0x1.56bdfcp-11f);
    p = WF_FMA(p, q, -0x1.b772eep-11f);
    p = WF_FMA(p, q, 0x1.94d830p-9f);
    p = WF_FMA(p, q, 0x1.a8b424p-8f);
    p = WF_FMA(p, q, -0x1.606d5cp-6f);
    p = WF_FMA(p, q, -0x1.2a897cp-5f);
    p = WF_FMA(p, q, 0x1.1e2deep-2f);
    const wf_f32 p1 = WF_FMA(p, q, -0x1.5fd386p-1f);
    const wf_f32 p1l = WF_FMA(p, q, -0x1.5fd386p-1f - p1);
    const wf_f32 ph = WF_FMA(p1, q, 0x1.058672p+0f);
    const wf_f32 slope = WF_FMA(0.559f, q, -0.687f); // near enough to carry ql
    const wf_f32 pl0 = WF_FMA(p1, q, 0x1.058672p+0f - ph) + -0x1.27c7d0p-26f;
    const wf_f32 pl = WF_FMA(k.ql, slope, WF_FMA(p1l, q, pl0));
    // t (1 + e) (ph + pl) (1 + p): the leading product enters the last sum unrounded.
    const wf_f32 m = k.t * ph;
    const wf_f32 ml = WF_FMA(k.t, ph, -m);
    const wf_f32 small = WF_FMA(m, k.e, k.t * pl);
    const wf_f32 rest = WF_FMA(m, e.p, WF_FMA(ml + small, e.p, small));
    const wf_f32 y = WF_FMA(k.t, ph, rest);
    const wf_pair s = wf_pow2_split(e.n);
    const wf_f32 scaled = y * s.hi;
    return x < 0.0f ? WF_FMA(-scaled, s.lo, 2.0f) : scaled * s.lo;
}

#endif
