// What the CPU kernels are to the rest of the cpu device: tables of plain functions, one set per
// instruction set. Kernel files are compiled once per set and see only this header, the generated
// lists and the static helpers of src/math.
//
// Rules for every function here: no allocation, no globals, no reads or writes outside the elements
// named; no alignment is needed. dst may be the same memory as an operand of the same element size
// (element i is read before it is written), and may not overlap one otherwise.
#ifndef WF_CPU_KERNEL_H
#define WF_CPU_KERNEL_H

#include "codegen/kernel.h"

#define WF_CPU_PASTE_(a, b) a##_##b
#define WF_CPU_PASTE(a, b) WF_CPU_PASTE_(a, b)
// WF_CPU_NAME(wf_cpu_elementwise) is wf_cpu_elementwise_avx2 in the files compiled for avx2.
#define WF_CPU_NAME(base) WF_CPU_PASTE(base, WF_ISA_SUFFIX)

// Stands before a loop whose elements are independent of each other: the compiler need not prove it.
#if defined(__clang__)
#define WF_CPU_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define WF_CPU_VECTOR_LOOP _Pragma("GCC ivdep")
#else
#define WF_CPU_VECTOR_LOOP
#endif

// dst[i] = f(a[i], b[i], c[i]) for i < n; operands that an op does not have are not read.
typedef void wf_cpu_apply_fn(void *dst, const void *a, const void *b, const void *c, size_t n);

typedef struct wf_cpu_apply {
    const char *op;   // its name
    weft_dtype dtype; // of the operands
    wf_cpu_apply_fn *run;
} wf_cpu_apply;

// Sizes of elements: 1, 2, 4, 8 bytes by their logarithm.
#define WF_CPU_N_SIZES 4

typedef struct wf_cpu_elementwise {
    const wf_cpu_apply *applies; // in the order of the ops' names; not sorted by dtype
    size_t n_applies;
    wf_cpu_apply_fn *casts[WEFT_N_DTYPES][WEFT_N_DTYPES]; // [from][to]; NULL: no such cast
    wf_cpu_apply_fn *selects[WF_CPU_N_SIZES];             // a is bool; b where true, else c
    // n elements, strides in elements; a stride of 0 repeats one element (of src).
    void (*copies[WF_CPU_N_SIZES])(void *dst, int64_t dst_stride, const void *src,
                                   int64_t src_stride, size_t n);
    // dst[i, j] = src[i], i < n_rows, j < n.
    void (*spreads[WF_CPU_N_SIZES])(void *dst, const void *src, size_t n_rows, size_t n);
    // dst[i * dst_pitch + j] = src[j * src_pitch + i], i < n_rows, j < n_cols; elements of 4 bytes.
    void (*turn)(void *dst, int64_t dst_pitch, const void *src, int64_t src_pitch, size_t n_rows,
                 size_t n_cols);
    // Copies bytes past the caches, which a result that no cache would hold until it is read only costs a
    // second time; from stream_bytes of a result on. Other threads may read it after stream_end.
    void (*stream)(void *dst, const void *src, size_t size_bytes);
    void (*stream_end)(void);
    size_t stream_bytes;
    // dst[i] = first + i * stride in dtype (f32, i32, i64).
    void (*iota)(void *dst, weft_dtype dtype, int64_t first, int64_t stride, size_t n);
    // Index of the first NaN or infinity; n when there is none.
    size_t (*first_nonfinite)(const float *a, size_t n);
} wf_cpu_elementwise;

typedef struct wf_cpu_random {
    wf_random_kind kind;
    uint32_t stream;
    int64_t seed;
    int64_t step;
} wf_cpu_random;

typedef struct wf_cpu_randoms {
    // dst[i] = the number at logical index first + i * stride.
    void (*numbers)(void *dst, const wf_cpu_random *r, int64_t first, int64_t stride, size_t n);
    // dst[j * pitch + i] = the number at first + i * stride + j, j < 4. first and stride are multiples
    // of 4; not for normal numbers.
    void (*four_rows)(void *dst, int64_t pitch, const wf_cpu_random *r, int64_t first,
                      int64_t stride, size_t n);
} wf_cpu_randoms;

// Reductions keep up to three numbers per result, in arrays of their own:
//   sum, max, min  [0] the value
//   argmax         [0] the value, [1] i32 index
//   moments        [0] mean, [1] M2, [2] f32 count
#define WF_CPU_N_PARTS 3

