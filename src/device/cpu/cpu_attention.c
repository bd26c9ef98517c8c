// ATTENTION tasks: blocks of 64 queries against blocks of 64 keys. Stage: PLAN -> PROGRAM, RUN.
//
// The scores of a block and its part of the output are register-tiled products (cpu_gemm.c), what lies
// between is cpu_attention_rows.c. An item is 64 queries of one head; before that a phase packs the keys,
// transposed, so that vectors run over keys. Hidden pairs are multiplied by p = +0 where the values are
// known finite, and left out where they are not: both give the same bits (doc/arithmetic.md).
#include "device/cpu/cpu_attention.h"

#include <string.h>

// Rows as far apart as a multiple of this many floats share few of the first-level cache's sets.
#define CROWDED_ROW 256

// Scratch: scores, output, padded values, m and l.
#define SCRATCH_FLOATS(ld)                                                                         \
    (WF_CPU_BLOCK * WF_CPU_BLOCK + 2 * WF_CPU_BLOCK * (ld) + 2 * WF_CPU_BLOCK)
#define SCRATCH_BYTES(ld)                                                                          \
    ((size_t)(SCRATCH_FLOATS(ld)) * sizeof(float) + WF_CPU_BLOCK * WF_CPU_BLOCK)

static int64_t packed_floats(const wf_cpu_attention_params *p)
{
    return WF_CPU_BLOCK * p->s.d;
}

void wf_cpu_attention_pack(const wf_cpu_attention_params *p, float *dst, const float *rows,
                           int64_t row, int64_t n_keys)
{
    for (int64_t j0 = 0, width; j0 < n_keys; j0 += width) {
        width = wf_cpu_panel_width(p->products->sizes, n_keys, j0);
        p->products->pack(dst + j0 * p->s.d, width, rows + j0 * row, 1, row, p->s.d,
                          wf_cpu_min(width, n_keys - j0));
    }
}

void wf_cpu_attention_scores(const wf_cpu_attention_params *p, float *s, const float *a,
                             const int64_t *a_rows, int64_t n_rows, const float *packed,
                             int64_t n_keys)
{
    for (int64_t j0 = 0, width; j0 < n_keys; j0 += width) {
        width = wf_cpu_panel_width(p->products->sizes, n_keys, j0);
        const wf_cpu_tiles tiles = {.n_rows = n_rows,
                                    .n_cols = width,
                                    .n_terms = p->s.d,
                                    .a = a,
                                    .a_rows = a_rows,
                                    .a_terms = p->each,
                                    .b = packed + j0 * p->s.d,
                                    .b_step = width,
                                    .c = s + j0,
                                    .ldc = WF_CPU_BLOCK,
                                    .is_first = true};
        p->products->tiles(&tiles);
    }
}

const float *wf_cpu_attention_rows(const wf_cpu_attention_params *p, const float *rows, int64_t row,
                                   int64_t n, float *room, int64_t *out_step)
{
    const bool is_crowded = row != p->s.d && row % CROWDED_ROW == 0;
    *out_step = row;
    if (p->ld == p->s.d && !is_crowded)
        return rows;
    *out_step = p->ld;
    for (int64_t i = 0; i < n; i++) {
        memcpy(room + i * p->ld, rows + i * row, (size_t)p->s.d * sizeof *room);
        memset(room + i * p->ld + p->s.d, 0, (size_t)(p->ld - p->s.d) * sizeof *room);
    }
    return room;
}

bool wf_cpu_attention_is_finite(const wf_cpu_attention_params *p, const float *rows, int64_t row,
                                int64_t n)
{
    const size_t d = (size_t)p->s.d;
    if (row == p->s.d)
        return p->first_nonfinite(rows, (size_t)n * d) == (size_t)n * d;
    for (int64_t i = 0; i < n; i++) {
        if (p->first_nonfinite(rows + i * row, d) != d)
            return false;
    }
    return true;
}

