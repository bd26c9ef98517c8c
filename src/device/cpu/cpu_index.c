// INDEX tasks: gather and scatter_add; the others are in cpu_dynamic.c. Stage: PLAN -> PROGRAM, RUN.
//
// A tensor is seen around the axis as [outer, size, inner]. gather copies rows of `inner` elements.
// scatter_add sorts the updates by place (a counting sort, stable), then adds each place's run by the
// column rule, lanes being inner elements.
#include <string.h>

#include "device/cpu/cpu_around.h"

#include "math/sum.h"

#define ITEM_ELEMS 8192
#define LANES 64 // inner elements that are summed together

typedef struct index_params {
    const wf_cpu_elementwise *elementwise;
    wf_cpu_around x;       // gather: x; scatter_add: base
    wf_cpu_around y;       // the result
    wf_cpu_around updates; // scatter_add
    wf_cpu_operand idx;
    weft_dtype idx_dtype;
    int64_t n_idx;
    int32_t size_log2;
    int64_t places_per_item, items_per_outer;
    const wf_cpu_reduce *sum; // scatter_add
    wf_cpu_apply_fn *add;
    int64_t *start, *order; // updates of place i: order[start[i] .. start[i + 1])
    wf_cpu_status *status;
    uint32_t task_idx;
} index_params;

// Index j in [0, size), counted from the end when negative; -1 out of range.
static int64_t get_place(const index_params *p, int64_t j)
{
    const int64_t given = wf_cpu_read_index(&p->idx, p->idx_dtype, j), size = p->x.n_mid;
    const int64_t at = given < 0 ? given + size : given;
    return at >= 0 && at < size ? at : -1;
}

static char *get_row(const wf_cpu_around *t, int32_t size_log2, int64_t outer, int64_t mid)
{
    return wf_cpu_around_row(t, size_log2, outer, mid);
}

static void read_row(const index_params *p, char *dst, const wf_cpu_around *t, const char *row,
                     int64_t first, int64_t n)
{
    wf_cpu_around_read(p->elementwise, p->size_log2, dst, t, row, first, n);
}

static void write_row(const index_params *p, const wf_cpu_around *t, char *row, const char *src,
                      int64_t first, int64_t n)
{
    wf_cpu_around_write(p->elementwise, p->size_log2, t, row, src, first, n);
}

// y[o,j,:] = x[o,idx[j],:]; item = some j of one o
static void run_gather(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const index_params *p = params;
    const int64_t outer = item / p->items_per_outer;
    const int64_t first = item % p->items_per_outer * p->places_per_item;
    const int64_t end = wf_cpu_min(first + p->places_per_item, p->n_idx);
    const size_t row_bytes = (size_t)p->y.n_inner << p->size_log2;
    const bool both_plain =
        wf_cpu_group_is_plain(&p->x.inner) && wf_cpu_group_is_plain(&p->y.inner);
    for (int64_t j = first; j < end; j++) {
        const int64_t at = get_place(p, j);
        char *to = get_row(&p->y, p->size_log2, outer, j);
        const char *from = at < 0 ? NULL : get_row(&p->x, p->size_log2, outer, at);
        if (!from)
            wf_cpu_mark_bad(p->status, p->task_idx);
        if (from && both_plain) {
            memcpy(to, from, row_bytes);
            continue;
        }
        for (int64_t i = 0; i < p->y.n_inner; i += LANES) {
            const int64_t n = wf_cpu_min(LANES, p->y.n_inner - i);
            if (from)
                read_row(p, worker->scratch, &p->x, from, i, n);
            else
                memset(worker->scratch, 0, (size_t)n << p->size_log2);
            write_row(p, &p->y, to, worker->scratch, i, n);
        }
    }
}

static void run_sort(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const index_params *p = params;
    const int64_t size = p->x.n_mid;
    (void)item, (void)worker;
    memset(p->start, 0, (size_t)(size + 1) * sizeof *p->start);
    for (int64_t j = 0; j < p->n_idx; j++) {
        const int64_t at = get_place(p, j);
        if (at < 0)
            wf_cpu_mark_bad(p->status, p->task_idx);
        else
            p->start[at + 1]++;
    }
    for (int64_t i = 0; i < size; i++)
        p->start[i + 1] += p->start[i];
    for (int64_t j = 0; j < p->n_idx; j++) {
        const int64_t at = get_place(p, j);
        if (at >= 0)
            p->order[p->start[at]++] = j;
    }
    for (int64_t i = size; i > 0; i--)
        p->start[i] = p->start[i - 1]; // undo the advance
    p->start[0] = 0;
}

// The lanes at hand: inner elements [first, first + n) of one outer index.
typedef struct lanes {
    const index_params *p;
    int64_t outer, first;
    size_t n;
    char *row; // room for one update's lanes
} lanes;

