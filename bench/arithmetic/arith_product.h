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
#define TILE_LIST(kind)                                                                            \
    {                                                                                              \
        kind##_8x1, kind##_8x2, kind##_8x3                                                         \
    }
#elif VL == 8
#define TILE_ROWS 6
#define TILE_VECTORS 2
DEFINE_TILE_ROWS(6, 1)
DEFINE_TILE_ROWS(6, 2)
DEFINE_TILE_PANEL(6, 1)
DEFINE_TILE_PANEL(6, 2)
#define TILE_LIST(kind)                                                                            \
    {                                                                                              \
        kind##_6x1, kind##_6x2                                                                     \
    }
#else
#define TILE_ROWS 2
#define TILE_VECTORS 2
DEFINE_TILE_ROWS(2, 1)
DEFINE_TILE_ROWS(2, 2)
DEFINE_TILE_PANEL(2, 1)
DEFINE_TILE_PANEL(2, 2)
#define TILE_LIST(kind)                                                                            \
    {                                                                                              \
        kind##_2x1, kind##_2x2                                                                     \
    }
#endif

// By width: tile_rows[v - 1] is v vectors wide.
static void (*const tile_rows[])(int64_t, int64_t, const float *const *, const float *, float *,
                                 float *, int64_t, int) = TILE_LIST(tile_rows);
static void (*const tile_panel[])(const float *, int64_t, int64_t, const float *, float *, float *,
                                  int64_t, int) = TILE_LIST(tile_panel);

#define TILE_COLUMNS (TILE_VECTORS * VL)

ARITH_INLINE int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// Columns of the panel that starts at column j0 of n: four vectors left make two panels of two, as one alone is slow.
ARITH_INLINE int64_t panel_width(int64_t n, int64_t j0)
{
    int64_t left = (n - j0 + VL - 1) / VL;
    return (left == TILE_VECTORS + 1 && TILE_VECTORS > 2 ? 2 : smaller(TILE_VECTORS, left)) * VL;
}

// Where a tile's results lie: its chain, the sum of blocks, the part of the tile that is inside.
typedef struct {
    float *chain, *total;
    int64_t ldc;
    int64_t n_rows, n_cols;
    int flags;
} tile_place;

// Brings the results of the tile that comes next near while this one runs: its chain cannot start without them.
ARITH_INLINE void tile_prefetch(const float *c, int64_t ldc, int64_t n_rows, int flags)
{
    for (int64_t i = 0; i < n_rows && !(flags & TILE_START_ZERO); i++) {
        for (int64_t j = 0; j < TILE_COLUMNS; j += 16) {
            __builtin_prefetch(c + i * ldc + j, 1);
        }
    }
}

static void tile_copy(const float *src, int64_t ld_src, float *dst, int64_t ld_dst, int64_t rows,
                      int64_t cols)
{
    for (int64_t i = 0; i < rows; i++) {
        memcpy(dst + i * ld_dst, src + i * ld_src, (size_t)cols * sizeof *dst);
    }
}

// A tile at the edge runs on full ones of its own.
#define RUN_AT_EDGE(place, call)                                                                   \
    float own_chain[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64))) = {0};                  \
    float own_total[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64))) = {0};                  \
    int is_total = ((place)->flags & (TILE_SET | TILE_ADD)) != 0;                                  \
    tile_copy((place)->chain, (place)->ldc, own_chain, TILE_COLUMNS, (place)->n_rows,              \
              (place)->n_cols);                                                                    \
    if ((place)->flags & TILE_ADD) {                                                               \
        tile_copy((place)->total, (place)->ldc, own_total, TILE_COLUMNS, (place)->n_rows,          \
                  (place)->n_cols);                                                                \
    }                                                                                              \
    call;                                                                                          \
    tile_copy(is_total ? own_total : own_chain, TILE_COLUMNS,                                      \
              is_total ? (place)->total : (place)->chain, (place)->ldc, (place)->n_rows,           \
              (place)->n_cols)

ARITH_INLINE void run_tile_rows(int64_t n_segments, int64_t len, const float *const *rows,
                                const float *b, int64_t width, const tile_place *p)
{
    if (p->n_rows == TILE_ROWS && p->n_cols == width) {
        tile_rows[width / VL - 1](n_segments, len, rows, b, p->chain, p->total, p->ldc, p->flags);
        return;
    }
    RUN_AT_EDGE(p, tile_rows[width / VL - 1](n_segments, len, rows, b, own_chain, own_total,
                                             TILE_COLUMNS, p->flags));
}

ARITH_INLINE void run_tile_panel(const float *a, int64_t step, int64_t len, const float *b,
                                 int64_t width, const tile_place *p)
{
    if (p->n_rows == TILE_ROWS && p->n_cols == width) {
        tile_panel[width / VL - 1](a, step, len, b, p->chain, p->total, p->ldc, p->flags);
        return;
    }
    RUN_AT_EDGE(p, tile_panel[width / VL - 1](a, step, len, b, own_chain, own_total, TILE_COLUMNS,
                                              p->flags));
}

// Walks the blocks of a product of k terms and says where each block's chain goes. work holds two results.
typedef struct {
    int64_t k, len, n_blocks, index;
    int64_t begin, end; // the current block's terms
    float *chain;       // its chain is built here
    float *total;       // and added here
    float *c;
    int64_t group; // with more than 32 blocks: the group, whose sum `total` is
    int64_t n_results;
} block_walk;

ARITH_INLINE block_walk block_walk_start(int64_t k, int64_t block, float *c, float *work,
                                         int64_t n_results)
{
    int64_t len = arith_block_len(k, block);
    int64_t n_blocks = (k + len - 1) / len;
    return (block_walk){.k = k,
                        .len = len,
                        .n_blocks = n_blocks,
                        .begin = 0,
                        .end = smaller(len, k),
                        .chain = n_blocks == 1 ? c : work,
                        .total = n_blocks <= ARITH_GROUPS ? c : work + n_results,
                        .c = c,
                        .n_results = n_results};
}

// The flags of a tile that runs the terms [k0,k1) of the current block.
ARITH_INLINE int block_walk_flags(const block_walk *w, int64_t k0, int64_t k1)
{
    int start = k0 == w->begin ? TILE_START_ZERO : 0;
    if (k1 != w->end) {
        return start;
    }
    int64_t first = w->n_blocks <= ARITH_GROUPS ? 0 : w->group * w->n_blocks / ARITH_GROUPS;
    int is_last = w->n_blocks <= ARITH_GROUPS && w->index + 1 == w->n_blocks;
    return start | (w->index == first ? TILE_SET : TILE_ADD) | (is_last ? TILE_FINISH : 0);
}

// Moves to the next block, adding a finished group; false when there is none.
ARITH_INLINE int block_walk_next(block_walk *w)
{
    w->index++;
    w->begin = w->end;
    w->end = smaller(w->end + w->len, w->k);
    if (w->n_blocks > ARITH_GROUPS && w->index == (w->group + 1) * w->n_blocks / ARITH_GROUPS) {
        for (int64_t i = 0; i < w->n_results; i++) {
            w->c[i] = w->group == 0 ? w->total[i] : w->c[i] + w->total[i];
        }
        w->group++;
        for (int64_t i = 0; w->index == w->n_blocks && i < w->n_results; i++) {
            w->c[i] += 0.0f;
        }
    }
    return w->index < w->n_blocks;
}

#endif
