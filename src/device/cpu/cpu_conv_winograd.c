// Convolutions of 3 x 3 windows by Winograd's F(4x4, 3x3), forward and input gradient, for `fast`: 36 products a
// 4 x 4 tile of outputs where the window itself has 144 terms. Stage: RUN.
//
// A phase before transforms the weights into 36 packed matrices [terms, columns]. An item is a run of tiles:
// their input cells are transformed, the 36 products run on the tiles of every other product, and the results
// are transformed back into the output's cells.
#include "device/cpu/cpu_conv.h"

#include <string.h>

#define TILE 4       // outputs along an axis
#define POINTS 36    // products of a tile
#define MIN_TILES 16 // of an item: the weights stream through once per item
#define MAX_TILES 96
#define MIN_ITEMS 8
#define WEIGHT_TERMS 16            // of an item of the weights' phase
#define PAD 16                     // floats between rows that would be a power of two apart
#define L2_FLOATS_WIDE (256 << 10) // what an item keeps: half of L2 where vectors are wide ...
#define L2_FLOATS (64 << 10)       // ... and of older processors

typedef struct winograd {
    const wf_cpu_conv *c;
    const wf_cpu_winograd *kernels;
    int64_t n_terms, n_cols; // channels read and written
    int64_t tiles_y, tiles_x, n_tiles;
    int64_t item_tiles, n_items;
    int64_t v_row, m_row; // floats between tiles in the scratch
} winograd;

static winograd get_winograd(const wf_cpu_conv *c, const wf_cpu_winograd *kernels)
{
    winograd p = {.c = c, .kernels = kernels, .n_terms = c->box.channels, .n_cols = c->n_cols};
    p.tiles_y = wf_cpu_div_up(c->box.out[1], TILE);
    p.tiles_x = wf_cpu_div_up(c->box.out[2], TILE);
    p.n_tiles = c->s.n * p.tiles_y * p.tiles_x;
    p.v_row = p.n_terms + PAD;
    p.m_row = p.n_cols + PAD;
    const int64_t floats = kernels->lanes >= 16 ? L2_FLOATS_WIDE : L2_FLOATS;
    int64_t tiles = floats / (POINTS * (p.v_row + p.m_row));
    tiles = tiles > MAX_TILES ? MAX_TILES : tiles;
    tiles = wf_cpu_min(tiles, wf_cpu_div_up(p.n_tiles, MIN_ITEMS));
    tiles = tiles < MIN_TILES ? MIN_TILES : tiles;
    p.n_items = wf_cpu_div_up(p.n_tiles, tiles);
    p.item_tiles = wf_cpu_div_up(p.n_tiles, p.n_items);
    return p;
}

bool wf_cpu_conv_winograd_suits(const wf_cpu_conv *c, const wf_cpu_winograd *kernels)
{
    const wf_cpu_box *b = &c->box;
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    if (c->kind == WF_CONV_GRAD_WEIGHT || c->s.groups != 1 || b->src.c != 1 || out->c != 1 ||
        b->src_size[0] != 1 || b->out[0] != 1 || b->window[0] != 1 ||
        b->channels < kernels->lanes || c->n_cols < kernels->lanes)
        return false;
    for (int i = 1; i < WF_CONV_AXES; i++) {
        if (b->window[i] != 3 || b->dilation[i] != 1 || b->step[i] != 1 || b->hole[i] != 1)
            return false;
    }
    // Half-empty tiles win nothing: less than three quarters of the products must be left.
    const winograd p = get_winograd(c, kernels);
    return p.n_tiles * POINTS * 4 < c->s.n * wf_conv_volume(b->out) * 9 * 3;
}

static int64_t get_matrix_floats(const wf_cpu_conv *c)
{
    return wf_cpu_packed_floats(c->products->sizes, c->n_cols, c->box.channels);
}

size_t wf_cpu_conv_winograd_floats(const wf_cpu_conv *c)
{
    return (size_t)(POINTS * get_matrix_floats(c));
}

// Item: some terms of all panels.
static void run_weights(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const winograd *p = params;
    const wf_cpu_conv *c = p->c;
    const bool is_forward = c->kind == WF_CONV_FORWARD;
    const int64_t term_step = is_forward ? c->w.c : c->w.n, col_step = is_forward ? c->w.n : c->w.c;
    const int64_t end = wf_cpu_min((item + 1) * WEIGHT_TERMS, p->n_terms);
    float *window = (float *)(void *)worker->scratch; // [9, width]
    for (int64_t j0 = 0, width; j0 < p->n_cols; j0 += width) {
        width = wf_cpu_panel_width(c->products->sizes, p->n_cols, j0);
        const int64_t n = wf_cpu_min(width, p->n_cols - j0);
        memset(window, 0, (size_t)(9 * width) * sizeof *window);
        for (int64_t t = item * WEIGHT_TERMS; t < end; t++) {
            const float *w = c->w.data + t * term_step + j0 * col_step;
            for (int64_t i = 0; i < 9; i++) {
                const int64_t cell = is_forward ? i : 8 - i; // the gradient's window runs backwards
                const float *from = w + cell / 3 * c->w.space[1] + cell % 3 * c->w.space[2];
                for (int64_t j = 0; j < n; j++)
                    window[i * width + j] = from[j * col_step];
            }
            p->kernels->weights(c->workspace + j0 * p->n_terms + t * width, get_matrix_floats(c),
                                window, width, width);
        }
    }
}

