// Convolution forward and its input gradient: rows of the product are cells of a unit, columns are
// channels, terms are (window cell, channel). Stage: RUN.
//
// Weights are packed in the workspace by a phase before; an item is a unit of one group.
#include "device/cpu/cpu_conv.h"

#include <string.h>

#define FEW_CELLS 64   // that do not hide how far large weights lie
#define PACK_TERMS 288 // packed by one item, a panel at a time in L1

int64_t wf_cpu_conv_panel(const wf_cpu_conv *c, int64_t j0)
{
    return c->is_narrow ? c->n_cols : wf_cpu_panel_width(c->products->sizes, c->n_cols, j0);
}

int64_t wf_cpu_conv_packed_floats(const wf_cpu_conv *c)
{
    return c->is_narrow ? c->n_cols * c->box.n_terms
                        : wf_cpu_packed_floats(c->products->sizes, c->n_cols, c->box.n_terms);
}

size_t wf_cpu_conv_gather_floats(const wf_cpu_conv *c)
{
    return (size_t)(c->s.groups * wf_cpu_conv_packed_floats(c));
}

// Channels of one item of packing: with all window cells about as many terms as PACK_TERMS.
static int64_t get_pack_channels(const wf_cpu_conv *c)
{
    const int64_t n_window = wf_conv_volume(c->s.window);
    const int64_t n = n_window ? PACK_TERMS / n_window : c->box.channels;
    return n < 1 ? 1 : wf_cpu_min(n, c->box.channels);
}

int64_t wf_cpu_conv_n_packs(const wf_cpu_conv *c)
{
    return c->box.n_terms ? c->s.groups * wf_cpu_div_up(c->box.channels, get_pack_channels(c)) : 0;
}

// The window's weights lie side by side, as [k,c,window] does when dense.
static bool is_window_dense(const wf_cpu_conv *c)
{
    int64_t n = 1;
    for (int i = WF_CONV_AXES - 1; i >= 0; i--) {
        if (c->s.window[i] > 1 && c->w.space[i] != n)
            return false;
        n *= c->s.window[i];
    }
    return n > 1 && n <= PACK_TERMS && c->w.c == n;
}

// Channels [first, first + n) of a panel whose window lies side by side: rows are turned in order of the
// memory, then put where they belong.
static void pack_dense(const wf_cpu_conv *c, const float *w, float *packed, int64_t width,
                       int64_t n_cols, int64_t first, int64_t n, float *rows)
{
    const int64_t n_window = wf_conv_volume(c->s.window), channels = c->box.channels;
    const bool is_forward = c->kind == WF_CONV_FORWARD;
    if (is_forward)
        c->products->pack(rows, width, w + first * c->w.c, 1, c->w.n, n * n_window, n_cols);
    for (int64_t i = 0; i < n; i++) {
        if (!is_forward)
            c->products->pack(rows, width, w + (first + i) * c->w.n, 1, c->w.c, n_window, n_cols);
        const float *from = is_forward ? rows + i * n_window * width : rows;
        for (int64_t t = 0; t < n_window; t++, from += width)
            memcpy(packed + (t * channels + first + i) * width, from, (size_t)width * sizeof *from);
    }
}

bool wf_cpu_conv_pack(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker)
{
    const bool is_forward = c->kind == WF_CONV_FORWARD, is_dense = is_window_dense(c);
    const int64_t n_window = wf_conv_volume(c->s.window), channels = c->box.channels;
    const int64_t chunk = get_pack_channels(c), n_chunks = wf_cpu_div_up(channels, chunk);
    const int64_t first = item % n_chunks * chunk, group = item / n_chunks;
    const int64_t n = wf_cpu_min(chunk, channels - first), k = c->box.n_terms;
    const int64_t term = is_forward ? c->w.c : c->w.n, col = is_forward ? c->w.n : c->w.c;
    float *packed = c->workspace + group * wf_cpu_conv_packed_floats(c);
    const float *w = c->w.data + group * c->s.kg * c->w.n;
    bool is_finite = true;
    for (int64_t j0 = 0, width; j0 < c->n_cols; j0 += width) {
        width = wf_cpu_conv_panel(c, j0);
        const int64_t n_cols = wf_cpu_min(width, c->n_cols - j0);
        float *panel = packed + j0 * k;
        if (is_dense) {
            pack_dense(c, w + j0 * col, panel, width, n_cols, first, n,
                       (float *)(void *)worker->scratch);
        }
        for (int64_t cell = 0; cell < n_window; cell++) {
            int64_t at[WF_CONV_AXES];
            float *to = panel + (cell * channels + first) * width;
            wf_conv_split(cell, c->s.window, at);
            if (!is_dense) {
                c->products->pack(to, width,
                                  w + j0 * col + first * term + wf_cpu_conv_offset(&c->w, at), term,
                                  col, n, n_cols);
            }
            if (c->first_nonfinite) {
                is_finite &= c->first_nonfinite(to, (size_t)(n * width)) == (size_t)(n * width);
            }
        }
    }
    return is_finite;
}

