// dq, dk, dv = attention_grad(q, k, v, lse, delta, dout, mask): the gradient of attention.
//   lse, delta [b,h,tq]: the forward's log-sum-exp, and row sums of dout * o (less what arrives at lse)
//   dout [b,h,tq,d] -> dq [b,h,tq,d], dk and dv [b,hk,tk,d]
// doc/arithmetic.md, Attention: p = flush(exp(s - lse)), dS = p (dP - delta) scale. dq adds over blocks of
// 64 keys, dk and dv over blocks of 64 queries; with grouped heads one head after the other. A block is a
// chain from +0, blocks add ascending, from +0; masked pairs are no terms.
#include <math.h>

#include "math/weft_math.h"
#include "op/attention_common.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_attention_shape s;
    WEFT_TRY(wf_attention_shape_get(info, true, &s, err));
    out[0] = info->in[0];
    out[1] = info->in[1];
    out[2] = info->in[2];
    return WEFT_OK;
}

typedef struct pair_walk {
    wf_attention_shape s;
    const wf_eval *q;
    const wf_tensor *mask;
} pair_walk;

// p and dS of query i of head h and key j; false: masked
static bool get_pair(const pair_walk *w, int64_t b, int64_t h, int64_t i, int64_t j, float *p,
                     float *ds)
{
    const wf_attention_shape *s = &w->s;
    const wf_tensor *in = w->q->in;
    const int64_t row = (b * s->h + h) * s->tq + i;
    const int64_t kv = (b * s->hk + h / (s->h / s->hk)) * s->tk + j;
    const float *x = (const float *)in[0].data + row * s->d;
    const float *k = (const float *)in[1].data + kv * s->d;
    const float *v = (const float *)in[2].data + kv * s->d;
    const float *dout = (const float *)in[WF_ATTENTION_DOUT].data + row * s->d;
    double added;
    if (!wf_attention_sees(s, w->mask, b, h, i, j, &added))
        return false;
    float acc = 0.0f, dp = 0.0f;
    for (int64_t c = 0; c < s->d; c++) {
        acc = WF_FMA(x[c], k[c], acc);
        dp = WF_FMA(dout[c], v[c], dp);
    }
    const float score = s->is_additive ? WF_FMA(acc, s->scale, (float)added) : acc * s->scale;
    *p = wf_flush(wf_exp(score - ((const float *)in[WF_ATTENTION_LSE].data)[row]));
    const float delta = ((const float *)in[WF_ATTENTION_DELTA].data)[row];
    *ds = (*p * (dp - delta)) * s->scale;
    return true;
}

// acc[c] takes a * x[c]
static void add_term(float *acc, float a, const float *x, int64_t d)
{
    for (int64_t c = 0; c < d; c++)
        acc[c] = WF_FMA(a, x[c], acc[c]);
}

// y[c] takes the block's chain, which begins anew.
static void close_block(float *y, float *chain, int64_t d)
{
    for (int64_t c = 0; c < d; c++) {
        y[c] += chain[c];
        chain[c] = 0.0f;
    }
}

static void eval_dq(const pair_walk *w, int64_t row, float *chain)
{
    const wf_attention_shape *s = &w->s;
    const int64_t i = row % s->tq, h = row / s->tq % s->h, b = row / s->tq / s->h;
    const int64_t kv = (b * s->hk + h / (s->h / s->hk)) * s->tk;
    float *dq = (float *)w->q->out[0].data + row * s->d;
    for (int64_t j = 0; j < s->tk; j++) {
        float p, ds;
        if (get_pair(w, b, h, i, j, &p, &ds))
            add_term(chain, ds, (const float *)w->q->in[1].data + (kv + j) * s->d, s->d);
        if ((j + 1) % WF_ATTENTION_KEYS == 0 || j + 1 == s->tk)
            close_block(dq, chain, s->d);
    }
}

