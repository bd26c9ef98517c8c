// Maxima over windows and their gradient where channels lie side by side: a line is a whole row of
// windows, or of input cells for the gradient. Stage: PROGRAM, RUN, inside WINDOW tasks.
//
// In a row, windows that lie wholly inside the input along the last axis are one call of the kernel;
// those over its ends are one call each.
#include "device/cpu/cpu_window.h"

#include <string.h>

#define AXES WF_WINDOW_AXES
#define MAX_CELLS 256 // of a window: their numbers are bytes

typedef struct rows_params {
    const wf_cpu_window_rows *loops;
    wf_cpu_window_params p;
    int64_t n_lines, lines_per_item;
    int64_t n_y;               // elements of y and of where
    int64_t n_x;               // elements of x; 0: they have gaps, and nothing between them is read
    wf_cpu_window_range whole; // windows of a row that lie inside the input
} rows_params;

// A row: sample n, the first two coordinates.
typedef struct row {
    int64_t n;
    int64_t at[AXES];
} row;

static row get_row(const int64_t size[AXES], int64_t idx)
{
    row r = {0, {0, 0, 0}};
    r.at[1] = idx % size[1];
    idx /= size[1];
    r.at[0] = idx % size[0];
    r.n = idx / size[0];
    return r;
}

static bool is_inside(int64_t h, int64_t size)
{
    return h >= 0 && h < size;
}

// ---- forward
typedef struct cells {
    int64_t n;
    int64_t offsets[MAX_CELLS]; // from x's first element
    int32_t numbers[MAX_CELLS];
} cells;

// The cells inside the input of the row's window q.
static void get_cells(const rows_params *t, const row *l, int64_t q, cells *c)
{
    const wf_window_shape *s = &t->p.s;
    int64_t r[AXES], h[AXES];
    c->n = 0;
    for (r[0] = 0; r[0] < s->window[0]; r[0]++) {
        h[0] = wf_cpu_window_input(s, 0, l->at[0], r[0]);
        for (r[1] = 0; is_inside(h[0], s->in[0]) && r[1] < s->window[1]; r[1]++) {
            h[1] = wf_cpu_window_input(s, 1, l->at[1], r[1]);
            for (r[2] = 0; is_inside(h[1], s->in[1]) && r[2] < s->window[2]; r[2]++) {
                h[2] = wf_cpu_window_input(s, 2, q, r[2]);
                if (!is_inside(h[2], s->in[2]))
                    continue;
                c->offsets[c->n] = wf_cpu_window_offset(&t->p.x, l->n, h);
                c->numbers[c->n++] = (int32_t)((r[0] * s->window[1] + r[1]) * s->window[2] + r[2]);
            }
        }
    }
}

// Windows [q, q + n) of a row; y_at: where the row begins in y, y_end: where the item ends.
static void max_windows(const rows_params *t, const row *l, int64_t y_at, int64_t y_end,
                        wf_cpu_window_range q)
{
    const int64_t at = y_at + q.first * t->p.channels;
    cells c;
    if (q.count <= 0)
        return;
    get_cells(t, l, q.first, &c);
    const wf_cpu_window_run run = {
        .n_windows = q.count,
        .n_channels = t->p.channels,
        .x = (const float *)(const void *)t->p.x.data,
        .x_step = t->p.s.stride[2] * t->p.x.space[2],
        .x_room = c.n > 0 ? t->n_x - c.offsets[c.n - 1] : 0,
        .n_cells = c.n,
        .offsets = c.offsets,
        .cells = c.numbers,
        .y = (float *)(void *)t->p.y.data + at,
        .where = (uint8_t *)t->p.where.data + at,
        .y_room = y_end - at,
    };
    t->loops->max(&run);
}

static void run_max(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const rows_params *t = params;
    const int64_t n_out = t->p.s.out[2], row_len = n_out * t->p.channels;
    const int64_t first = item * t->lines_per_item;
    const int64_t end = wf_cpu_min(first + t->lines_per_item, t->n_lines);
    (void)worker;
    for (int64_t i = first; i < end; i++) {
        const row l = get_row(t->p.s.out, i);
        const int64_t y_at = i * row_len, y_end = end * row_len;
        for (int64_t q = 0; q < t->whole.first; q++)
            max_windows(t, &l, y_at, y_end, (wf_cpu_window_range){q, 1});
        max_windows(t, &l, y_at, y_end, t->whole);
        for (int64_t q = t->whole.first + t->whole.count; q < n_out; q++)
            max_windows(t, &l, y_at, y_end, (wf_cpu_window_range){q, 1});
    }
}

