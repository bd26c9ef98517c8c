// The two register-tiled micro-kernels that every product of this experiment is made of.
//
// Both compute c[i,j] = fma(a[i,k], b[k,j], c[i,j]) for k ascending, on a tile of MR rows and NV vectors of columns, and keep the
// tile in registers over all the segments they are given. Vectors run over outputs, so the order of terms is the definition's.
// A chain may start from +0 or from what c holds, so cutting k for the cache changes nothing.
//   rows:  a is given by one pointer per row and segment, k contiguous: row-major matrices, and convolution straight from a
//          channels-last tensor (a segment is one (r,s); a padded row points at zeros).
//   panel: a is one pointer, rows contiguous, k strided: transposed matrices, weight gradients.
// b is packed: panel of NV*VL columns, k-major.
#ifndef ARITH_TILE_H
#define ARITH_TILE_H

#include "arith_vec.h"

#define UNROLL _Pragma("GCC unroll 32")

// The chain starts from +0, otherwise from `chain`; it ends in `chain` unless one of the next two says `total`.
#define TILE_START_ZERO 1
#define TILE_SET 2    // total = the chain: the first block
#define TILE_ADD 4    // total = total + the chain: later blocks
#define TILE_FINISH 8 // with either, last: + (+0), so that a sum of -0 terms is +0

#define TILE_BEGIN(MR, NV)                                                                         \
    vf acc[MR][NV];                                                                                \
    UNROLL for (int i = 0; i < MR; i++)                                                            \
    {                                                                                              \
        UNROLL for (int j = 0; j < NV; j++) acc[i][j] =                                            \
            flags & TILE_START_ZERO ? v_zero() : v_load(chain + i * ldc + j * VL);                 \
    }

#define TILE_END(MR, NV)                                                                           \
    float *to = flags & (TILE_SET | TILE_ADD) ? total : chain;                                     \
    UNROLL for (int i = 0; i < MR; i++)                                                            \
    {                                                                                              \
        UNROLL for (int j = 0; j < NV; j++)                                                        \
        {                                                                                          \
            vf sum = acc[i][j];                                                                    \
            sum = flags & TILE_ADD ? v_load(to + i * ldc + j * VL) + sum : sum;                    \
            v_store(to + i * ldc + j * VL, flags & TILE_FINISH ? sum + v_zero() : sum);            \
        }                                                                                          \
    }

#define TILE_STEP(MR, NV, A)                                                                       \
    vf bv[NV];                                                                                     \
    UNROLL for (int j = 0; j < NV; j++) bv[j] = v_load(b + j * VL);                                \
    UNROLL for (int i = 0; i < MR; i++)                                                            \
    {                                                                                              \
        vf av = v_set(A);                                                                          \
        UNROLL for (int j = 0; j < NV; j++) acc[i][j] = v_fma(av, bv[j], acc[i][j]);               \
    }

// n_segments stretches of len terms; rows[segment * MR + i] points at the first term of row i.
#define DEFINE_TILE_ROWS(MR, NV)                                                                   \
    static __attribute__((noinline)) void tile_rows_##MR##x##NV(                                   \
        int64_t n_segments, int64_t len, const float *const *rows, const float *b, float *chain,   \
        float *total, int64_t ldc, int flags)                                                      \
    {                                                                                              \
        TILE_BEGIN(MR, NV)                                                                         \
        for (int64_t segment = 0; segment < n_segments; segment++, rows += MR) {                   \
            const float *a[MR];                                                                    \
            UNROLL for (int i = 0; i < MR; i++) a[i] = rows[i];                                    \
            for (int64_t k = 0; k < len; k++, b += NV * VL) {                                      \
                TILE_STEP(MR, NV, a[i][k])                                                         \
            }                                                                                      \
        }                                                                                          \
        TILE_END(MR, NV)                                                                           \
    }

// len terms, a + k * step; row i is a[i].
#define DEFINE_TILE_PANEL(MR, NV)                                                                  \
    static __attribute__((noinline)) void tile_panel_##MR##x##NV(                                  \
        const float *a, int64_t step, int64_t len, const float *b, float *chain, float *total,     \
        int64_t ldc, int flags)                                                                    \
    {                                                                                              \
        TILE_BEGIN(MR, NV)                                                                         \
        for (int64_t k = 0; k < len; k++, a += step, b += NV * VL) {                               \
            TILE_STEP(MR, NV, a[i])                                                                \
        }                                                                                          \
        TILE_END(MR, NV)                                                                           \
    }

#endif
