// Experiment: a matrix product by the definition, packed panels and a register tile. Built once per instruction set.
#include "arith_product.h"

#ifndef CONTRACT_K
#define CONTRACT_K 256 // terms per pass: a panel of it stays in L1 or close
#endif

double NAME(peak)(int64_t rounds);
int64_t NAME(packed_floats)(int64_t n, int64_t k);
void NAME(pack)(int64_t n, int64_t k, const float *b, int64_t ldk, int64_t ldn, float *packed);
void NAME(contract)(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *packed, float *c, int64_t block,
                    float *work);
void NAME(dot_rows)(int64_t n, int64_t k, const float *a, const float *b, float *c);

double NAME(peak)(int64_t rounds)
{
    // 12 chains: enough for a latency of 4 on 2 ports, and they fit the 16 registers of AVX2.
    vf acc[12];
    vf x = v_set(0.999f);
    UNROLL for (int i = 0; i < 12; i++) acc[i] = v_set((float)i);
    for (int64_t r = 0; r < rounds; r++) {
        UNROLL for (int i = 0; i < 12; i++) acc[i] = v_fma(acc[i], x, x);
#if !defined(ARITH_SCALAR)
        UNROLL for (int i = 0; i < 12; i++) __asm__ volatile("" : "+v"(acc[i]));
#endif
    }
    float sum = 0.0f;
    UNROLL for (int i = 0; i < 12; i++) sum += acc[i][0];
    return sum == 12345.0f ? 0.0 : 2.0 * 12 * VL * (double)rounds;
}

int64_t NAME(packed_floats)(int64_t n, int64_t k)
{
    return (n + VL - 1) / VL * VL * k;
}

void NAME(pack)(int64_t n, int64_t k, const float *b, int64_t ldk, int64_t ldn, float *packed)
{
    for (int64_t j0 = 0; j0 < n; j0 += TILE_COLUMNS) {
        int64_t width = panel_width(n, j0);
        int64_t cols = smaller(width, n - j0);
        float *panel = packed + j0 * k;
        for (int64_t i = 0; i < k; i++, panel += width) {
            const float *row = b + i * ldk + j0 * ldn;
            if (ldn == 1) {
                memcpy(panel, row, (size_t)cols * sizeof *row);
            } else {
                for (int64_t j = 0; j < cols; j++) {
                    panel[j] = row[j * ldn];
                }
            }
            for (int64_t j = cols; j < width; j++) {
                panel[j] = 0.0f;
            }
        }
    }
}

// c[m,n] (+)= a[m,k0:k1] * b[k0:k1,n]
static void contract_terms(int64_t m, int64_t n, int64_t k, int64_t k0, int64_t k1, const float *a, int64_t lda,
                           const float *packed, float *c, int flags)
{
    for (int64_t j0 = 0; j0 < n; j0 += TILE_COLUMNS) {
        int64_t width = panel_width(n, j0);
        const float *panel = packed + j0 * k + k0 * width;
        for (int64_t i0 = 0; i0 < m; i0 += TILE_ROWS) {
            int64_t n_rows = smaller(TILE_ROWS, m - i0);
            const float *rows[TILE_ROWS];
            for (int64_t i = 0; i < TILE_ROWS; i++) {
                rows[i] = a + (i0 + smaller(i, n_rows - 1)) * lda + k0;
            }
            run_tile_rows(1, k1 - k0, rows, panel, width, c + i0 * n + j0, n, n_rows, smaller(width, n - j0), flags);
        }
    }
}


// One row of a: b streams through once, a panel at a time.
static void contract_row(int64_t n, int64_t k, const float *a, const float *packed, float *c, int64_t block, float *work)
{
    block_walk walk = block_walk_start(k, block, c, work, n);
    do {
        int is_last = walk.n_blocks == 1;
        for (int64_t j0 = 0; j0 < n; j0 += TILE_COLUMNS) {
            int64_t width = panel_width(n, j0);
            const float *b = packed + j0 * k + walk.begin * width;
            vf acc[TILE_VECTORS];
            UNROLL for (int j = 0; j < TILE_VECTORS; j++) acc[j] = v_zero();
            if (width == TILE_COLUMNS) {
                for (int64_t i = walk.begin; i < walk.end; i++, b += TILE_COLUMNS) {
                    vf av = v_set(a[i]);
                    UNROLL for (int j = 0; j < TILE_VECTORS; j++) acc[j] = v_fma(av, v_load(b + j * VL), acc[j]);
                }
            } else {
                for (int64_t i = walk.begin; i < walk.end; i++, b += width) {
                    vf av = v_set(a[i]);
                    UNROLL for (int j = 0; j < TILE_VECTORS - 1; j++)
                    {
                        if (j * VL < width) {
                            acc[j] = v_fma(av, v_load(b + j * VL), acc[j]);
                        }
                    }
                }
            }
            float own[TILE_COLUMNS];
            UNROLL for (int j = 0; j < TILE_VECTORS; j++) v_store(own + j * VL, is_last ? acc[j] + v_zero() : acc[j]);
            memcpy(walk.chain + j0, own, (size_t)smaller(width, n - j0) * sizeof *own);
        }
    } while (block_walk_next(&walk));
}

void NAME(contract)(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *packed, float *c, int64_t block,
                    float *work)
{
    if (k == 0) {
        memset(c, 0, (size_t)(m * n) * sizeof *c);
        return;
    }
    if (m == 1) {
        contract_row(n, k, a, packed, c, block, work);
        return;
    }
    block_walk walk = block_walk_start(k, block, c, work, m * n);
    do {
        for (int64_t k0 = walk.begin; k0 < walk.end; k0 += CONTRACT_K) {
            int64_t k1 = smaller(k0 + CONTRACT_K, walk.end);
            contract_terms(m, n, k, k0, k1, a, lda, packed, walk.chain, block_walk_flags(&walk, k0, k1));
        }
    } while (block_walk_next(&walk));
}

// The usual form without the definition: vectors over k, four partial sums, any order.
void NAME(dot_rows)(int64_t n, int64_t k, const float *a, const float *b, float *c)
{
    for (int64_t j = 0; j < n; j++, b += k) {
        vf acc[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
        int64_t i = 0;
        for (; i + 4 * VL <= k; i += 4 * VL) {
            UNROLL for (int u = 0; u < 4; u++) acc[u] = v_fma(v_load(a + i + u * VL), v_load(b + i + u * VL), acc[u]);
        }
        vf sum = (acc[0] + acc[1]) + (acc[2] + acc[3]);
        float total = 0.0f;
        for (int l = 0; l < VL; l++) {
            total += sum[l];
        }
        for (; i < k; i++) {
            total += a[i] * b[i];
        }
        c[j] = total;
    }
}
