// Experiment: convolution and its two gradients by the definition, as implicit products straight from channels-last tensors.
//
// Forward and input gradient: a row of the product is a pixel; tap (r,s) of it is a pointer into the tensor, or to zeros. Order
// (r,s,c) resp. (r,s,k). Weight gradient: a row of the product is one (r,s,c), terms are (n,p,q); rows beyond the edge are zeros.
#include "arith_product.h"

enum {
    ROW_TILES = 16,     // pixel tiles whose pointers are prepared together; their input stays in L2
    MAX_TAPS = 121,     // taps of a filter: 11 x 11
    PASS_TERMS = 256,   // terms of one pass over a panel
    WEIGHT_TERMS = 144, // (n,p,q) terms of one pass: dy's panel stays in L1, c's tile is reloaded once per pass
};

// Where the tap (r,s) of pixel (n,i,j) of an output of size [rows,cols] lies in src [n,h,w,c].
typedef struct {
    const float *src;
    int64_t h, w, c;
    int64_t rows, cols;
    int64_t r, s, stride, pad;
    int is_transposed; // input gradient: src is dy, and a stride leaves holes
    const float *zeros;
} conv_view;

static const float *conv_tap(const conv_view *v, int64_t pixel, int64_t r, int64_t s)
{
    int64_t j = pixel % v->cols;
    int64_t i = pixel / v->cols % v->rows;
    int64_t n = pixel / v->cols / v->rows;
    int64_t y, x;
    if (v->is_transposed) {
        y = i + v->pad - r;
        x = j + v->pad - s;
        if (y % v->stride != 0 || x % v->stride != 0) {
            return v->zeros;
        }
        y /= v->stride;
        x /= v->stride;
    } else {
        y = i * v->stride + r - v->pad;
        x = j * v->stride + s - v->pad;
    }
    int is_inside = y >= 0 && y < v->h && x >= 0 && x < v->w;
    return is_inside ? v->src + ((n * v->h + y) * v->w + x) * v->c : v->zeros;
}

// taps[tile][(r,s)][row] for the pixels from `pixel` on; rows past the last repeat it.
static void conv_taps(const conv_view *v, int64_t pixel, int64_t n_pixels, const float **taps)
{
    for (int64_t tile = 0; tile * TILE_ROWS < n_pixels; tile++) {
        for (int64_t r = 0; r < v->r; r++) {
            for (int64_t s = 0; s < v->s; s++) {
                for (int64_t i = 0; i < TILE_ROWS; i++) {
                    *taps++ = conv_tap(v, pixel + smaller(tile * TILE_ROWS + i, n_pixels - 1), r, s);
                }
            }
        }
    }
}

// The terms [k0,k1) of one block for one group of pixel tiles; the range covers whole taps or a part of one.
static void conv_terms(const conv_view *v, int64_t n_pixels, int64_t n, int64_t k0, int64_t k1, const float *const *taps,
                       const float *packed, float *y, int flags)
{
    int64_t n_taps = v->r * v->s;
    int64_t k = n_taps * v->c;
    int64_t tap = k0 / v->c;
    int64_t c0 = k0 % v->c;
    int64_t n_segments = c0 == 0 && k1 - k0 >= v->c ? (k1 - k0) / v->c : 1;
    int64_t len = (k1 - k0) / n_segments;
    for (int64_t j0 = 0; j0 < n; j0 += TILE_COLUMNS) {
        int64_t width = panel_width(n, j0);
        const float *panel = packed + j0 * k + k0 * width;
        for (int64_t i0 = 0; i0 < n_pixels; i0 += TILE_ROWS) {
            const float *const *rows = taps + (i0 / TILE_ROWS * n_taps + tap) * TILE_ROWS;
            const float *moved[TILE_ROWS];
            if (c0 != 0) {
                for (int i = 0; i < TILE_ROWS; i++) {
                    moved[i] = rows[i] + c0;
                }
                rows = moved;
            }
            run_tile_rows(n_segments, len, rows, panel, width, y + i0 * n + j0, n, smaller(TILE_ROWS, n_pixels - i0),
                          smaller(width, n - j0), flags);
        }
    }
}

// The end of the pass that starts at k0: whole taps while they fit, else the rest of the tap.
static int64_t conv_pass_end(int64_t k0, int64_t end, int64_t c)
{
    if (k0 % c != 0 || k0 + c > end) {
        return smaller(end, (k0 / c + 1) * c);
    }
    int64_t n_taps = PASS_TERMS / c > 1 ? PASS_TERMS / c : 1;
    return k0 + smaller(n_taps, (end - k0) / c) * c;
}

static void conv_run(const conv_view *v, int64_t n_pixels, int64_t n, const float *packed, float *y, int64_t block, float *work)
{
    const float *taps[ROW_TILES * MAX_TAPS * TILE_ROWS];
    for (int64_t pixel = 0; pixel < n_pixels; pixel += ROW_TILES * TILE_ROWS) {
        int64_t rows = smaller(ROW_TILES * TILE_ROWS, n_pixels - pixel);
        conv_taps(v, pixel, rows, taps);
        block_walk walk = block_walk_start(v->r * v->s * v->c, block, y + pixel * n, work, rows * n);
        do {
            for (int64_t k0 = walk.begin; k0 < walk.end;) {
                int64_t k1 = conv_pass_end(k0, walk.end, v->c);
                conv_terms(v, rows, n, k0, k1, taps, packed, walk.chain, block_walk_flags(&walk, k0, k1));
                k0 = k1;
            }
        } while (block_walk_next(&walk));
    }
}

