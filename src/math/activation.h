// sigmoid, silu, softplus, gelu and gelu_tanh: functions of their own, because compositions of exp,
// tanh and erf lose all relative accuracy in the tails.
//
// In: any float. Out: at most 1.5 ulp, tails included. Limits at -inf: sigmoid, softplus 0; silu,
// gelu, gelu_tanh -0.
// Method: the small one of the two tails, for a = |x|, is computed with its rounding errors kept;
// the other side is x minus it (or 1 minus it). Coefficients: tools/math/minimax.py.
#ifndef WF_MATH_ACTIVATION_H
#define WF_MATH_ACTIVATION_H

#include "math/error_function.h"
#include "math/exponential.h"
#include "math/logarithm.h"

// 1 / (1 + exp(a)) = q (1 + e) scale, for 0 <= a < 170.
typedef struct {
    wf_f32 q, e, scale;
} wf_sigmoid_parts;

WF_FN wf_sigmoid_parts wf_sigmoid_reduce(wf_f32 hi, wf_f32 lo)
{
    wf_sigmoid_parts out;
    const wf_exp_parts x = wf_exp_reduce(hi, lo);
    const wf_i32 n =
        x.n > 64 ? 64 : x.n; // the rest of the exponent goes into scale: no overflow on the way
    const wf_f32 s = wf_as_f32(((wf_u32)n << 23) + 0x3f800000u);
    out.scale = wf_as_f32(((wf_u32)(n - x.n) << 23) + 0x3f800000u);
    // d + dl = s (1 + p) + 1
    const wf_f32 one = s + 1.0f;
    const wf_f32 d = WF_FMA(s, x.p, one);
    const wf_f32 dl = WF_FMA(s, x.p, one - d) + (1.0f - (one - s));
    out.q = WF_DIV(1.0f, d);
    out.e = WF_FMA(-out.q, dl, WF_FMA(-out.q, d, 1.0f));
    return out;
}

WF_FN wf_f32 wf_sigmoid(wf_f32 x)
{
    wf_f32 a = wf_abs(x);
    a = a > 110.0f ? 110.0f : a;
    const wf_sigmoid_parts s = wf_sigmoid_reduce(a, 0.0f);
    const wf_f32 q = WF_FMA(s.q, s.e, s.q);
    return x > 0.0f ? WF_FMA(-q, s.scale, 1.0f) : q * s.scale;
}

// a q (1 + e) is the tail's magnitude: -tail below zero, x - tail above.
WF_FN wf_f32 wf_silu_join(wf_f32 x, wf_f32 a, wf_sigmoid_parts s)
{
    const wf_f32 ae = a * s.q * s.e;
    const wf_f32 t = WF_FMA(a, s.q, ae);
    // By the sign, so that +0 and -0 stay themselves.
    return wf_as_u32(x) < 0x80000000u ? WF_FMA(-t, s.scale, x) : t * -s.scale;
}

// x sigmoid(x)
WF_FN wf_f32 wf_silu(wf_f32 x)
{
    wf_f32 a = wf_abs(x);
    a = a > 110.0f ? 110.0f : a;
    return wf_silu_join(x, a, wf_sigmoid_reduce(a, 0.0f));
}

// 2 sqrt(2/pi) and that times 0.044715, each as the sum of two floats.
#define WF_GELU_C0_HI 0x1.988454p+0f
#define WF_GELU_C0_LO -0x1.857936p-25f
#define WF_GELU_C1_HI 0x1.2444f2p-4f
#define WF_GELU_C1_LO 0x1.49b16ap-29f

// x (1 + tanh(u)) / 2 = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3)
WF_FN wf_f32 wf_gelu_tanh(wf_f32 x)
{
    wf_f32 a = wf_abs(x);
    a = a > 11.0f ? 11.0f : a;
    // 2u as two floats: its absolute error becomes the result's relative error.
    const wf_f32 z = a * a;
    const wf_f32 zl = WF_FMA(a, a, -z);
    const wf_f32 w = WF_FMA(WF_GELU_C1_HI, z, WF_GELU_C0_HI);
    // TwoSum of c0 and the unrounded product c1 z.
    const wf_f32 v = w - WF_GELU_C0_HI;
    const wf_f32 c0 = WF_GELU_C0_HI - (w - v);
    wf_f32 wl = WF_FMA(WF_GELU_C1_HI, z, -v) + c0;
    wl = WF_FMA(WF_GELU_C1_HI, zl, wl);
    wl = WF_FMA(WF_GELU_C1_LO, z, wl) + WF_GELU_C0_LO;
    const wf_f32 hi = a * w;
    const wf_f32 lo = WF_FMA(a, wl, WF_FMA(a, w, -hi));
    return wf_silu_join(x, a, wf_sigmoid_reduce(hi, lo));
}