// Where a tile's input and output begin.
typedef struct place {
    const float *src;
    float *out;
    int64_t in_y, in_x;       // of input cell 0, 0: may lie outside
    int64_t n_out_y, n_out_x; // outputs of the tile that exist
} place;

static place get_place(const winograd *p, int64_t tile)
{
    const wf_cpu_conv *c = p->c;
    const wf_cpu_box *b = &c->box;
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    const int64_t x = tile % p->tiles_x * TILE, y = tile / p->tiles_x % p->tiles_y * TILE;
    const int64_t n = tile / p->tiles_x / p->tiles_y;
    return (place){b->src.data + n * b->src.n,
                   out->data + n * out->n + y * out->space[1] + x * out->space[2],
                   y + b->base[1],
                   x + b->base[2],
                   wf_cpu_min(TILE, b->out[1] - y),
                   wf_cpu_min(TILE, b->out[2] - x)};
}

// v[point, tile, term] of the item's tiles.
static void transform_in(const winograd *p, int64_t first, int64_t n, float *v, const float *zeros)
{
    const wf_cpu_box *b = &p->c->box;
    const float *cells[POINTS];
    for (int64_t i = 0; i < n; i++) {
        const place at = get_place(p, first + i);
        for (int64_t k = 0; k < POINTS; k++) {
            const int64_t y = at.in_y + k / 6, x = at.in_x + k % 6;
            const bool is_inside = y >= 0 && y < b->src_size[1] && x >= 0 && x < b->src_size[2];
            cells[k] = is_inside ? at.src + y * b->src.space[1] + x * b->src.space[2] : zeros;
        }
        p->kernels->input(v + i * p->v_row, p->item_tiles * p->v_row, cells, p->n_terms);
    }
}

// m[point, tile, column] of one point.
static void multiply(const winograd *p, int64_t point, int64_t n, const float *v, float *m)
{
    const wf_cpu_tile_sizes *s = p->c->products->sizes;
    const int64_t pass = wf_cpu_pass_terms(s);
    const float *u = p->c->workspace + point * get_matrix_floats(p->c);
    int64_t rows[MAX_TILES], terms[WF_CPU_MAX_PASS_TERMS];
    wf_cpu_tiles t = {.n_rows = n, .a_rows = rows, .a_terms = terms, .ldc = p->m_row};
    for (int64_t i = 0; i < n; i++)
        rows[i] = i * p->v_row;
    for (int64_t i = 0; i < wf_cpu_min(pass, p->n_terms); i++)
        terms[i] = i;
    for (int64_t k0 = 0; k0 < p->n_terms; k0 += pass) {
        t.n_terms = wf_cpu_min(pass, p->n_terms - k0);
        t.a = v + point * p->item_tiles * p->v_row + k0;
        t.is_first = k0 == 0;
        for (int64_t j0 = 0, width; j0 < p->n_cols; j0 += width) {
            width = wf_cpu_panel_width(s, p->n_cols, j0);
            t.n_cols = wf_cpu_min(width, p->n_cols - j0);
            t.b = u + j0 * p->n_terms + k0 * width;
            t.b_step = width;
            t.c = m + point * p->item_tiles * p->m_row + j0;
            p->c->products->tiles(&t);
        }
    }
}

static void transform_out(const winograd *p, int64_t first, int64_t n, const float *m, float *spare)
{
    const wf_cpu_conv *c = p->c;
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    float *cells[TILE * TILE];
    for (int64_t i = 0; i < n; i++) {
        const place at = get_place(p, first + i);
        for (int64_t k = 0; k < TILE * TILE; k++) {
            const int64_t y = k / TILE, x = k % TILE;
            cells[k] = y < at.n_out_y && x < at.n_out_x
                           ? at.out + y * out->space[1] + x * out->space[2]
                           : spare;
        }
        p->kernels->output(cells, m + i * p->m_row, p->item_tiles * p->m_row, p->n_cols);
    }
}

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const winograd *p = params;
    const int64_t first = item * p->item_tiles, n = wf_cpu_min(p->item_tiles, p->n_tiles - first);
    float *zeros = (float *)(void *)worker->scratch, *spare = zeros + p->v_row;
    float *v = spare + p->m_row, *m = v + POINTS * p->item_tiles * p->v_row;
    memset(zeros, 0, (size_t)p->n_terms * sizeof *zeros);
    transform_in(p, first, n, v, zeros);
    for (int64_t point = 0; point < POINTS; point++)
        multiply(p, point, n, v, m);
    transform_out(p, first, n, m, spare);
}

weft_status wf_cpu_conv_winograd(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err)
{
    winograd *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    *p = get_winograd(c, q->kernels->winograd);
    const int64_t floats = (p->v_row + p->m_row) * (POINTS * p->item_tiles + 1);
    wf_cpu_need_scratch(q, (size_t)floats * sizeof(float));
    WEFT_TRY(wf_cpu_add_phase(q, run_weights, p, wf_cpu_div_up(p->n_terms, WEIGHT_TERMS), err));
    return wf_cpu_add_phase(q, run_item, p, p->n_items, err);
}