// ---- gradient of windows that lie apart: an input row has one row of windows over it, or none
typedef struct won_row {
    int64_t windows; // where they begin in dy
    int32_t cells;   // number of their first cell on this row
    bool is_some;
} won_row;

static won_row get_won_row(const rows_params *t, const row *l)
{
    const wf_window_shape *s = &t->p.s;
    won_row w = {l->n, 0, true};
    for (int i = 0; i < AXES - 1; i++) {
        const int64_t h = l->at[i] + s->pad[i], q = h / s->stride[i], r = h % s->stride[i];
        w.is_some = w.is_some && q < s->out[i] && r < s->window[i];
        w.windows = w.windows * s->out[i] + q;
        w.cells = (int32_t)(w.cells * s->window[i] + r);
    }
    w.windows *= s->out[2] * t->p.channels;
    w.cells *= (int32_t)s->window[2];
    return w;
}

// The part inside the input of windows [q, q + n); x_at and x_end as y_at and y_end above.
static void won_windows(const rows_params *t, const won_row *w, int64_t x_at, int64_t x_end,
                        wf_cpu_window_range q)
{
    const wf_window_shape *s = &t->p.s;
    const int64_t n_c = t->p.channels;
    const int64_t from = wf_cpu_window_input(s, 2, q.first, 0), skip = from < 0 ? -from : 0;
    const int64_t n_cells = wf_cpu_min(s->window[2], s->in[2] - from) - skip;
    const int64_t at = w->windows + q.first * n_c, dx_at = x_at + (from + skip) * n_c;
    if (q.count <= 0 || n_cells <= 0)
        return;
    const wf_cpu_window_won_run run = {
        .n_windows = q.count,
        .n_channels = n_c,
        .n_cells = n_cells,
        .first_cell = w->cells + (int32_t)skip,
        .where = (const uint8_t *)t->p.where.data + at,
        .dy = (const float *)(const void *)t->p.y.data + at,
        .dy_room = t->n_y - at,
        .dx = (float *)(void *)t->p.x.data + dx_at,
        .dx_room = x_end - dx_at,
    };
    t->loops->won_run(&run);
}

static void zero(const rows_params *t, int64_t first, int64_t end)
{
    if (end > first)
        memset((float *)(void *)t->p.x.data + first, 0, (size_t)(end - first) * sizeof(float));
}

static void run_won_apart(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const rows_params *t = params;
    const wf_window_shape *s = &t->p.s;
    const int64_t n_c = t->p.channels, row_len = s->in[2] * n_c;
    const int64_t first = item * t->lines_per_item;
    const int64_t end = wf_cpu_min(first + t->lines_per_item, t->n_lines);
    const int64_t covered = wf_cpu_min(wf_cpu_window_input(s, 2, s->out[2], 0), s->in[2]);
    (void)worker;
    for (int64_t i = first; i < end; i++) {
        const row l = get_row(s->in, i);
        const won_row w = get_won_row(t, &l);
        const int64_t x_at = i * row_len, x_end = end * row_len;
        if (!w.is_some) {
            zero(t, x_at, x_at + row_len);
            continue;
        }
        for (int64_t q = 0; q < t->whole.first; q++)
            won_windows(t, &w, x_at, x_end, (wf_cpu_window_range){q, 1});
        won_windows(t, &w, x_at, x_end, t->whole);
        for (int64_t q = t->whole.first + t->whole.count; q < s->out[2]; q++)
            won_windows(t, &w, x_at, x_end, (wf_cpu_window_range){q, 1});
        zero(t, x_at + covered * n_c, x_at + row_len);
    }
}

// ---- gradient of windows that overlap: cell by cell
typedef struct terms {
    int64_t n;
    int64_t offsets[MAX_CELLS];
    int32_t cells[MAX_CELLS];
} terms;

// Rows of windows over the row: where each begins in dy, and its first cell here.
static void get_row_terms(const rows_params *t, const row *l, terms *rows)
{
    const wf_window_shape *s = &t->p.s;
    const wf_cpu_window_range a = t->p.reach[0][l->at[0]], b = t->p.reach[1][l->at[1]];
    rows->n = 0;
    for (int64_t p0 = a.first; p0 < a.first + a.count; p0++) {
        const int64_t r0 = wf_cpu_window_cell_on(s, 0, p0, l->at[0]);
        for (int64_t p1 = b.first; r0 >= 0 && p1 < b.first + b.count; p1++) {
            const int64_t r1 = wf_cpu_window_cell_on(s, 1, p1, l->at[1]);
            if (r1 < 0)
                continue;
            rows->offsets[rows->n] =
                ((l->n * s->out[0] + p0) * s->out[1] + p1) * s->out[2] * t->p.channels;
            rows->cells[rows->n++] = (int32_t)((r0 * s->window[1] + r1) * s->window[2]);
        }
    }
}

