// sin and cos of any float, and of a fraction of a turn.
//
// In: any float in radians; or an unsigned 32-bit fraction of a full turn. Out: at most 1 ulp or so
// (doc/arithmetic.md); infinite gives NaN.
// Method: |x| 2/pi mod 4 in integers, with the 96 bits of 2/pi that matter for x's exponent (M.
// Payne, R. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983), so
// there is one way for every size of x and no branch; then polynomials on [-pi/4, pi/4] for an
// argument of two floats. Coefficients: tools/math/minimax.py.
#ifndef WF_MATH_TRIGONOMETRIC_H
#define WF_MATH_TRIGONOMETRIC_H

#include "math/dialect.h"

// An angle in the octants around 0: hi * unit + lo, and the quarter turns taken off.
typedef struct {
    wf_f32 hi, unit, lo;
    wf_u32 quarter;
} wf_angle;

#define WF_HALF_PI_HI 0x1.921fb6p+0f
#define WF_HALF_PI_LO -0x1.777a5cp-25f

// Words word .. word + 3 of 2/pi, word = 0 .. 4, after 32 zero bits. By halving selections: a table
// would need a gather, and gcc turns a chain of comparisons into a table.
typedef struct {
    wf_u32 w0, w1, w2, w3;
} wf_two_over_pi_bits;

WF_FN wf_two_over_pi_bits wf_two_over_pi(wf_u32 word)
{
    wf_two_over_pi_bits out;
    const wf_u32 four = (word & 4u) != 0u, two = (word & 2u) != 0u, one = (word & 1u) != 0u;
    const wf_u32 a0 = four ? 0xf534ddc0u : 0u;
    const wf_u32 a1 = four ? 0xdb629599u : 0xa2f9836eu;
    const wf_u32 a2 = four ? 0x3c439041u : 0x4e441529u;
    const wf_u32 a3 = four ? 0xfe5163abu : 0xfc2757d1u;
    const wf_u32 b0 = two ? a2 : a0;
    const wf_u32 b1 = two ? a3 : a1;
    const wf_u32 b2 = two ? 0xf534ddc0u : a2; // four and two are never both set
    const wf_u32 b3 = two ? 0xdb629599u : a3;
    const wf_u32 b4 = two ? 0x3c439041u : 0xf534ddc0u;
    out.w0 = one ? b1 : b0;
    out.w1 = one ? b2 : b1;
    out.w2 = one ? b3 : b2;
    out.w3 = one ? b4 : b3;
    return out;
}

// Signed sixty-two-bit fraction of quarter turns, hi:lo in [-2^61, 2^61), as an angle.
WF_FN wf_angle wf_angle_from_fraction(wf_u32 hi, wf_u32 lo)
{
    wf_angle out;
    const wf_u32 sign = hi & 0x80000000u;
    const wf_u32 flip = sign ? 0xffffffffu : 0u;
    const wf_u32 mlo = (lo ^ flip) + (flip & 1u);
    const wf_u32 mhi = (hi ^ flip) + (flip & (wf_u32)(lo == 0u)); // magnitude: at most 30 bits here
    // Three pieces that convert exactly, in units of 2^-24, 2^-48 and 2^-62 of a quarter turn.
    const wf_f32 a = (wf_f32)(wf_i32)(mhi >> 6) * 0x1p-24f;
    const wf_f32 b = (wf_f32)(wf_i32)(((mhi & 63u) << 18) | (mlo >> 14)) * 0x1p-48f;
    const wf_f32 c = (wf_f32)(wf_i32)(mlo & 0x3fffu) * 0x1p-62f;
    const wf_f32 h = a + b;
    const wf_f32 l = (b - (h - a)) + c;
    out.hi = wf_as_f32(wf_as_u32(h) | sign);
    out.unit = WF_HALF_PI_HI;
    out.lo = wf_as_f32(wf_as_u32(WF_FMA(h, WF_HALF_PI_LO, l * WF_HALF_PI_HI)) ^ sign);
    out.quarter = 0u;
    return out;
}

