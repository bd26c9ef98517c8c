// Convolutions of any sizes and layouts, 16 channels of one cell at a time: for those that have no box
// of a sane size (huge dilations), and empty ones. Stage: PLAN -> PROGRAM, RUN.
#include "device/cpu/cpu_conv.h"
#include "device/cpu/cpu_product.h"

#define LANES WF_CPU_PRODUCT_LANES

typedef wf_cpu_tensor tensor;

typedef struct conv_params {
    const wf_cpu_products *products;
    wf_conv_shape s;
    tensor x, w, y;                // of the forward op: its gradients write x or w
    int64_t rows_per_item, n_rows; // a row: the lanes' channels of one cell
    int64_t tiles;                 // of 16 channels in a group
} conv_params;

static const float zero = 0.0f; // what lies in the padding

// Input cell under window cell r of output cell p; false in the padding.
static bool get_input_cell(const wf_conv_shape *s, const int64_t *p, const int64_t *r, int64_t *h)
{
    for (int i = 0; i < WF_CONV_AXES; i++) {
        h[i] = p[i] * s->stride[i] - s->pad[i] + r[i] * s->dilation[i];
        if (h[i] < 0 || h[i] >= s->in[i])
            return false;
    }
    return true;
}

// Output cell whose window cell r lies on input cell h; false if there is none.
static bool get_output_cell(const wf_conv_shape *s, const int64_t *h, const int64_t *r, int64_t *p)
{
    for (int i = 0; i < WF_CONV_AXES; i++) {
        const int64_t start = h[i] + s->pad[i] - r[i] * s->dilation[i];
        if (start < 0 || start % s->stride[i] != 0 || start / s->stride[i] >= s->out[i])
            return false;
        p[i] = start / s->stride[i];
    }
    return true;
}

// Splits a row's number: [n, cell, group, tile of channels].
typedef struct row {
    int64_t n, cell, group, lane, n_lanes;
} row;

static row get_row(const conv_params *p, int64_t idx, int64_t n_cells, int64_t group_size)
{
    row r;
    r.lane = idx % p->tiles * LANES;
    idx /= p->tiles;
    r.group = idx % p->s.groups;
    idx /= p->s.groups;
    r.cell = idx % n_cells;
    r.n = idx / n_cells;
    r.n_lanes = wf_cpu_min(LANES, group_size - r.lane);
    return r;
}

// y[n,k,p] = sum over r, c of x[n,c,p*stride+r] * w[k,c,r]
static void forward_row(const conv_params *p, int64_t idx)
{
    const wf_conv_shape *s = &p->s;
    const row o = get_row(p, idx, wf_conv_volume(s->out), s->kg);
    const int64_t k = o.group * s->kg + o.lane, n_window = wf_conv_volume(s->window);
    int64_t at[WF_CONV_AXES], r[WF_CONV_AXES], h[WF_CONV_AXES];
    wf_cpu_sum sum;
    wf_conv_split(o.cell, s->out, at);
    wf_cpu_sum_start(&sum, p->products, n_window * s->cg, (size_t)o.n_lanes);
    for (int64_t i = 0; i < n_window; i++) {
        wf_conv_split(i, s->window, r);
        const bool is_inside = get_input_cell(s, at, r, h);
        const float *x = is_inside ? p->x.data + o.n * p->x.n + o.group * s->cg * p->x.c +
                                         wf_cpu_conv_offset(&p->x, h)
                                   : &zero;
        wf_cpu_sum_feed(&sum, x, is_inside ? p->x.c : 0,
                        p->w.data + k * p->w.n + wf_cpu_conv_offset(&p->w, r), p->w.c, p->w.n,
                        s->cg);
    }
    wf_cpu_sum_store(&sum, p->y.data + o.n * p->y.n + k * p->y.c + wf_cpu_conv_offset(&p->y, at),
                     p->y.c);
}

