// ORDER tasks: sort and top_k. Stage: PLAN -> PROGRAM, RUN.
//
// A row becomes (key, index) pairs, in a workspace that the plan has for each thread. Many wanted: a radix
// sort from the lowest byte, which is stable, and skips bytes that are alike in all keys. Few wanted of many:
// one walk that keeps the best so far in order; most elements cost one comparison.
#include <string.h>

#include "device/cpu/cpu_around.h"
#include "math/compare.h"
#include "op/order.h"

#define ITEM_ELEMS 4096
#define FEW_SHARE 16 // up to a sixteenth of the row, and ...
#define FEW_MAX 256  // ... no more than this are kept in order as the row is walked
#define SHORT_ROW 48 // sorted by insertion
#define RADIX 256

typedef struct pair {
    uint64_t key;
    int32_t idx;
} pair;

typedef struct order_params {
    wf_cpu_around x, values, indices;
    weft_dtype dtype;
    int32_t size_log2, key_bytes;
    bool descending;
    int64_t n, k, rows_per_item, n_rows;
    pair *pairs; // 2 n for each thread
} order_params;

static uint64_t key_of(const order_params *p, const char *at)
{
    uint64_t key;
    if (p->dtype == WEFT_F32) {
        float x;
        memcpy(&x, at, sizeof x);
        if (wf_is_nan(x))
            return UINT32_MAX;
        key = wf_sort_key(x);
        return p->descending ? (uint32_t)~key : key;
    }
    int64_t i64;
    int32_t i32;
    switch (p->dtype) {
    case WEFT_I8: key = (uint64_t)(*(const int8_t *)at + 128); break;
    case WEFT_I32:
        memcpy(&i32, at, sizeof i32);
        key = (uint32_t)i32 ^ 0x80000000u;
        break;
    case WEFT_I64:
        memcpy(&i64, at, sizeof i64);
        key = (uint64_t)i64 ^ (uint64_t)1 << 63;
        break;
    default: key = *(const uint8_t *)at; break;
    }
    const uint64_t all = p->key_bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * p->key_bytes) - 1;
    return p->descending ? key ^ all : key;
}

// Keeps best[0 .. *n) in order and at most k long. New elements come with ascending indices, so behind
// equals.
static void keep_best(pair *best, int64_t *n, int64_t k, pair one)
{
    if (*n == k && one.key >= best[k - 1].key)
        return;
    int64_t at = *n < k ? (*n)++ : k - 1;
    for (; at > 0 && best[at - 1].key > one.key; at--)
        best[at] = best[at - 1];
    best[at] = one;
}

// Sorted pairs, in a or b.
static const pair *radix_sort(pair *a, pair *b, int64_t n, int32_t key_bytes)
{
    for (int32_t byte = 0; byte < key_bytes; byte++) {
        int64_t start[RADIX] = {0}, sum = 0;
        const int shift = 8 * byte;
        for (int64_t i = 0; i < n; i++)
            start[a[i].key >> shift & 0xff]++;
        if (start[a[0].key >> shift & 0xff] == n)
            continue;
        for (int d = 0; d < RADIX; d++) {
            const int64_t count = start[d];
            start[d] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++)
            b[start[a[i].key >> shift & 0xff]++] = a[i];
        pair *other = a;
        a = b;
        b = other;
    }
    return a;
}

static const pair *sort_row(const order_params *p, const char *row, int64_t stride, pair *pairs)
{
    const bool is_few = p->k <= FEW_MAX && p->k * FEW_SHARE <= p->n;
    if (is_few || p->n <= SHORT_ROW) {
        const int64_t k = is_few ? p->k : p->n;
        int64_t n = 0;
        for (int64_t j = 0; j < p->n && k > 0; j++) {
            const pair one = {key_of(p, row + j * stride), (int32_t)j};
            keep_best(pairs, &n, k, one);
        }
        return pairs;
    }
    for (int64_t j = 0; j < p->n; j++)
        pairs[j] = (pair){key_of(p, row + j * stride), (int32_t)j};
    return radix_sort(pairs, pairs + p->n, p->n, p->key_bytes);
}

// The element of a row that outer and inner axes name, and the step along the axis, in bytes.
static char *get_row(const wf_cpu_around *t, int32_t size_log2, int64_t row, int64_t *out_stride)
{
    const wf_cpu_stretch a = wf_cpu_group_stretch(&t->outer, row / t->n_inner, 1);
    const wf_cpu_stretch b = wf_cpu_group_stretch(&t->inner, row % t->n_inner, 1);
    const int64_t size = (int64_t)1 << size_log2;
    *out_stride = t->mid.ndim ? t->mid.strides[0] * size : 0;
    return t->data + (a.offset + b.offset) * size;
}

// item: some rows
static void run(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const order_params *p = params;
    const int64_t end = wf_cpu_min((item + 1) * p->rows_per_item, p->n_rows);
    const size_t bytes = (size_t)1 << p->size_log2;
    for (int64_t row = item * p->rows_per_item; row < end; row++) {
        int64_t from_stride, to_stride, idx_stride;
        const char *from = get_row(&p->x, p->size_log2, row, &from_stride);
        char *to = get_row(&p->values, p->size_log2, row, &to_stride);
        char *idx = get_row(&p->indices, 2, row, &idx_stride);
        const pair *sorted =
            sort_row(p, from, from_stride, p->pairs + (int64_t)worker->idx * 2 * p->n);
        for (int64_t j = 0; j < p->k; j++) {
            memcpy(to + j * to_stride, from + sorted[j].idx * from_stride, bytes);
            memcpy(idx + j * idx_stride, &sorted[j].idx, sizeof sorted[j].idx);
        }
    }
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    const int32_t axis = (int32_t)q->info.attrs[WF_ORDER_AXIS].u.i;
    order_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->x = wf_cpu_around_make(q, &task->inputs[0], axis, 1);
    p->values = wf_cpu_around_make(q, &task->outputs[0], axis, 1);
    p->indices = wf_cpu_around_make(q, &task->outputs[1], axis, 1);
    p->dtype = task->inputs[0].type.dtype;
    p->size_log2 = wf_cpu_size_log2(p->dtype);
    p->key_bytes = 1 << p->size_log2;
    p->descending = q->info.attrs[WF_ORDER_DESCENDING].u.i != 0;
    p->n = p->x.n_mid;
    p->k = wf_order_count(&q->info);
    p->n_rows = p->k > 0 ? p->x.n_outer * p->x.n_inner : 0;
    p->rows_per_item = ITEM_ELEMS / (p->n > 0 ? p->n : 1) + 1;
    p->pairs = (pair *)(void *)wf_cpu_workspace(q);
    return wf_cpu_add_phase(q, run, p, wf_cpu_div_up(p->n_rows, p->rows_per_item), err);
}

static size_t workspace(const wf_cpu_device *dev, const wf_task *task)
{
    const int64_t n = task->inputs[0].type.dims[task->node->attrs[WF_ORDER_AXIS].u.i];
    return (size_t)n * 2 * sizeof(pair) * dev->base.caps.n_threads;
}

const wf_cpu_lowering wf_cpu_lowering_order = {
    .kind = WF_TASK_ORDER, .lower = lower, .workspace = workspace};
