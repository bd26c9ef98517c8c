// Weight gradient of a depthwise convolution: channels are the vectors' lanes, a chain for each window
// cell goes over the cells of y. Stage: RUN.
//
// An item is a group of the product's blocks and some channels. It walks the lines of y; window cells
// that lie in the padding read zeros, since dy may be anything. A last phase adds the groups' sums.
#include "device/cpu/cpu_conv.h"

#include <string.h>

#define ITEM_FLOPS 1e6
#define MIN_ITEMS 16
#define LANES_ROUND 16 // channels of an item are a multiple

typedef struct weight_params {
    const wf_cpu_conv *c;
    const wf_cpu_lanes *lanes;
    const float *zeros;               // [channels]
    int64_t inner, inner_end;         // cells of a line whose places all lie in x
    int64_t item_lanes, n_lane_items; // channels of an item
} weight_params;

size_t wf_cpu_conv_lanes_weight_floats(const wf_cpu_conv *c)
{
    return (size_t)(wf_cpu_conv_weight_parts(c) * wf_conv_volume(c->s.window) * c->s.c);
}

// One item at work.
typedef struct part {
    int64_t lane, n_lanes;
    const float **rows; // [window 0 * window 1] lines of x, NULL where there is none
    wf_cpu_lane_sum *inside, *outside;
} part;

// chain[window cell, lane] += x * dy over n_cells cells of a line, which meet the same window cells.
static void run_cells(const weight_params *p, const part *r, const float *dy, int64_t cell,
                      int64_t n_cells, float *chain, int64_t chain_step)
{
    const wf_cpu_conv *c = p->c;
    const wf_cpu_box *b = &c->box;
    const int64_t n_rows = b->window[0] * b->window[1], space = b->src.space[2];
    wf_cpu_lane_sum *in = r->inside, *out = r->outside;
    for (int64_t row = 0; row < n_rows; row++) {
        for (int64_t s = 0; s < b->window[2]; s++, chain += chain_step) {
            const int64_t place = wf_cpu_box_place(b, 2, cell, s);
            if (r->rows[row] && place >= 0)
                *in++ = (wf_cpu_lane_sum){r->rows[row] + place * space, chain};
            else
                *out++ = (wf_cpu_lane_sum){p->zeros, chain};
        }
    }
    wf_cpu_lane_sums sums = {.n_cells = n_cells,
                             .n_lanes = r->n_lanes,
                             .dy = dy + cell * c->y.space[2],
                             .dy_step = c->y.space[2],
                             .x_ahead = b->step[1] * b->src.space[1],
                             .dy_ahead = c->y.space[1]};
    sums.n_terms = in - r->inside;
    sums.terms = r->inside;
    sums.x_step = b->step[2] * space;
    p->lanes->sums(&sums);
    sums.n_terms = out - r->outside;
    sums.terms = r->outside;
    sums.x_step = 0;
    p->lanes->sums(&sums);
}

// Cells [cell, end) of one line of y.
static void run_line(const weight_params *p, const part *r, int64_t idx, int64_t cell, int64_t end,
                     float *chain, int64_t chain_step)
{
    const wf_cpu_conv *c = p->c;
    const wf_cpu_box *b = &c->box;
    const int64_t o[WF_CONV_AXES] = {idx / b->out[1] % b->out[0], idx % b->out[1], 0};
    const int64_t sample = idx / b->out[1] / b->out[0];
    const float *x = b->src.data + sample * b->src.n + r->lane;
    const float *dy = c->y.data + sample * c->y.n + wf_cpu_conv_offset(&c->y, o) + r->lane;
    wf_cpu_box_lines(b, x, o, r->rows);
    while (cell < end) {
        const bool is_inner = cell >= p->inner && cell < p->inner_end;
        const int64_t n = is_inner ? wf_cpu_min(end, p->inner_end) - cell : 1;
        run_cells(p, r, dy, cell, n, chain, chain_step);
        cell += n;
    }
}

