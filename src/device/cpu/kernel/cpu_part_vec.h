// What the reductions and pooling add to cpu_gemm_vec.h: parts of vectors, and integers in the order of maxima.
#ifndef WF_CPU_PART_VEC_H
#define WF_CPU_PART_VEC_H

#include "device/cpu/kernel/cpu_gemm_vec.h"

typedef int32_t vi __attribute__((vector_size(VL * 4)));

// The first n < VL floats of p, fill behind them; nothing behind them is read. v_keep: v with +0 there.
#if defined(WF_ISA_AVX512)
VEC_INLINE vf v_load_fill(const float *p, int64_t n, vf fill)
{
    return (vf)_mm512_mask_loadu_ps((__m512)fill, (__mmask16)((1u << n) - 1u), p);
}
VEC_INLINE vf v_keep(vf v, int64_t n)
{
    return (vf)_mm512_maskz_mov_ps((__mmask16)((1u << n) - 1u), (__m512)v);
}
VEC_INLINE vi v_max_int(vi a, vi b)
{
    return (vi)_mm512_max_epi32((__m512i)a, (__m512i)b);
}
VEC_INLINE int32_t v_top_int(vi a)
{
    return _mm512_reduce_max_epi32((__m512i)a);
}
#else
VEC_INLINE int32_t v_top_int(vi a)
{
    int32_t top = a[0];
    for (int i = 1; i < VL; i++)
        top = a[i] > top ? a[i] : top;
    return top;
}
#if defined(WF_ISA_AVX2)
VEC_INLINE vf v_load_fill(const float *p, int64_t n, vf fill)
{
    const __m256i mask = v_first(n);
    return (vf)_mm256_blendv_ps((__m256)fill, _mm256_maskload_ps(p, mask), (__m256)mask);
}
VEC_INLINE vf v_keep(vf v, int64_t n)
{
    return (vf)((vi)v_first(n) & (vi)v);
}
VEC_INLINE vi v_max_int(vi a, vi b)
{
    return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
#else
VEC_INLINE vf v_load_fill(const float *p, int64_t n, vf fill)
{
    for (int64_t i = 0; i < n; i++)
        fill[i] = p[i];
    return fill;
}
VEC_INLINE vf v_keep(vf v, int64_t n)
{
    for (int64_t i = n; i < VL; i++)
        v[i] = 0.0f;
    return v;
}
VEC_INLINE vi v_max_int(vi a, vi b)
{
    const vi is_above = a > b;
    return (is_above & a) | (~is_above & b);
}
#endif
#endif

// Integers in the order of maxima: NaN above all, +0 above -0. NaN becomes the one NaN. None is INT32_MIN.
VEC_INLINE vi v_to_key(vf x)
{
    const vi bits = (vi)x;
    const vi is_nan = (bits & 0x7fffffff) > 0x7f800000;
    const vi key = bits ^ ((bits >> 31) & 0x7fffffff);
    return (is_nan & 0x7fc00000) | (~is_nan & key);
}

VEC_INLINE vf v_from_key(vi key)
{
    return (vf)(key ^ ((key >> 31) & 0x7fffffff));
}

#endif