// chain holds 2 * d floats.
static void eval_dkv(const pair_walk *w, int64_t row, float *chain)
{
    const wf_attention_shape *s = &w->s;
    const int64_t j = row % s->tk, hk = row / s->tk % s->hk, b = row / s->tk / s->hk;
    const int64_t share = s->h / s->hk;
    float *dk = (float *)w->q->out[1].data + row * s->d;
    float *dv = (float *)w->q->out[2].data + row * s->d;
    for (int64_t h = hk * share; h < (hk + 1) * share; h++) {
        const int64_t first = (b * s->h + h) * s->tq;
        for (int64_t i = 0; i < s->tq; i++) {
            float p, ds;
            if (get_pair(w, b, h, i, j, &p, &ds)) {
                const float *x = (const float *)w->q->in[0].data + (first + i) * s->d;
                const float *dout =
                    (const float *)w->q->in[WF_ATTENTION_DOUT].data + (first + i) * s->d;
                add_term(chain, ds, x, s->d);
                add_term(chain + s->d, p, dout, s->d);
            }
            if ((i + 1) % WF_ATTENTION_KEYS == 0 || i + 1 == s->tq) {
                close_block(dk, chain, s->d);
                close_block(dv, chain + s->d, s->d);
            }
        }
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    pair_walk w = {.q = q};
    float *chain;
    WEFT_TRY(wf_attention_shape_get(q->info, true, &w.s, err));
    w.mask = w.s.has_mask ? &q->in[WF_ATTENTION_MASK] : NULL;
    WEFT_TRY(wf_alloc(&q->allocator, (size_t)(2 * w.s.d), sizeof *chain, &chain, err));
    for (uint32_t i = 0; i < 3; i++) {
        for (int64_t c = 0; c < wf_type_count(&q->out[i].type); c++)
            ((float *)q->out[i].data)[c] = 0.0f;
    }
    for (int64_t row = 0; row < w.s.b * w.s.h * w.s.tq; row++)
        eval_dq(&w, row, chain);
    for (int64_t row = 0; row < w.s.b * w.s.hk * w.s.tk; row++)
        eval_dkv(&w, row, chain);
    wf_free(&q->allocator, chain);
    return WEFT_OK;
}

// One pair in float64, into all three results.
static void truth_pair(const pair_walk *w, int64_t b, int64_t h, int64_t i, int64_t j)
{
    const wf_attention_shape *s = &w->s;
    const wf_tensor *in = w->q->in;
    const int64_t row = (b * s->h + h) * s->tq + i;
    const int64_t kv = (b * s->hk + h / (s->h / s->hk)) * s->tk + j;
    const double *x = (const double *)in[0].data + row * s->d;
    const double *k = (const double *)in[1].data + kv * s->d;
    const double *v = (const double *)in[2].data + kv * s->d;
    const double *dout = (const double *)in[WF_ATTENTION_DOUT].data + row * s->d;
    double added, score = 0.0, dp = 0.0;
    if (!wf_attention_sees(s, w->mask, b, h, i, j, &added))
        return;
    for (int64_t c = 0; c < s->d; c++) {
        score += x[c] * k[c];
        dp += dout[c] * v[c];
    }
    const double p =
        exp(score * (double)s->scale + added - ((const double *)in[WF_ATTENTION_LSE].data)[row]);
    const double ds =
        p * (dp - ((const double *)in[WF_ATTENTION_DELTA].data)[row]) * (double)s->scale;
    for (int64_t c = 0; c < s->d; c++) {
        ((double *)w->q->out[0].data)[row * s->d + c] += ds * k[c];
        ((double *)w->q->out[1].data)[kv * s->d + c] += ds * x[c];
        ((double *)w->q->out[2].data)[kv * s->d + c] += p * dout[c];
    }
}

static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    pair_walk w = {.q = q};
    WEFT_TRY(wf_attention_shape_get(q->info, true, &w.s, err));
    w.mask = w.s.has_mask ? &q->in[WF_ATTENTION_MASK] : NULL;
    for (uint32_t i = 0; i < 3; i++) {
        for (int64_t c = 0; c < wf_type_count(&q->out[i].type); c++)
            ((double *)q->out[i].data)[c] = 0.0;
    }
    for (int64_t row = 0; row < w.s.b * w.s.h * w.s.tq; row++) {
        for (int64_t j = 0; j < w.s.tk; j++)
            truth_pair(&w, row / w.s.tq / w.s.h, row / w.s.tq % w.s.h, row % w.s.tq, j);
    }
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_attention_cases(list, true);
}

static const wf_attr_spec attrs[] = {WF_ATTENTION_ATTR_SPECS};

const wf_op wf_op_attention_grad = {
    .name = "attention_grad",
    .n_inputs = 6,
    .n_outputs = 3,
    .flags = WF_OP_VARIADIC | WF_OP_NO_MINUS_ZERO, // the mask
    .task = WF_TASK_ATTENTION,
    .row_inputs = 1u << 0 | 1u << 1 | 1u << 2 | 1u << WF_ATTENTION_DOUT,
    .row_outputs = 1u << 0 | 1u << 1 | 1u << 2,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .eval = eval,
    .eval_truth = eval_truth,
    .cost = wf_attention_cost,
    .cases = cases,
};