typedef struct wf_cpu_parts {
    void *part[WF_CPU_N_PARTS];
} wf_cpu_parts;

typedef struct wf_cpu_reduce {
    wf_reduce_kind kind;
    weft_dtype dtype; // of what is reduced
    // Row rule. One chunk per row: x[r, i], r < n_rows, i < n <= the chunk; first_idx is the inner
    // index of i = 0.
    void (*row_chunks)(const wf_cpu_parts *out, const void *x, size_t n_rows, int64_t pitch,
                       size_t n, int64_t first_idx);
    // Chunk results [0, m) in ascending order become one, in [0]. The others are overwritten.
    void (*row_tree)(const wf_cpu_parts *parts, size_t m);
    // Column rule. acc[j] takes x[i, j] for ascending i < n_rows, j < n; the acc of a chunk starts
    // as `column_start` leaves it. moments: n_rows is the whole chunk, and acc becomes its result.
    void (*column_start)(const wf_cpu_parts *acc, size_t n);
    void (*column_rows)(const wf_cpu_parts *acc, const void *x, size_t n_rows, int64_t pitch,
                        size_t n, int64_t first_idx);
    // acc[j] takes the result `next[j]` of the chunk that follows.
    void (*column_merge)(const wf_cpu_parts *acc, const wf_cpu_parts *next, size_t n);
} wf_cpu_reduce;

// Memory that will be read next: at[i * step + j], i < n, j < width. A hint; n is 0: none.
typedef struct wf_cpu_ahead {
    const float *at;
    int64_t step, n, width;
} wf_cpu_ahead;

// A strip of a product's result, one panel of columns wide. Any addressing of a: row i and term t lie
// at a[a_rows[i] + a_terms[t]]. Terms are taken in the order given, one fma each, so a strip may be put
// down and taken up between any two terms.
typedef struct wf_cpu_tiles {
    int64_t n_rows, n_cols, n_terms;
    const float *a;
    const int64_t *a_rows, *a_terms;
    // b[t * b_step + j], j up to n_cols rounded up to whole vectors: those are read.
    const float *b;
    int64_t b_step;
    float *c; // c[i * ldc + j]: sums so far, then the new ones
    int64_t ldc;
    bool is_first;      // chains start at +0, c is not read
    bool is_last;       // + (+0) at the end
    wf_cpu_ahead ahead; // fetched towards L2 meanwhile
    bool is_a_far;      // and the next tile's rows of a, whose terms lie side by side, towards L1
} wf_cpu_tiles;

// Sizes that fit an instruction set's registers, and the caches of the processors that have it.
typedef struct wf_cpu_tile_sizes {
    int64_t lanes;     // floats in a vector
    int64_t rows;      // of a tile of a whole panel; those of narrower panels are higher
    int64_t cols;      // of a whole panel, a multiple of lanes
    int64_t terms;     // of one pass: its panel of b stays near
    int64_t item_rows; // the most rows of a product that stay near with it
} wf_cpu_tile_sizes;

// A few rows times a matrix whose terms lie side by side and which is read once, where it is:
// c[i * c_row + j * c_col] = sum of a[i * a_row + t * a_term] * b[j * b_col + t], t ascending, from +0.
#define WF_CPU_FEW 12 // rows, at most

typedef struct wf_cpu_few {
    int64_t n_rows, n_cols, n_terms;
    const float *a;
    int64_t a_row, a_term;
    const float *b;
    int64_t b_col;
    float *c;
    int64_t c_row, c_col;
    bool is_last; // + (+0) at the end
} wf_cpu_few;

// Products in the definition's order. See math/product.h.
typedef struct wf_cpu_products {
    // acc[j] takes a[t * a_step] * b[t * b_step + j * b_lane] for ascending t < k: n chains, n <= 16.
    void (*chain)(float *acc, const float *a, int64_t a_step, const float *b, int64_t b_step,
                  int64_t b_lane, int64_t k, size_t n);
    const wf_cpu_tile_sizes *sizes;
    void (*tiles)(const wf_cpu_tiles *p);
    // dst[t * width + j] = b[t * term_stride + j * col_stride], j < n_cols; +0 from there to width.
    void (*pack)(float *dst, int64_t width, const float *b, int64_t term_stride, int64_t col_stride,
                 int64_t n_terms, int64_t n_cols);
    void (*few)(const wf_cpu_few *p);
} wf_cpu_products;