// dx[n,c,h] = sum over r, k of dy[n,k,p] * w[k,c,r], where p's window cell r lies on h
static void grad_input_row(const conv_params *p, int64_t idx)
{
    const wf_conv_shape *s = &p->s;
    const row o = get_row(p, idx, wf_conv_volume(s->in), s->cg);
    const int64_t n_window = wf_conv_volume(s->window), k = o.group * s->kg;
    int64_t at[WF_CONV_AXES], r[WF_CONV_AXES], h[WF_CONV_AXES];
    wf_cpu_sum sum;
    wf_conv_split(o.cell, s->in, h);
    wf_cpu_sum_start(&sum, p->products, n_window * s->kg, (size_t)o.n_lanes);
    for (int64_t i = 0; i < n_window; i++) {
        wf_conv_split(i, s->window, r);
        const bool is_inside = get_output_cell(s, h, r, at);
        const float *dy =
            is_inside ? p->y.data + o.n * p->y.n + k * p->y.c + wf_cpu_conv_offset(&p->y, at)
                      : &zero;
        wf_cpu_sum_feed(&sum, dy, is_inside ? p->y.c : 0,
                        p->w.data + k * p->w.n + o.lane * p->w.c + wf_cpu_conv_offset(&p->w, r),
                        p->w.n, p->w.c, s->kg);
    }
    wf_cpu_sum_store(&sum,
                     p->x.data + o.n * p->x.n + (o.group * s->cg + o.lane) * p->x.c +
                         wf_cpu_conv_offset(&p->x, h),
                     p->x.c);
}

// dw[k,c,r] = sum over n, p of dy[n,k,p] * x[n,c,p*stride+r]; a row's n is k within the group.
static void grad_weight_row(const conv_params *p, int64_t idx)
{
    const wf_conv_shape *s = &p->s;
    const row o = get_row(p, idx, wf_conv_volume(s->window), s->cg);
    const int64_t n_out = wf_conv_volume(s->out), k = o.group * s->kg + o.n;
    int64_t at[WF_CONV_AXES], r[WF_CONV_AXES], h[WF_CONV_AXES];
    wf_cpu_sum sum;
    wf_conv_split(o.cell, s->window, r);
    wf_cpu_sum_start(&sum, p->products, s->n * n_out, (size_t)o.n_lanes);
    for (int64_t n = 0; n < s->n; n++) {
        const float *x = p->x.data + n * p->x.n + (o.group * s->cg + o.lane) * p->x.c;
        for (int64_t i = 0; i < n_out; i++) {
            wf_conv_split(i, s->out, at);
            const bool is_inside = get_input_cell(s, at, r, h);
            wf_cpu_sum_feed(
                &sum, p->y.data + n * p->y.n + k * p->y.c + wf_cpu_conv_offset(&p->y, at), 0,
                is_inside ? x + wf_cpu_conv_offset(&p->x, h) : &zero, 0, is_inside ? p->x.c : 0, 1);
        }
    }
    wf_cpu_sum_store(&sum, p->w.data + k * p->w.n + o.lane * p->w.c + wf_cpu_conv_offset(&p->w, r),
                     p->w.c);
}

#define ITEM_FUNCTION(name, row_function)                                                          \
    static void name(const void *params, int64_t item, const wf_cpu_worker *worker)                \
    {                                                                                              \
        const conv_params *p = params;                                                             \
        const int64_t end = wf_cpu_min((item + 1) * p->rows_per_item, p->n_rows);                  \
        (void)worker;                                                                              \
        for (int64_t i = item * p->rows_per_item; i < end; i++)                                    \
            row_function(p, i);                                                                    \
    }
ITEM_FUNCTION(run_forward, forward_row)
ITEM_FUNCTION(run_grad_input, grad_input_row)
ITEM_FUNCTION(run_grad_weight, grad_weight_row)

weft_status wf_cpu_conv_plain(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err)
{
    static wf_cpu_item_fn *const runs[] = {run_forward, run_grad_input, run_grad_weight};
    conv_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    *p = (conv_params){.products = c->products, .s = c->s, .x = c->x, .w = c->w, .y = c->y};
    const wf_conv_shape *s = &p->s;
    const int64_t group_size = c->kind == WF_CONV_FORWARD ? s->kg : s->cg;
    const int64_t n_cells = wf_conv_volume(c->kind == WF_CONV_FORWARD      ? s->out
                                           : c->kind == WF_CONV_GRAD_INPUT ? s->in
                                                                           : s->window);
    p->tiles = wf_cpu_div_up(group_size, LANES);
    p->n_rows = (c->kind == WF_CONV_GRAD_WEIGHT ? s->kg : s->n) * n_cells * s->groups * p->tiles;
    p->rows_per_item = c->kind == WF_CONV_GRAD_WEIGHT ? 1 : 64;
    return wf_cpu_add_phase(q, runs[c->kind], p, wf_cpu_div_up(p->n_rows, p->rows_per_item), err);
}
