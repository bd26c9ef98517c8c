// o, lse = attention(q, k, v, mask): softmax(scale * q k^T + mask) v, and the log of the softmax's sum.
//   q [b,h,tq,d], k and v [b,hk,tk,d], mask [b|1,h|1,tq|1,tk|1] bool or f32 -> o [b,h,tq,d], lse [b,h,tq]
// The order is the op's own (doc/arithmetic.md, Attention): per query blocks of 64 keys, ascending, with a
// running maximum m, sum l and output. Keys that are masked are no terms, blocks without keys are
// skipped, and a query without keys gives 0 and lse = -inf.
#include <math.h>

#include "math/sum.h"
#include "math/weft_math.h"
#include "op/attention_common.h"

extern const wf_op wf_op_attention_grad;

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_attention_shape s;
    WEFT_TRY(wf_attention_shape_get(info, false, &s, err));
    out[0] = info->in[0];
    out[1] = wf_type_make(WEFT_F32, 3, info->in[0].dims);
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    static const int32_t last = 3;
    weft_graph *g = q->g;
    const weft_val dout = q->dout[0].id ? q->dout[0] : wf_build_fill_like(g, q->out[0], 0.0);
    weft_val delta = weft_sum(g, weft_mul(g, dout, q->out[0]), &last, 1, false);
    if (q->dout[1].id)
        delta = weft_sub(g, delta, q->dout[1]);
    const weft_val in[] = {q->in[0],
                           q->in[1],
                           q->in[2],
                           q->out[1],
                           delta,
                           dout,
                           q->info->n_inputs == 4 ? q->in[3] : WEFT_NONE};
    const weft_val first =
        wf_graph_add(g, &wf_op_attention_grad, in, q->info->n_inputs == 4 ? 7 : 6, q->info->attrs);
    for (uint32_t i = 0; i < 3; i++) {
        if (q->need[i])
            q->din[i] = wf_val_output(first, i);
    }
    if (q->info->n_inputs == 4 && q->need[3])
        q->din[3] = wf_attention_mask_grad(q, dout, delta);
}

// The operands of one query, and where its result goes.
typedef struct query {
    const wf_attention_shape *s;
    const wf_tensor *mask;
    int64_t b, h, i;
    int64_t row; // of q, o and lse
    int64_t kv;  // first row of k and v
} query;

static query get_query(const wf_attention_shape *s, const wf_eval *q, int64_t row)
{
    const int64_t h = row / s->tq % s->h, b = row / s->tq / s->h;
    const query one = {s,   s->has_mask ? &q->in[3] : NULL,          b, h, row % s->tq,
                       row, (b * s->hk + h / (s->h / s->hk)) * s->tk};
    return one;
}

// One block of keys for one query; o [d] is the running output.
static void eval_block(const query *u, const wf_eval *q, int64_t key, float *m, float *l, float *o)
{
    const wf_attention_shape *s = u->s;
    const float *x = (const float *)q->in[0].data + u->row * s->d;
    const float *k = (const float *)q->in[1].data + u->kv * s->d;
    const float *v = (const float *)q->in[2].data + u->kv * s->d;
    float p[WF_ATTENTION_KEYS] = {0.0f};
    bool sees[WF_ATTENTION_KEYS] = {false};
    bool is_any = false;
    float high = -INFINITY;
    const int64_t n = s->tk - key < WF_ATTENTION_KEYS ? s->tk - key : WF_ATTENTION_KEYS;
    for (int64_t j = 0; j < n; j++) {
        double added;
        sees[j] = wf_attention_sees(s, u->mask, u->b, u->h, u->i, key + j, &added);
        if (!sees[j])
            continue;
        float acc = 0.0f;
        for (int64_t c = 0; c < s->d; c++)
            acc = WF_FMA(x[c], k[(key + j) * s->d + c], acc);
        p[j] = s->is_additive ? WF_FMA(acc, s->scale, (float)added) : acc * s->scale;
        high = wf_max(high, p[j]);
        is_any = true;
    }
    if (!is_any)
        return;
    const float next = wf_max(*m, high);
    const float alpha = wf_exp(*m - next);
    for (int64_t j = 0; j < n; j++)
        p[j] = sees[j] ? wf_flush(wf_exp(p[j] - next)) : 0.0f; // +0 leaves a lane as it is
    *l = WF_FMA(*l, alpha, wf_sum_row(p, n, 1));
    for (int64_t c = 0; c < s->d; c++) {
        float acc = o[c] * alpha;
        for (int64_t j = 0; j < n; j++) {
            if (sees[j])
                acc = WF_FMA(p[j], v[(key + j) * s->d + c], acc);
        }
        o[c] = acc;
    }
    *m = next;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_attention_shape s;
    WEFT_TRY(wf_attention_shape_get(q->info, false, &s, err));
    for (int64_t row = 0; row < s.b * s.h * s.tq; row++) {
        const query u = get_query(&s, q, row);
        float *o = (float *)q->out[0].data + row * s.d;
        float m = -INFINITY, l = 0.0f;
        for (int64_t c = 0; c < s.d; c++)
            o[c] = 0.0f;
        for (int64_t key = 0; key < s.tk; key += WF_ATTENTION_KEYS)
            eval_block(&u, q, key, &m, &l, o);
        for (int64_t c = 0; c < s.d; c++) // l is 0 without any key only: the greatest p is 1
            o[c] = l == 0.0f ? 0.0f : WF_DIV(o[c], l) + 0.0f;
        ((float *)q->out[1].data)[row] = m + wf_log(l);
    }
    return WEFT_OK;
}

