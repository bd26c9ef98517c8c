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

// fma without the instruction. The product of two floats is exact in double, and p + c rounded to double rounds to the right float
// except where it lies exactly between two floats though the true sum does not, or where the float is subnormal and has fewer bits.
// Those lanes are done again with the sum rounded to odd: TwoSum gives its error, and an even last bit moves one step towards it.
static __attribute__((noinline)) void fma_odd(const float *a, const float *b, const float *c,
                                              float *out)
{
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
}

typedef float v2f __attribute__((vector_size(8)));
typedef double v2d __attribute__((vector_size(16)));
typedef int64_t v2l __attribute__((vector_size(16)));

// Two lanes; sets `doubt` where the short way may be wrong.
ARITH_INLINE v2f fma_2(v2f a, v2f b, v2f c, v2l *doubt)
{
    v2d s = __builtin_convertvector(a, v2d) * __builtin_convertvector(b, v2d) +
            __builtin_convertvector(c, v2d);
    v2d size = (v2d)((v2l)s & 0x7fffffffffffffff);
    *doubt |= (((v2l)s & 0x1fffffff) == 0x10000000) | ((size < 0x1p-126) & (size > 0.0));
    return __builtin_convertvector(s, v2f);
}

ARITH_INLINE vf v_fma(vf a, vf b, vf c)
{
    v2l doubt = {0, 0};
    v2f low = fma_2((v2f){a[0], a[1]}, (v2f){b[0], b[1]}, (v2f){c[0], c[1]}, &doubt);
    v2f high = fma_2((v2f){a[2], a[3]}, (v2f){b[2], b[3]}, (v2f){c[2], c[3]}, &doubt);
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
