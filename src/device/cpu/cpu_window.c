// WINDOW tasks: maximum and mean pooling and their gradients. Stage: PLAN -> PROGRAM, RUN.
//
// Work goes by lines: where channels lie side by side, a line is one cell's channels; else it is one
// row of cells of one plane. Every cell adds its terms in ascending order of the window's cells
// (forward) or of the windows (gradients), whatever the line. Maxima over channels side by side go by
// whole rows instead: cpu_window_rows.c.
#include "device/cpu/cpu_window.h"

#include <string.h>

#define AXES WF_WINDOW_AXES

typedef wf_cpu_window_tensor tensor;
typedef wf_cpu_window_range range;
typedef wf_cpu_window_params window_params;

// A line: n, channel (0 by channel), cell (the last coordinate 0 unless by channel).
typedef struct line {
    int64_t n, c;
    int64_t at[AXES];
} line;

static line get_line(const window_params *p, int64_t idx)
{
    line l = {0, 0, {0, 0, 0}};
    int i = AXES - 1;
    if (p->is_by_channel) {
        l.at[i] = idx % p->size[i];
        idx /= p->size[i];
    }
    for (i--; i >= 0; i--) {
        l.at[i] = idx % p->size[i];
        idx /= p->size[i];
    }
    if (!p->is_by_channel) {
        l.c = idx % p->channels;
        idx /= p->channels;
    }
    l.n = idx;
    return l;
}

// The line after l: no division, as lines of few channels are many.
static void next_line(const window_params *p, line *l)
{
    for (int i = p->is_by_channel ? AXES - 1 : AXES - 2; i >= 0; i--) {
        if (++l->at[i] < p->size[i])
            return;
        l->at[i] = 0;
    }
    if (!p->is_by_channel && ++l->c < p->channels)
        return;
    l->c = 0;
    l->n++;
}

static int64_t get_offset(const tensor *t, const line *l, const int64_t at[AXES])
{
    return wf_cpu_window_offset(t, l->n, at) + l->c * t->c;
}

static int64_t lane_stride(const window_params *p, const tensor *t)
{
    return p->is_by_channel ? t->c : t->space[AXES - 1];
}

static const float *float_at(const tensor *t, int64_t offset)
{
    return (const float *)(const void *)t->data + offset;
}

// Cells a that satisfy 0 <= a * stride + shift < size.
static range get_range(int64_t stride, int64_t shift, int64_t size, int64_t n)
{
    range r;
    r.first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
    int64_t last = size - 1 - shift < 0 ? -1 : (size - 1 - shift) / stride;
    if (last > n - 1)
        last = n - 1;
    r.count = last >= r.first ? last - r.first + 1 : 0;
    return r;
}

// ---- forward: a line of windows takes window cell r from x. The callback gets the lanes it covers.
typedef void forward_step(const window_params *p, char *scratch, int64_t first, const float *x,
                          int64_t x_stride, int32_t r, int64_t n);

// The cell after r of a box, the last axis first.
static void next_cell(const int64_t size[AXES], int64_t r[AXES])
{
    for (int i = AXES - 1; i >= 0 && ++r[i] == size[i]; i--)
        r[i] = 0;
}

static void walk_forward(const window_params *p, const line *l, char *scratch, forward_step *step)
{
    const wf_window_shape *s = &p->s;
    const int64_t n_window = wf_window_volume(s->window), stride = lane_stride(p, &p->x);
    int64_t r[AXES] = {0, 0, 0}, h[AXES];
    for (int64_t ri = 0; ri < n_window; ri++, next_cell(s->window, r)) {
        bool is_inside = true;
        for (int i = 0; i < AXES; i++) {
            h[i] = wf_cpu_window_input(s, i, l->at[i], r[i]);
            if (i < AXES - 1 || p->is_by_channel)
                is_inside = is_inside && h[i] >= 0 && h[i] < s->in[i];
        }
        if (!is_inside)
            continue;
        if (p->is_by_channel) {
            step(p, scratch, 0, float_at(&p->x, get_offset(&p->x, l, h)), stride, (int32_t)ri,
                 p->line_len);
            continue;
        }
        const range q = get_range(s->stride[2], h[2], s->in[2], s->out[2]);
        h[2] += q.first * s->stride[2];
        if (q.count > 0) {
            step(p, scratch, q.first, float_at(&p->x, get_offset(&p->x, l, h)),
                 stride * s->stride[2], (int32_t)ri, q.count);
        }
    }
}