bool wf_cpu_attention_mask(const wf_cpu_attention_params *p, wf_cpu_attention_block *block,
                           int64_t b, int64_t h, int64_t q0, int64_t k0, bool *out_none)
{
    const wf_attention_shape *s = &p->s;
    const int64_t at = b * s->mask_strides[0] + h * s->mask_strides[1] + q0 * s->mask_strides[2] +
                       k0 * s->mask_strides[3];
    block->is_causal = s->is_causal;
    block->causal = q0 + s->tk - s->tq - k0;
    block->bool_mask = p->bool_mask ? p->bool_mask + at : NULL;
    block->added_mask = p->added_mask ? p->added_mask + at : NULL;
    block->mask_row = s->mask_strides[2];
    block->mask_key = s->mask_strides[3];
    *out_none = s->is_causal && block->causal + block->n_rows <= 0;
    return s->has_mask || (s->is_causal && block->causal + 1 < block->n_keys);
}

void wf_cpu_attention_add(const wf_cpu_attention_params *p, const wf_cpu_attention_strip *strip)
{
    if (strip->seen) {
        const wf_cpu_attention_terms terms = {
            strip->n_rows,     p->s.d,   strip->n_terms, strip->a, strip->seen, strip->a_rows[1],
            strip->a_terms[1], strip->b, strip->b_step,  strip->c, p->ld};
        if (strip->is_first)
            memset(strip->c, 0, (size_t)(strip->n_rows * p->ld) * sizeof(float));
        p->kernels->terms(&terms);
        return;
    }
    for (int64_t j0 = 0, width; j0 < p->ld; j0 += width) {
        width = wf_cpu_panel_width(p->products->sizes, p->ld, j0);
        const wf_cpu_tiles tiles = {.n_rows = strip->n_rows,
                                    .n_cols = width,
                                    .n_terms = strip->n_terms,
                                    .a = strip->a,
                                    .a_rows = strip->a_rows,
                                    .a_terms = strip->a_terms,
                                    .b = strip->b + j0,
                                    .b_step = strip->b_step,
                                    .c = strip->c + j0,
                                    .ldc = p->ld,
                                    .is_first = strip->is_first};
        p->products->tiles(&tiles);
    }
}

// Item: one block of keys of one head of keys.
static void run_pack(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_attention_params *p = params;
    const int64_t block = item % p->k_blocks, head = item / p->k_blocks;
    const int64_t key = block * WF_CPU_BLOCK, n = wf_cpu_min(WF_CPU_BLOCK, p->s.tk - key);
    const int64_t b = head / p->s.hk, hk = head % p->s.hk;
    (void)worker;
    wf_cpu_attention_pack(p, p->packed + item * packed_floats(p),
                          wf_cpu_heads_at(&p->k, b, hk, key), p->k.row, n);
    p->v_finite[item] =
        wf_cpu_attention_is_finite(p, wf_cpu_heads_at(&p->v, b, hk, key), p->v.row, n);
}

typedef struct work {
    float *s, *o, *room, *m, *l;
    uint8_t *seen;
} work;

static work get_work(const wf_cpu_attention_params *p, const wf_cpu_worker *worker)
{
    work w;
    w.s = (float *)(void *)worker->scratch;
    w.o = w.s + WF_CPU_BLOCK * WF_CPU_BLOCK;
    w.room = w.o + WF_CPU_BLOCK * p->ld;
    w.m = w.room + WF_CPU_BLOCK * p->ld;
    w.l = w.m + WF_CPU_BLOCK;
    w.seen = (uint8_t *)(w.l + WF_CPU_BLOCK);
    return w;
}