// One item at work.
typedef struct part {
    wf_cpu_unit u;
    int64_t group, j0, n_cols;
} part;

int64_t wf_cpu_conv_n_items(const wf_cpu_conv *c)
{
    return c->box.n_units * c->s.groups * c->n_cuts;
}

// What comes behind the panel at column j0 of a pass: the next one, or the first of the next pass.
static wf_cpu_ahead get_ahead(const wf_cpu_conv *c, const part *r, const float *packed, int64_t j0,
                              int64_t k0, int64_t k1)
{
    const wf_cpu_tile_sizes *s = c->products->sizes;
    int64_t width = wf_cpu_panel_width(s, c->n_cols, j0), j = j0 + width;
    if (j >= r->j0 + r->n_cols) {
        j = r->j0;
        k0 = k1;
        k1 = wf_cpu_min(k0 + wf_cpu_pass_terms(s), c->box.n_terms);
    }
    width = wf_cpu_panel_width(s, c->n_cols, j);
    return (wf_cpu_ahead){packed + j * c->box.n_terms + k0 * width, width, k1 - k0, width};
}

// sums[cell,channel] over the terms [k0,k1), which lie in one block.
static void run_pass(const wf_cpu_conv *c, const part *r, const float *packed, wf_cpu_tiles *t,
                     int64_t k0, int64_t k1)
{
    const wf_cpu_tile_sizes *s = c->products->sizes;
    const int64_t end = r->j0 + r->n_cols;
    const bool is_far = wf_cpu_conv_is_heavy(c) && t->n_rows <= FEW_CELLS;
    float *to = t->c;
    t->a_terms = c->box.terms + k0;
    t->n_terms = k1 - k0;
    for (int64_t j0 = r->j0, width; j0 < end; j0 += width) {
        width = wf_cpu_panel_width(s, c->n_cols, j0);
        t->n_cols = wf_cpu_min(width, end - j0);
        t->b = packed + j0 * c->box.n_terms + k0 * width;
        t->b_step = width;
        t->c = to + j0 - r->j0;
        t->ahead = is_far ? get_ahead(c, r, packed, j0, k0, k1) : (wf_cpu_ahead){0};
        c->products->tiles(t);
    }
    t->c = to;
}

static void store(const wf_cpu_conv *c, const wf_cpu_tensor *out, const part *r, const float *sums)
{
    const wf_cpu_unit *u = &r->u;
    const int64_t n_lines = u->size[0] * u->size[1], n = u->size[2];
    for (int64_t i = 0; i < u->n_samples * n_lines; i++, sums += n * r->n_cols) {
        const int64_t at[WF_CONV_AXES] = {u->start[0] + i % n_lines / u->size[1],
                                          u->start[1] + i % u->size[1], u->start[2]};
        float *to = out->data + (u->sample + i / n_lines) * out->n +
                    (r->group * c->n_cols + r->j0) * out->c + wf_cpu_conv_offset(out, at);
        if (out->c == 1) {
            c->lanes->put(to, out->space[2], sums, n, r->n_cols, c->is_streamed);
            continue;
        }
        for (int64_t j = 0; j < n; j++) {
            for (int64_t k = 0; k < r->n_cols; k++)
                to[j * out->space[2] + k * out->c] = sums[j * r->n_cols + k] + 0.0f;
        }
    }
}

