// The gradient of attention: scores and p are computed again, block by block. Stage: PLAN -> PROGRAM, RUN.
//
// With enough heads an item is all of one head of keys: each block of scores serves dq, dk and dv. With few
// heads there are two kinds of items, blocks of queries for dq and blocks of keys for dk and dv, and scores
// are computed twice. The order of every sum is the same: blocks ascend in the outer loop of its own side.
#include "device/cpu/cpu_attention.h"

#include <string.h>

#define MIN_HEADS 8 // below, heads alone are too few items

// dst[c][key] of a block of keys, and the same of values, stay for all queries.
typedef struct work {
    float *s, *dp, *keys, *values, *chain, *room, *room_2;
    uint8_t *seen;
} work;

static size_t scratch_bytes(const wf_cpu_attention_params *p)
{
    return (size_t)(2 * WF_CPU_BLOCK * WF_CPU_BLOCK + 2 * WF_CPU_BLOCK * p->s.d +
                    3 * WF_CPU_BLOCK * p->ld) *
               sizeof(float) +
           WF_CPU_BLOCK * WF_CPU_BLOCK;
}

static work get_work(const wf_cpu_attention_params *p, const wf_cpu_worker *worker)
{
    work w;
    w.s = (float *)(void *)worker->scratch;
    w.dp = w.s + WF_CPU_BLOCK * WF_CPU_BLOCK;
    w.keys = w.dp + WF_CPU_BLOCK * WF_CPU_BLOCK;
    w.values = w.keys + WF_CPU_BLOCK * p->s.d;
    w.chain = w.values + WF_CPU_BLOCK * p->s.d;
    w.room = w.chain + WF_CPU_BLOCK * p->ld;
    w.room_2 = w.room + WF_CPU_BLOCK * p->ld;
    w.seen = (uint8_t *)(w.room_2 + WF_CPU_BLOCK * p->ld);
    memset(w.s, 0, 2 * WF_CPU_BLOCK * WF_CPU_BLOCK * sizeof *w.s);
    return w;
}

// Where a pair of blocks lies.
typedef struct place {
    int64_t b, h, q0, k0; // first query and key
    int64_t n_rows, n_keys;
    int64_t hk;  // the head of keys
    int64_t row; // of lse and delta
} place;

static place get_place(const wf_cpu_attention_params *p, int64_t b, int64_t h, int64_t q_block,
                       int64_t k_block)
{
    const wf_attention_shape *s = &p->s;
    place at = {.b = b, .h = h, .q0 = q_block * WF_CPU_BLOCK, .k0 = k_block * WF_CPU_BLOCK};
    at.n_rows = wf_cpu_min(WF_CPU_BLOCK, s->tq - at.q0);
    at.n_keys = wf_cpu_min(WF_CPU_BLOCK, s->tk - at.k0);
    at.row = (b * s->h + h) * s->tq + at.q0;
    at.hk = wf_cpu_attention_kv(s, h);
    return at;
}

static float *query_rows(const wf_cpu_heads *x, const place *at)
{
    return wf_cpu_heads_at(x, at->b, at->h, at->q0);
}

static float *key_rows(const wf_cpu_heads *x, const place *at)
{
    return wf_cpu_heads_at(x, at->b, at->hk, at->k0);
}

static void pack_keys(const wf_cpu_attention_params *p, const work *w, const place *at)
{
    wf_cpu_attention_pack(p, w->keys, key_rows(&p->k, at), p->k.row, at->n_keys);
    wf_cpu_attention_pack(p, w->values, key_rows(&p->v, at), p->v.row, at->n_keys);
}

// p into s and dS into dp; seen is written where `hides`. false: every pair is hidden.
static bool get_slopes(const wf_cpu_attention_params *p, const work *w, const place *at,
                       bool *out_hides)
{
    wf_cpu_attention_block block = {.n_rows = at->n_rows,
                                    .n_keys = at->n_keys,
                                    .s = w->s,
                                    .dp = w->dp,
                                    .scale = p->s.scale,
                                    .lse = p->lse_in + at->row,
                                    .delta = p->delta + at->row};
    bool is_none;
    *out_hides = wf_cpu_attention_mask(p, &block, at->b, at->h, at->q0, at->k0, &is_none);
    if (is_none)
        return false;
    block.seen = *out_hides ? w->seen : NULL;
    wf_cpu_attention_scores(p, w->s, query_rows(&p->q, at), p->by_q, at->n_rows, w->keys,
                            at->n_keys);
    wf_cpu_attention_scores(p, w->dp, query_rows(&p->dout, at), p->by_dout, at->n_rows, w->values,
                            at->n_keys);
    p->kernels->slope(&block);
    return true;
}

typedef struct rows_of {
    float *at;
    int64_t row;
} rows_of;

static rows_of of_queries(const wf_cpu_heads *x, const place *at)
{
    return (rows_of){query_rows(x, at), x->row};
}

static rows_of of_keys(const wf_cpu_heads *x, const place *at)
{
    return (rows_of){key_rows(x, at), x->row};
}