// |x|, finite.
WF_FN wf_angle wf_angle_reduce(wf_f32 x)
{
    const wf_u32 bits = wf_as_u32(x) & 0x7fffffffu;
    const wf_u32 e = bits >> 23;
    const wf_u32 m = (bits & 0x007fffffu) | 0x00800000u; // |x| = m 2^(e-150)
    // Bits of 2/pi worth 4 or more after the product are whole turns: the window starts below them.
    const wf_u32 start = e < 126u ? 6u : e - 120u;
    const wf_u32 word = start >> 5;
    const wf_u32 shift = start & 31u;
    const wf_two_over_pi_bits t = wf_two_over_pi(word);
    const wf_u32 w0 = (t.w0 << shift) | ((t.w1 >> 1) >> (31u - shift));
    const wf_u32 w1 = (t.w1 << shift) | ((t.w2 >> 1) >> (31u - shift));
    const wf_u32 w2 = (t.w2 << shift) | ((t.w3 >> 1) >> (31u - shift));
    // The top 64 of the low 96 bits of m * (w0:w1:w2): quarter turns mod 4, 62 bits after the
    // point.
    const wf_u64 p2 = (wf_u64)m * w2;
    const wf_u64 p1 = (wf_u64)m * w1 + (p2 >> 32);
    const wf_u32 lo = (wf_u32)p1;
    const wf_u32 hi = m * w0 + (wf_u32)(p1 >> 32);
    const wf_u32 near = hi + 0x20000000u; // nearest quarter
    wf_angle out = wf_angle_from_fraction((near & 0x3fffffffu) - 0x20000000u, lo);
    const wf_i32 small = e < 126u; // below 1/2: x itself is the angle
    out.hi = small ? wf_as_f32(bits) : out.hi;
    out.unit = small ? 1.0f : out.unit;
    out.lo = small ? 0.0f : out.lo;
    out.quarter = small ? 0u : near >> 30;
    return out;
}

// t / 2^32 of a turn; exact up to the angle's two floats.
WF_FN wf_angle wf_angle_turn(wf_u32 t)
{
    const wf_u32 near = t + 0x20000000u;
    wf_angle out = wf_angle_from_fraction((near & 0x3fffffffu) - 0x20000000u, 0u);
    out.quarter = near >> 30;
    return out;
}

WF_FN wf_f32 wf_sin_poly(wf_angle r)
{
    const wf_f32 x = r.hi * r.unit;
    const wf_f32 z = x * x;
    wf_f32 q = WF_FMA(0x1.7cd428p-19f, z, -0x1.a05bb2p-13f);
    q = WF_FMA(q, z, 0x1.111176p-7f);
    q = WF_FMA(q, z, -0x1.555556p-3f);
    // The leading product enters the last sum unrounded; lo cos(x) joins the small terms.
    const wf_f32 low = r.lo * WF_FMA(-0.5f, z, 1.0f);
    return WF_FMA(r.hi, r.unit, WF_FMA(x * z, q, low));
}

WF_FN wf_f32 wf_cos_poly(wf_angle r)
{
    const wf_f32 x = r.hi * r.unit;
    const wf_f32 xl = WF_FMA(r.hi, r.unit, -x) + r.lo;
    const wf_f32 z = x * x;
    const wf_f32 zl = WF_FMA(x, x, -z);
    wf_f32 q = WF_FMA(-0x1.361852p-22f, z, 0x1.a071bep-16f);
    q = WF_FMA(q, z, -0x1.6c175ep-10f);
    q = WF_FMA(q, z, 0x1.555556p-5f);
    const wf_f32 h = WF_FMA(-0.5f, z, 1.0f);
    const wf_f32 hl = WF_FMA(-0.5f, z, 1.0f - h);
    const wf_f32 low = WF_FMA(-x, xl, WF_FMA(-0.5f, zl, hl));
    return h + WF_FMA(z * z, q, low);
}

// sin of the angle plus `more` quarter turns.
WF_FN wf_f32 wf_angle_sin(wf_angle r, wf_u32 more)
{
    const wf_u32 quarter = r.quarter + more;
    const wf_f32 y = (quarter & 1u) != 0u ? wf_cos_poly(r) : wf_sin_poly(r);
    return wf_as_f32(wf_as_u32(y) ^ ((quarter & 2u) << 30));
}

WF_FN wf_f32 wf_sin(wf_f32 x)
{
    const wf_f32 y = wf_angle_sin(wf_angle_reduce(x), 0u);
    const wf_f32 s = wf_as_f32(wf_as_u32(y) ^ (wf_as_u32(x) & 0x80000000u));
    return wf_abs(x) < WF_INF ? s : WF_NAN;
}

WF_FN wf_f32 wf_cos(wf_f32 x)
{
    const wf_f32 y = wf_angle_sin(wf_angle_reduce(x), 1u);
    return wf_abs(x) < WF_INF ? y : WF_NAN;
}

// sin and cos of 2 pi t / 2^32.
WF_FN wf_f32 wf_sin_turn(wf_u32 t)
{
    return wf_angle_sin(wf_angle_turn(t), 0u);
}
WF_FN wf_f32 wf_cos_turn(wf_u32 t)
{
    return wf_angle_sin(wf_angle_turn(t), 1u);
}

#endif
