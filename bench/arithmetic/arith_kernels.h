// What one build of the experiment's kernels offers: one table per instruction set, filled by arith_table.c.
//
// Letters: m rows, n columns, k terms of a product; lda.. are row strides in elements. Tensors are channels-last.
// `block`, `chunk` and `lanes` are the constants under test; the definition's values are the ARITH_ constants below.
#ifndef ARITH_KERNELS_H
#define ARITH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum {
    ARITH_BLOCK = 4096,      // terms of a product in one chain, at most
    ARITH_BLOCK_ROUND = 64,  // a block's length is a multiple of it
    ARITH_GROUPS = 32,       // more blocks than this are summed in this many groups
    ARITH_ROW_CHUNK = 1024,  // elements that one chunk of a row sum holds
    ARITH_LANES = 32,        // lanes of such a chunk
    ARITH_COLUMN_CHUNK = 64, // elements in one chunk of a column sum
    ARITH_KEYS = 64,         // keys in one block of attention
};

// The geometry of a 2-D convolution, square in stride and pad.
typedef struct {
    int64_t n, h, w, c; // input [n,h,w,c]
    int64_t k, r, s;    // filters [k,r,s,c]
    int64_t p, q;       // output [n,p,q,k]
    int64_t stride, pad;
} arith_conv;

// batch * heads products of queries [t_q,d] with keys and values [t_k,d].
typedef struct {
    int64_t heads, t_q, t_k, d;
    int is_causal;
    int64_t keys; // keys in a block
} arith_attention;

// mean and sum of squared distances from it, of `count` numbers.
typedef struct {
    float count, mean, m2;
} arith_moments;

typedef struct {
    const char *name;
    int vector_floats;
    int tile_rows, tile_columns;

    double (*peak)(int64_t rounds);           // runs fma chains, returns the flops done
    float (*read)(const float *x, int64_t n); // a sum in any order, the fastest way to read x

    // Panels of tile_columns columns, k-major; b[k,n] at b[k * ldk + n * ldn].
    int64_t (*packed_floats)(int64_t n, int64_t k);
    void (*pack)(int64_t n, int64_t k, const float *b, int64_t ldk, int64_t ldn, float *packed);
    // c[m,n] = sum over k; work holds 2 * m * n floats.
    void (*contract)(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
                     const float *packed, float *c, int64_t block, float *work);
    // One row times a packed matrix, and the form without the definition: dot products vectorised over k, b[n,k].
    void (*dot_rows)(int64_t n, int64_t k, const float *a, const float *b, float *c);

    // packed: filters as [(r,s,c),k]; work: 2 * outputs; zeros: max(c, k) floats of +0.
    void (*conv)(const arith_conv *g, const float *x, const float *packed, float *y, int64_t block,
                 float *work, const float *zeros);
    // packed: filters as [(r,s,k),c].
    void (*conv_input)(const arith_conv *g, const float *dy, const float *packed, float *dx,
                       int64_t block, float *work, const float *zeros);
    // dw as [(r,s,c),k]; work: 2 * filters + 16 + packed_floats(k, terms of a block).
    void (*conv_weight)(const arith_conv *g, const float *x, const float *dy, float *dw,
                        int64_t block, float *work);

    float (*row_sum)(const float *x, int64_t n, int64_t chunk, int lanes,
                     float *work); // work: n / chunk + 1
    // y[j] = sum over i of x[i,j]; work: cols * (rows / chunk + 1). chunk = rows: no definition.
    void (*column_sum)(const float *x, int64_t rows, int64_t cols, int64_t chunk, float *y,
                       float *work);
    arith_moments (*moments)(const float *x, int64_t n, arith_moments *work);
    arith_moments (*moments_free)(const float *x, int64_t n);

    // q, o [heads,t_q,d]; k, v [heads,t_k,d] given as panels: k packed over keys per block, v packed over d per head.
    // state: the final m and l of each query.
    void (*attention)(const arith_attention *g, const float *q, const float *k_packed,
                      const float *v_packed, float *o, float *state);
    void (*exp)(const float *x, float *y, int64_t n);
} arith_kernels;

extern const arith_kernels arith_kernels_scalar;
extern const arith_kernels arith_kernels_avx2;
extern const arith_kernels arith_kernels_avx512;

// The length of a block of a product of k terms.
static inline int64_t arith_block_len(int64_t k, int64_t block)
{
    int64_t n_blocks = (k + block - 1) / block;
    if (n_blocks == 0) {
        return 0;
    }
    int64_t len = (k + n_blocks - 1) / n_blocks;
    return (len + ARITH_BLOCK_ROUND - 1) / ARITH_BLOCK_ROUND * ARITH_BLOCK_ROUND;
}

#endif