static void run_tiles(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_box *box = &c->box;
    const int64_t pass = wf_cpu_pass_terms(c->products->sizes);
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    part r = {.j0 = item % c->n_cuts * c->cut_cols};
    item /= c->n_cuts;
    r.n_cols = wf_cpu_min(c->cut_cols, c->n_cols - r.j0);
    r.group = item % c->s.groups;
    r.u = wf_cpu_box_unit(box, item / c->s.groups);
    float *sums = (float *)(void *)worker->scratch + (box->floats + 15) / 16 * 16;
    const float *packed = c->workspace + r.group * wf_cpu_conv_packed_floats(c);
    const bool is_direct = c->flat_step && c->n_blocks == 1 && !c->is_streamed;
    const int64_t n = r.u.n_cells * r.n_cols;
    wf_cpu_tiles t = {.n_rows = r.u.n_cells, .a_rows = box->cells};
    t.a = wf_cpu_box_fill(box, &r.u, r.group, (float *)(void *)worker->scratch);
    t.c = is_direct ? out->data + r.u.first_cell * c->flat_step + r.group * c->n_cols + r.j0 : sums;
    t.ldc = is_direct ? c->flat_step : r.n_cols;
    for (int64_t block = 0, begin = 0, end; block < c->n_blocks; block++, begin = end) {
        end = c->block_ends[block];
        if (begin == end)
            memset(sums, 0, (size_t)n * sizeof *sums);
        for (int64_t k0 = begin, k1; k0 < end; k0 = k1) {
            k1 = wf_cpu_min(k0 + pass, end);
            t.is_first = k0 == begin;
            t.is_last = k1 == end && c->n_blocks == 1;
            run_pass(c, &r, packed, &t, k0, k1);
        }
        if (c->n_blocks > 1)
            wf_cpu_block_close(c->n_blocks, block, sums, sums + n, sums + 2 * n, n);
    }
    if (!is_direct)
        store(c, out, &r, c->n_blocks > 1 ? sums + 2 * n : sums);
}

void wf_cpu_conv_unit(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker)
{
    if (c->is_narrow)
        wf_cpu_conv_narrow_unit(c, item, worker);
    else
        run_tiles(c, item, worker);
}

static void run_pack(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    (void)wf_cpu_conv_pack(params, item, worker);
}

static void run_unit(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    wf_cpu_conv_unit(params, item, worker);
}

weft_status wf_cpu_conv_gather_prepare(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err)
{
    const wf_cpu_box *box = &c->box;
    const int64_t len = wf_product_block_len(box->n_terms);
    int64_t *ends;
    WEFT_TRY(wf_cpu_box_tables(&c->box, q, err));
    if (!c->block_ends) {
        c->n_blocks = wf_product_n_blocks(box->n_terms);
        WEFT_TRY(wf_cpu_take(q, (size_t)c->n_blocks, sizeof *ends, &ends, err));
        for (int64_t i = 0; i < c->n_blocks; i++)
            ends[i] = wf_cpu_min((i + 1) * len, box->n_terms);
        c->block_ends = ends;
    }
    wf_cpu_need_scratch(q, (size_t)(PACK_TERMS * c->products->sizes->cols) * sizeof(float));
    if (c->is_narrow) {
        wf_cpu_need_scratch(q, wf_cpu_conv_narrow_scratch(c));
        return WEFT_OK;
    }
    c->is_streamed = wf_cpu_conv_is_streamed(c, c->kind == WF_CONV_FORWARD ? &c->y : &c->x);
    const bool is_direct = c->flat_step && c->n_blocks == 1 && !c->is_streamed;
    const int64_t sums = is_direct ? 0 : 3 * box->unit_cells * c->cut_cols;
    wf_cpu_need_scratch(q, (size_t)((box->floats + 15) / 16 * 16 + sums) * sizeof(float));
    return WEFT_OK;
}

weft_status wf_cpu_conv_gather(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err)
{
    WEFT_TRY(wf_cpu_conv_gather_prepare(q, c, err));
    WEFT_TRY(wf_cpu_add_kept_phase(q, run_pack, c, wf_cpu_conv_n_packs(c), err));
    return wf_cpu_add_phase(q, run_unit, c, wf_cpu_conv_n_items(c), err);
}
