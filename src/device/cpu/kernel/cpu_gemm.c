// Register-tiled products of one instruction set: strips of a result (tiles), packing, and products
// lane by lane. Matmul and all convolutions are made of these. Stage: RUN. The tile is that of
// bench/arithmetic; sizes were chosen there.
//
// Vectors run over columns, so the order of an output's terms is the definition's.
#include "device/cpu/kernel/cpu_gemm.h"

#include "device/cpu/kernel/cpu_gemm_vec.h"
#include "math/dialect.h"

typedef void tile_fn(const wf_cpu_tiles *p, const int64_t *rows, float *c, int64_t ldc);

// tile_RxV: R rows, V vectors of columns; the accumulators stay in registers over all terms.
#define DEFINE_TILE(R, V)                                                                          \
    static __attribute__((noinline)) void tile_##R##x##V(                                          \
        const wf_cpu_tiles *p, const int64_t *rows, float *c, int64_t ldc)                         \
    {                                                                                              \
        vf acc[R][V];                                                                              \
        const float *a[R];                                                                         \
        const float *b = p->b;                                                                     \
        const int64_t b_step = p->b_step;                                                          \
        const int64_t *term = p->a_terms, *const end = term + p->n_terms;                          \
        VEC_UNROLL for (int i = 0; i < R; i++)                                                     \
        {                                                                                          \
            a[i] = p->a + rows[i];                                                                 \
            VEC_UNROLL for (int j = 0; j < V; j++) acc[i][j] =                                     \
                p->is_first ? v_zero() : v_load(c + i * ldc + j * VL);                             \
        }                                                                                          \
        for (; term < end; term++, b += b_step) {                                                  \
            const int64_t at = *term;                                                              \
            vf bv[V];                                                                              \
            VEC_UNROLL for (int j = 0; j < V; j++) bv[j] = v_load(b + j * VL);                     \
            VEC_UNROLL for (int i = 0; i < R; i++)                                                 \
            {                                                                                      \
                const vf av = v_set(a[i][at]);                                                     \
                VEC_UNROLL for (int j = 0; j < V; j++) acc[i][j] = v_fma(av, bv[j], acc[i][j]);    \
            }                                                                                      \
        }                                                                                          \
        VEC_UNROLL for (int i = 0; i < R; i++)                                                     \
        {                                                                                          \
            VEC_UNROLL for (int j = 0; j < V; j++)                                                 \
                v_store(c + i * ldc + j * VL, p->is_last ? acc[i][j] + v_zero() : acc[i][j]);      \
        }                                                                                          \
    }

// tiles[rows - 1][vectors - 1]: the last rows of a strip have a tile of their own height.
#if TILE_VECTORS == 3
#define DEFINE_TILES(R) DEFINE_TILE(R, 1) DEFINE_TILE(R, 2) DEFINE_TILE(R, 3)
#define ROW_OF_TILES(R)                                                                            \
    {                                                                                              \
        tile_##R##x1, tile_##R##x2, tile_##R##x3                                                   \
    }
#else
#define DEFINE_TILES(R) DEFINE_TILE(R, 1) DEFINE_TILE(R, 2)
#define ROW_OF_TILES(R)                                                                            \
    {                                                                                              \
        tile_##R##x1, tile_##R##x2                                                                 \
    }
#endif

DEFINE_TILES(1)
DEFINE_TILES(2)
#if TILE_ROWS >= 6
DEFINE_TILES(3)
DEFINE_TILES(4)
DEFINE_TILES(5)
DEFINE_TILES(6)
#endif
#if TILE_ROWS >= 8
DEFINE_TILES(7)
DEFINE_TILES(8)
#endif

static tile_fn *const tiles[TILE_ROWS][TILE_VECTORS] = {
    ROW_OF_TILES(1), ROW_OF_TILES(2),
#if TILE_ROWS >= 6
    ROW_OF_TILES(3), ROW_OF_TILES(4), ROW_OF_TILES(5), ROW_OF_TILES(6),
#endif
#if TILE_ROWS >= 8
    ROW_OF_TILES(7), ROW_OF_TILES(8),
#endif
};