static void get_cell_terms(const rows_params *t, const terms *rows, int64_t h, terms *all)
{
    const wf_cpu_window_range q = t->p.reach[2][h];
    all->n = 0;
    for (int64_t i = 0; i < rows->n; i++) {
        for (int64_t p2 = q.first; p2 < q.first + q.count; p2++) {
            const int64_t r2 = wf_cpu_window_cell_on(&t->p.s, 2, p2, h);
            if (r2 < 0)
                continue;
            all->offsets[all->n] = rows->offsets[i] + p2 * t->p.channels;
            all->cells[all->n++] = rows->cells[i] + (int32_t)r2;
        }
    }
}

static void run_won(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const rows_params *t = params;
    const int64_t n_in = t->p.s.in[2];
    const int64_t first = item * t->lines_per_item;
    const int64_t end = wf_cpu_min(first + t->lines_per_item, t->n_lines);
    (void)worker;
    for (int64_t i = first; i < end; i++) {
        const row l = get_row(t->p.s.in, i);
        terms rows, all;
        get_row_terms(t, &l, &rows);
        for (int64_t h = 0; h < n_in; h++) {
            get_cell_terms(t, &rows, h, &all);
            const wf_cpu_window_won_cell cell = {
                .n_channels = t->p.channels,
                .n_terms = all.n,
                .offsets = all.offsets,
                .cells = all.cells,
                .where = (const uint8_t *)t->p.where.data,
                .dy = (const float *)(const void *)t->p.y.data,
                .dx = (float *)(void *)t->p.x.data + (i * n_in + h) * t->p.channels,
            };
            t->loops->won_cell(&cell);
        }
    }
}

// ---- lowering
// [n, size.., channels], one element behind the other.
static bool is_dense(const wf_cpu_window_tensor *t, int64_t n_batch, int64_t channels,
                     const int64_t size[AXES])
{
    int64_t stride = channels;
    for (int i = AXES - 1; i >= 0; i--) {
        if (size[i] != 1 && t->space[i] != stride)
            return false;
        stride *= size[i];
    }
    return t->c == 1 && (n_batch == 1 || t->n == stride);
}

static wf_cpu_window_range get_whole(const wf_window_shape *s)
{
    wf_cpu_window_range whole = {0, 0};
    for (int64_t q = 0; q < s->out[2]; q++) {
        if (!is_inside(wf_cpu_window_input(s, 2, q, 0), s->in[2]) ||
            !is_inside(wf_cpu_window_input(s, 2, q, s->window[2] - 1), s->in[2]))
            continue;
        if (whole.count == 0)
            whole.first = q;
        whole.count = q - whole.first + 1;
    }
    return whole;
}

static bool lie_apart(const wf_window_shape *s)
{
    bool is = s->stride[2] == s->window[2];
    for (int i = 0; i < AXES; i++)
        is = is && s->dilation[i] == 1 && s->stride[i] >= s->window[i];
    return is;
}

weft_status wf_cpu_window_add_rows(const wf_cpu_window_rows_task *task, bool *out_is_added,
                                   weft_error *err)
{
    const wf_cpu_window_params *p = task->p;
    const wf_window_shape *s = &p->s;
    const bool is_x_dense = is_dense(&p->x, task->n_batch, p->channels, s->in);
    rows_params *t;
    *out_is_added = false;
    if (!is_dense(&p->y, task->n_batch, p->channels, s->out) ||
        !is_dense(&p->where, task->n_batch, p->channels, s->out) || (task->is_grad && !is_x_dense))
        return WEFT_OK;
    WEFT_TRY(wf_cpu_take(task->q, 1, sizeof *t, &t, err));
    *t = (rows_params){.loops = task->q->kernels->window_rows, .p = *p, .whole = get_whole(s)};
    t->n_x = is_x_dense ? task->n_batch * wf_window_volume(s->in) * p->channels : 0;
    t->n_y = task->n_batch * wf_window_volume(s->out) * p->channels;
    const int64_t *size = task->is_grad ? s->in : s->out;
    t->n_lines = task->n_batch * size[0] * size[1];
    const int64_t work = size[2] * p->channels * wf_window_volume(s->window);
    t->lines_per_item = WF_CPU_WINDOW_ITEM / work + 1;
    wf_cpu_item_fn *run = !task->is_grad ? run_max : lie_apart(s) ? run_won_apart : run_won;
    *out_is_added = true;
    return wf_cpu_add_phase(task->q, run, t, wf_cpu_div_up(t->n_lines, t->lines_per_item), err);
}
