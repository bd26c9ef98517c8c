// What every product shares: packed panels, a tile that may be partial, and the sum of a product's blocks.
//
// A packed matrix [k,n] lies in panels of TILE_COLUMNS columns, each k-major; the last is as narrow as whole vectors allow, its
// missing columns zero. Panel p starts at p * TILE_COLUMNS * k.
#ifndef ARITH_PRODUCT_H
#define ARITH_PRODUCT_H

#include "arith_kernels.h"
#include "arith_tile.h"

// Tile sizes: as many accumulators as hide the latency of fma (4 cycles, 2 ports) and leave room for b and a broadcast.
#if VL == 16
#define TILE_ROWS 8
#define TILE_VECTORS 3
DEFINE_TILE_ROWS(8, 1)
DEFINE_TILE_ROWS(8, 2)
DEFINE_TILE_ROWS(8, 3)
DEFINE_TILE_PANEL(8, 1)
DEFINE_TILE_PANEL(8, 2)
DEFINE_TILE_PANEL(8, 3)
static void (*const tile_rows[])(int64_t, int64_t, const float *const *, const float *, float *, int64_t, int) = {
    tile_rows_8x1, tile_rows_8x2, tile_rows_8x3};
static void (*const tile_panel[])(int64_t, const tile_segment *, const float *, float *, int64_t, int) = {
    tile_panel_8x1, tile_panel_8x2, tile_panel_8x3};
#elif VL == 8
#define TILE_ROWS 6
#define TILE_VECTORS 2
DEFINE_TILE_ROWS(6, 1)
DEFINE_TILE_ROWS(6, 2)
DEFINE_TILE_PANEL(6, 1)
DEFINE_TILE_PANEL(6, 2)
static void (*const tile_rows[])(int64_t, int64_t, const float *const *, const float *, float *, int64_t, int) = {
    tile_rows_6x1, tile_rows_6x2};
static void (*const tile_panel[])(int64_t, const tile_segment *, const float *, float *, int64_t, int) = {
    tile_panel_6x1, tile_panel_6x2};
#else
#define TILE_ROWS 2
#define TILE_VECTORS 2
DEFINE_TILE_ROWS(2, 1)
DEFINE_TILE_ROWS(2, 2)
DEFINE_TILE_PANEL(2, 1)
DEFINE_TILE_PANEL(2, 2)
static void (*const tile_rows[])(int64_t, int64_t, const float *const *, const float *, float *, int64_t, int) = {
    tile_rows_2x1, tile_rows_2x2};
static void (*const tile_panel[])(int64_t, const tile_segment *, const float *, float *, int64_t, int) = {
    tile_panel_2x1, tile_panel_2x2};
#endif

#define TILE_COLUMNS (TILE_VECTORS * VL)

ARITH_INLINE int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Floats from one k to the next in the panel that starts at column j0 of n.
ARITH_INLINE int64_t panel_width(int64_t n, int64_t j0)
{
    return smaller(TILE_COLUMNS, (n - j0 + VL - 1) / VL * VL);
}

// A tile at the edge runs on a full one of its own: `rows` and `cols` of it are c's.
static void tile_load(float *own, const float *c, int64_t ldc, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        memcpy(own + i * TILE_COLUMNS, c + i * ldc, (size_t)cols * sizeof *c);
    }
}

static void tile_save(const float *own, float *c, int64_t ldc, int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        memcpy(c + i * ldc, own + i * TILE_COLUMNS, (size_t)cols * sizeof *c);
    }
}

ARITH_INLINE void run_tile_rows(int64_t n_segments, int64_t len, const float *const *rows, const float *b, int64_t width, float *c,
                                int64_t ldc, int64_t n_rows, int64_t n_cols, int flags)
{
    if (n_rows == TILE_ROWS && n_cols == width) {
        tile_rows[width / VL - 1](n_segments, len, rows, b, c, ldc, flags);
        return;
    }
    float own[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64))) = {0};
    tile_load(own, c, ldc, n_rows, n_cols);
    tile_rows[width / VL - 1](n_segments, len, rows, b, own, TILE_COLUMNS, flags);
    tile_save(own, c, ldc, n_rows, n_cols);
}

ARITH_INLINE void run_tile_panel(int64_t n_segments, const tile_segment *segments, const float *b, int64_t width, float *c,
                                 int64_t ldc, int64_t n_rows, int64_t n_cols, int flags)
{
    if (n_rows == TILE_ROWS && n_cols == width) {
        tile_panel[width / VL - 1](n_segments, segments, b, c, ldc, flags);
        return;
    }
    float own[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64))) = {0};
    tile_load(own, c, ldc, n_rows, n_cols);
    tile_panel[width / VL - 1](n_segments, segments, b, own, TILE_COLUMNS, flags);
    tile_save(own, c, ldc, n_rows, n_cols);
}

// dst = src, or dst += src: where two block sums meet.
static void block_add(float *dst, const float *src, int64_t n, int is_first)
{
    for (int64_t i = 0; i < n; i++) {
        dst[i] = is_first ? src[i] : dst[i] + src[i];
    }
}

// Walks the blocks of a product of k terms and says where each block's chain goes. work holds two results.
typedef struct {
    int64_t k, len, n_blocks, index;
    int64_t begin, end; // the current block's terms
    float *chain;       // its chain is built here
    float *c, *group;
    int64_t n_results;
} block_walk;

ARITH_INLINE block_walk block_walk_start(int64_t k, int64_t block, float *c, float *work, int64_t n_results)
{
    int64_t len = arith_block_len(k, block);
    int64_t n_blocks = (k + len - 1) / len;
    return (block_walk){.k = k, .len = len, .n_blocks = n_blocks, .begin = 0, .end = smaller(len, k),
                        .chain = n_blocks == 1 ? c : work, .c = c, .group = work + n_results, .n_results = n_results};
}

// The flags of a tile that runs the terms [k0,k1) of the current block.
ARITH_INLINE int block_walk_flags(const block_walk *w, int64_t k0, int64_t k1)
{
    return (k0 == w->begin ? TILE_START_ZERO : 0) | (w->n_blocks == 1 && k1 == w->k ? TILE_FINISH : 0);
}

// Adds the finished block where it belongs and moves on; false when it was the last.
ARITH_INLINE int block_walk_next(block_walk *w)
{
    if (w->n_blocks == 1) {
        return 0;
    }
    if (w->n_blocks <= ARITH_GROUPS) {
        block_add(w->c, w->chain, w->n_results, w->index == 0);
    } else {
        // Block b is in group g where floor(g n / 32) <= b < floor((g+1) n / 32).
        int64_t n = w->n_blocks;
        int64_t g = (w->index * ARITH_GROUPS + ARITH_GROUPS - 1) / n;
        while ((g + 1) * n / ARITH_GROUPS <= w->index) {
            g++;
        }
        while (g * n / ARITH_GROUPS > w->index) {
            g--;
        }
        block_add(w->group, w->chain, w->n_results, w->index == g * n / ARITH_GROUPS);
        if (w->index + 1 == (g + 1) * n / ARITH_GROUPS) {
            block_add(w->c, w->group, w->n_results, g == 0);
        }
    }
    w->index++;
    w->begin = w->end;
    w->end = smaller(w->end + w->len, w->k);
    if (w->index == w->n_blocks) {
        for (int64_t i = 0; i < w->n_results; i++) {
            w->c[i] += 0.0f;
        }
        return 0;
    }
    return 1;
}

#endif
