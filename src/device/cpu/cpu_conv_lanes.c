// Depthwise convolution and its input gradient: one channel in, one out, so channels are the vectors'
// lanes. Stage: RUN.
//
// src is read where it lies. An item is some lines of results along the last axis; a line falls into
// classes (one; in the input gradient as many as the stride), whose cells meet the same window cells.
// Terms of padding and of holes are left out once the weights are known finite, and else read zeros.
#include "device/cpu/cpu_conv.h"

#define ITEM_FLOPS 1e6
#define MIN_ITEMS 16
#define NO_PLACE INT64_MIN

typedef struct lane_class {
    const int64_t
        *starts; // [window 2] where the first cell meets src on the last axis, or NO_PLACE
    int64_t n_cells;
    int64_t inner, inner_end; // cells whose places all lie in src
} lane_class;

typedef struct lanes_params {
    const wf_cpu_conv *c;
    const wf_cpu_lanes *lanes;
    const wf_cpu_elementwise *elementwise;
    const float *zeros; // [channels]
    const lane_class *classes;
    int64_t n_classes;
    bool is_streamed;
    int64_t src_step; // places between neighbouring cells of a class
    int64_t lines_per_item, n_lines;
} lanes_params;

// Weights by window cell, and whether each cell's are finite.
size_t wf_cpu_conv_lanes_floats(const wf_cpu_conv *c)
{
    return (size_t)(wf_conv_volume(c->s.window) * (c->s.c + 1));
}

// Item: one window cell's weights, side by side.
static void run_pack(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const lanes_params *p = params;
    const wf_cpu_conv *c = p->c;
    const int64_t n = c->s.c;
    int64_t at[WF_CONV_AXES];
    wf_conv_split(item, c->s.window, at);
    const float *w = c->w.data + wf_cpu_conv_offset(&c->w, at);
    float *packed = c->workspace + item * n;
    (void)worker;
    for (int64_t i = 0; i < n; i++)
        packed[i] = w[i * c->w.n];
    c->workspace[wf_conv_volume(c->s.window) * n + item] =
        p->elementwise->first_nonfinite(packed, (size_t)n) == (size_t)n;
}

static bool is_finite(const wf_cpu_conv *c)
{
    const int64_t n_window = wf_conv_volume(c->s.window);
    return wf_cpu_conv_all_set(c->workspace + n_window * c->s.c, n_window);
}

// A line of results at work.
typedef struct line {
    bool is_skipping;
    const float **rows; // [window 0 * window 1] lines of src, NULL where there is none
    wf_cpu_lane_term *terms;
    float *out; // its first cell
} line;

static void run_cells(const lanes_params *p, const line *l, const lane_class *class, int64_t cell,
                      int64_t n_cells, float *out, int64_t out_step)
{
    const wf_cpu_conv *c = p->c;
    const wf_cpu_box *b = &c->box;
    const int64_t n_rows = b->window[0] * b->window[1], space = b->src.space[2];
    const float *w = c->workspace;
    wf_cpu_lane_term *t = l->terms;
    for (int64_t r = 0; r < n_rows; r++) {
        for (int64_t s = 0; s < b->window[2]; s++, w += c->s.c) {
            const int64_t place = class->starts[s] + cell * p->src_step;
            const bool is_inside =
                l->rows[r] && class->starts[s] != NO_PLACE && place >= 0 && place < b->src_size[2];
            if (is_inside)
                *t++ = (wf_cpu_lane_term){l->rows[r] + place * space, p->src_step * space, w};
            else if (!l->is_skipping)
                *t++ = (wf_cpu_lane_term){p->zeros, 0, w};
        }
    }
    const wf_cpu_lane_cells cells = {.n_cells = n_cells,
                                     .n_terms = t - l->terms,
                                     .n_lanes = c->s.c,
                                     .terms = l->terms,
                                     .y = out + cell * out_step,
                                     .y_step = out_step,
                                     .is_streamed = p->is_streamed};
    p->lanes->cells(&cells);
}

