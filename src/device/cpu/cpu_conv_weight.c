// Weight gradient: rows of the product are (window cell, channel of x), columns are channels of y,
// terms are the cells of y in the order (n, cell). Stage: RUN.
//
// An item is a group of the product's blocks (so blocks run on all threads), some rows, one group of
// channels. It walks the units of its terms: the box of x is filled, dy packed, and every row's chain
// goes on. Its sums lie in the workspace; a last phase adds those of the groups, ascending.
#include "device/cpu/cpu_conv.h"

#include <string.h>

#define PASS_TERMS 256 // terms of one pass: dy's panel stays in L1, the sums are reloaded per pass
#define MIN_ITEMS 8
#define ITEM_FLOPS 1e6
#define DIRECT_TILES 4 // so few tiles of rows read dy where it is: packing it would cost more

static int64_t get_n_rows(const wf_cpu_conv *c)
{
    return c->box.n_terms;
}

void wf_cpu_conv_weight_cut(wf_cpu_conv *c, const wf_cpu_tile_sizes *s)
{
    const int64_t n_rows = get_n_rows(c), tiles = wf_cpu_div_up(n_rows, s->rows);
    const int64_t n_parts = wf_cpu_conv_weight_parts(c) * c->s.groups;
    const double flops = 2.0 * (double)n_rows * (double)c->n_cols *
                         (double)wf_cpu_conv_weight_terms(c) * (double)c->s.groups /
                         (double)n_parts;
    int64_t n_cuts = n_parts < MIN_ITEMS ? wf_cpu_div_up(MIN_ITEMS, n_parts) : 1;
    while (n_cuts > 1 && (n_cuts > tiles || flops / (double)n_cuts < ITEM_FLOPS))
        n_cuts--;
    c->item_rows = wf_cpu_div_up(tiles, n_cuts) * s->rows;
    c->n_row_items = wf_cpu_div_up(n_rows, c->item_rows);
    c->is_y_direct =
        c->y.c == 1 && (c->flat_step <= s->cols || c->item_rows <= DIRECT_TILES * s->rows);
}

size_t wf_cpu_conv_weight_floats(const wf_cpu_conv *c)
{
    return (size_t)(wf_cpu_conv_weight_parts(c) * c->s.groups * get_n_rows(c) * c->n_cols);
}

// One item at work.
typedef struct part {
    int64_t group, row0, n_rows;
    float *sums;           // [n_rows, n_cols] in the workspace
    float *box, *dy, *own; // in the scratch
} part;

// What the next pass reads: dy beside the first panel, x where no box copies it beside the second.
static wf_cpu_ahead get_ahead(const wf_cpu_conv *c, const wf_cpu_tiles *t, const float *dy,
                              int64_t n_left, int64_t panel)
{
    const int64_t n = wf_cpu_min(t->n_terms, n_left), last = t->n_terms - 1;
    if (panel == 0 && c->y.c == 1)
        return (wf_cpu_ahead){dy + t->n_terms * c->flat_step, c->flat_step, n, c->n_cols};
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
    const float *dy =
        c->y.data + (u->first_cell + i0) * c->flat_step + r->group * c->n_cols * c->y.c;
    wf_cpu_tiles t = {.n_rows = r->n_rows,
                      .n_terms = i1 - i0,
                      .a = x,
                      .a_rows = c->box.terms + r->row0,
                      .a_terms = c->box.cells + i0,
                      .ldc = c->n_cols,
                      .is_first = is_first};
    const int64_t n_left = wf_cpu_conv_weight_terms(c) - u->first_cell - i1;
    for (int64_t j0 = 0, width, panel = 0; j0 < c->n_cols; j0 += width, panel++) {
        width = wf_cpu_panel_width(s, c->n_cols, j0);
        t.n_cols = wf_cpu_min(width, c->n_cols - j0);
        t.ahead = get_ahead(c, &t, dy, n_left, panel);
        if (c->is_y_direct && t.n_cols == width) {
            t.b = dy + j0;
            t.b_step = c->flat_step;
        } else {
            c->products->pack(r->dy, width, dy + j0 * c->y.c, c->flat_step, c->y.c, t.n_terms,
                              t.n_cols);
            t.b = r->dy;
            t.b_step = width;
        }
        t.c = chain + j0;
        c->products->tiles(&t);
    }
}

static void run_block(const wf_cpu_conv *c, const part *r, int64_t begin, int64_t end, float *chain)
{
    const wf_cpu_box *box = &c->box;
    for (int64_t t = begin, idx = wf_cpu_box_find(box, begin); t < end; idx++) {
        const wf_cpu_unit u = wf_cpu_box_unit(box, idx);
        const float *x = wf_cpu_box_fill(box, &u, r->group, r->box);
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
    const int64_t n_blocks = wf_product_n_blocks(k), n_rows = get_n_rows(c);
    part r;
    r.row0 = item % c->n_row_items * c->item_rows;
    item /= c->n_row_items;
    r.group = item % c->s.groups;
    r.n_rows = wf_cpu_min(c->item_rows, n_rows - r.row0);
    const int64_t g = item / c->s.groups, n = r.n_rows * c->n_cols;
    r.sums = c->workspace + ((g * c->s.groups + r.group) * n_rows + r.row0) * c->n_cols;
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

// Item: one channel of x of one group.
static void run_store(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const int64_t channels = c->box.channels, channel = item % channels, group = item / channels;
    const int64_t n_parts = wf_cpu_conv_weight_parts(c),
                  part_floats = c->s.groups * get_n_rows(c) * c->n_cols;
    int64_t at[WF_CONV_AXES];
    (void)worker;
    for (int64_t cell = 0; cell < wf_conv_volume(c->s.window); cell++) {
        wf_conv_split(cell, c->s.window, at);
        const float *sums =
            c->workspace + (group * get_n_rows(c) + cell * channels + channel) * c->n_cols;
        float *w = c->w.data + group * c->n_cols * c->w.n + channel * c->w.c +
                   wf_cpu_conv_offset(&c->w, at);
        for (int64_t k = 0; k < c->n_cols; k++) {
            float total = sums[k];
            for (int64_t i = 1; i < n_parts; i++)
                total += sums[k + i * part_floats];
            w[k * c->w.n] = total + 0.0f;
        }
    }
}

weft_status wf_cpu_conv_weight(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err)
{
    WEFT_TRY(wf_cpu_box_tables(&c->box, q, err));
    const bool is_long = wf_product_n_blocks(wf_cpu_conv_weight_terms(c)) > WF_PRODUCT_GROUPS;
    const int64_t floats = (c->box.floats + 15) / 16 * 16 + PASS_TERMS * c->products->sizes->cols +
                           (is_long ? c->item_rows * c->n_cols : 0);
    wf_cpu_need_scratch(q, (size_t)floats * sizeof(float));
    WEFT_TRY(wf_cpu_add_phase(q, run_item, c,
                              wf_cpu_conv_weight_parts(c) * c->s.groups * c->n_row_items, err));
    return wf_cpu_add_phase(q, run_store, c, c->s.groups * c->box.channels, err);
}