// A panel whose last vector is not full runs on a tile of its own: columns past the last are not ours
// to write.
static void run_at_edge(tile_fn *tile, const wf_cpu_tiles *p, const int64_t *rows, float *c,
                        int64_t n_rows)
{
    float own[TILE_ROWS * TILE_VECTORS * VL] __attribute__((aligned(64)));
    const int64_t width = TILE_VECTORS * VL;
    const size_t bytes = (size_t)p->n_cols * sizeof *c;
    if (!p->is_first) {
        memset(own, 0, sizeof own);
        for (int64_t i = 0; i < n_rows; i++)
            memcpy(own + i * width, c + i * p->ldc, bytes);
    }
    tile(p, rows, own, width);
    for (int64_t i = 0; i < n_rows; i++)
        memcpy(c + i * p->ldc, own + i * width, bytes);
}

void WF_CPU_NAME(wf_cpu_gemm_tiles)(const wf_cpu_tiles *p)
{
    const int64_t n_vectors = (p->n_cols + VL - 1) / VL;
    const bool is_whole = n_vectors * VL == p->n_cols;
    const int64_t *rows = p->a_rows;
    float *c = p->c;
    for (int64_t left = p->n_rows; left > 0;) {
        const int64_t n_rows = left < TILE_ROWS ? left : TILE_ROWS;
        tile_fn *tile = tiles[n_rows - 1][n_vectors - 1];
        left -= n_rows;
        // The next tile's chains cannot start without their sums so far.
        if (!p->is_first) {
            const int64_t n_next = left < TILE_ROWS ? left : TILE_ROWS;
            const float *next = c + TILE_ROWS * p->ldc;
            for (int64_t i = 0; i < n_next; i++) {
                for (int64_t j = 0; j < p->n_cols; j += 16)
                    __builtin_prefetch(next + i * p->ldc + j, 1);
            }
        }
        if (is_whole)
            tile(p, rows, c, p->ldc);
        else
            run_at_edge(tile, p, rows, c, n_rows);
        rows += n_rows;
        c += n_rows * p->ldc;
    }
}

typedef float v4 __attribute__((vector_size(16)));
typedef int32_t v4i __attribute__((vector_size(16)));

#if defined(__clang__)
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (v4i){i, j, k, l})
#endif

// dst[t * width + j] = b[j * col_stride + t] for four terms and four columns.
VEC_INLINE void transpose_4x4(float *dst, int64_t width, const float *b, int64_t col_stride)
{
    v4 r[4];
    for (int j = 0; j < 4; j++)
        memcpy(&r[j], b + j * col_stride, sizeof r[j]);
    const v4 low01 = SHUFFLE(r[0], r[1], 0, 4, 1, 5), high01 = SHUFFLE(r[0], r[1], 2, 6, 3, 7);
    const v4 low23 = SHUFFLE(r[2], r[3], 0, 4, 1, 5), high23 = SHUFFLE(r[2], r[3], 2, 6, 3, 7);
    const v4 out[4] = {SHUFFLE(low01, low23, 0, 1, 4, 5), SHUFFLE(low01, low23, 2, 3, 6, 7),
                       SHUFFLE(high01, high23, 0, 1, 4, 5), SHUFFLE(high01, high23, 2, 3, 6, 7)};
    for (int t = 0; t < 4; t++)
        memcpy(dst + t * width, &out[t], sizeof out[t]);
}

static void pack_any(float *dst, int64_t width, const float *b, int64_t term_stride,
                     int64_t col_stride, int64_t n_terms, int64_t n_cols)
{
    for (int64_t t = 0; t < n_terms; t++) {
        for (int64_t j = 0; j < n_cols; j++)
            dst[t * width + j] = b[t * term_stride + j * col_stride];
    }
}

