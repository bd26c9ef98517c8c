// Weight gradient: rows of the product are (window cell, channel of x), columns are channels of y,
// terms are the cells of y in the order (n, cell). Stage: RUN.
//
// An item is a group of the product's blocks (so blocks run on all threads), a chunk of x's channels in one
// group of channels, and some columns. It walks the units of its terms: the box of x is filled, dy packed, and
// every row's chain goes on. Its sums lie in the workspace; a last phase adds those of the groups, ascending.
#include "device/cpu/cpu_conv.h"

#include <string.h>

#define PASS_TERMS 256 // terms of one pass: dy's panel stays in L1, the sums are reloaded per pass
#define MIN_ITEMS 8
#define ITEM_FLOPS 1e6
#define ITEM_SUMS (144 << 10) // floats that stay in L2 beside the box
#define MAX_CHUNKS 64
#define DIRECT_TILES 4 // so few tiles of rows read dy where it is: packing it would cost more
#define STORE_COLS 8   // of an item that stores: lines of as many filters stay in L1

// Of one chunk of channels.
static int64_t get_n_rows(const wf_cpu_conv *c)
{
    return c->box.n_terms;
}

// Passes over memory with so many chunks and cuts: each chunk reads dy, each cut of columns reads x.
static double get_traffic(const wf_cpu_conv *c, int64_t n_chunks, int64_t n_cuts)
{
    const bool is_copied = wf_conv_volume(c->s.window) > 1;
    const double x = (double)(wf_conv_volume(c->s.in) * c->s.cg);
    const double y = (double)(wf_conv_volume(c->s.out) * c->n_cols);
    return (double)n_cuts * x * (is_copied ? 3.0 : 1.0) + (double)n_chunks * y;
}

void wf_cpu_conv_weight_cut(wf_cpu_conv *c, const wf_cpu_tile_sizes *s)
{
    const int64_t n_sums = wf_conv_volume(c->s.window) * c->s.cg * c->n_cols;
    const int64_t n_panels = wf_cpu_div_up(c->n_cols, s->cols);
    const int64_t n_parts = wf_cpu_conv_weight_parts(c) * c->s.groups;
    const double flops = 2.0 * (double)n_sums * (double)wf_cpu_conv_weight_terms(c) *
                         (double)c->s.groups / (double)n_parts;
    int64_t n_items = wf_cpu_div_up(MIN_ITEMS, n_parts);
    if (n_items > (int64_t)(flops / ITEM_FLOPS))
        n_items = (int64_t)(flops / ITEM_FLOPS);
    if (n_items < wf_cpu_div_up(n_sums, ITEM_SUMS))
        n_items = wf_cpu_div_up(n_sums, ITEM_SUMS);
    c->n_chunks = 1;
    c->cut_cols = c->n_cols;
    double best = -1.0;
    for (int64_t n_chunks = 1; n_chunks <= c->s.cg && n_chunks <= MAX_CHUNKS; n_chunks++) {
        const int64_t n_cuts = wf_cpu_div_up(n_items, n_chunks);
        if (c->s.cg % n_chunks != 0 || n_cuts > n_panels)
            continue;
        const double traffic = get_traffic(c, n_chunks, n_cuts);
        if (best < 0.0 || traffic < best) {
            best = traffic;
            c->n_chunks = n_chunks;
            c->cut_cols = wf_cpu_min(wf_cpu_div_up(n_panels, n_cuts) * s->cols, c->n_cols);
        }
    }
    c->n_cuts = wf_cpu_div_up(c->n_cols, c->cut_cols);
    c->box.channels = c->s.cg / c->n_chunks;
    c->is_y_direct =
        c->y.c == 1 && (c->flat_step <= s->cols ||
                        wf_conv_volume(c->s.window) * c->box.channels <= DIRECT_TILES * s->rows);
}

static int64_t get_part_floats(const wf_cpu_conv *c)
{
    return c->s.groups * c->n_chunks * get_n_rows(c) * c->n_cols;
}

size_t wf_cpu_conv_weight_floats(const wf_cpu_conv *c)
{
    return (size_t)(wf_cpu_conv_weight_parts(c) * get_part_floats(c));
}

