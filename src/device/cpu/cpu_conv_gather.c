// Convolution forward and its input gradient: rows of the product are cells of a unit, columns are
// channels, terms are (window cell, channel). Stage: RUN.
//
// Weights are packed in the workspace by a phase before; an item is a unit of one group.
#include "device/cpu/cpu_conv.h"

#include <string.h>

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

void wf_cpu_conv_pack(const wf_cpu_conv *c, int64_t item)
{
    const bool is_forward = c->kind == WF_CONV_FORWARD;
    const int64_t n_window = wf_conv_volume(c->s.window), cell = item % n_window;
    const int64_t group = item / n_window, k = c->box.n_terms;
    const int64_t term = is_forward ? c->w.c : c->w.n, col = is_forward ? c->w.n : c->w.c;
    float *packed = c->workspace + group * wf_cpu_conv_packed_floats(c);
    int64_t at[WF_CONV_AXES];
    wf_conv_split(cell, c->s.window, at);
    const float *w = c->w.data + group * c->s.kg * c->w.n + wf_cpu_conv_offset(&c->w, at);
    for (int64_t j0 = 0, width; j0 < c->n_cols; j0 += width) {
        width = wf_cpu_conv_panel(c, j0);
        c->products->pack(packed + j0 * k + cell * c->box.channels * width, width, w + j0 * col,
                          term, col, c->box.channels, wf_cpu_min(width, c->n_cols - j0));
    }
}

// sums[cell,channel] over the terms [k0,k1), which lie in one block.
static void run_pass(const wf_cpu_conv *c, const float *packed, wf_cpu_tiles *t, int64_t k0,
                     int64_t k1)
{
    const wf_cpu_tile_sizes *s = c->products->sizes;
    float *to = t->c;
    t->a_terms = c->box.terms + k0;
    t->n_terms = k1 - k0;
    for (int64_t j0 = 0, width; j0 < c->n_cols; j0 += width) {
        width = wf_cpu_panel_width(s, c->n_cols, j0);
        t->n_cols = wf_cpu_min(width, c->n_cols - j0);
        t->b = packed + j0 * c->box.n_terms + k0 * width;
        t->b_step = width;
        t->c = to + j0;
        c->products->tiles(t);
    }
    t->c = to;
}

static void store(const wf_cpu_conv *c, const wf_cpu_tensor *out, const wf_cpu_unit *u,
                  int64_t group, const float *sums)
{
    const int64_t volume = wf_conv_volume(c->box.out);
    int64_t at[WF_CONV_AXES];
    for (int64_t i = 0; i < u->n_cells; i++, sums += c->n_cols) {
        const int64_t cell = u->first_cell + i;
        wf_conv_split(cell % volume, c->box.out, at);
        float *to = out->data + cell / volume * out->n + group * c->n_cols * out->c +
                    wf_cpu_conv_offset(out, at);
        for (int64_t j = 0; j < c->n_cols; j++)
            to[j * out->c] = sums[j] + 0.0f;
    }
}

static void run_tiles(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_box *box = &c->box;
    const int64_t group = item % c->s.groups, pass = wf_cpu_pass_terms(c->products->sizes);
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    const wf_cpu_unit u = wf_cpu_box_unit(box, item / c->s.groups);
    float *sums = (float *)(void *)worker->scratch + (box->floats + 15) / 16 * 16;
    const float *packed = c->workspace + group * wf_cpu_conv_packed_floats(c);
    const bool is_direct = c->flat_step && c->n_blocks == 1;
    const int64_t n = u.n_cells * c->n_cols;
    wf_cpu_tiles t = {.n_rows = u.n_cells, .a_rows = box->cells};
    t.a = wf_cpu_box_fill(box, &u, group, (float *)(void *)worker->scratch);
    t.c = is_direct ? out->data + u.first_cell * c->flat_step + group * c->n_cols : sums;
    t.ldc = is_direct ? c->flat_step : c->n_cols;
    for (int64_t block = 0, begin = 0, end; block < c->n_blocks; block++, begin = end) {
        end = c->block_ends[block];
        if (begin == end)
            memset(sums, 0, (size_t)n * sizeof *sums);
        for (int64_t k0 = begin, k1; k0 < end; k0 = k1) {
            k1 = wf_cpu_min(k0 + pass, end);
            t.is_first = k0 == begin;
            t.is_last = k1 == end && c->n_blocks == 1;
            run_pass(c, packed, &t, k0, k1);
        }
        if (c->n_blocks > 1)
            wf_cpu_block_close(c->n_blocks, block, sums, sums + n, sums + 2 * n, n);
    }
    if (!is_direct)
        store(c, out, &u, group, c->n_blocks > 1 ? sums + 2 * n : sums);
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
    (void)worker;
    wf_cpu_conv_pack(params, item);
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
    if (c->is_narrow) {
        wf_cpu_need_scratch(q, wf_cpu_conv_narrow_scratch(c));
        return WEFT_OK;
    }
    const bool is_direct = c->flat_step && c->n_blocks == 1;
    const int64_t sums = is_direct ? 0 : 3 * box->unit_cells * c->n_cols;
    wf_cpu_need_scratch(q, (size_t)((box->floats + 15) / 16 * 16 + sums) * sizeof(float));
    return WEFT_OK;
}

weft_status wf_cpu_conv_gather(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err)
{
    WEFT_TRY(wf_cpu_conv_gather_prepare(q, c, err));
    WEFT_TRY(wf_cpu_add_phase(q, run_pack, c, wf_cpu_conv_n_packs(c), err));
    return wf_cpu_add_phase(q, run_unit, c, c->box.n_units * c->s.groups, err);
}