// acc = the sum by the column rule of updates order[0 .. count): the tree from its top, as in
// wf_sum_column.
static void sum_run(const lanes *l, const int64_t *order, int64_t count, void *acc)
{
    const index_params *p = l->p;
    const int64_t span = wf_sum_span(count, WF_SUM_COLUMN_CHUNK);
    const wf_cpu_parts parts = {{acc}};
    p->sum->column_start(&parts, l->n);
    for (int64_t at = 0; at < count; at += span) {
        if (span == 1) {
            const char *from = get_row(&p->updates, p->size_log2, l->outer, order[at]);
            read_row(p, l->row, &p->updates, from, l->first, (int64_t)l->n);
            p->sum->column_rows(&parts, l->row, 1, 0, l->n, 0);
        } else {
            int64_t part[LANES];
            const wf_cpu_parts next = {{part}};
            sum_run(l, order + at, wf_cpu_min(span, count - at), part);
            p->sum->column_merge(&parts, &next, l->n);
        }
    }
}

// y[o,i,:] = base[o,i,:] + the sum of its run; item = some places of one o
static void run_add(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const index_params *p = params;
    const int64_t outer = item / p->items_per_outer;
    const int64_t first = item % p->items_per_outer * p->places_per_item;
    const int64_t end = wf_cpu_min(first + p->places_per_item, p->x.n_mid);
    char *base = worker->scratch, *row = base + LANES * 8, *acc = row + LANES * 8;
    for (int64_t place = first; place < end; place++) {
        const int64_t count = p->start[place + 1] - p->start[place];
        const char *from = get_row(&p->x, p->size_log2, outer, place);
        char *to = get_row(&p->y, p->size_log2, outer, place);
        if (count == 0 && from == to && p->x.inner.ndim <= 1)
            continue; // in place, and nothing to add
        for (int64_t i = 0; i < p->x.n_inner; i += LANES) {
            const int64_t n = wf_cpu_min(LANES, p->x.n_inner - i);
            read_row(p, base, &p->x, from, i, n);
            if (count > 0) {
                const lanes l = {p, outer, i, (size_t)n, row};
                sum_run(&l, p->order + p->start[place], count, acc);
                p->add(base, base, acc, NULL, (size_t)n);
            }
            write_row(p, &p->y, to, base, i, n);
        }
    }
}

// ---- lowering
static void set_items(index_params *p, int64_t n_places)
{
    const int64_t row = p->y.n_inner > 0 ? p->y.n_inner : 1;
    p->places_per_item = ITEM_ELEMS / row + 1;
    p->items_per_outer = wf_cpu_div_up(n_places, p->places_per_item);
}

static weft_status lower_scatter(wf_cpu_lower *q, index_params *p, int32_t axis, weft_error *err)
{
    const wf_task *task = q->task;
    const weft_dtype dtype = task->inputs[0].type.dtype;
    p->y = wf_cpu_around_make(q, &task->outputs[0], axis, 1);
    p->updates = wf_cpu_around_make(q, &task->inputs[2], axis, task->inputs[1].type.ndim);
    p->sum = wf_cpu_reduce_find(q->kernels, WF_REDUCE_SUM, dtype);
    p->add = wf_cpu_apply_find(q->kernels, "add", dtype);
    if (!p->sum || !p->add) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: scatter_add of %s has no loop here",
                  weft_dtype_name(dtype));
    }
    p->start = (int64_t *)(void *)wf_cpu_workspace(q);
    p->order = p->start + p->x.n_mid + 1;
    set_items(p, p->x.n_mid);
    wf_cpu_need_scratch(q, 3 * LANES * 8);
    WEFT_TRY(wf_cpu_add_phase(q, run_sort, p, 1, err));
    return wf_cpu_add_phase(q, run_add, p, p->x.n_outer * p->items_per_outer, err);
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    const char *op = q->info.op->name;
    index_params *p;
    if (strncmp(op, "dynamic_", 8) == 0)
        return wf_cpu_lower_dynamic(q, err);
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    const int32_t axis = (int32_t)q->info.attrs[0].u.i;
    p->elementwise = q->kernels->elementwise;
    p->status = q->status;
    p->task_idx = q->task_idx;
    p->size_log2 = wf_cpu_size_log2(task->inputs[0].type.dtype);
    p->x = wf_cpu_around_make(q, &task->inputs[0], axis, 1);
    p->idx = wf_cpu_view_operand(q, &task->inputs[1]);
    p->idx_dtype = task->inputs[1].type.dtype;
    p->n_idx = wf_type_count(&task->inputs[1].type);
    if (strcmp(op, "scatter_add") == 0)
        return lower_scatter(q, p, axis, err);
    if (strcmp(op, "gather") != 0)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: index tasks of op %s are not known here", op);
    p->y = wf_cpu_around_make(q, &task->outputs[0], axis, task->inputs[1].type.ndim);
    set_items(p, p->n_idx);
    wf_cpu_need_scratch(q, LANES * 8);
    return wf_cpu_add_phase(q, run_gather, p, p->y.n_outer * p->items_per_outer, err);
}

static size_t workspace(const wf_cpu_device *dev, const wf_task *task)
{
    (void)dev;
    if (strcmp(task->node->op->name, "scatter_add") != 0)
        return 0;
    const int64_t size = task->inputs[0].type.dims[task->node->attrs[0].u.i];
    return (size_t)(size + 1 + wf_type_count(&task->inputs[1].type)) * sizeof(int64_t);
}

const wf_cpu_lowering wf_cpu_lowering_index = {
    .kind = WF_TASK_INDEX, .lower = lower, .workspace = workspace};
