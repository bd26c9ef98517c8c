// Vectors of floats for the product kernels, one instruction set per build: load, store, broadcast and
// fma. A fused multiply-add is always written v_fma; builds have -ffp-contract=off, so nothing else
// becomes one. Where the set has no fma it is computed through f64, to the same bits.
#ifndef WF_CPU_GEMM_VEC_H
#define WF_CPU_GEMM_VEC_H

#include <stdint.h>
#include <string.h>

#if defined(WF_ISA_AVX512) || defined(WF_ISA_AVX2)
#include <immintrin.h>
#elif defined(WF_ISA_NEON)
#include <arm_neon.h>
#endif

#define VEC_INLINE static inline __attribute__((always_inline, unused))
#define VEC_UNROLL _Pragma("GCC unroll 32")

// VL floats in a vector; a tile of TILE_ROWS rows and TILE_VECTORS vectors has as many accumulators as
// hide the latency of fma and leaves registers for b and a broadcast.
#if defined(WF_ISA_AVX512)
#define VL 16
#define TILE_ROWS 8
#define TILE_VECTORS 3
#elif defined(WF_ISA_AVX2)
#define VL 8
#define TILE_ROWS 6
#define TILE_VECTORS 2
#elif defined(WF_ISA_NEON)
#define VL 4
#define TILE_ROWS 8
#define TILE_VECTORS 3
#else
#define VL 4
#define TILE_ROWS 2
#define TILE_VECTORS 2
#endif

typedef float vf __attribute__((vector_size(VL * 4)));

VEC_INLINE vf v_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

VEC_INLINE void v_store(float *p, vf v)
{
    memcpy(p, &v, sizeof v);
}

VEC_INLINE vf v_zero(void)
{
    return (vf){0};
}

#if defined(WF_ISA_AVX512)

VEC_INLINE vf v_set(float x)
{
    return (vf)_mm512_set1_ps(x);
}
VEC_INLINE vf v_fma(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

#elif defined(WF_ISA_AVX2)

VEC_INLINE vf v_set(float x)
{
    return (vf)_mm256_set1_ps(x);
}
VEC_INLINE vf v_fma(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

#elif defined(WF_ISA_NEON)

VEC_INLINE vf v_set(float x)
{
    return (vf)vdupq_n_f32(x);
}
VEC_INLINE vf v_fma(vf a, vf b, vf c)
{
    return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}

#else

VEC_INLINE vf v_set(float x)
{
    return (vf){x, x, x, x};
}

// The product of two floats is exact in double, and p + c rounded to double rounds to the right float
// except where it lies exactly between two floats though the true sum does not, or where the float is
// subnormal and has fewer bits. Those lanes are done again with the sum rounded to odd: TwoSum gives
// its error, and an even last bit moves one step towards it.
static __attribute__((noinline)) void fma_odd(const float *a, const float *b, const float *c,
                                              float *out)
{
    for (int i = 0; i < VL; i++) {
        const double p = (double)a[i] * (double)b[i];
        const double x = (double)c[i];
        double s = p + x;
        const double t = s - p;
        const double e = (p - (s - t)) + (x - t);
        uint64_t bits;
        memcpy(&bits, &s, sizeof bits);
        // Away from zero when the error has the sign of the sum, towards zero otherwise. NaN and
        // infinity give e = NaN: untouched.
        const uint64_t is_even_inexact = (uint64_t)((e > 0.0) | (e < 0.0)) & ~bits & 1u;
        const uint64_t up = (uint64_t)((e > 0.0) == (s > 0.0));
        bits += is_even_inexact * (2u * up - 1u);
        memcpy(&s, &bits, sizeof s);
        out[i] = (float)s;
    }
}

typedef float v2f __attribute__((vector_size(8)));
typedef double v2d __attribute__((vector_size(16)));
typedef int64_t v2l __attribute__((vector_size(16)));

// Two lanes; sets `doubt` where the short way may be wrong.
VEC_INLINE v2f fma_2(v2f a, v2f b, v2f c, v2l *doubt)
{
    const v2d s = __builtin_convertvector(a, v2d) * __builtin_convertvector(b, v2d) +
                  __builtin_convertvector(c, v2d);
    const v2d size = (v2d)((v2l)s & 0x7fffffffffffffff);
    *doubt |= (((v2l)s & 0x1fffffff) == 0x10000000) | ((size < 0x1p-126) & (size > 0.0));
    return __builtin_convertvector(s, v2f);
}

VEC_INLINE vf v_fma(vf a, vf b, vf c)
{
    v2l doubt = {0, 0};
    const v2f low = fma_2((v2f){a[0], a[1]}, (v2f){b[0], b[1]}, (v2f){c[0], c[1]}, &doubt);
    const v2f high = fma_2((v2f){a[2], a[3]}, (v2f){b[2], b[3]}, (v2f){c[2], c[3]}, &doubt);
    vf out = {low[0], low[1], high[0], high[1]};
    if (__builtin_expect((doubt[0] | doubt[1]) != 0, 0)) {
        float fa[VL], fb[VL], fc[VL], fo[VL];
        memcpy(fa, &a, sizeof a);
        memcpy(fb, &b, sizeof b);
        memcpy(fc, &c, sizeof c);
        fma_odd(fa, fb, fc, fo);
        memcpy(&out, fo, sizeof out);
    }
    return out;
}

#endif
#endif
