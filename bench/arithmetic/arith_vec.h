// The few vector operations that the kernels of this experiment need, for one instruction set per build.
//
// In: the compiler's target flags, and ARITH_SCALAR for the build that may use no fma instruction. Out: vf (VL floats) with load,
// store, broadcast, fma, and the plain operators of the vector extension. A fused multiply-add is always written as v_fma: the
// build has -ffp-contract=off, so nothing else can become one.
#ifndef ARITH_VEC_H
#define ARITH_VEC_H

#include <stdint.h>
#include <string.h>

#define ARITH_INLINE static inline __attribute__((always_inline))
#define ARITH_CAT2(a, b) a##b
#define ARITH_CAT(a, b) ARITH_CAT2(a, b)

#if defined(ARITH_SCALAR)
#define VL 4
#define ISA_NAME scalar
#elif defined(__AVX512F__)
#include <immintrin.h>
#define VL 16
#define ISA_NAME avx512
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define VL 8
#define ISA_NAME avx2
#else
#error "build with -DARITH_SCALAR, -mavx2 -mfma, or -mavx512f"
#endif

// NAME(contract) is contract_avx512 and so on: one source, one object per instruction set.
#define NAME(base) ARITH_CAT(base##_, ISA_NAME)

typedef float vf __attribute__((vector_size(VL * 4)));
typedef int32_t vi __attribute__((vector_size(VL * 4)));

ARITH_INLINE vf v_load(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}

ARITH_INLINE void v_store(float *p, vf v)
{
    memcpy(p, &v, sizeof v);
}

ARITH_INLINE vf v_zero(void)
{
    return (vf){0};
}

#if defined(ARITH_SCALAR)

ARITH_INLINE vf v_set(float x)
{
    return (vf){x, x, x, x};
}

// fma without the instruction: the product of two floats is exact in double; the sum is rounded to odd in double (TwoSum gives
// the error, and an even last bit then moves one step towards it), so the final rounding to float rounds once.
ARITH_INLINE vf v_fma(vf a, vf b, vf c)
{
    vf out;
    for (int i = 0; i < VL; i++) {
        double p = (double)a[i] * (double)b[i];
        double x = (double)c[i];
        double s = p + x;
        double t = s - p;
        double e = (p - (s - t)) + (x - t);
        uint64_t bits;
        memcpy(&bits, &s, sizeof bits);
        // Away from zero when the error has the sign of the sum, towards zero otherwise. NaN and Inf give e = NaN: untouched.
        uint64_t is_even_inexact = (uint64_t)((e > 0.0) | (e < 0.0)) & ~bits & 1u;
        uint64_t up = (uint64_t)((e > 0.0) == (s > 0.0));
        bits += is_even_inexact * (2u * up - 1u);
        memcpy(&s, &bits, sizeof s);
        out[i] = (float)s;
    }
    return out;
}

#elif VL == 16

ARITH_INLINE vf v_set(float x)
{
    return (vf)_mm512_set1_ps(x);
}

ARITH_INLINE vf v_fma(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

#else

ARITH_INLINE vf v_set(float x)
{
    return (vf)_mm256_set1_ps(x);
}

ARITH_INLINE vf v_fma(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

#endif

ARITH_INLINE vf v_select(vi mask, vf yes, vf no)
{
    return (vf)((mask & (vi)yes) | (~mask & (vi)no));
}

#endif