// Scratch of a line: values, then (maximum) cells.
static float *line_values(char *scratch)
{
    return (float *)(void *)scratch;
}
static int32_t *line_cells(const window_params *p, char *scratch)
{
    return (int32_t *)(void *)(scratch + wf_round_up((size_t)p->line_len * 4, 64));
}

static void step_max(const window_params *p, char *scratch, int64_t first, const float *x,
                     int64_t x_stride, int32_t r, int64_t n)
{
    p->loops->max(line_values(scratch) + first, line_cells(p, scratch) + first, x, x_stride, r,
                  (size_t)n);
}

static void step_sum(const window_params *p, char *scratch, int64_t first, const float *x,
                     int64_t x_stride, int32_t r, int64_t n)
{
    (void)r;
    p->loops->sum(line_values(scratch) + first, 1, x, x_stride, (size_t)n);
}

static void line_max(const window_params *p, const line *l, char *scratch)
{
    float *best = line_values(scratch);
    int32_t *cell = line_cells(p, scratch);
    for (int64_t j = 0; j < p->line_len; j++) {
        best[j] = 0.0f;
        cell[j] = -1;
    }
    walk_forward(p, l, scratch, step_max);
    float *y = (float *)(void *)p->y.data + get_offset(&p->y, l, l->at);
    uint8_t *where = (uint8_t *)p->where.data + get_offset(&p->where, l, l->at);
    const int64_t y_stride = lane_stride(p, &p->y), where_stride = lane_stride(p, &p->where);
    for (int64_t j = 0; j < p->line_len; j++) {
        y[j * y_stride] = best[j];
        where[j * where_stride] = (uint8_t)cell[j];
    }
}

static void line_mean(const window_params *p, const line *l, char *scratch)
{
    float *sum = line_values(scratch);
    memset(sum, 0, (size_t)p->line_len * sizeof *sum);
    walk_forward(p, l, scratch, step_sum);
    float *y = (float *)(void *)p->y.data + get_offset(&p->y, l, l->at);
    // Counts are whole numbers below 2^24 in practice; beyond, the product is the count rounded once,
    // because each factor is below 2^31 and held exactly in double.
    const double outer = (double)p->counts[0][l->at[0]] * (double)p->counts[1][l->at[1]];
    if (p->is_by_channel) {
        const float count = (float)(outer * (double)p->counts[2][l->at[2]]);
        p->loops->divide(y, lane_stride(p, &p->y), sum, &count, 0, (size_t)p->line_len);
        return;
    }
    for (int64_t j = 0; j < p->line_len; j++) {
        const float count = (float)(outer * (double)p->counts[2][j]);
        p->loops->divide(y + j * lane_stride(p, &p->y), 1, sum + j, &count, 0, 1);
    }
}

// ---- gradients: a line of input cells takes the windows over it, ascending.
typedef struct grad_step {
    float *sum;
    int64_t sum_stride;
    int64_t at[AXES]; // the first window
    int32_t r;        // its cell that lies on the line's cell
    int64_t n;
} grad_step;

typedef void grad_step_fn(const window_params *p, const line *l, const grad_step *g);

static void step_won(const window_params *p, const line *l, const grad_step *g)
{
    const bool by_channel = p->is_by_channel;
    p->loops->won(
        g->sum, g->sum_stride, (const uint8_t *)p->where.data + get_offset(&p->where, l, g->at),
        by_channel ? p->where.c : p->where.space[2], float_at(&p->y, get_offset(&p->y, l, g->at)),
        by_channel ? p->y.c : p->y.space[2], g->r, (size_t)g->n);
}

static void step_share(const window_params *p, const line *l, const grad_step *g)
{
    const double outer = (double)p->counts[0][g->at[0]] * (double)p->counts[1][g->at[1]];
    const float *dy = float_at(&p->y, get_offset(&p->y, l, g->at));
    if (p->is_by_channel) {
        const float count = (float)(outer * (double)p->counts[2][g->at[2]]);
        p->loops->share(g->sum, g->sum_stride, dy, p->y.c, &count, 0, (size_t)g->n);
        return;
    }
    for (int64_t j = 0; j < g->n; j++) {
        const float count = (float)(outer * (double)p->counts[2][g->at[2] + j]);
        p->loops->share(g->sum + j * g->sum_stride, 1, dy + j * p->y.space[2], 1, &count, 0, 1);
    }
}

