// tanh.
//
// In: any float. Out: at most 1.5 ulp; tanh(-x) = -tanh(x) to the bit.
// Method: odd polynomial below 0.625; above, 1 - 2 / (exp(2x) + 1), where exp(2x) + 1 = (2^n + 1) +
// 2^n p is rounded once.
// Coefficients: tools/math/minimax.py.
#ifndef WF_MATH_HYPERBOLIC_H
#define WF_MATH_HYPERBOLIC_H

#include "math/exponential.h"

WF_FN wf_f32 wf_tanh(wf_f32 x)
{
    const wf_f32 a = wf_abs(x);
    const wf_f32 z = a * a;
    wf_f32 q = WF_FMA(-0x1.72a806p-8f, z, 0x1.5177cep-6f);
    q = WF_FMA(q, z, -0x1.b82360p-5f);
    q = WF_FMA(q, z, 0x1.110678p-3f);
    q = WF_FMA(q, z, -0x1.555530p-2f);
    const wf_f32 small = WF_FMA(a * z, q, a);

    const wf_f32 b = a > 10.0f ? 10.0f : a; // 1 to f32 from 9.01 on
    const wf_exp_parts e = wf_exp_reduce(b + b, 0.0f);
    const wf_f32 s = wf_as_f32(((wf_u32)e.n << 23) + 0x3f800000u);
    const wf_f32 large = 1.0f - WF_DIV(2.0f, WF_FMA(s, e.p, s + 1.0f));
    return wf_copysign(a < 0.625f ? small : large, x);
}

#endif
