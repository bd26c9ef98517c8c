// Convolution forward and its input gradient: rows of the product are cells of a unit, columns are
// channels, terms are (window cell, channel). Stage: RUN.
//
// Weights are packed in the workspace by a phase before; an item is a unit of one group.
#include "device/cpu/cpu_conv.h"

size_t wf_cpu_conv_gather_floats(const wf_cpu_conv *c)
{
    return (size_t)(c->s.groups *
                    wf_cpu_packed_floats(c->products->sizes, c->n_cols, c->box.n_terms));
}

// Item: one window cell of one group.
static void run_pack(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const wf_cpu_tile_sizes *s = c->products->sizes;
    const bool is_forward = c->kind == WF_CONV_FORWARD;
    const int64_t n_window = wf_conv_volume(c->s.window), cell = item % n_window;
    const int64_t group = item / n_window, k = c->box.n_terms;
    const int64_t term = is_forward ? c->w.c : c->w.n, col = is_forward ? c->w.n : c->w.c;
    float *packed = c->workspace + group * wf_cpu_packed_floats(s, c->n_cols, k);
    int64_t at[WF_CONV_AXES];
    (void)worker;
    wf_conv_split(cell, c->s.window, at);
    const float *w = c->w.data + group * c->s.kg * c->w.n + at[0] * c->w.space[0] +
                     at[1] * c->w.space[1] + at[2] * c->w.space[2];
    for (int64_t j0 = 0, width; j0 < c->n_cols; j0 += width) {
        width = wf_cpu_panel_width(s, c->n_cols, j0);
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
                    at[0] * out->space[0] + at[1] * out->space[1] + at[2] * out->space[2];
        for (int64_t j = 0; j < c->n_cols; j++)
            to[j * out->c] = sums[j] + 0.0f;
    }
}

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const wf_cpu_box *box = &c->box;
    const int64_t group = item % c->s.groups, k = box->n_terms;
    const int64_t len = wf_product_block_len(k), n_blocks = wf_product_n_blocks(k);
    const int64_t pass = wf_cpu_pass_terms(c->products->sizes);
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    const wf_cpu_unit u = wf_cpu_box_unit(box, item / c->s.groups);
    float *sums = (float *)(void *)worker->scratch + (box->floats + 15) / 16 * 16;
    const float *packed =
        c->workspace + group * wf_cpu_packed_floats(c->products->sizes, c->n_cols, k);
    const bool is_direct = c->flat_step && n_blocks == 1;
    const int64_t n = u.n_cells * c->n_cols;
    wf_cpu_tiles t = {.n_rows = u.n_cells, .a_rows = box->cells};
    t.a = wf_cpu_box_fill(box, &u, group, (float *)(void *)worker->scratch);
    t.c = is_direct ? out->data + u.first_cell * c->flat_step + group * c->n_cols : sums;
    t.ldc = is_direct ? c->flat_step : c->n_cols;
    for (int64_t block = 0; block < n_blocks; block++) {
        const int64_t end = wf_cpu_min((block + 1) * len, k);
        for (int64_t k0 = block * len, k1; k0 < end; k0 = k1) {
            k1 = wf_cpu_min(k0 + pass, end);
            t.is_first = k0 == block * len;
            t.is_last = k1 == k && n_blocks == 1;
            run_pass(c, packed, &t, k0, k1);
        }
        if (n_blocks > 1)
            wf_cpu_block_close(n_blocks, block, sums, sums + n, sums + 2 * n, n);
    }
    if (!is_direct)
        store(c, out, &u, group, n_blocks > 1 ? sums + 2 * n : sums);
}

weft_status wf_cpu_conv_gather(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err)
{
    const wf_cpu_box *box = &c->box;
    const bool is_direct = c->flat_step && wf_product_n_blocks(box->n_terms) == 1;
    const int64_t sums = is_direct ? 0 : 3 * box->unit_cells * c->n_cols;
    wf_cpu_need_scratch(q, (size_t)((box->floats + 15) / 16 * 16 + sums) * sizeof(float));
    WEFT_TRY(wf_cpu_add_phase(q, run_pack, c, c->s.groups * wf_conv_volume(c->s.window), err));
    return wf_cpu_add_phase(q, run_item, c, box->n_units * c->s.groups, err);
}