// y [n_rows, d] takes the block's chains of a * rows. Hidden pairs need finite rows, or are left out.
static void add_block(const wf_cpu_attention_params *p, const work *w, rows_of y, int64_t n_rows,
                      const float *a, bool is_transposed, rows_of x, int64_t n_terms, bool hides)
{
    const bool is_exact = hides && !wf_cpu_attention_is_finite(p, x.at, x.row, n_terms);
    wf_cpu_attention_strip strip = {.n_rows = n_rows,
                                    .n_terms = n_terms,
                                    .a = a,
                                    .a_rows = is_transposed ? p->each : p->by_key,
                                    .a_terms = is_transposed ? p->by_key : p->each,
                                    .seen = is_exact ? w->seen : NULL,
                                    .c = w->chain,
                                    .is_first = true};
    strip.b = wf_cpu_attention_rows(p, x.at, x.row, n_terms, w->room, &strip.b_step);
    wf_cpu_attention_add(p, &strip);
    for (int64_t i = 0; i < n_rows; i++)
        p->kernels->add(y.at + i * y.row, w->chain + i * p->ld, p->s.d);
}

static void run_pair(const wf_cpu_attention_params *p, const work *w, const place *at, bool wants_q,
                     bool wants_kv)
{
    bool hides;
    if (!get_slopes(p, w, at, &hides))
        return;
    if (wants_q) {
        add_block(p, w, of_queries(&p->dq, at), at->n_rows, w->dp, false, of_keys(&p->k, at),
                  at->n_keys, hides);
    }
    if (wants_kv) {
        add_block(p, w, of_keys(&p->dk, at), at->n_keys, w->dp, true, of_queries(&p->q, at),
                  at->n_rows, hides);
        add_block(p, w, of_keys(&p->dv, at), at->n_keys, w->s, true, of_queries(&p->dout, at),
                  at->n_rows, hides);
    }
}

static void clear(rows_of y, int64_t n_rows, int64_t d)
{
    for (int64_t i = 0; i < n_rows; i++)
        memset(y.at + i * y.row, 0, (size_t)d * sizeof *y.at);
}

// Item: one head of keys, and the heads of queries that share it.
static void run_head(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_attention_params *p = params;
    const wf_attention_shape *s = &p->s;
    const work w = get_work(p, worker);
    const int64_t share = s->h / s->hk, b = item / s->hk, first = item % s->hk * share;
    const place start = get_place(p, b, first, 0, 0);
    for (int64_t h = 0; h < share; h++) {
        const place own = get_place(p, b, first + h, 0, 0);
        clear(of_queries(&p->dq, &own), s->tq, s->d);
    }
    clear(of_keys(&p->dk, &start), s->tk, s->d);
    clear(of_keys(&p->dv, &start), s->tk, s->d);
    for (int64_t kb = 0; kb < p->k_blocks; kb++) {
        for (int64_t i = 0; i < share * p->q_blocks; i++) {
            const place at = get_place(p, b, first + i / p->q_blocks, i % p->q_blocks, kb);
            if (i == 0)
                pack_keys(p, &w, &at);
            run_pair(p, &w, &at, true, true);
        }
    }
}

// Item: 64 queries of one head.
static void run_queries(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_attention_params *p = params;
    const work w = get_work(p, worker);
    const int64_t head = item / p->q_blocks, b = head / p->s.h, h = head % p->s.h;
    place at = get_place(p, b, h, item % p->q_blocks, 0);
    clear(of_queries(&p->dq, &at), at.n_rows, p->s.d);
    for (int64_t kb = 0; kb < p->k_blocks; kb++) {
        at = get_place(p, b, h, item % p->q_blocks, kb);
        pack_keys(p, &w, &at);
        run_pair(p, &w, &at, true, false);
    }
}

// Item: 64 keys of one head of keys.
static void run_keys(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const wf_cpu_attention_params *p = params;
    const wf_attention_shape *s = &p->s;
    const work w = get_work(p, worker);
    const int64_t head = item / p->k_blocks, share = s->h / s->hk;
    const int64_t b = head / s->hk, first = head % s->hk * share;
    place at = get_place(p, b, first, 0, item % p->k_blocks);
    clear(of_keys(&p->dk, &at), at.n_keys, s->d);
    clear(of_keys(&p->dv, &at), at.n_keys, s->d);
    pack_keys(p, &w, &at);
    for (int64_t i = 0; i < share * p->q_blocks; i++) {
        at = get_place(p, b, first + i / p->q_blocks, i % p->q_blocks, item % p->k_blocks);
        run_pair(p, &w, &at, false, true);
    }
}

weft_status wf_cpu_attention_lower_grad(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    wf_cpu_attention_params *p;
    WEFT_TRY(wf_cpu_attention_params_init(q, true, &p, err));
    const wf_attention_shape *s = &p->s;
    p->lse_in = (const float *)(const void *)wf_cpu_view_data(q, &task->inputs[WF_ATTENTION_LSE]);
    p->delta = (const float *)(const void *)wf_cpu_view_data(q, &task->inputs[WF_ATTENTION_DELTA]);
    p->dout = wf_cpu_attention_heads(q, &task->inputs[WF_ATTENTION_DOUT]);
    p->dq = wf_cpu_attention_heads(q, &task->outputs[0]);
    p->dk = wf_cpu_attention_heads(q, &task->outputs[1]);
    p->dv = wf_cpu_attention_heads(q, &task->outputs[2]);
    WEFT_TRY(wf_cpu_attention_row_offsets(q, p->dout.row, &p->by_dout, err));
    wf_cpu_need_scratch(q, scratch_bytes(p));
    if (s->b * s->hk >= MIN_HEADS)
        return wf_cpu_add_phase(q, run_head, p, s->b * s->hk, err);
    WEFT_TRY(wf_cpu_add_phase(q, run_queries, p, s->b * s->h * p->q_blocks, err));
    return wf_cpu_add_phase(q, run_keys, p, s->b * s->hk * p->k_blocks, err);
}