// x erfc(-x / sqrt(2)) / 2
WF_FN wf_f32 wf_gelu(wf_f32 x)
{
    wf_f32 a = wf_abs(x);
    a = a > 15.0f ? 15.0f : a;
    const wf_f32 h = a * a;
    const wf_f32 low = WF_FMA(a, a, -h);
    const wf_exp_parts e = wf_exp_reduce(-0.5f * h, -0.5f * low);
    const wf_erfc_ratio k = wf_erfc_reduce(a);
    const wf_f32 q = k.q;
    // erfcx(a / sqrt(2)) (a + 2) / 2
    wf_f32 p = WF_FMA(-0x1.0d0098p-14f, q, -0x1.37905cp-13f);
    p = WF_FMA(p, q, 0x1.10b3fep-13f);
    p = WF_FMA(p, q, 0x1.b60946p-11f);
    p = WF_FMA(p, q, 0x1.b0e87ep-11f);
    p = WF_FMA(p, q, -0x1.ff71f0p-10f);
    p = WF_FMA(p, q, -0x1.b964fcp-8f);
    p = WF_FMA(p, q, -0x1.eca9f4p-12f);
    p = WF_FMA(p, q, 0x1.2cce50p-5f);
    p = WF_FMA(p, q, 0x1.d7d0f0p-6f);
    p = WF_FMA(p, q, -0x1.535bb2p-2f);
    const wf_f32 ph = WF_FMA(p, q, 0x1.5845dcp-1f);
    const wf_f32 pl =
        WF_FMA(k.ql, -0.3f, WF_FMA(p, q, 0x1.5845dcp-1f - ph) + 0x1.5af46cp-26f); // -0.3: the slope
    // The tail a t (1 + e) (ph + pl) exp(): g + gl = a t, and the leading product enters the last
    // sum unrounded.
    const wf_f32 g = a * k.t;
    const wf_f32 gl = WF_FMA(a, k.t, -g);
    const wf_f32 m = g * ph;
    const wf_f32 ml = WF_FMA(g, ph, -m);
    const wf_f32 small = WF_FMA(m, k.e, WF_FMA(gl, ph, g * pl));
    const wf_f32 rest = WF_FMA(m, e.p, WF_FMA(ml + small, e.p, small));
    const wf_pair s = wf_pow2_split(e.n);
    const wf_f32 t = WF_FMA(g, ph, rest) * s.hi;
    const wf_f32 y = x > 0.0f ? WF_FMA(-t, s.lo, x) : t * -s.lo;
    return wf_abs(x) < 0x1p-30f ? 0.5f * x : y; // the products' errors would be lost below
}

// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|))
WF_FN wf_f32 wf_softplus(wf_f32 x)
{
    wf_f32 a = wf_abs(x);
    a = a > 104.0f ? 104.0f : a;
    const wf_exp_parts e = wf_exp_reduce(-a, 0.0f);
    const wf_pair s = wf_pow2_split(e.n);
    const wf_f32 v = WF_FMA(s.hi, e.p, s.hi);
    const wf_f32 u = v * s.lo; // in (0, 1]; with ul what its rounding lost
    const wf_f32 ul = WF_FMA(s.hi, e.p, s.hi - v) * s.lo;
    const wf_i32 big = u > 0x1.a8279ap-2f; // sqrt(2) - 1
    const wf_f32 f = big ? WF_FMA(0.5f, u, -0.5f) : u;
    const wf_f32 fl =
        WF_FMA(0.5f, ul, WF_FMA(0.5f, u, -0.5f - f)); // the halved difference may need a 25th bit
    const wf_f32 y = wf_log_join(big ? 1.0f : 0.0f, f, big ? fl : ul);
    const wf_f32 tail = u < 0x1p-26f ? u : y;
    return x > 0.0f ? x + tail : tail;
}

#endif