// Products in which each lane is a channel of its own (depthwise convolution). A term's x of cell i lies
// at x[i * step]; a step of 0 repeats one place, as padding does.
typedef struct wf_cpu_lane_term {
    const float *x;
    int64_t step;
    const float *w;
} wf_cpu_lane_term;

// y[i * y_step + j] = sum over t of x[t][i, j] * w[t][j], + (+0): one chain, ascending.
typedef struct wf_cpu_lane_cells {
    int64_t n_cells, n_terms, n_lanes;
    const wf_cpu_lane_term *terms;
    float *y;
    int64_t y_step;
    bool is_streamed; // y goes past the caches: y, y_step and n_lanes are whole vectors
} wf_cpu_lane_cells;

// sums[t][j] takes x[t][i * x_step + j] * dy[i * dy_step + j] for ascending i.
typedef struct wf_cpu_lane_sum {
    const float *x;
    float *sums;
} wf_cpu_lane_sum;

typedef struct wf_cpu_lane_sums {
    int64_t n_cells, n_terms, n_lanes;
    const wf_cpu_lane_sum *terms;
    int64_t x_step; // 0 in the padding
    const float *dy;
    int64_t dy_step;
    int64_t x_ahead, dy_ahead; // what lies so far behind the last x, and dy, is wanted next
} wf_cpu_lane_sums;

// c[i, v * lanes + j] = sum over t of a[t * n_rows + i] * b[b_terms[t] + b_cells[v] + j], ascending: few
// channels of many cells, so vectors run over cells. v < plane_vectors[n_rows].
typedef struct wf_cpu_planes {
    int64_t n_rows, n_terms;
    const float *a;
    const float *b;
    const int64_t *b_terms, *b_cells;
    float *c;
} wf_cpu_planes;

#define WF_CPU_PLANE_ROWS 8     // at most
#define WF_CPU_PLANE_FLOATS 512 // of c, at most

typedef struct wf_cpu_lanes {
    void (*cells)(const wf_cpu_lane_cells *p);
    void (*sums)(const wf_cpu_lane_sums *p);
    void (*planes)(const wf_cpu_planes *p);
    // dst[i * dst_step + j] = src[i * n + j] + (+0). is_streamed: as in wf_cpu_lane_cells.
    void (*put)(float *dst, int64_t dst_step, const float *src, int64_t n_rows, int64_t n,
                bool is_streamed);
    int64_t lanes;                                // floats in a vector
    int64_t plane_vectors[WF_CPU_PLANE_ROWS + 1]; // 0: so many rows are not for planes
} wf_cpu_lanes;

typedef struct wf_cpu_reduces {
    const wf_cpu_reduce *reduces;
    size_t n_reduces;
    // moments: variance[i] = M2[i] / count[i].
    void (*variance)(float *dst, const float *m2, const float *count, size_t n);
} wf_cpu_reduces;

// Pooling over lanes: channels, or the cells of a line. Strides in elements.
typedef struct wf_cpu_windows {
    // best[j], cell[j] take x[j * x_stride] of window cell r; cell -1: none yet.
    void (*max)(float *best, int32_t *cell, const float *x, int64_t x_stride, int32_t r, size_t n);
    // sum[j * sum_stride] += x[j * x_stride]
    void (*sum)(float *sum, int64_t sum_stride, const float *x, int64_t x_stride, size_t n);
    // sum[j * sum_stride] += dy[j * dy_stride] where where[j * where_stride] == r
    void (*won)(float *sum, int64_t sum_stride, const uint8_t *where, int64_t where_stride,
                const float *dy, int64_t dy_stride, int32_t r, size_t n);
    // sum[j * sum_stride] += dy[j * dy_stride] / count[j * count_stride]
    void (*share)(float *sum, int64_t sum_stride, const float *dy, int64_t dy_stride,
                  const float *count, int64_t count_stride, size_t n);
    // y[j * y_stride] = sum[j] / count[j * count_stride]
    void (*divide)(float *y, int64_t y_stride, const float *sum, const float *count,
                   int64_t count_stride, size_t n);
} wf_cpu_windows;