static void run_item(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const weight_params *p = params;
    const wf_cpu_conv *c = p->c;
    const int64_t k = wf_cpu_conv_weight_terms(c), len = wf_product_block_len(k),
                  line = c->s.out[2];
    const int64_t n_blocks = wf_product_n_blocks(k), n_window = wf_conv_volume(c->s.window);
    const int64_t g = item / p->n_lane_items, n_rows = c->box.window[0] * c->box.window[1];
    part r = {.lane = item % p->n_lane_items * p->item_lanes};
    r.n_lanes = wf_cpu_min(p->item_lanes, c->s.c - r.lane);
    r.rows = (const float **)(void *)worker->scratch;
    r.inside = (wf_cpu_lane_sum *)(void *)(r.rows + n_rows);
    r.outside = r.inside + n_window;
    float *own = (float *)(void *)(r.outside + n_window);
    float *sums = c->workspace + g * n_window * c->s.c + r.lane;
    const int64_t first = wf_product_group_start(n_blocks, g);
    for (int64_t block = first; block < wf_product_group_start(n_blocks, g + 1); block++) {
        float *chain = block == first ? sums : own;
        const int64_t step = block == first ? c->s.c : p->item_lanes;
        const int64_t end = wf_cpu_min((block + 1) * len, k);
        for (int64_t i = 0; i < n_window; i++)
            memset(chain + i * step, 0, (size_t)r.n_lanes * sizeof *chain);
        for (int64_t t = block * len, n; t < end; t += n) {
            n = wf_cpu_min(line - t % line, end - t);
            run_line(p, &r, t / line, t % line, t % line + n, chain, step);
        }
        for (int64_t i = 0; i < n_window && block != first; i++) {
            for (int64_t j = 0; j < r.n_lanes; j++)
                sums[i * c->s.c + j] += own[i * step + j];
        }
    }
}

// Item: one window cell.
static void run_store(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const weight_params *p = params;
    const wf_cpu_conv *c = p->c;
    const int64_t n = wf_conv_volume(c->s.window) * c->s.c, n_parts = wf_cpu_conv_weight_parts(c);
    int64_t at[WF_CONV_AXES];
    wf_conv_split(item, c->s.window, at);
    float *w = c->w.data + wf_cpu_conv_offset(&c->w, at);
    (void)worker;
    for (int64_t j = 0; j < c->s.c; j++) {
        const float *sums = c->workspace + item * c->s.c + j;
        float total = sums[0];
        for (int64_t i = 1; i < n_parts; i++)
            total += sums[i * n];
        w[j * c->w.n] = total + 0.0f;
    }
}

static void cut(weight_params *p)
{
    const wf_cpu_conv *c = p->c;
    const int64_t n_parts = wf_cpu_conv_weight_parts(c), most = wf_cpu_div_up(c->s.c, LANES_ROUND);
    const double flops = 2.0 * (double)wf_cpu_conv_weight_terms(c) *
                         (double)wf_conv_volume(c->s.window) * (double)c->s.c / (double)n_parts;
    int64_t n_cuts = wf_cpu_min(wf_cpu_div_up(MIN_ITEMS, n_parts), most);
    while (n_cuts > 1 && flops / (double)n_cuts < ITEM_FLOPS)
        n_cuts--;
    p->item_lanes = wf_cpu_div_up(most, n_cuts) * LANES_ROUND;
    p->n_lane_items = wf_cpu_div_up(c->s.c, p->item_lanes);
    for (p->inner_end = c->s.out[2]; p->inner < p->inner_end; p->inner++) {
        if (wf_cpu_box_place(&c->box, 2, p->inner, 0) >= 0)
            break;
    }
    while (p->inner_end > p->inner &&
           wf_cpu_box_place(&c->box, 2, p->inner_end - 1, c->s.window[2] - 1) < 0)
        p->inner_end--;
}

weft_status wf_cpu_conv_lanes_weight(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err)
{
    const int64_t n_window = wf_conv_volume(c->s.window);
    weight_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    *p = (weight_params){.c = c, .lanes = q->kernels->lanes};
    WEFT_TRY(wf_cpu_take(q, (size_t)c->s.c, sizeof *p->zeros, &p->zeros, err));
    cut(p);
    wf_cpu_need_scratch(q, (size_t)(c->box.window[0] * c->box.window[1]) * sizeof(float *) +
                               (size_t)n_window * (2 * sizeof(wf_cpu_lane_sum) +
                                                   (size_t)p->item_lanes * sizeof(float)));
    WEFT_TRY(wf_cpu_add_phase(q, run_item, p, wf_cpu_conv_weight_parts(c) * p->n_lane_items, err));
    return wf_cpu_add_phase(q, run_store, p, n_window, err);
}
