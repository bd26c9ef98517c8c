// Experiment: a matrix product by the definition, packed panels and a register tile. Built once per instruction set.
#include "arith_product.h"

enum {
    CONTRACT_K = VL == 16 ? 384 : 256, // terms per pass: a panel of it stays in L1 or close
    ROW_BLOCK = TILE_ROWS * 24,        // rows copied together; with their panel they stay in L2
};

double NAME(peak)(int64_t rounds);
int64_t NAME(packed_floats)(int64_t n, int64_t k);
void NAME(pack)(int64_t n, int64_t k, const float *b, int64_t ldk, int64_t ldn, float *packed);
void NAME(contract)(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                    const float *packed, float *c, int64_t block, float *work);
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
    for (int64_t j0 = 0, width; j0 < n; j0 += width) {
        width = panel_width(n, j0);
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

// c[m,n] (+)= a[m,k0:k1] * b[k0:k1,n] for one pass of k. Rows of a are copied first, a few at a time: rows a power of two apart
// would fight for the same lines of L1.
static void contract_terms(int64_t m, int64_t n, int64_t k, int64_t k0, int64_t k1, const float *a,
                           int64_t lda, const float *packed, float *chain, float *total, int flags)
{
    float a_copy[ROW_BLOCK * (CONTRACT_K + 16)] __attribute__((aligned(64)));
    for (int64_t m0 = 0; m0 < m; m0 += ROW_BLOCK) {
        int64_t m1 = smaller(m0 + ROW_BLOCK, m);
        for (int64_t i = m0; i < m1; i++) {
            memcpy(a_copy + (i - m0) * (CONTRACT_K + 16), a + i * lda + k0,
                   (size_t)(k1 - k0) * sizeof *a);
        }
        for (int64_t j0 = 0, width; j0 < n; j0 += width) {
            width = panel_width(n, j0);
            const float *panel = packed + j0 * k + k0 * width;
            for (int64_t i0 = m0; i0 < m1; i0 += TILE_ROWS) {
                int64_t n_rows = smaller(TILE_ROWS, m1 - i0);
                const float *rows[TILE_ROWS];
                for (int64_t i = 0; i < TILE_ROWS; i++) {
                    rows[i] = a_copy + (i0 - m0 + smaller(i, n_rows - 1)) * (CONTRACT_K + 16);
                }
                int64_t at = i0 * n + j0;
                tile_prefetch(chain + at + TILE_ROWS * n, n,
                              smaller(TILE_ROWS, m1 - i0 - TILE_ROWS), flags);
                tile_place place = {chain + at, total + at, n, n_rows, smaller(width, n - j0),
                                    flags};
                run_tile_rows(1, k1 - k0, rows, panel, width, &place);
            }
        }
    }
}

// A few panels of one row advance together, so that there are chains enough to hide the latency of fma.
#define ROW_PANELS (8 / TILE_VECTORS)

static void row_panels(int64_t k, int64_t len, const float *a, const float *b, float *c)
{
    vf acc[ROW_PANELS][TILE_VECTORS];
    UNROLL for (int p = 0; p < ROW_PANELS; p++)
    {
        UNROLL for (int j = 0; j < TILE_VECTORS; j++) acc[p][j] = v_zero();
    }
    for (int64_t i = 0; i < len; i++, b += TILE_COLUMNS) {
        vf av = v_set(a[i]);
        UNROLL for (int p = 0; p < ROW_PANELS; p++)
        {
            UNROLL for (int j = 0; j < TILE_VECTORS; j++)
            {
                acc[p][j] = v_fma(av, v_load(b + p * k * TILE_COLUMNS + j * VL), acc[p][j]);
            }
        }
    }
    UNROLL for (int p = 0; p < ROW_PANELS; p++)
    {
        UNROLL for (int j = 0; j < TILE_VECTORS; j++)
            v_store(c + p * TILE_COLUMNS + j * VL, acc[p][j]);
    }
}

// One row of a: b streams through once.
static void contract_row(int64_t n, int64_t k, const float *a, const float *packed, float *c,
                         int64_t block, float *work)
{
    block_walk walk = block_walk_start(k, block, c, work, n);
    do {
        int flags = block_walk_flags(&walk, walk.begin, walk.end);
        int64_t len = walk.end - walk.begin;
        int64_t j0 = 0;
        for (; n - j0 >= (ROW_PANELS + 1) * TILE_COLUMNS; j0 += ROW_PANELS * TILE_COLUMNS) {
            float sums[ROW_PANELS * TILE_COLUMNS];
            row_panels(k, len, a + walk.begin, packed + j0 * k + walk.begin * TILE_COLUMNS, sums);
            for (int64_t j = 0; j < ROW_PANELS * TILE_COLUMNS; j++) {
                float sum = flags & TILE_SET ? sums[j] : walk.total[j0 + j] + sums[j];
                walk.total[j0 + j] = flags & TILE_FINISH ? sum + 0.0f : sum;
            }
        }
        for (int64_t width; j0 < n; j0 += width) {
            width = panel_width(n, j0);
            const float *rows[TILE_ROWS];
            for (int i = 0; i < TILE_ROWS; i++) {
                rows[i] = a + walk.begin;
            }
            tile_place place = {
                walk.chain + j0, walk.total + j0, n, 1, smaller(width, n - j0), flags};
            run_tile_rows(1, len, rows, packed + j0 * k + walk.begin * width, width, &place);
        }
    } while (block_walk_next(&walk));
}

void NAME(contract)(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                    const float *packed, float *c, int64_t block, float *work)
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
            contract_terms(m, n, k, k0, k1, a, lda, packed, walk.chain, walk.total,
                           block_walk_flags(&walk, k0, k1));
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
            UNROLL for (int u = 0; u < 4; u++) acc[u] =
                v_fma(v_load(a + i + u * VL), v_load(b + i + u * VL), acc[u]);
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
