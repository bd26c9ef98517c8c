// INDEX tasks: gather and scatter_add. Stage: PLAN -> PROGRAM, RUN.
//
// A tensor is seen around the axis as [outer, size, inner]. gather copies rows of `inner` elements.
// scatter_add sorts the updates by place (a counting sort, stable), then adds each place's run by the
// column rule, lanes being inner elements.
#include "device/cpu/cpu.h"

#include <string.h>

#include "math/sum.h"

#define ITEM_ELEMS 8192
#define LANES 64 // inner elements that are summed together

// [outer, size, inner] of a view; size is the axis itself, or idx's axes in its place.
typedef struct around {
    char *data;
    wf_cpu_group outer, mid, inner;
    int64_t n_outer, n_mid, n_inner;
} around;

typedef struct index_params {
    const wf_cpu_elementwise *elementwise;
    around x;       // gather: x; scatter_add: base
    around y;       // the result
    around updates; // scatter_add
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

static int64_t read_idx(const index_params *p, int64_t j)
{
    const wf_cpu_stretch s = wf_cpu_group_stretch(&p->idx.b, j, 1);
    const void *at = p->idx.data + s.offset * ((int64_t)1 << p->idx.size_log2);
    if (p->idx_dtype == WEFT_I32) {
        int32_t value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    int64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

// Index j in [0, size), counted from the end when negative; -1 out of range.
static int64_t get_place(const index_params *p, int64_t j)
{
    const int64_t given = read_idx(p, j), size = p->x.n_mid;
    const int64_t at = given < 0 ? given + size : given;
    return at >= 0 && at < size ? at : -1;
}

static char *get_row(const around *t, int32_t size_log2, int64_t outer, int64_t mid)
{
    const wf_cpu_stretch a = wf_cpu_group_stretch(&t->outer, outer, 1);
    const wf_cpu_stretch b = wf_cpu_group_stretch(&t->mid, mid, 1);
    return t->data + (a.offset + b.offset) * ((int64_t)1 << size_log2);
}

// dst[i] = src[first + i] for inner elements of a row, into or out of a dense array.
static void read_row(const index_params *p, char *dst, const around *t, const char *row,
                     int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        const wf_cpu_stretch s = wf_cpu_group_stretch(&t->inner, first + i, n - i);
        p->elementwise->copies[p->size_log2](dst + (i << p->size_log2), 1,
                                             row + s.offset * ((int64_t)1 << p->size_log2),
                                             s.stride, (size_t)s.len);
        i += s.len;
    }
}

static void write_row(const index_params *p, const around *t, char *row, const char *src,
                      int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        const wf_cpu_stretch s = wf_cpu_group_stretch(&t->inner, first + i, n - i);
        p->elementwise->copies[p->size_log2](row + s.offset * ((int64_t)1 << p->size_log2),
                                             s.stride, src + (i << p->size_log2), 1, (size_t)s.len);
        i += s.len;
    }
}

static bool is_plain(const wf_cpu_group *g)
{
    return g->ndim == 0 || (g->ndim == 1 && g->strides[0] == 1);
}

// y[o,j,:] = x[o,idx[j],:]; item = some j of one o
static void run_gather(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const index_params *p = params;
    const int64_t outer = item / p->items_per_outer;
    const int64_t first = item % p->items_per_outer * p->places_per_item;
    const int64_t end = wf_cpu_min(first + p->places_per_item, p->n_idx);
    const size_t row_bytes = (size_t)p->y.n_inner << p->size_log2;
    const bool both_plain = is_plain(&p->x.inner) && is_plain(&p->y.inner);
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
static around get_around(const wf_cpu_lower *q, const wf_view *view, int32_t axis, int32_t n_axes)
{
    const weft_type *t = &view->type;
    const int32_t behind = axis + n_axes;
    around a = {.data = wf_cpu_view_data(q, view), .n_outer = 1, .n_mid = 1, .n_inner = 1};
    a.outer = wf_cpu_group_make(t->dims, view->strides, axis);
    a.mid = wf_cpu_group_make(t->dims + axis, view->strides + axis, n_axes);
    a.inner = wf_cpu_group_make(t->dims + behind, view->strides + behind, t->ndim - behind);
    for (int32_t i = 0; i < t->ndim; i++) {
        int64_t *n = i < axis ? &a.n_outer : i < behind ? &a.n_mid : &a.n_inner;
        *n *= t->dims[i];
    }
    return a;
}

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
    p->y = get_around(q, &task->outputs[0], axis, 1);
    p->updates = get_around(q, &task->inputs[2], axis, task->inputs[1].type.ndim);
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
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    const int32_t axis = (int32_t)q->info.attrs[0].u.i;
    p->elementwise = q->kernels->elementwise;
    p->status = q->status;
    p->task_idx = q->task_idx;
    p->size_log2 = wf_cpu_size_log2(task->inputs[0].type.dtype);
    p->x = get_around(q, &task->inputs[0], axis, 1);
    p->idx = wf_cpu_view_operand(q, &task->inputs[1]);
    p->idx_dtype = task->inputs[1].type.dtype;
    p->n_idx = wf_type_count(&task->inputs[1].type);
    if (strcmp(op, "scatter_add") == 0)
        return lower_scatter(q, p, axis, err);
    if (strcmp(op, "gather") != 0)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: index tasks of op %s are not known here", op);
    p->y = get_around(q, &task->outputs[0], axis, task->inputs[1].type.ndim);
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