int64_t wf_cpu_window_cell_on(const wf_window_shape *s, int axis, int64_t q, int64_t h)
{
    const int64_t r = h + s->pad[axis] - q * s->stride[axis];
    if (s->dilation[axis] == 1)
        return r < s->window[axis] ? r : -1; // r >= 0: q begins at or before h
    if (r < 0 || r % s->dilation[axis] != 0 || r / s->dilation[axis] >= s->window[axis])
        return -1;
    return r / s->dilation[axis];
}

// The windows of fixed first two coordinates, g->at[0], g->at[1], whose cells there are r01.
static void walk_last_axis(const window_params *p, const line *l, grad_step *g, int64_t r01,
                           float *sum, grad_step_fn *step)
{
    const wf_window_shape *s = &p->s;
    if (p->is_by_channel) {
        g->sum = sum;
        g->sum_stride = 1;
        g->n = p->line_len;
        const range q = p->reach[2][l->at[2]];
        for (g->at[2] = q.first; g->at[2] < q.first + q.count; g->at[2]++) {
            const int64_t r = wf_cpu_window_cell_on(s, 2, g->at[2], l->at[2]);
            g->r = (int32_t)(r01 * s->window[2] + r);
            if (r >= 0)
                step(p, l, g);
        }
        return;
    }
    // For one input cell, descending window cells are ascending windows.
    for (int64_t r = s->window[2] - 1; r >= 0; r--) {
        const int64_t shift = wf_cpu_window_input(s, 2, 0, r);
        const range q = get_range(s->stride[2], shift, s->in[2], s->out[2]);
        if (q.count == 0)
            continue;
        g->at[2] = q.first;
        g->sum = sum + q.first * s->stride[2] + shift;
        g->sum_stride = s->stride[2];
        g->r = (int32_t)(r01 * s->window[2] + r);
        g->n = q.count;
        step(p, l, g);
    }
}

static void line_grad(const window_params *p, const line *l, char *scratch, grad_step_fn *step)
{
    const wf_window_shape *s = &p->s;
    float *dx = (float *)(void *)p->x.data + get_offset(&p->x, l, l->at);
    const int64_t stride = lane_stride(p, &p->x);
    float *sum = stride == 1 ? dx : line_values(scratch);
    const range q0 = p->reach[0][l->at[0]], q1 = p->reach[1][l->at[1]];
    grad_step g;
    memset(sum, 0, (size_t)p->line_len * sizeof *sum);
    for (int64_t a = q0.first; a < q0.first + q0.count; a++) {
        const int64_t r0 = wf_cpu_window_cell_on(s, 0, a, l->at[0]);
        for (int64_t b = q1.first; r0 >= 0 && b < q1.first + q1.count; b++) {
            const int64_t r1 = wf_cpu_window_cell_on(s, 1, b, l->at[1]);
            if (r1 < 0)
                continue;
            g.at[0] = a;
            g.at[1] = b;
            walk_last_axis(p, l, &g, r0 * s->window[1] + r1, sum, step);
        }
    }
    for (int64_t j = 0; j < p->line_len && stride != 1; j++)
        dx[j * stride] = sum[j];
}

static void line_max_grad(const window_params *p, const line *l, char *scratch)
{
    line_grad(p, l, scratch, step_won);
}

static void line_mean_grad(const window_params *p, const line *l, char *scratch)
{
    line_grad(p, l, scratch, step_share);
}

#define ITEM_FUNCTION(name, line_function)                                                         \
    static void name(const void *params, int64_t item, const wf_cpu_worker *worker)                \
    {                                                                                              \
        const window_params *p = params;                                                           \
        const int64_t end = wf_cpu_min((item + 1) * p->lines_per_item, p->n_lines);                \
        line l = get_line(p, item * p->lines_per_item);                                            \
        for (int64_t i = item * p->lines_per_item; i < end; i++, next_line(p, &l))                 \
            line_function(p, &l, worker->scratch);                                                 \
    }
ITEM_FUNCTION(run_max, line_max)
ITEM_FUNCTION(run_mean, line_mean)
ITEM_FUNCTION(run_max_grad, line_max_grad)
ITEM_FUNCTION(run_mean_grad, line_mean_grad)

// ---- lowering
static tensor get_tensor(const wf_cpu_lower *q, const wf_view *view)
{
    tensor t = {wf_cpu_view_data(q, view), view->strides[0], view->strides[1], {0}};
    const int32_t rank = view->type.ndim - 2;
    for (int32_t i = 0; i < rank; i++)
        t.space[AXES - rank + i] = view->strides[2 + i];
    return t;
}

