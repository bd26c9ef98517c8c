// f32 <-> f16 and bf16 by integer arithmetic: narrowing rounds to nearest even once, subnormals are
// kept, NaN becomes the one NaN of the format; widening is exact.
//
// Integers because hardware disagrees: vcvtneps2bf16 flushes subnormals, and some drivers fold the
// operation before a narrowing into it (doc/arithmetic.md).
#ifndef WF_MATH_HALF_H
#define WF_MATH_HALF_H

#include "math/dialect.h"

WF_FN wf_u16 wf_f32_to_bf16(wf_f32 x)
{
    const wf_u32 u = wf_as_u32(x);
    const wf_u32 r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
    return (wf_u16)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : r);
}

WF_FN wf_f32 wf_bf16_to_f32(wf_u16 h)
{
    return wf_as_f32((wf_u32)h << 16);
}

WF_FN wf_u16 wf_f32_to_f16(wf_f32 x)
{
    const wf_u32 u = wf_as_u32(x);
    const wf_u32 sign = (u >> 16) & 0x8000u;
    const wf_u32 mag = u & 0x7fffffffu;
    // Normal: exponent bias 127 -> 15, 13 bits dropped. A carry runs into the exponent, and from
    // 65504 to infinity.
    const wf_u32 normal = (mag - (112u << 23) + 0x0fffu + ((mag >> 13) & 1u)) >> 13;
    // Subnormal, units of 2^-24: significand * 2^(e-150+24), so 126 - e bits dropped (14 at least,
    // as e <= 112).
    const wf_u32 e = mag >> 23;
    const wf_u32 far = 126u - (e > 112u ? 112u : e);
    const wf_u32 drop = far > 31u ? 31u : far;
    const wf_u32 sig = (mag & 0x007fffffu) | 0x00800000u;
    const wf_u32 kept = sig >> drop;
    const wf_u32 middle = 1u << (drop - 1u);
    const wf_u32 rest = sig & ((1u << drop) - 1u);
    // Integers, not truth values: gcc makes no vector of a bit taken as a truth value.
    const wf_u32 tie = (wf_u32)(rest == middle) & kept & 1u;
    const wf_u32 sub = kept + ((wf_u32)(rest > middle) | tie);
    wf_u32 r = mag < 0x38800000u ? sub : normal; // 2^-14
    r = mag >= 0x477ff000u ? 0x7c00u : r;        // 65520, the midpoint above the largest
    r = mag > 0x7f800000u ? 0x7e00u : r | sign;
    return (wf_u16)r;
}

WF_FN wf_f32 wf_f16_to_f32(wf_u16 h)
{
    const wf_u32 u = (wf_u32)h;
    const wf_u32 sign = (u & 0x8000u) << 16;
    const wf_u32 mag = u & 0x7fffu;
    const wf_u32 normal = (mag << 13) + (112u << 23);
    // Subnormal: the integer's own float is normalised; its exponent goes down by 24.
    const wf_u32 sub = wf_as_u32((wf_f32)(wf_i32)mag) - (24u << 23);
    wf_u32 r = mag < 0x0400u ? sub : normal;
    r = mag == 0u ? 0u : r;
    r = mag == 0x7c00u ? 0x7f800000u : r;
    r = mag > 0x7c00u ? 0x7fc00000u : r | sign;
    return wf_as_f32(r);
}

#endif
