// Register-tiled products of one instruction set: strips of a result (tiles), and products lane by lane.
// Matmul and all convolutions are made of these. Stage: RUN.
//
// Vectors run over columns, so the order of an output's terms is the definition's.
#include "device/cpu/kernel/cpu_gemm.h"

#include "device/cpu/kernel/cpu_gemm_vec.h"
#include "math/dialect.h"

// Rows of memory that are fetched while a tile runs, some in every stretch of its terms: all at once they
// would wait for each other.
#define STRETCH 32 // terms

typedef struct rows_ahead {
    const float *at;
    int64_t step, width, per_stretch, left;
} rows_ahead;

typedef struct fetch {
    rows_ahead c; // of the next tile: its chains start with them, its stores want the lines
    rows_ahead b;
    const int64_t *a_rows; // of the next tile
    int64_t n_a_rows;
} fetch;

VEC_INLINE void fetch_rows(rows_ahead *r, const int is_written)
{
    for (int64_t k = r->per_stretch; k > 0 && r->left > 0; k--, r->left--, r->at += r->step) {
        for (int64_t j = 0; j < r->width; j += 16) {
            if (is_written)
                __builtin_prefetch(r->at + j, 1);
            else
                __builtin_prefetch(r->at + j, 0, 2);
        }
    }
}

// A stretch of terms begins at a[t].
VEC_INLINE void fetch_some(fetch *f, const float *a)
{
    fetch_rows(&f->c, 1);
    fetch_rows(&f->b, 0);
    for (int64_t i = 0; i < f->n_a_rows; i++) {
        for (int64_t t = 0; t < STRETCH; t += 16)
            __builtin_prefetch(a + f->a_rows[i] + t);
    }
}

// Columns of c are whole vectors but for the last one, which has `tail` of 1 .. VL.
typedef void tile_fn(const wf_cpu_tiles *p, const int64_t *rows, float *c, int64_t tail, fetch *f);