// score of key j in float64; false: masked
static bool truth_score(const query *u, const wf_eval *q, int64_t j, double *out)
{
    const wf_attention_shape *s = u->s;
    const double *x = (const double *)q->in[0].data + u->row * s->d;
    const double *k = (const double *)q->in[1].data + (u->kv + j) * s->d;
    double added, sum = 0.0;
    if (!wf_attention_sees(s, u->mask, u->b, u->h, u->i, j, &added))
        return false;
    for (int64_t c = 0; c < s->d; c++)
        sum += x[c] * k[c];
    *out = sum * (double)s->scale + added;
    return true;
}

// The composite: maximum, softmax, product.
static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    wf_attention_shape s;
    WEFT_TRY(wf_attention_shape_get(q->info, false, &s, err));
    for (int64_t row = 0; row < s.b * s.h * s.tq; row++) {
        const query u = get_query(&s, q, row);
        double *o = (double *)q->out[0].data + row * s.d;
        double m = -INFINITY, l = 0.0, score;
        for (int64_t j = 0; j < s.tk; j++) {
            if (truth_score(&u, q, j, &score))
                m = score > m || score != score ? score : m;
        }
        for (int64_t c = 0; c < s.d; c++)
            o[c] = 0.0;
        for (int64_t j = 0; j < s.tk; j++) {
            const double *v = (const double *)q->in[2].data + (u.kv + j) * s.d;
            if (!truth_score(&u, q, j, &score))
                continue;
            const double p = exp(score - m);
            l += p;
            for (int64_t c = 0; c < s.d; c++)
                o[c] += p * v[c];
        }
        for (int64_t c = 0; c < s.d; c++)
            o[c] = l == 0.0 ? 0.0 : o[c] / l;
        ((double *)q->out[1].data)[row] = m + log(l);
    }
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_attention_cases(list, false);
}

static const wf_attr_spec attrs[] = {WF_ATTENTION_ATTR_SPECS};

const wf_op wf_op_attention = {
    .name = "attention",
    .n_inputs = 3,
    .n_outputs = 2,
    .flags = WF_OP_VARIADIC | WF_OP_NO_MINUS_ZERO, // the mask
    .task = WF_TASK_ATTENTION,
    .row_inputs = 1u << 0 | 1u << 1 | 1u << 2, // q, k, v
    .row_outputs = 1u << 0,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval_truth,
    .cost = wf_attention_cost,
    .cases = cases,
};

weft_val weft_attention(weft_graph *g, weft_val q, weft_val k, weft_val v,
                        const weft_attention_options *options, weft_val *out_lse)
{
    static const weft_attention_options none = WEFT_ATTENTION_OPTIONS_INIT;
    const weft_attention_options *o = options ? options : &none;
    const weft_val in[] = {q, k, v, o->mask};
    const size_t n = o->mask.id ? 4 : 3;
    if (out_lse)
        *out_lse = WEFT_NONE;
    if (!wf_build_ready(g, &wf_op_attention, in, n))
        return WEFT_NONE;
    if (o->struct_size < sizeof *o) {
        wf_graph_fail(g, &wf_op_attention, WEFT_ERR_USAGE,
                      "options.struct_size is %zu, expected %zu: use WEFT_ATTENTION_OPTIONS_INIT",
                      o->struct_size, sizeof *o);
        return WEFT_NONE;
    }
    const weft_type *t = wf_graph_type(g, q.id);
    const double d = t->ndim > 0 ? (double)t->dims[t->ndim - 1] : 1.0;
    // One division and one square root, both correctly rounded everywhere.
    const double scale = o->scale != 0.0 ? o->scale : 1.0 / sqrt(d > 0.0 ? d : 1.0);
    const wf_attr list[] = {wf_attr_float((double)(float)scale), wf_attr_int(o->is_causal)};
    const weft_val first = wf_graph_add(g, &wf_op_attention, in, n, list);
    if (out_lse)
        *out_lse = wf_val_output(first, 1);
    return first;
}