// Winograd's F(4x4, 3x3) over channels; n >= lanes. Step: floats between the 36 results, in the order (y, x).
typedef struct wf_cpu_winograd {
    int64_t lanes;
    // v[i * v_step + c] of a tile's 6 x 6 input cells, each where its channels begin
    void (*input)(float *v, int64_t v_step, const float *const cells[36], int64_t n);
    // u[i * u_step + k] of the window's 3 x 3 cells at w[i * w_step + k]
    void (*weights)(float *u, int64_t u_step, const float *w, int64_t w_step, int64_t n);
    // 4 x 4 output cells of the products m[i * m_step + k]
    void (*output)(float *const cells[16], const float *m, int64_t m_step, int64_t n);
} wf_cpu_winograd;

// Maxima where channels lie side by side. A run is windows that follow each other along the last axis
// and lie wholly in the input. A vector of channels may reach into the lanes behind its own: *_room is
// how many elements from the pointer may be read or, for results, written and are written later anyway.
typedef struct wf_cpu_window_run {
    int64_t n_windows, n_channels;
    const float *x; // of the first window
    int64_t x_step; // to the next one's
    int64_t x_room;
    int64_t n_cells;
    const int64_t *offsets; // of each cell from its window's x
    const int32_t *cells;   // its number; ascending
    float *y;               // [n_windows, n_channels]
    uint8_t *where;         // likewise
    int64_t y_room;         // of both
} wf_cpu_window_run;

// One row of input cells under windows that neither overlap nor leave gaps.
typedef struct wf_cpu_window_won_run {
    int64_t n_windows, n_channels;
    int64_t n_cells;    // of a window on this row
    int32_t first_cell; // number of the first
    const uint8_t *where;
    const float *dy; // [n_windows, n_channels], as where
    int64_t dy_room; // of both
    float *dx;       // [n_windows * n_cells, n_channels]
    int64_t dx_room;
} wf_cpu_window_won_run;

// One input cell: the windows over it, ascending.
typedef struct wf_cpu_window_won_cell {
    int64_t n_channels, n_terms;
    const int64_t *offsets; // of each window in where and dy
    const int32_t *cells;   // which of its cells lies here
    const uint8_t *where;
    const float *dy;
    float *dx; // [n_channels]
} wf_cpu_window_won_cell;

typedef struct wf_cpu_window_rows {
    void (*max)(const wf_cpu_window_run *p);
    void (*won_run)(const wf_cpu_window_won_run *p);
    void (*won_cell)(const wf_cpu_window_won_cell *p);
} wf_cpu_window_rows;

// Attention between its products: a block of up to 64 queries (rows) and 64 keys. What rows do not see is
// no term: hidden.
#define WF_CPU_ATTENTION_KEYS 64

typedef struct wf_cpu_attention_block {
    int64_t n_rows, n_keys;
    float *s; // [n_rows, 64]: chains over d in, p out, +0 where hidden
    float scale;
    bool is_causal;
    int64_t causal;           // row i sees keys 0 .. causal + i of the block
    const uint8_t *bool_mask; // of row 0 and key 0; NULL: none
    const float *added_mask;  // likewise
    int64_t mask_row, mask_key;
    uint8_t *seen; // NULL, or [n_rows, 64]: written, 0 where hidden
    float *m, *l;  // softmax: running maximum and sum of each row, renewed
    float *o;      // softmax: o[i * ld + c], c < d, the running output, multiplied by alpha
    int64_t ld, d;
    float *dp; // slope: [n_rows, 64]: chains over d of dout * v in, dS out, +0 where hidden
    const float *lse, *delta; // slope: of each row
} wf_cpu_attention_block;

// c[i * ldc + j] takes a[i * a_row + t * a_term] * b[t * b_step + j] for ascending t where seen is not 0.
typedef struct wf_cpu_attention_terms {
    int64_t n_rows, n_cols, n_terms;
    const float *a;
    const uint8_t *seen; // placed as a
    int64_t a_row, a_term;
    const float *b;
    int64_t b_step;
    float *c;
    int64_t ldc;
} wf_cpu_attention_terms;

typedef struct wf_cpu_attention {
    void (*softmax)(const wf_cpu_attention_block *b);
    void (*slope)(const wf_cpu_attention_block *b);
    // y[c] = o[c] / l + (+0); 0 where l is 0
    void (*finish)(float *y, const float *o, float l, int64_t n);
    void (*log_sum)(float *lse, const float *m, const float *l, int64_t n); // m + log(l)
    void (*add)(float *y, const float *x, int64_t n);                       // y[c] += x[c]
    void (*terms)(const wf_cpu_attention_terms *p);
} wf_cpu_attention;

#endif