// tile_RxV: R rows, V vectors of columns; the accumulators stay in registers over all terms.
#define DEFINE_TILE(R, V)                                                                          \
    static __attribute__((noinline)) void tile_##R##x##V(                                          \
        const wf_cpu_tiles *p, const int64_t *rows, float *c, int64_t tail, fetch *f)              \
    {                                                                                              \
        vf acc[R][V];                                                                              \
        const float *a[R];                                                                         \
        const float *b = p->b;                                                                     \
        const int64_t b_step = p->b_step, ldc = p->ldc;                                            \
        const int64_t *term = p->a_terms, *const end = term + p->n_terms;                          \
        VEC_UNROLL for (int i = 0; i < R; i++) a[i] = p->a + rows[i];                              \
        if (p->is_first) {                                                                         \
            EACH(R, V) acc[i][j] = v_zero();                                                       \
        } else if (tail == VL) {                                                                   \
            EACH_ROW(R) EACH_VECTOR(V) acc[i][j] = v_load(at_row + j * VL);                        \
        } else {                                                                                   \
            EACH_ROW(R)                                                                            \
            EACH_VECTOR(V)                                                                         \
            acc[i][j] = j + 1 < V ? v_load(at_row + j * VL) : v_load_part(at_row + j * VL, tail);  \
        }                                                                                          \
        while (term < end) {                                                                       \
            const int64_t *const stop = end - term < STRETCH ? end : term + STRETCH;               \
            fetch_some(f, p->a + *term);                                                           \
            for (; term < stop; term++, b += b_step) {                                             \
                const int64_t at = *term;                                                          \
                vf bv[V];                                                                          \
                EACH_VECTOR(V) bv[j] = v_load(b + j * VL);                                         \
                VEC_UNROLL for (int i = 0; i < R; i++)                                             \
                {                                                                                  \
                    const vf av = v_set(a[i][at]);                                                 \
                    EACH_VECTOR(V) acc[i][j] = v_fma(av, bv[j], acc[i][j]);                        \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
        if (p->is_last) {                                                                          \
            EACH(R, V) acc[i][j] += v_zero();                                                      \
        }                                                                                          \
        if (tail == VL) {                                                                          \
            EACH_ROW(R) EACH_VECTOR(V) v_store(at_row + j * VL, acc[i][j]);                        \
        } else {                                                                                   \
            EACH_ROW(R) EACH_VECTOR(V)                                                             \
            {                                                                                      \
                if (j + 1 < V)                                                                     \
                    v_store(at_row + j * VL, acc[i][j]);                                           \
                else                                                                               \
                    v_store_part(at_row + j * VL, acc[i][j], tail);                                \
            }                                                                                      \
        }                                                                                          \
    }

#define EACH_VECTOR(V) VEC_UNROLL for (int j = 0; j < V; j++)
#define EACH(R, V) VEC_UNROLL for (int i = 0; i < R; i++) EACH_VECTOR(V)
// Rows of c one after the other: at_row.
#define EACH_ROW(R)                                                                                \
    float *at_row = c;                                                                             \
    VEC_UNROLL for (int i = 0; i < R; i++, at_row = next_row(at_row, ldc))

VEC_INLINE float *next_row(float *row, int64_t ldc)
{
    row += ldc;
    VEC_HIDE(row);
    return row;
}

// Every height up to the greatest that pays: the rows of a strip are shared out evenly.
#define TO_2(X, V) X(1, V) X(2, V)
#define TO_6(X, V) TO_2(X, V) X(3, V) X(4, V) X(5, V) X(6, V)
#define TO_8(X, V) TO_6(X, V) X(7, V) X(8, V)

#if defined(WF_ISA_AVX512) || defined(WF_ISA_NEON)
#define HEIGHTS_1 TO_8
#define HEIGHTS_2 TO_8
#define HEIGHTS_3 TO_8
#define ROWS 8
#elif defined(WF_ISA_AVX2)
#define HEIGHTS_1 TO_8
#define HEIGHTS_2 TO_6
#define ROWS 6
#else
#define HEIGHTS_1 TO_2
#define HEIGHTS_2 TO_2
#define ROWS 2
#endif
#if defined(WF_ISA_AVX512) // L2 of 2 MiB
#define TERMS 384
#define ITEM_ROWS 384
#else // L2 of 512 KiB
#define TERMS 256
#define ITEM_ROWS 192
#endif

#define NAME_TILE(R, V) tile_##R##x##V,
HEIGHTS_1(DEFINE_TILE, 1)
HEIGHTS_2(DEFINE_TILE, 2)
static tile_fn *const tiles_1[] = {HEIGHTS_1(NAME_TILE, 1)};
static tile_fn *const tiles_2[] = {HEIGHTS_2(NAME_TILE, 2)};
#if TILE_VECTORS == 3
HEIGHTS_3(DEFINE_TILE, 3)
static tile_fn *const tiles_3[] = {HEIGHTS_3(NAME_TILE, 3)};
#endif

#define N_TILES(tiles) ((int64_t)(sizeof(tiles) / sizeof(*tiles)))

// [vectors - 1]: tiles of 1, 2, .. rows
static const struct {
    tile_fn *const *by_rows;
    int64_t max_rows;
} shapes[TILE_VECTORS] = {
    {tiles_1, N_TILES(tiles_1)},
    {tiles_2, N_TILES(tiles_2)},
#if TILE_VECTORS == 3
    {tiles_3, N_TILES(tiles_3)},
#endif
};

static rows_ahead get_ahead(const float *at, int64_t step, int64_t width, int64_t n,
                            int64_t n_stretches)
{
    return (rows_ahead){at, step, width, (n + n_stretches - 1) / n_stretches, n};
}

void WF_CPU_NAME(wf_cpu_gemm_tiles)(const wf_cpu_tiles *p)
{
    const int64_t n_vectors = (p->n_cols + VL - 1) / VL, tail = p->n_cols - (n_vectors - 1) * VL;
    tile_fn *const *by_rows = shapes[n_vectors - 1].by_rows;
    const int64_t max_rows = shapes[n_vectors - 1].max_rows;
    const int64_t n_tiles = (p->n_rows + max_rows - 1) / max_rows;
    const int64_t n_stretches = p->n_terms > 0 ? (p->n_terms + STRETCH - 1) / STRETCH : 1;
    const int64_t *rows = p->a_rows;
    float *c = p->c;
    fetch f = {0};
    if (p->ahead.n > 0 && n_tiles > 0) {
        f.b = get_ahead(p->ahead.at, p->ahead.step, p->ahead.width, p->ahead.n,
                        n_stretches * n_tiles);
    }
    for (int64_t i = 0, left = p->n_rows, n_rows; i < n_tiles; i++, left -= n_rows) {
        n_rows = (left + n_tiles - i - 1) / (n_tiles - i);
        float *next = c + n_rows * p->ldc;
        const int64_t n_next = left < 2 * n_rows ? left - n_rows : n_rows;
        f.c = get_ahead(next, p->ldc, p->n_cols, n_next, n_stretches);
        f.a_rows = rows + n_rows;
        f.n_a_rows = p->is_a_far ? n_next : 0;
        by_rows[n_rows - 1](p, rows, c, tail, &f);
        rows += n_rows;
        c = next;
    }
}

const wf_cpu_tile_sizes WF_CPU_NAME(wf_cpu_gemm_sizes) = {VL, ROWS, TILE_VECTORS *VL, TERMS,
                                                          ITEM_ROWS};