// A block of keys for the item's queries; false: this block and those behind it are hidden.
static bool run_block(const wf_cpu_attention_params *p, const work *w, int64_t head, int64_t q0,
                      int64_t n_rows, int64_t key_block)
{
    const wf_attention_shape *s = &p->s;
    const int64_t b = head / s->h, h = head % s->h, k0 = key_block * WF_CPU_BLOCK;
    const int64_t hk = wf_cpu_attention_kv(s, h);
    const int64_t packed = (b * s->hk + hk) * p->k_blocks + key_block;
    wf_cpu_attention_block block = {.n_rows = n_rows,
                                    .n_keys = wf_cpu_min(WF_CPU_BLOCK, s->tk - k0),
                                    .s = w->s,
                                    .scale = s->scale,
                                    .m = w->m,
                                    .l = w->l,
                                    .o = w->o,
                                    .ld = p->ld,
                                    .d = s->d};
    bool is_none;
    const bool hides = wf_cpu_attention_mask(p, &block, b, h, q0, k0, &is_none);
    if (is_none)
        return false;
    block.seen = hides && !p->v_finite[packed] ? w->seen : NULL;
    wf_cpu_attention_scores(p, w->s, wf_cpu_heads_at(&p->q, b, h, q0), p->by_q, n_rows,
                            p->packed + packed * packed_floats(p), block.n_keys);
    p->kernels->softmax(&block);
    wf_cpu_attention_strip strip = {.n_rows = n_rows,
                                    .n_terms = block.n_keys,
                                    .a = w->s,
                                    .a_rows = p->by_key,
                                    .a_terms = p->each,
                                    .seen = block.seen,
                                    .c = w->o};
    strip.b = wf_cpu_attention_rows(p, wf_cpu_heads_at(&p->v, b, hk, k0), p->v.row, block.n_keys,
                                    w->room, &strip.b_step);
    wf_cpu_attention_add(p, &strip);
    return true;
}

// Item: 64 queries of one head.
static void run_forward(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_attention_params *p = params;
    const wf_attention_shape *s = &p->s;
    const work w = get_work(p, worker);
    const int64_t head = item / p->q_blocks, q0 = item % p->q_blocks * WF_CPU_BLOCK;
    const int64_t n_rows = wf_cpu_min(WF_CPU_BLOCK, s->tq - q0), row = head * s->tq + q0;
    memset(w.s, 0, WF_CPU_BLOCK * WF_CPU_BLOCK * sizeof *w.s);
    memset(w.o, 0, (size_t)(WF_CPU_BLOCK * p->ld) * sizeof *w.o);
    for (int64_t i = 0; i < n_rows; i++) {
        w.m[i] = -WF_INF;
        w.l[i] = 0.0f;
    }
    for (int64_t block = 0; block < p->k_blocks; block++) {
        if (!run_block(p, &w, head, q0, n_rows, block))
            break;
    }
    float *o = wf_cpu_heads_at(&p->o, head / s->h, head % s->h, q0);
    for (int64_t i = 0; i < n_rows; i++)
        p->kernels->finish(o + i * p->o.row, w.o + i * p->ld, w.l[i], s->d);
    p->kernels->log_sum(p->lse + row, w.m, w.l, n_rows);
}

static weft_status take_offsets(wf_cpu_lower *q, int64_t n, int64_t step, const int64_t **out,
                                weft_error *err)
{
    int64_t *list;
    WEFT_TRY(wf_cpu_take(q, (size_t)n, sizeof *list, &list, err));
    for (int64_t i = 0; i < n; i++)
        list[i] = i * step;
    *out = list;
    return WEFT_OK;
}

weft_status wf_cpu_attention_row_offsets(wf_cpu_lower *q, int64_t row, const int64_t **out,
                                         weft_error *err)
{
    return take_offsets(q, WF_CPU_BLOCK, row, out, err);
}

wf_cpu_heads wf_cpu_attention_heads(const wf_cpu_lower *q, const wf_view *view)
{
    return (wf_cpu_heads){(float *)(void *)wf_cpu_view_data(q, view), view->strides[0],
                          view->strides[1], view->strides[2]};
}

// What has no axis of heads, the log-sums and the mask, lies densely; of heads the rows do.
static bool is_readable(const wf_view *view, bool has_rows)
{
    const int32_t last = view->type.ndim - 1;
    return wf_view_is_dense(view) ||
           (has_rows && (view->strides[last] == 1 || view->type.dims[last] == 1));
}