// Terms lie side by side: blocks of 4 x 4, the edges one by one.
static void pack_transposed(float *dst, int64_t width, const float *b, int64_t col_stride,
                            int64_t n_terms, int64_t n_cols)
{
    const int64_t terms4 = n_terms / 4 * 4, cols4 = n_cols / 4 * 4;
    for (int64_t j = 0; j < cols4; j += 4) {
        for (int64_t t = 0; t < terms4; t += 4)
            transpose_4x4(dst + t * width + j, width, b + j * col_stride + t, col_stride);
    }
    pack_any(dst + cols4, width, b + cols4 * col_stride, 1, col_stride, terms4, n_cols - cols4);
    pack_any(dst + terms4 * width, width, b + terms4, 1, col_stride, n_terms - terms4, n_cols);
}

// A whole panel of columns side by side: a call of memcpy per term would cost more than the copy.
static void pack_vectors(float *dst, int64_t width, const float *b, int64_t term_stride,
                         int64_t n_terms)
{
    for (int64_t t = 0; t < n_terms; t++, b += term_stride, dst += width) {
        for (int64_t j = 0; j < width; j += VL)
            v_store(dst + j, v_load(b + j));
    }
}

void WF_CPU_NAME(wf_cpu_gemm_pack)(float *dst, int64_t width, const float *b, int64_t term_stride,
                                   int64_t col_stride, int64_t n_terms, int64_t n_cols)
{
    if (col_stride == 1 && n_cols == width && width % VL == 0 && width <= TILE_VECTORS * VL) {
        pack_vectors(dst, width, b, term_stride, n_terms);
        return;
    }
    if (col_stride == 1) {
        for (int64_t t = 0; t < n_terms; t++)
            memcpy(dst + t * width, b + t * term_stride, (size_t)n_cols * sizeof *dst);
    } else if (term_stride == 1) {
        pack_transposed(dst, width, b, col_stride, n_terms, n_cols);
    } else {
        pack_any(dst, width, b, term_stride, col_stride, n_terms, n_cols);
    }
    for (int64_t t = 0; t < n_terms && n_cols < width; t++)
        memset(dst + t * width + n_cols, 0, (size_t)(width - n_cols) * sizeof *dst);
}

// Four vectors at a time: chains enough to hide the latency of fma.
#define LANE_VECTORS 4

void WF_CPU_NAME(wf_cpu_gemm_lanes)(float *acc, const float *a, const int64_t *a_terms,
                                    const float *b, int64_t b_step, int64_t n_terms,
                                    int64_t n_lanes)
{
    int64_t j = 0;
    for (; j + LANE_VECTORS * VL <= n_lanes; j += LANE_VECTORS * VL) {
        vf sum[LANE_VECTORS];
        VEC_UNROLL for (int v = 0; v < LANE_VECTORS; v++) sum[v] = v_load(acc + j + v * VL);
        for (int64_t t = 0; t < n_terms; t++) {
            const float *x = a + a_terms[t] + j, *y = b + t * b_step + j;
            VEC_UNROLL for (int v = 0; v < LANE_VECTORS; v++) sum[v] =
                v_fma(v_load(x + v * VL), v_load(y + v * VL), sum[v]);
        }
        VEC_UNROLL for (int v = 0; v < LANE_VECTORS; v++) v_store(acc + j + v * VL, sum[v]);
    }
    for (; j + VL <= n_lanes; j += VL) {
        vf sum = v_load(acc + j);
        for (int64_t t = 0; t < n_terms; t++)
            sum = v_fma(v_load(a + a_terms[t] + j), v_load(b + t * b_step + j), sum);
        v_store(acc + j, sum);
    }
    for (; j < n_lanes; j++) {
        float sum = acc[j];
        for (int64_t t = 0; t < n_terms; t++)
            sum = WF_FMA(a[a_terms[t] + j], b[t * b_step + j], sum);
        acc[j] = sum;
    }
}

const wf_cpu_tile_sizes WF_CPU_NAME(wf_cpu_gemm_sizes) = {VL, TILE_ROWS, TILE_VECTORS *VL};