// The sums of a chunk from column j0 on, where a cut begins: [rows, columns of the cut].
static float *get_sums(const wf_cpu_conv *c, int64_t part, int64_t chunk, int64_t j0)
{
    return c->workspace + part * get_part_floats(c) + get_n_rows(c) * (chunk * c->n_cols + j0);
}

// One item at work.
typedef struct part {
    int64_t chunk; // of all groups'
    int64_t j0, n_cols;
    float *sums;           // [rows, n_cols] in the workspace
    float *box, *dy, *own; // in the scratch
} part;

// What the next pass reads: dy beside the first panel, x where no box copies it beside the second.
static wf_cpu_ahead get_ahead(const wf_cpu_conv *c, const part *r, const wf_cpu_tiles *t,
                              const float *dy, int64_t n_left, int64_t panel)
{
    const int64_t n = wf_cpu_min(t->n_terms, n_left), last = t->n_terms - 1;
    if (panel == 0 && c->y.c == 1)
        return (wf_cpu_ahead){dy + t->n_terms * c->flat_step, c->flat_step, n, r->n_cols};
    if (panel == 1 && c->box.is_direct && last > 0) {
        const int64_t step = t->a_terms[1] - t->a_terms[0];
        return (wf_cpu_ahead){t->a + t->a_terms[last] + step, step, n, c->box.channels};
    }
    return (wf_cpu_ahead){.n = 0};
}

// chain[row, k] += x * dy over the cells [i0, i1) of a unit.
static void run_pass(const wf_cpu_conv *c, const part *r, const float *x, const wf_cpu_unit *u,
                     int64_t i0, int64_t i1, float *chain, bool is_first)
{
    const wf_cpu_tile_sizes *s = c->products->sizes;
    const int64_t group = r->chunk / c->n_chunks;
    const float *dy =
        c->y.data + (u->first_cell + i0) * c->flat_step + (group * c->n_cols + r->j0) * c->y.c;
    wf_cpu_tiles t = {.n_rows = get_n_rows(c),
                      .n_terms = i1 - i0,
                      .a = x,
                      .a_rows = c->box.terms,
                      .a_terms = c->box.cells + i0,
                      .ldc = r->n_cols,
                      .is_first = is_first};
    const int64_t n_left = wf_cpu_conv_weight_terms(c) - u->first_cell - i1;
    for (int64_t j = 0, width, panel = 0; j < r->n_cols; j += width, panel++) {
        width = wf_cpu_panel_width(s, r->n_cols, j);
        t.n_cols = wf_cpu_min(width, r->n_cols - j);
        t.ahead = get_ahead(c, r, &t, dy, n_left, panel);
        if (c->is_y_direct && t.n_cols == width) {
            t.b = dy + j;
            t.b_step = c->flat_step;
        } else {
            c->products->pack(r->dy, width, dy + j * c->y.c, c->flat_step, c->y.c, t.n_terms,
                              t.n_cols);
            t.b = r->dy;
            t.b_step = width;
        }
        t.c = chain + j;
        c->products->tiles(&t);
    }
}

static void run_block(const wf_cpu_conv *c, const part *r, int64_t begin, int64_t end, float *chain)
{
    const wf_cpu_box *box = &c->box;
    for (int64_t t = begin, idx = wf_cpu_box_find(box, begin); t < end; idx++) {
        const wf_cpu_unit u = wf_cpu_box_unit(box, idx);
        const float *x = wf_cpu_box_fill(box, &u, r->chunk, r->box);
        const int64_t last = wf_cpu_min(u.first_cell + u.n_cells, end);
        while (t < last) {
            const int64_t next = wf_cpu_min(t + PASS_TERMS, last);
            run_pass(c, r, x, &u, t - u.first_cell, next - u.first_cell, chain, t == begin);
            t = next;
        }
    }
}

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const int64_t k = wf_cpu_conv_weight_terms(c), len = wf_product_block_len(k);
    const int64_t n_blocks = wf_product_n_blocks(k), n_chunks = c->s.groups * c->n_chunks;
    part r = {.j0 = item % c->n_cuts * c->cut_cols};
    item /= c->n_cuts;
    r.chunk = item % n_chunks;
    r.n_cols = wf_cpu_min(c->cut_cols, c->n_cols - r.j0);
    const int64_t g = item / n_chunks, n = get_n_rows(c) * r.n_cols;
    r.sums = get_sums(c, g, r.chunk, r.j0);
    r.box = (float *)(void *)worker->scratch;
    r.dy = r.box + (c->box.floats + 15) / 16 * 16;
    r.own = r.dy + PASS_TERMS * c->products->sizes->cols;
    const int64_t first = wf_product_group_start(n_blocks, g);
    for (int64_t block = first; block < wf_product_group_start(n_blocks, g + 1); block++) {
        float *chain = block == first ? r.sums : r.own;
        run_block(c, &r, block * len, wf_cpu_min((block + 1) * len, k), chain);
        for (int64_t i = 0; i < n && block != first; i++)
            r.sums[i] += chain[i];
    }
}

