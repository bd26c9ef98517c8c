// What the reductions and pooling add to cpu_gemm_vec.h: parts of vectors, and integers in the order of maxima.
#ifndef WF_CPU_PART_VEC_H
#define WF_CPU_PART_VEC_H

#include "device/cpu/kernel/cpu_gemm_vec.h"

#include <stddef.h>

typedef int32_t vi __attribute__((vector_size(VL * 4)));

// The first n < VL floats of p, fill behind them; nothing behind them is read. v_keep: v with +0 there.
#if defined(WF_ISA_AVX512)
VEC_INLINE vf v_load_part(const float *p, size_t n, vf fill)
{
    return (vf)_mm512_mask_loadu_ps((__m512)fill, (__mmask16)((1u << n) - 1u), p);
}
VEC_INLINE void v_store_part(float *p, vf v, size_t n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1u), (__m512)v);
}
VEC_INLINE vf v_keep(vf v, size_t n)
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
VEC_INLINE vi v_first(size_t n)
{
    static const int32_t edge[2 * VL] = {
#if VL == 8
        -1,
        -1,
        -1,
        -1,
#endif
        -1,
        -1,
        -1,
        -1
    };
    vi mask;
    memcpy(&mask, edge + VL - n, sizeof mask);
    return mask;
}
VEC_INLINE vf v_keep(vf v, size_t n)
{
    return (vf)(v_first(n) & (vi)v);
}
#if defined(WF_ISA_AVX2)
VEC_INLINE vf v_load_part(const float *p, size_t n, vf fill)
{
    const vi mask = v_first(n);
    return (vf)_mm256_blendv_ps((__m256)fill, _mm256_maskload_ps(p, (__m256i)mask), (__m256)mask);
}
VEC_INLINE vi v_max_int(vi a, vi b)
{
    return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
}
#else
VEC_INLINE vf v_load_part(const float *p, size_t n, vf fill)
{
    for (size_t i = 0; i < n; i++)
        fill[i] = p[i];
    return fill;
}
VEC_INLINE vi v_max_int(vi a, vi b)
{
    const vi is_above = a > b;
    return (is_above & a) | (~is_above & b);
}
#endif
VEC_INLINE void v_store_part(float *p, vf v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = v[i];
}
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
