// Depthwise convolution and its gradients: one channel in, one out, so channels are the vectors' lanes
// and nothing is shared between them but the cells. Stage: RUN.
//
// A box holds all channels. Forward and input gradient: an item is a unit, a row of lanes is a cell.
// Weight gradient: an item is a group of the product's blocks and one window cell.
#include "device/cpu/cpu_conv.h"

#include <string.h>

// Product blocks: a forward of more window cells than one block holds is left to the plain way.
size_t wf_cpu_conv_lanes_floats(const wf_cpu_conv *c)
{
    const int64_t n_window = wf_conv_volume(c->s.window);
    if (c->kind != WF_CONV_GRAD_WEIGHT)
        return (size_t)(n_window * c->s.c);
    const int64_t n_terms = c->s.n * wf_conv_volume(c->s.out);
    return (size_t)(wf_product_n_groups(wf_product_n_blocks(n_terms)) * n_window * c->s.c);
}

static const float *get_weight(const wf_cpu_conv *c, int64_t cell)
{
    int64_t at[WF_CONV_AXES];
    wf_conv_split(cell, c->s.window, at);
    return c->w.data + at[0] * c->w.space[0] + at[1] * c->w.space[1] + at[2] * c->w.space[2];
}

// Item: one window cell's weights, side by side.
static void run_pack(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const float *w = get_weight(c, item);
    (void)worker;
    for (int64_t i = 0; i < c->s.c; i++)
        c->workspace[item * c->s.c + i] = w[i * c->w.n];
}

static void run_gather(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const wf_cpu_box *box = &c->box;
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    const int64_t volume = wf_conv_volume(box->out), n_window = wf_conv_volume(c->s.window);
    const wf_cpu_unit u = wf_cpu_box_unit(box, item);
    float *sums = (float *)(void *)worker->scratch + (box->floats + 15) / 16 * 16;
    const float *x = wf_cpu_box_fill(box, &u, 0, (float *)(void *)worker->scratch);
    int64_t at[WF_CONV_AXES];
    for (int64_t i = 0; i < u.n_cells; i++) {
        const int64_t cell = u.first_cell + i;
        memset(sums, 0, (size_t)c->s.c * sizeof *sums);
        c->products->lanes(sums, x + box->cells[i], box->taps, c->workspace, c->s.c, n_window,
                           c->s.c);
        wf_conv_split(cell % volume, box->out, at);
        float *to = out->data + cell / volume * out->n + at[0] * out->space[0] +
                    at[1] * out->space[1] + at[2] * out->space[2];
        for (int64_t j = 0; j < c->s.c && out->c == 1; j++)
            to[j] = sums[j] + 0.0f;
        for (int64_t j = 0; j < c->s.c && out->c != 1; j++)
            to[j * out->c] = sums[j] + 0.0f;
    }
}

// sums[cell, channel] of one block: chains of all window cells over the cells of its units.
static void run_block(const wf_cpu_conv *c, int64_t begin, int64_t end, float *chain, float *buf)
{
    const wf_cpu_box *box = &c->box;
    const int64_t n_window = wf_conv_volume(c->s.window);
    memset(chain, 0, (size_t)(n_window * c->s.c) * sizeof *chain);
    for (int64_t t = begin, idx = wf_cpu_box_find(box, begin); t < end; idx++) {
        const wf_cpu_unit u = wf_cpu_box_unit(box, idx);
        const float *x = wf_cpu_box_fill(box, &u, 0, buf);
        const int64_t last = wf_cpu_min(u.first_cell + u.n_cells, end);
        for (int64_t r = 0; r < n_window; r++) {
            c->products->lanes(chain + r * c->s.c, x + box->taps[r],
                               box->cells + (t - u.first_cell), c->y.data + t * c->flat_step,
                               c->flat_step, last - t, c->s.c);
        }
        t = last;
    }
}

static void run_weight(const void *params, int64_t g, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const int64_t k = c->s.n * wf_conv_volume(c->s.out), len = wf_product_block_len(k);
    const int64_t n_blocks = wf_product_n_blocks(k), n = wf_conv_volume(c->s.window) * c->s.c;
    float *sums = c->workspace + g * n, *buf = (float *)(void *)worker->scratch;
    float *own = buf + (c->box.floats + 15) / 16 * 16;
    const int64_t first = wf_product_group_start(n_blocks, g);
    for (int64_t block = first; block < wf_product_group_start(n_blocks, g + 1); block++) {
        float *chain = block == first ? sums : own;
        run_block(c, block * len, wf_cpu_min((block + 1) * len, k), chain, buf);
        for (int64_t i = 0; i < n && block != first; i++)
            sums[i] += chain[i];
    }
}

// Item: one window cell.
static void run_store(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_conv *c = params;
    const int64_t k = c->s.n * wf_conv_volume(c->s.out), n = wf_conv_volume(c->s.window) * c->s.c;
    const int64_t n_parts = wf_product_n_groups(wf_product_n_blocks(k));
    float *w = c->w.data + (get_weight(c, item) - c->w.data);
    (void)worker;
    for (int64_t j = 0; j < c->s.c; j++) {
        const float *sums = c->workspace + item * c->s.c + j;
        float total = sums[0];
        for (int64_t i = 1; i < n_parts; i++)
            total += sums[i * n];
        w[j * c->w.n] = total + 0.0f;
    }
}

weft_status wf_cpu_conv_lanes(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err)
{
    const int64_t n_window = wf_conv_volume(c->s.window), box = (c->box.floats + 15) / 16 * 16;
    if (c->kind != WF_CONV_GRAD_WEIGHT) {
        wf_cpu_need_scratch(q, (size_t)(box + c->s.c) * sizeof(float));
        WEFT_TRY(wf_cpu_add_phase(q, run_pack, c, n_window, err));
        return wf_cpu_add_phase(q, run_gather, c, c->box.n_units, err);
    }
    const int64_t n_blocks = wf_product_n_blocks(c->s.n * wf_conv_volume(c->s.out));
    wf_cpu_need_scratch(q, (size_t)(box + n_window * c->s.c) * sizeof(float));
    WEFT_TRY(wf_cpu_add_phase(q, run_weight, c, wf_product_n_groups(n_blocks), err));
    return wf_cpu_add_phase(q, run_store, c, n_window, err);
}