// Along each axis, how many cells of window p are counted: wf_window_count is their product.
static weft_status set_counts(wf_cpu_lower *q, window_params *p, weft_error *err)
{
    const wf_window_shape *s = &p->s;
    for (int axis = 0; axis < AXES; axis++) {
        wf_window_shape one = *s; // the other axes count 1
        for (int i = 0; i < AXES; i++) {
            if (i == axis)
                continue;
            one.window[i] = one.in[i] = one.stride[i] = one.dilation[i] = 1;
            one.pad[i] = one.pad_after[i] = 0;
        }
        WEFT_TRY(wf_cpu_take(q, (size_t)s->out[axis], sizeof(float), &p->counts[axis], err));
        for (int64_t a = 0; a < s->out[axis]; a++) {
            int64_t at[AXES] = {0};
            at[axis] = a;
            p->counts[axis][a] = (float)wf_window_count(&one, at);
        }
    }
    return WEFT_OK;
}

// Along each axis, the windows that may lie over input coordinate h.
static weft_status set_reach(wf_cpu_lower *q, window_params *p, weft_error *err)
{
    for (int axis = 0; axis < AXES; axis++) {
        const int64_t n = p->s.in[axis];
        WEFT_TRY(wf_cpu_take(q, (size_t)n, sizeof(range), &p->reach[axis], err));
        for (int64_t h = 0; h < n; h++) {
            int64_t at[AXES] = {0}, first[AXES], last[AXES];
            at[axis] = h;
            wf_window_reach(&p->s, at, first, last);
            const int64_t count = last[axis] - first[axis] + 1;
            p->reach[axis][h] = (range){first[axis], count > 0 ? count : 0};
        }
    }
    return WEFT_OK;
}

typedef struct window_op {
    const char *name;
    wf_cpu_item_fn *run;
    bool is_grad;
    bool has_where;
} window_op;

static const window_op ops[] = {
    {"window_max", run_max, false, true},
    {"window_mean", run_mean, false, false},
    {"window_max_grad", run_max_grad, true, true},
    {"window_mean_grad", run_mean_grad, true, false},
};

static const window_op *find_op(const char *name)
{
    for (size_t i = 0; i < WF_COUNT_OF(ops); i++) {
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    }
    return NULL;
}

static void set_tensors(const wf_cpu_lower *q, window_params *p, const window_op *op)
{
    const wf_task *task = q->task;
    if (op->is_grad) {
        if (op->has_where)
            p->where = get_tensor(q, &task->inputs[0]);
        p->y = get_tensor(q, &task->inputs[op->has_where ? 1 : 0]);
        p->x = get_tensor(q, &task->outputs[0]);
    } else {
        p->x = get_tensor(q, &task->inputs[0]);
        p->y = get_tensor(q, &task->outputs[0]);
        if (op->has_where)
            p->where = get_tensor(q, &task->outputs[1]);
    }
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const window_op *op = find_op(q->info.op->name);
    const weft_type *out = &q->task->outputs[0].type;
    window_params *p;
    if (!op) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: window tasks of op %s are not known here",
                  q->info.op->name);
    }
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->loops = q->kernels->windows;
    WEFT_TRY(wf_window_shape_get(&q->info, op->is_grad, &p->s, err));
    if (!op->has_where)
        WEFT_TRY(set_counts(q, p, err));
    if (op->is_grad)
        WEFT_TRY(set_reach(q, p, err));
    set_tensors(q, p, op);
    p->channels = out->dims[1];
    memcpy(p->size, op->is_grad ? p->s.in : p->s.out, sizeof p->size);
    p->is_by_channel = p->x.c == 1 && p->y.c == 1 && p->channels > 1;
    p->line_len = p->is_by_channel ? p->channels : p->size[AXES - 1];
    if (p->line_len == 0)
        return WEFT_OK;
    if (op->has_where && p->is_by_channel) {
        const wf_cpu_window_rows_task rows = {q, p, out->dims[0], op->is_grad};
        bool is_added;
        WEFT_TRY(wf_cpu_window_add_rows(&rows, &is_added, err));
        if (is_added)
            return WEFT_OK;
    }
    p->n_lines = wf_type_count(out) / p->line_len;
    const int64_t work = p->line_len * wf_window_volume(p->s.window);
    p->lines_per_item = WF_CPU_WINDOW_ITEM / work + 1;
    wf_cpu_need_scratch(q, 2 * wf_round_up((size_t)p->line_len * 4, 64));
    return wf_cpu_add_phase(q, op->run, p, wf_cpu_div_up(p->n_lines, p->lines_per_item), err);
}

const wf_cpu_lowering wf_cpu_lowering_window = {.kind = WF_TASK_WINDOW, .lower = lower};
