// Integer operations where C leaves something undefined: n/0 = 0, MIN/-1 = MIN, n rem 0 = 0, MIN
// rem -1 = 0; a shift by the width or more (or by a negative count) gives 0, or the sign for an
// arithmetic right shift; + - * wrap.
#ifndef WF_MATH_INTEGER_H
#define WF_MATH_INTEGER_H

#include "math/dialect.h"

WF_FN wf_i32 wf_add_i32(wf_i32 a, wf_i32 b)
{
    return (wf_i32)((wf_u32)a + (wf_u32)b);
}
WF_FN wf_i32 wf_sub_i32(wf_i32 a, wf_i32 b)
{
    return (wf_i32)((wf_u32)a - (wf_u32)b);
}
WF_FN wf_i32 wf_mul_i32(wf_i32 a, wf_i32 b)
{
    return (wf_i32)((wf_u32)a * (wf_u32)b);
}
WF_FN wf_i64 wf_add_i64(wf_i64 a, wf_i64 b)
{
    return (wf_i64)((wf_u64)a + (wf_u64)b);
}
WF_FN wf_i64 wf_sub_i64(wf_i64 a, wf_i64 b)
{
    return (wf_i64)((wf_u64)a - (wf_u64)b);
}
WF_FN wf_i64 wf_mul_i64(wf_i64 a, wf_i64 b)
{
    return (wf_i64)((wf_u64)a * (wf_u64)b);
}

// b = -1 is a negation that wraps; dividing by 1 instead keeps MIN / -1 away from the hardware.
WF_FN wf_i32 wf_div_i32(wf_i32 a, wf_i32 b)
{
    const wf_i32 safe = ((b == 0) | (b == -1)) ? 1 : b;
    const wf_i32 q = a / safe;
    return b == 0 ? 0 : b == -1 ? wf_sub_i32(0, a) : q;
}

WF_FN wf_i32 wf_rem_i32(wf_i32 a, wf_i32 b)
{
    const wf_i32 safe = ((b == 0) | (b == -1)) ? 1 : b;
    return a % safe;
}

WF_FN wf_i64 wf_div_i64(wf_i64 a, wf_i64 b)
{
    const wf_i64 safe = ((b == 0) | (b == -1)) ? 1 : b;
    const wf_i64 q = a / safe;
    return b == 0 ? 0 : b == -1 ? wf_sub_i64(0, a) : q;
}

WF_FN wf_i64 wf_rem_i64(wf_i64 a, wf_i64 b)
{
    const wf_i64 safe = ((b == 0) | (b == -1)) ? 1 : b;
    return a % safe;
}

WF_FN wf_i32 wf_shl_i32(wf_i32 a, wf_i32 n)
{
    const wf_u32 r = (wf_u32)a << ((wf_u32)n & 31u);
    return (wf_u32)n < 32u ? (wf_i32)r : 0;
}

WF_FN wf_i32 wf_shr_i32(wf_i32 a, wf_i32 n)
{
    return a >> ((wf_u32)n < 32u ? n : 31);
}

WF_FN wf_u32 wf_shr_u32(wf_u32 a, wf_i32 n)
{
    const wf_u32 r = a >> ((wf_u32)n & 31u);
    return (wf_u32)n < 32u ? r : 0u;
}

WF_FN wf_i64 wf_shl_i64(wf_i64 a, wf_i64 n)
{
    const wf_u64 r = (wf_u64)a << ((wf_u64)n & 63u);
    return (wf_u64)n < 64u ? (wf_i64)r : 0;
}

WF_FN wf_i64 wf_shr_i64(wf_i64 a, wf_i64 n)
{
    return a >> ((wf_u64)n < 64u ? n : 63);
}

#endif
