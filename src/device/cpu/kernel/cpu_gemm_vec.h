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

// The compiler takes x for unknown here: addresses of rows are then made one from the other, not all at
// the start and spilled.
#define VEC_HIDE(x) __asm__("" : "+r"(x))

// VL floats in a vector; a panel has up to TILE_VECTORS vectors.
#if defined(WF_ISA_AVX512)
#define VL 16
#define TILE_VECTORS 3
#elif defined(WF_ISA_AVX2)
#define VL 8
#define TILE_VECTORS 2
#elif defined(WF_ISA_NEON)
#define VL 4
#define TILE_VECTORS 3
#else
#define VL 4
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

// Past the caches, where the set has such stores: p is aligned to a vector. Other threads may read it after
// v_stream_end, since what goes past the caches is not ordered by itself.
VEC_INLINE void v_stream(float *p, vf v)
{
#if defined(WF_ISA_AVX512)
    _mm512_stream_ps(p, (__m512)v);
#elif defined(WF_ISA_AVX2)
    _mm256_stream_ps(p, (__m256)v);
#else
    v_store(p, v);
#endif
}
VEC_INLINE void v_stream_end(void)
{
#if defined(WF_ISA_AVX512) || defined(WF_ISA_AVX2)
    _mm_sfence();
#endif
}

#if defined(__clang__)
#define VEC_PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
typedef int32_t vi __attribute__((vector_size(VL * 4)));
#define VEC_PICK(a, b, ...) __builtin_shuffle(a, b, (vi){__VA_ARGS__})
#endif

// In each quad of lanes by itself: i to l are 0..3 of a, 4..7 of b.
#define VEC_LANE(quad, i) (4 * (quad) + ((i) < 4 ? (i) : VL - 4 + (i)))
#define VEC_QUAD(quad, i, j, k, l)                                                                 \
    VEC_LANE(quad, i), VEC_LANE(quad, j), VEC_LANE(quad, k), VEC_LANE(quad, l)
#if VL == 16
#define VEC_SHUFFLE(a, b, i, j, k, l)                                                              \
    VEC_PICK(a, b, VEC_QUAD(0, i, j, k, l), VEC_QUAD(1, i, j, k, l), VEC_QUAD(2, i, j, k, l),      \
             VEC_QUAD(3, i, j, k, l))
#elif VL == 8
#define VEC_SHUFFLE(a, b, i, j, k, l)                                                              \
    VEC_PICK(a, b, VEC_QUAD(0, i, j, k, l), VEC_QUAD(1, i, j, k, l))
#else
#define VEC_SHUFFLE(a, b, i, j, k, l) VEC_PICK(a, b, VEC_QUAD(0, i, j, k, l))
#endif

// Four vectors as matrices of 4 x 4, one in each quad of lanes: out[t] lane i is r[i] lane t.
VEC_INLINE void v_transpose(const vf r[4], vf out[4])
{
    const vf low01 = VEC_SHUFFLE(r[0], r[1], 0, 4, 1, 5);
    const vf low23 = VEC_SHUFFLE(r[2], r[3], 0, 4, 1, 5);
    const vf high01 = VEC_SHUFFLE(r[0], r[1], 2, 6, 3, 7);
    const vf high23 = VEC_SHUFFLE(r[2], r[3], 2, 6, 3, 7);
    out[0] = VEC_SHUFFLE(low01, low23, 0, 1, 4, 5);
    out[1] = VEC_SHUFFLE(low01, low23, 2, 3, 6, 7);
    out[2] = VEC_SHUFFLE(high01, high23, 0, 1, 4, 5);
    out[3] = VEC_SHUFFLE(high01, high23, 2, 3, 6, 7);
}

// v_quads: quad q holds the four floats at rows[4 * q] + at.
// v_load_part, v_store_part: the first n lanes of 1 .. VL; the others are +0, and not touched in memory.
#if defined(WF_ISA_AVX512)

VEC_INLINE vf v_quads(const float *const *rows, int64_t at)
{
    __m512 v = _mm512_castps128_ps512(_mm_loadu_ps(rows[0] + at));
    v = _mm512_insertf32x4(v, _mm_loadu_ps(rows[4] + at), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(rows[8] + at), 2);
    return (vf)_mm512_insertf32x4(v, _mm_loadu_ps(rows[12] + at), 3);
}
VEC_INLINE vf v_load_part(const float *p, int64_t n)
{
    return (vf)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1u), p);
}
VEC_INLINE void v_store_part(float *p, vf v, int64_t n)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1u), (__m512)v);
}

#elif defined(WF_ISA_AVX2)

VEC_INLINE vf v_quads(const float *const *rows, int64_t at)
{
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[0] + at)),
                                    _mm_loadu_ps(rows[4] + at), 1);
}
VEC_INLINE __m256i v_first(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
VEC_INLINE vf v_load_part(const float *p, int64_t n)
{
    return (vf)_mm256_maskload_ps(p, v_first(n));
}
VEC_INLINE void v_store_part(float *p, vf v, int64_t n)
{
    _mm256_maskstore_ps(p, v_first(n), (__m256)v);
}

#else

VEC_INLINE vf v_quads(const float *const *rows, int64_t at)
{
    return v_load(rows[0] + at);
}
VEC_INLINE vf v_load_part(const float *p, int64_t n)
{
    vf v = {0};
    memcpy(&v, p, (size_t)n * sizeof *p);
    return v;
}
VEC_INLINE void v_store_part(float *p, vf v, int64_t n)
{
    memcpy(p, &v, (size_t)n * sizeof *p);
}

#endif

// The same where most are whole.
VEC_INLINE vf v_load_to(const float *p, int64_t n)
{
    return n == VL ? v_load(p) : v_load_part(p, n);
}
VEC_INLINE void v_store_to(float *p, vf v, int64_t n)
{
    if (n == VL)
        v_store(p, v);
    else
        v_store_part(p, v, n);
}

// Columns of a matrix whose terms lie side by side, VL of them: where each begins.
typedef struct v_columns {
    const float *at[VL];
} v_columns;

// Columns from b on, col_stride apart; of fewer than VL the last is repeated.
VEC_INLINE v_columns v_columns_of(const float *b, int64_t col_stride, int64_t n_cols)
{
    v_columns c;
    for (int64_t j = 0; j < VL; j++)
        c.at[j] = b + (j < n_cols ? j : n_cols - 1) * col_stride;
    return c;
}
// out[i] = term t + i of every column, i < 4.
VEC_INLINE void v_terms_4(const v_columns *c, int64_t t, vf out[4])
{
    vf r[4];
    VEC_UNROLL for (int i = 0; i < 4; i++) r[i] = v_quads(c->at + i, t);
    v_transpose(r, out);
}
// out[i] = term t + i of every column, i < VL. What lies in one line is read in one go: columns a power
// of two apart fight for few lines of L1.
VEC_INLINE void v_terms(const v_columns *c, int64_t t, vf out[VL])
{
    vf r[VL / 4][4];
    VEC_UNROLL for (int i = 0; i < 4; i++)
    {
        VEC_UNROLL for (int q = 0; q < VL / 4; q++) r[q][i] = v_quads(c->at + i, t + 4 * q);
    }
    VEC_UNROLL for (int q = 0; q < VL / 4; q++) v_transpose(r[q], out + 4 * q);
}
// Term t of every column.
VEC_INLINE vf v_term(const v_columns *c, int64_t t)
{
    float lanes[VL];
    for (int j = 0; j < VL; j++)
        lanes[j] = c->at[j][t];
    return v_load(lanes);
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