void NAME(conv)(const arith_conv *g, const float *x, const float *packed, float *y, int64_t block, float *work, const float *zeros);
void NAME(conv_input)(const arith_conv *g, const float *dy, const float *packed, float *dx, int64_t block, float *work,
                      const float *zeros);
void NAME(conv_weight)(const arith_conv *g, const float *x, const float *dy, float *dw, int64_t block, float *work,
                       const float *zeros);

void NAME(conv)(const arith_conv *g, const float *x, const float *packed, float *y, int64_t block, float *work, const float *zeros)
{
    conv_view v = {x, g->h, g->w, g->c, g->p, g->q, g->r, g->s, g->stride, g->pad, 0, zeros};
    conv_run(&v, g->n * g->p * g->q, g->k, packed, y, block, work);
}

void NAME(conv_input)(const arith_conv *g, const float *dy, const float *packed, float *dx, int64_t block, float *work,
                      const float *zeros)
{
    conv_view v = {dy, g->p, g->q, g->k, g->h, g->w, g->r, g->s, g->stride, g->pad, 1, zeros};
    conv_run(&v, g->n * g->h * g->w, g->c, packed, dx, block, work);
}

// The stretches of the terms [t0,t1) for the tap (r,s): at most three per output row (edge, inside, edge).
static int64_t weight_segments(const arith_conv *g, const float *x, const float *zeros, int64_t r, int64_t s, int64_t t0, int64_t t1,
                               tile_segment *segments)
{
    int64_t count = 0;
    // Inside: 0 <= q * stride + s - pad < w.
    int64_t q_in = g->pad > s ? (g->pad - s + g->stride - 1) / g->stride : 0;
    int64_t q_out = g->w + g->pad > s ? smaller((g->w + g->pad - s + g->stride - 1) / g->stride, g->q) : 0;
    while (t0 < t1) {
        int64_t q = t0 % g->q;
        int64_t row = t0 / g->q;
        int64_t y = row % g->p * g->stride + r - g->pad;
        int is_row_inside = y >= 0 && y < g->h;
        int64_t q_end = !is_row_inside || q >= q_out ? g->q : q < q_in ? q_in : q_out;
        int64_t len = smaller(smaller(q_end, g->q) - q, t1 - t0);
        if (is_row_inside && q >= q_in && q < q_out) {
            const float *first = x + ((row / g->p * g->h + y) * g->w + q * g->stride + s - g->pad) * g->c;
            segments[count++] = (tile_segment){first, g->stride * g->c, len};
        } else {
            segments[count++] = (tile_segment){zeros, 0, len};
        }
        t0 += len;
    }
    return count;
}

// dw[(r,s,c),k] (+)= x * dy over the terms [t0,t1), dy given as panels of those terms.
static void weight_terms(const arith_conv *g, const float *x, const float *dy_packed, int64_t t0, int64_t t1, float *dw, int flags,
                         const float *zeros)
{
    tile_segment segments[3 * WEIGHT_TERMS];
    tile_segment moved[3 * WEIGHT_TERMS];
    for (int64_t j0 = 0; j0 < g->k; j0 += TILE_COLUMNS) {
        int64_t width = panel_width(g->k, j0);
        const float *panel = dy_packed + j0 * (t1 - t0);
        for (int64_t tap = 0; tap < g->r * g->s; tap++) {
            int64_t n_segments = weight_segments(g, x, zeros, tap / g->s, tap % g->s, t0, t1, segments);
            for (int64_t c0 = 0; c0 < g->c; c0 += TILE_ROWS) {
                float a_edge[TILE_ROWS * WEIGHT_TERMS];
                int64_t rows = smaller(TILE_ROWS, g->c - c0);
                if (rows == TILE_ROWS) {
                    for (int64_t i = 0; i < n_segments; i++) {
                        moved[i] = segments[i];
                        moved[i].a += segments[i].step == 0 ? 0 : c0;
                    }
                } else {
                    // Fewer channels than the tile has rows: a copy, so that nothing is read past the tensor.
                    float *a = a_edge;
                    for (int64_t i = 0; i < n_segments; i++) {
                        int64_t at = segments[i].step == 0 ? 0 : c0;
                        moved[i] = (tile_segment){a, TILE_ROWS, segments[i].len};
                        for (int64_t q = 0; q < segments[i].len; q++, a += TILE_ROWS) {
                            for (int64_t l = 0; l < TILE_ROWS; l++) {
                                a[l] = l < rows ? segments[i].a[at + q * segments[i].step + l] : 0.0f;
                            }
                        }
                    }
                }
                run_tile_panel(n_segments, moved, panel, width, dw + (tap * g->c + c0) * g->k + j0, g->k, rows,
                               smaller(width, g->k - j0), flags);
            }
        }
    }
}

int64_t NAME(packed_floats)(int64_t n, int64_t k);
void NAME(pack)(int64_t n, int64_t k, const float *b, int64_t ldk, int64_t ldn, float *packed);

void NAME(conv_weight)(const arith_conv *g, const float *x, const float *dy, float *dw, int64_t block, float *work,
                       const float *zeros)
{
    int64_t n_results = g->r * g->s * g->c * g->k;
    float *dy_packed = work + 2 * n_results;
    block_walk walk = block_walk_start(g->n * g->p * g->q, block, dw, work, n_results);
    do {
        for (int64_t t0 = walk.begin; t0 < walk.end; t0 += WEIGHT_TERMS) {
            int64_t t1 = smaller(t0 + WEIGHT_TERMS, walk.end);
            NAME(pack)(g->k, t1 - t0, dy + t0 * g->k, g->k, 1, dy_packed);
            weight_terms(g, x, dy_packed, t0, t1, walk.chain, block_walk_flags(&walk, t0, t1), zeros);
        }
    } while (block_walk_next(&walk));
}
