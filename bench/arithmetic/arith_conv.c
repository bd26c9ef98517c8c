// Experiment: convolution and its two gradients by the definition, as implicit products straight from channels-last tensors.
//
// Forward and input gradient: a row of the product is a pixel; tap (r,s) of it is a pointer into the tensor, or to zeros. Order
// (r,s,c) resp. (r,s,k). Weight gradient: a row of the product is one (r,s,c), terms are (n,p,q); rows beyond the edge are zeros.
#include "arith_product.h"

enum {
    ROW_TILES = 16, // pixel tiles whose pointers are prepared together; their input stays in L2
    MAX_TAPS = 121, // taps of a filter: 11 x 11
    MAX_CHANNELS = 1024, // of x in a weight gradient
    PASS_TERMS = 256,    // terms of one pass over a panel
    WEIGHT_TERMS =
        VL == 16
            ? 144
            : 256, // (n,p,q) terms of one pass: dy's panel stays in L1, dw's tile is reloaded per pass
    WEIGHT_FLOATS = 1 << 18, // floats of dw that the terms pass over: half of L2
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
                    *taps++ =
                        conv_tap(v, pixel + smaller(tile * TILE_ROWS + i, n_pixels - 1), r, s);
                }
            }
        }
    }
}

// The terms [k0,k1) of one block for one group of pixel tiles; the range covers whole taps or a part of one.
static void conv_terms(const conv_view *v, int64_t n_pixels, int64_t n, int64_t k0, int64_t k1,
                       const float *const *taps, const float *packed, float *chain, float *total,
                       int flags)
{
    int64_t n_taps = v->r * v->s;
    int64_t k = n_taps * v->c;
    int64_t tap = k0 / v->c;
    int64_t c0 = k0 % v->c;
    int64_t n_segments = c0 == 0 && k1 - k0 >= v->c ? (k1 - k0) / v->c : 1;
    int64_t len = (k1 - k0) / n_segments;
    for (int64_t j0 = 0, width; j0 < n; j0 += width) {
        width = panel_width(n, j0);
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
            int64_t at = i0 * n + j0;
            tile_prefetch(chain + at + TILE_ROWS * n, n,
                          smaller(TILE_ROWS, n_pixels - i0 - TILE_ROWS), flags);
            tile_place place = {chain + at,
                                total + at,
                                n,
                                smaller(TILE_ROWS, n_pixels - i0),
                                smaller(width, n - j0),
                                flags};
            run_tile_rows(n_segments, len, rows, panel, width, &place);
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

static void conv_run(const conv_view *v, int64_t n_pixels, int64_t n, const float *packed, float *y,
                     int64_t block, float *work)
{
    const float *taps[ROW_TILES * MAX_TAPS * TILE_ROWS];
    for (int64_t pixel = 0; pixel < n_pixels; pixel += ROW_TILES * TILE_ROWS) {
        int64_t rows = smaller(ROW_TILES * TILE_ROWS, n_pixels - pixel);
        conv_taps(v, pixel, rows, taps);
        block_walk walk =
            block_walk_start(v->r * v->s * v->c, block, y + pixel * n, work, rows * n);
        do {
            for (int64_t k0 = walk.begin; k0 < walk.end;) {
                int64_t k1 = conv_pass_end(k0, walk.end, v->c);
                conv_terms(v, rows, n, k0, k1, taps, packed, walk.chain, walk.total,
                           block_walk_flags(&walk, k0, k1));
                k0 = k1;
            }
        } while (block_walk_next(&walk));
    }
}

void NAME(conv)(const arith_conv *g, const float *x, const float *packed, float *y, int64_t block,
                float *work, const float *zeros);
void NAME(conv_input)(const arith_conv *g, const float *dy, const float *packed, float *dx,
                      int64_t block, float *work, const float *zeros);
void NAME(conv_weight)(const arith_conv *g, const float *x, const float *dy, float *dw,
                       int64_t block, float *work);

void NAME(conv)(const arith_conv *g, const float *x, const float *packed, float *y, int64_t block,
                float *work, const float *zeros)
{
    conv_view v = {x, g->h, g->w, g->c, g->p, g->q, g->r, g->s, g->stride, g->pad, 0, zeros};
    conv_run(&v, g->n * g->p * g->q, g->k, packed, y, block, work);
}

void NAME(conv_input)(const arith_conv *g, const float *dy, const float *packed, float *dx,
                      int64_t block, float *work, const float *zeros)
{
    conv_view v = {dy, g->p, g->q, g->k, g->h, g->w, g->r, g->s, g->stride, g->pad, 1, zeros};
    conv_run(&v, g->n * g->h * g->w, g->c, packed, dx, block, work);
}

// x for the terms [t0,t1) of tap (r,s), as panels of TILE_ROWS channels, term after term; +0 outside and past the channels.
static void weight_panels(const arith_conv *g, const float *x, int64_t r, int64_t s, int64_t t0,
                          int64_t t1, float *panels)
{
    int64_t step = (t1 - t0) * TILE_ROWS;
    for (int64_t t = t0; t < t1; t++, panels += TILE_ROWS) {
        int64_t q = t % g->q, p = t / g->q % g->p, n = t / g->q / g->p;
        int64_t i = p * g->stride + r - g->pad, j = q * g->stride + s - g->pad;
        int is_inside = i >= 0 && i < g->h && j >= 0 && j < g->w;
        static const float zeros[MAX_CHANNELS];
        const float *pixel = is_inside ? x + ((n * g->h + i) * g->w + j) * g->c : zeros;
        float *to = panels;
        int64_t c0 = 0;
        for (; c0 + TILE_ROWS <= g->c; c0 += TILE_ROWS, to += step) {
            memcpy(to, pixel + c0, TILE_ROWS * sizeof *to);
        }
        for (int l = 0; l < TILE_ROWS && c0 < g->c; l++) {
            to[l] = c0 + l < g->c ? pixel[c0 + l] : 0.0f;
        }
    }
}

// dw[c,k] (+)= x * dy for one tap over one pass of terms, both as panels.
static void weight_terms(const arith_conv *g, const float *x_panels, int64_t terms,
                         const float *dy_packed, float *chain, float *total, int flags)
{
    for (int64_t j0 = 0, width; j0 < g->k; j0 += width) {
        width = panel_width(g->k, j0);
        for (int64_t c0 = 0; c0 < g->c; c0 += TILE_ROWS) {
            int64_t at = c0 * g->k + j0;
            tile_prefetch(chain + at + TILE_ROWS * g->k, g->k,
                          smaller(TILE_ROWS, g->c - c0 - TILE_ROWS), flags);
            tile_place place = {chain + at,
                                total + at,
                                g->k,
                                smaller(TILE_ROWS, g->c - c0),
                                smaller(width, g->k - j0),
                                flags};
            run_tile_panel(x_panels + c0 * terms, TILE_ROWS, terms, dy_packed + j0 * terms, width,
                           &place);
        }
    }
}

void NAME(pack)(int64_t n, int64_t k, const float *b, int64_t ldk, int64_t ldn, float *packed);

// As many taps at a time as let their part of dw stay in L2, while the terms pass by.
void NAME(conv_weight)(const arith_conv *g, const float *x, const float *dy, float *dw,
                       int64_t block, float *work)
{
    static _Thread_local float x_panels[WEIGHT_TERMS * (MAX_CHANNELS + TILE_ROWS)]
        __attribute__((aligned(64)));
    int64_t n_taps = g->r * g->s;
    int64_t tap_floats = g->c * g->k;
    int64_t together = WEIGHT_FLOATS / tap_floats > 1 ? WEIGHT_FLOATS / tap_floats : 1;
    float *dy_packed = work + (2 * n_taps * tap_floats + 15) / 16 * 16;
    block_walk walk = block_walk_start(g->n * g->p * g->q, block, dw, work, n_taps * tap_floats);
    do {
        for (int64_t tap0 = 0; tap0 < n_taps; tap0 += together) {
            for (int64_t t0 = walk.begin; t0 < walk.end; t0 += WEIGHT_TERMS) {
                int64_t t1 = smaller(t0 + WEIGHT_TERMS, walk.end);
                int flags = block_walk_flags(&walk, t0, t1);
                NAME(pack)(g->k, t1 - t0, dy + t0 * g->k, g->k, 1, dy_packed);
                for (int64_t tap = tap0; tap < smaller(tap0 + together, n_taps); tap++) {
                    weight_panels(g, x, tap / g->s, tap % g->s, t0, t1, x_panels);
                    weight_terms(g, x_panels, t1 - t0, dy_packed, walk.chain + tap * tap_floats,
                                 walk.total + tap * tap_floats, flags);
                }
            }
        }
    } while (block_walk_next(&walk));
}
