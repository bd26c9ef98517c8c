// Correctly rounded f32 division from fma and integers, for devices whose own is not.
//
// In: any two floats. Out: a / b, round to nearest even, subnormals rounded once, IEEE-754
// specials.
// Method: significands and exponents are taken apart by integers, so that nothing overflows,
// underflows or is flushed; a reciprocal by three Newton steps, correct for every divisor but one;
// two corrections of the quotient, right by Markstein's theorem (P. Markstein, "Computation of
// elementary functions on the IBM RISC System/6000 processor", IBM J. R&D 34(1), 1990; D.
// Russinoff, "Formal Verification of Floating-Point Hardware Design", ch. on division).
// Proof by computation: all 2^23 divisors, and quotients beside midpoints, in
// test/math/math_divide_test.c.
#ifndef WF_MATH_DIVIDE_H
#define WF_MATH_DIVIDE_H

#include "math/dialect.h"

// Significand in [1, 2) of the float whose magnitude has these bits (not 0, not infinite).
WF_FN wf_f32 wf_div_significand(wf_u32 mag)
{
    // An integer below 2^23 converts exactly, and its float is normalised: that counts the leading
    // zeros.
    const wf_u32 sub = wf_as_u32((wf_f32)(wf_i32)mag);
    const wf_u32 bits = mag < 0x00800000u ? sub : mag;
    return wf_as_f32((bits & 0x007fffffu) | 0x3f800000u);
}

// Its exponent.
WF_FN wf_i32 wf_div_exponent(wf_u32 mag)
{
    const wf_i32 sub = (wf_i32)(wf_as_u32((wf_f32)(wf_i32)mag) >> 23) - 149;
    const wf_i32 normal = (wf_i32)(mag >> 23);
    return (mag < 0x00800000u ? sub : normal) - 127;
}

// 1 / b rounded to nearest, b in [1, 2).
WF_FN wf_f32 wf_div_reciprocal(wf_f32 b)
{
    // The minimax quadratic, off by at most 1/99; a hardware seed would make the proof one per
    // device.
    wf_f32 y = WF_FMA(WF_FMA(b, 0.32323232f, -1.4545455f), b, 2.1212121f);
    y = WF_FMA(WF_FMA(-b, y, 1.0f), y, y);
    y = WF_FMA(WF_FMA(-b, y, 1.0f), y, y);
    y = WF_FMA(WF_FMA(-b, y, 1.0f), y, y);
    // The one divisor, 2 - 2^-23, for which the steps settle beside the nearest float.
    return wf_as_u32(b) == 0x3fffffffu ? 0x1.000002p-1f : y;
}

// Quotient of significands a, b in [1, 2): in (0.5, 2), correctly rounded.
WF_FN wf_f32 wf_div_quotient(wf_f32 a, wf_f32 b)
{
    const wf_f32 y = wf_div_reciprocal(b);
    wf_f32 q = a * y;
    q = WF_FMA(WF_FMA(-b, q, a), y, q);
    return WF_FMA(WF_FMA(-b, q, a), y, q);
}

WF_FN wf_f32 wf_div_soft(wf_f32 a, wf_f32 b)
{
    const wf_u32 sign = (wf_as_u32(a) ^ wf_as_u32(b)) & 0x80000000u;
    const wf_u32 ma = wf_as_u32(a) & 0x7fffffffu;
    const wf_u32 mb = wf_as_u32(b) & 0x7fffffffu;
    const wf_f32 sa = wf_div_significand(ma);
    const wf_f32 sb = wf_div_significand(mb);
    const wf_f32 q = wf_div_quotient(sa, sb);
    // The exact residual's sign tells on which side of q the quotient lies.
    const wf_f32 rest = WF_FMA(-sb, q, sa);
    const wf_u32 bits = wf_as_u32(q);
    const wf_i32 e = wf_div_exponent(ma) - wf_div_exponent(mb) + (wf_i32)(bits >> 23) - 127;

    // Normal: put the exponent back. (2 * e + 254 wraps harmlessly where not used.)
    const wf_u32 normal = (bits & 0x007fffffu) | ((wf_u32)(e + 127) << 23);

    // Subnormal: units of 2^-149 with two more bits, the lower one "something is left"; round to
    // even once.
    const wf_u32 sig = (bits & 0x007fffffu) | 0x00800000u;
    const wf_i32 far = -126 - e; // bits to drop, at least one
    const wf_u32 shift = (wf_u32)(far < 1 ? 1 : far > 26 ? 26 : far);
    // q four times as fine; a negative residual means the quotient is a little below q.
    const wf_u32 fine = (sig << 3) - (wf_u32)(rest < 0.0f); // 27 bits
    const wf_u32 left = (fine & ((1u << shift) - 1u)) | (wf_u32)(rest > 0.0f);
    const wf_u32 cut = fine >> shift; // units of 2^-152
    const wf_u32 odd = cut | (wf_u32)(left != 0u);
    const wf_u32 down = odd >> 3;
    const wf_u32 tail = odd & 7u;
    const wf_u32 tie = (wf_u32)(tail == 4u) & down & 1u;
    const wf_u32 sub = down + ((wf_u32)(tail > 4u) | tie);

    wf_u32 r = e < -126 ? sub : normal;
    r = e > 127 ? 0x7f800000u : r;
    r = ((ma == 0u) | (mb == 0x7f800000u)) ? 0u : r;
    r = ((mb == 0u) | (ma == 0x7f800000u)) ? 0x7f800000u : r;
    const wf_u32 nan = (wf_u32)((ma > 0x7f800000u) | (mb > 0x7f800000u) | ((ma | mb) == 0u) |
                                ((ma == 0x7f800000u) & (mb == 0x7f800000u)));
    return wf_as_f32(nan ? 0x7fc00000u : r | sign);
}

#endif