static void run_line(const lanes_params *p, line *l, int64_t idx)
{
    const wf_cpu_conv *c = p->c;
    const wf_cpu_box *b = &c->box;
    const wf_cpu_tensor *out = c->kind == WF_CONV_FORWARD ? &c->y : &c->x;
    const int64_t o[WF_CONV_AXES] = {idx / b->out[1] % b->out[0], idx % b->out[1], 0};
    const int64_t sample = idx / b->out[1] / b->out[0];
    const float *src = b->src.data + sample * b->src.n;
    wf_cpu_box_lines(b, src, o, l->rows);
    l->out = out->data + sample * out->n + wf_cpu_conv_offset(out, o);
    for (int64_t k = 0; k < p->n_classes; k++) {
        const lane_class *class = &p->classes[k];
        float *to = l->out + k * out->space[2];
        const int64_t step = p->n_classes * out->space[2];
        for (int64_t i = 0; i < class->inner; i++)
            run_cells(p, l, class, i, 1, to, step);
        if (class->inner < class->inner_end)
            run_cells(p, l, class, class->inner, class->inner_end - class->inner, to, step);
        for (int64_t i = class->inner_end; i < class->n_cells; i++)
            run_cells(p, l, class, i, 1, to, step);
    }
}

static void run_lines(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const lanes_params *p = params;
    const int64_t first = item * p->lines_per_item;
    line l = {.is_skipping = is_finite(p->c)};
    l.rows = (const float **)(void *)worker->scratch;
    l.terms = (wf_cpu_lane_term *)(void *)(l.rows + p->c->box.window[0] * p->c->box.window[1]);
    for (int64_t i = first; i < wf_cpu_min(first + p->lines_per_item, p->n_lines); i++)
        run_line(p, &l, i);
}

// Class k holds the cells k, k + n_classes, ...
static void set_class(const lanes_params *p, int64_t k, int64_t *starts, lane_class *class)
{
    const wf_cpu_box *b = &p->c->box;
    class->starts = starts;
    class->n_cells = b->out[2] > k ? wf_cpu_div_up(b->out[2] - k, p->n_classes) : 0;
    class->inner_end = class->n_cells;
    for (int64_t s = 0; s < b->window[2]; s++) {
        const int64_t tap = b->is_flipped ? b->window[2] - 1 - s : s;
        const int64_t at = k * b->step[2] + b->base[2] + tap * b->dilation[2];
        starts[s] = at % b->hole[2] ? NO_PLACE : at / b->hole[2];
        if (starts[s] == NO_PLACE)
            continue;
        const int64_t begin = starts[s] < 0 ? wf_cpu_div_up(-starts[s], p->src_step) : 0;
        const int64_t left = b->src_size[2] - starts[s];
        const int64_t end = left > 0 ? wf_cpu_div_up(left, p->src_step) : 0;
        class->inner = class->inner > begin ? class->inner : begin;
        class->inner_end = wf_cpu_min(class->inner_end, end);
    }
    class->inner = wf_cpu_min(class->inner, class->n_cells);
    if (class->inner_end < class->inner)
        class->inner_end = class->inner;
}

weft_status wf_cpu_conv_lanes(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err)
{
    const wf_cpu_box *b = &c->box;
    const int64_t n_window = wf_conv_volume(c->s.window);
    lanes_params *p;
    lane_class *classes;
    int64_t *starts;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    *p = (lanes_params){.c = c, .lanes = q->kernels->lanes, .elementwise = q->kernels->elementwise};
    p->n_classes = b->hole[2];
    p->is_streamed = wf_cpu_conv_is_streamed(c, c->kind == WF_CONV_FORWARD ? &c->y : &c->x);
    p->src_step = b->step[2];
    WEFT_TRY(wf_cpu_take(q, (size_t)c->s.c, sizeof *p->zeros, &p->zeros, err));
    WEFT_TRY(wf_cpu_take(q, (size_t)p->n_classes, sizeof *classes, &classes, err));
    WEFT_TRY(wf_cpu_take(q, (size_t)(p->n_classes * b->window[2]), sizeof *starts, &starts, err));
    for (int64_t k = 0; k < p->n_classes; k++)
        set_class(p, k, starts + k * b->window[2], &classes[k]);
    p->classes = classes;
    p->n_lines = b->n * b->out[0] * b->out[1];
    const double line_flops = 2.0 * (double)(b->out[2] * n_window * c->s.c);
    const double lines = ITEM_FLOPS / line_flops;
    p->lines_per_item =
        wf_cpu_min(lines > 1.0 ? (int64_t)wf_cpu_min((int64_t)lines, p->n_lines) : 1,
                   wf_cpu_div_up(p->n_lines, MIN_ITEMS));
    wf_cpu_need_scratch(q, (size_t)(b->window[0] * b->window[1]) * sizeof(float *) +
                               (size_t)n_window * sizeof(wf_cpu_lane_term));
    WEFT_TRY(wf_cpu_add_phase(q, run_pack, p, n_window, err));
    return wf_cpu_add_phase(q, run_lines, p, wf_cpu_div_up(p->n_lines, p->lines_per_item), err);
}