// Filters [0, n) of one channel and window cell: the groups' sums, each [STORE_COLS] from `sums` on.
static void store(const float *sums, int64_t n_parts, int64_t part_floats, float *w, int64_t w_step,
                  int64_t n)
{
    float total[STORE_COLS];
    for (int64_t k = 0; k < n; k++)
        total[k] = sums[k];
    for (int64_t i = 1; i < n_parts; i++) {
        for (int64_t k = 0; k < n; k++)
            total[k] += sums[i * part_floats + k];
    }
    for (int64_t k = 0; k < n; k++)
        w[k * w_step] = total[k] + 0.0f;
}

// Item: STORE_COLS filters, or what is left of a cut, of one chunk.
static void run_store(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const int64_t n_parts = wf_cpu_conv_weight_parts(c),
                  n_stores = wf_cpu_div_up(c->cut_cols, STORE_COLS);
    const int64_t k = item % n_stores * STORE_COLS, j0 = item / n_stores % c->n_cuts * c->cut_cols;
    const int64_t chunk = item / n_stores / c->n_cuts, group = chunk / c->n_chunks;
    const int64_t n_cols = wf_cpu_min(c->cut_cols, c->n_cols - j0), *size = c->s.window;
    const int64_t n = wf_cpu_min(STORE_COLS, n_cols - k), channels = c->box.channels;
    float *w =
        c->w.data + (group * c->n_cols + j0 + k) * c->w.n + chunk % c->n_chunks * channels * c->w.c;
    const float *sums = get_sums(c, 0, chunk, j0) + k;
    (void)worker;
    for (int64_t channel = 0; channel < channels && n > 0; channel++) {
        int64_t at[WF_CONV_AXES], row = channel;
        for (at[0] = 0; at[0] < size[0]; at[0]++) {
            for (at[1] = 0; at[1] < size[1]; at[1]++) {
                for (at[2] = 0; at[2] < size[2]; at[2]++, row += channels) {
                    float *to = w + channel * c->w.c + wf_cpu_conv_offset(&c->w, at);
                    if (n == STORE_COLS)
                        store(sums + row * n_cols, n_parts, get_part_floats(c), to, c->w.n,
                              STORE_COLS);
                    else
                        store(sums + row * n_cols, n_parts, get_part_floats(c), to, c->w.n, n);
                }
            }
        }
    }
}

weft_status wf_cpu_conv_weight(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err)
{
    WEFT_TRY(wf_cpu_box_tables(&c->box, q, err));
    const bool is_long = wf_product_n_blocks(wf_cpu_conv_weight_terms(c)) > WF_PRODUCT_GROUPS;
    const int64_t floats = (c->box.floats + 15) / 16 * 16 + PASS_TERMS * c->products->sizes->cols +
                           (is_long ? get_n_rows(c) * c->cut_cols : 0);
    wf_cpu_need_scratch(q, (size_t)floats * sizeof(float));
    const int64_t n_items = c->s.groups * c->n_chunks * c->n_cuts;
    WEFT_TRY(wf_cpu_add_phase(q, run_item, c, wf_cpu_conv_weight_parts(c) * n_items, err));
    return wf_cpu_add_phase(q, run_store, c, n_items * wf_cpu_div_up(c->cut_cols, STORE_COLS), err);
}
