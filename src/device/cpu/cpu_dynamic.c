// dynamic_slice and dynamic_update: rows copied from or to a place that the start says. Stage: PLAN ->
// PROGRAM, RUN.
//
// An update whose result lies where its operand does writes the part only.
#include "device/cpu/cpu_around.h"

#define ITEM_ELEMS 16384
#define LANES 512 // elements of a row that pass through scratch at a time

typedef struct dynamic_params {
    const wf_cpu_elementwise *elementwise;
    wf_cpu_around x, y, part; // part: of an update
    wf_cpu_operand start;
    weft_dtype start_dtype;
    int32_t size_log2;
    int64_t last; // the greatest start
    bool is_update, is_in_place;
    int64_t rows_per_item, items_per_outer, n_rows; // rows of y, or of part when in place
    wf_cpu_status *status;
    uint32_t task_idx;
} dynamic_params;

// dst[:] = src[:], zeros where there is no src.
static void copy_row(const dynamic_params *p, const wf_cpu_around *to, char *dst,
                     const wf_cpu_around *from, const char *src, char *scratch)
{
    const int64_t n = to->n_inner;
    if (src && wf_cpu_group_is_plain(&to->inner) && wf_cpu_group_is_plain(&from->inner)) {
        memcpy(dst, src, (size_t)n << p->size_log2);
        return;
    }
    for (int64_t i = 0; i < n; i += LANES) {
        const int64_t lanes = wf_cpu_min(LANES, n - i);
        if (src)
            wf_cpu_around_read(p->elementwise, p->size_log2, scratch, from, src, i, lanes);
        else
            memset(scratch, 0, (size_t)lanes << p->size_log2);
        wf_cpu_around_write(p->elementwise, p->size_log2, to, dst, scratch, i, lanes);
    }
}

static char *row_of(const dynamic_params *p, const wf_cpu_around *t, int64_t outer, int64_t mid)
{
    return wf_cpu_around_row(t, p->size_log2, outer, mid);
}

// item: some rows of one outer index
static void run(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const dynamic_params *p = params;
    const int64_t start = wf_cpu_read_index(&p->start, p->start_dtype, 0);
    const bool is_good = start >= 0 && start <= p->last;
    if (!is_good)
        wf_cpu_mark_bad(p->status, p->task_idx);
    if (p->items_per_outer == 0 || (p->is_in_place && !is_good))
        return;
    const int64_t outer = item / p->items_per_outer;
    const int64_t first = item % p->items_per_outer * p->rows_per_item;
    const int64_t end = wf_cpu_min(first + p->rows_per_item, p->n_rows);
    char *scratch = worker->scratch;
    for (int64_t j = first; j < end; j++) {
        if (!p->is_update) {
            const char *src = is_good ? row_of(p, &p->x, outer, start + j) : NULL;
            copy_row(p, &p->y, row_of(p, &p->y, outer, j), &p->x, src, scratch);
            continue;
        }
        const int64_t at = p->is_in_place ? start + j : j;
        const bool is_part = is_good && at >= start && at - start < p->part.n_mid;
        const wf_cpu_around *from = is_part ? &p->part : &p->x;
        copy_row(p, &p->y, row_of(p, &p->y, outer, at), from,
                 row_of(p, from, outer, is_part ? at - start : at), scratch);
    }
}

weft_status wf_cpu_lower_dynamic(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    const int32_t axis = (int32_t)q->info.attrs[0].u.i;
    dynamic_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->elementwise = q->kernels->elementwise;
    p->status = q->status;
    p->task_idx = q->task_idx;
    p->size_log2 = wf_cpu_size_log2(task->inputs[0].type.dtype);
    p->x = wf_cpu_around_make(q, &task->inputs[0], axis, 1);
    p->y = wf_cpu_around_make(q, &task->outputs[0], axis, 1);
    p->start = wf_cpu_view_operand(q, &task->inputs[1]);
    p->start_dtype = task->inputs[1].type.dtype;
    p->last = q->info.op->index_range(&q->info).high;
    p->is_update = task->n_inputs == 3;
    p->n_rows = p->y.n_mid;
    if (p->is_update) {
        p->part = wf_cpu_around_make(q, &task->inputs[2], axis, 1);
        p->is_in_place = p->x.data == p->y.data; // the plan allows no other overlap
        p->n_rows = p->is_in_place ? p->part.n_mid : p->y.n_mid;
    }
    const int64_t row = p->y.n_inner > 0 ? p->y.n_inner : 1;
    p->rows_per_item = ITEM_ELEMS / row + 1;
    p->items_per_outer = p->y.n_inner ? wf_cpu_div_up(p->n_rows, p->rows_per_item) : 0;
    const int64_t n_items = p->y.n_outer * p->items_per_outer;
    if (n_items == 0)
        p->items_per_outer = 0; // nothing to copy; the start is looked at all the same
    wf_cpu_need_scratch(q, LANES * 8);
    return wf_cpu_add_phase(q, run, p, n_items > 0 ? n_items : 1, err);
}