weft_status wf_cpu_attention_params_init(wf_cpu_lower *q, bool is_grad,
                                         wf_cpu_attention_params **out, weft_error *err)
{
    const wf_task *task = q->task;
    wf_cpu_attention_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    WEFT_TRY(wf_attention_shape_get(&q->info, is_grad, &p->s, err));
    for (size_t i = 0; i < task->n_inputs; i++) {
        if (!is_readable(&task->inputs[i], q->info.op->row_inputs & 1u << i)) {
            WEFT_FAIL(err, WEFT_ERR_INTERNAL, "%s: operand %zu is not dense", q->info.op->name, i);
        }
    }
    p->products = q->kernels->products;
    p->kernels = q->kernels->attention;
    p->first_nonfinite = q->kernels->elementwise->first_nonfinite;
    const int64_t lanes = p->products->sizes->lanes;
    p->ld = wf_cpu_div_up(p->s.d, lanes) * lanes;
    p->q_blocks = wf_cpu_div_up(p->s.tq, WF_CPU_BLOCK);
    p->k_blocks = wf_cpu_div_up(p->s.tk, WF_CPU_BLOCK);
    p->q = wf_cpu_attention_heads(q, &task->inputs[0]);
    p->k = wf_cpu_attention_heads(q, &task->inputs[1]);
    p->v = wf_cpu_attention_heads(q, &task->inputs[2]);
    if (p->s.has_mask) {
        const char *mask = wf_cpu_view_data(q, &task->inputs[task->n_inputs - 1]);
        p->bool_mask = p->s.is_additive ? NULL : (const uint8_t *)mask;
        p->added_mask = p->s.is_additive ? (const float *)(const void *)mask : NULL;
    }
    *out = p;
    const int64_t n = p->s.d > WF_CPU_BLOCK ? p->s.d : WF_CPU_BLOCK;
    WEFT_TRY(take_offsets(q, n, 1, &p->each, err));
    WEFT_TRY(take_offsets(q, WF_CPU_BLOCK, WF_CPU_BLOCK, &p->by_key, err));
    return wf_cpu_attention_row_offsets(q, p->q.row, &p->by_q, err);
}

// Packed keys, then one byte for each block of values.
static size_t packed_bytes(const wf_attention_shape *s)
{
    const int64_t blocks = s->b * s->hk * wf_cpu_div_up(s->tk, WF_CPU_BLOCK);
    return (size_t)(blocks * WF_CPU_BLOCK * s->d) * sizeof(float);
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    wf_cpu_attention_params *p;
    if (q->info.n_outputs == 3)
        return wf_cpu_attention_lower_grad(q, err);
    WEFT_TRY(wf_cpu_attention_params_init(q, false, &p, err));
    p->o = wf_cpu_attention_heads(q, &q->task->outputs[0]);
    p->lse = (float *)(void *)wf_cpu_view_data(q, &q->task->outputs[1]);
    p->packed = (float *)(void *)wf_cpu_workspace(q);
    if (p->packed)
        p->v_finite = (uint8_t *)p->packed + packed_bytes(&p->s);
    wf_cpu_need_scratch(q, SCRATCH_BYTES(p->ld));
    WEFT_TRY(wf_cpu_add_phase(q, run_pack, p, p->s.b * p->s.hk * p->k_blocks, err));
    return wf_cpu_add_phase(q, run_forward, p, p->s.b * p->s.h * p->q_blocks, err);
}

static size_t workspace(const wf_cpu_device *dev, const wf_task *task)
{
    const weft_type *q = &task->inputs[0].type, *k = &task->inputs[1].type;
    (void)dev;
    if (task->n_outputs == 3)
        return 0;
    const wf_attention_shape s = {
        .b = q->dims[0], .hk = k->dims[1], .tk = k->dims[2], .d = k->dims[3]};
    return packed_bytes(&s) + (size_t)(s.b * s.hk * wf_cpu_div_up(s.tk, WF_CPU_BLOCK));
}

const wf_cpu_lowering wf_cpu_lowering_attention = {
    .kind = WF_TASK_ATTENTION, .lower = lower, .workspace = workspace};
