// Attention of one instruction set: what lies between the products of a block of queries and keys, and the
// products themselves where hidden pairs may not be multiplied. Stage: RUN, inside attention tasks.
// doc/arithmetic.md, Attention. The products are tiles (cpu_gemm.c).
#include "device/cpu/kernel/cpu_kernel.h"

#include "math/sum.h"
#include "math/weft_math.h"

#define KEYS WF_CPU_ATTENTION_KEYS
#define LANES WF_SUM_LANES
#define EACH_KEY(body)                                                                             \
    WF_CPU_VECTOR_LOOP                                                                             \
    for (int j = 0; j < KEYS; j++)                                                                 \
    body

_Static_assert(KEYS == 2 * LANES, "a lane of the row sum adds two keys");

// Which keys of the block row i sees, as 0 or 1; returns how many.
static int get_seen(const wf_cpu_attention_block *b, int64_t i, int32_t seen[KEYS])
{
    const int64_t last = b->is_causal && b->causal + i < b->n_keys ? b->causal + i + 1 : b->n_keys;
    const int32_t end = (int32_t)(last > 0 ? last : 0);
    int n = 0;
    EACH_KEY(seen[j] = j < end);
    if (b->bool_mask) {
        const uint8_t *mask = b->bool_mask + i * b->mask_row;
        for (int j = 0; j < end; j++)
            seen[j] = mask[j * b->mask_key] != 0;
    }
    if (b->added_mask) {
        const float *mask = b->added_mask + i * b->mask_row;
        for (int j = 0; j < end; j++)
            seen[j] = !(mask[j * b->mask_key] == -WF_INF);
    }
    for (int j = 0; j < KEYS; j++)
        n += seen[j];
    if (b->seen) {
        for (int j = 0; j < KEYS; j++)
            b->seen[i * KEYS + j] = (uint8_t)seen[j];
    }
    return n;
}

// x[j] = s[j] * scale, and the mask; hidden ones become -inf.
static void get_scores(const wf_cpu_attention_block *b, int64_t i, const int32_t seen[KEYS],
                       float x[KEYS])
{
    const float *s = b->s + i * KEYS;
    const float scale = b->scale;
    if (b->added_mask) {
        const float *mask = b->added_mask + i * b->mask_row;
        float added[KEYS];
        for (int j = 0; j < KEYS; j++)
            added[j] = seen[j] ? mask[j * b->mask_key] : 0.0f;
        EACH_KEY({
            const float score = WF_FMA(s[j], scale, added[j]);
            x[j] = seen[j] ? score : -WF_INF;
        });
        return;
    }
    EACH_KEY({
        const float score = s[j] * scale;
        x[j] = seen[j] ? score : -WF_INF;
    });
}

// The order of maxima as that of integers: -inf .. -0 < +0 .. +inf < NaN. Integer maxima become vector code.
static inline int32_t order_key(float x)
{
    const wf_u32 u = wf_as_u32(x);
    const wf_u32 one = (u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : u;
    return (int32_t)(one ^ ((wf_u32)((wf_i32)one >> 31) & 0x7fffffffu));
}

static inline float key_value(int32_t key)
{
    const wf_u32 u = (wf_u32)key;
    return wf_as_f32(u ^ ((wf_u32)(key >> 31) & 0x7fffffffu));
}

static float get_max(const float x[KEYS], float m)
{
    int32_t high = order_key(m);
    for (int j = 0; j < KEYS; j++) {
        const int32_t key = order_key(x[j]);
        high = key > high ? key : high;
    }
    return key_value(high);
}

// The row rule over one block: lanes start at +0, and p is never -0.
static float get_sum(const float p[KEYS])
{
    float lane[LANES];
    for (int j = 0; j < LANES; j++)
        lane[j] = p[j] + p[j + LANES];
    for (int j = 0; j < 16; j++)
        lane[j] = lane[j] + lane[j + 16];
    for (int j = 0; j < 8; j++)
        lane[j] = lane[j] + lane[j + 8];
    for (int j = 0; j < 4; j++)
        lane[j] = lane[j] + lane[j + 4];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

static void softmax(const wf_cpu_attention_block *b)
{
    float alpha[KEYS], next[KEYS];
    int32_t n_seen[KEYS];
    for (int i = 0; i < KEYS; i++) {
        alpha[i] = 0.0f;
        next[i] = 0.0f;
        n_seen[i] = 0;
    }
    for (int64_t i = 0; i < b->n_rows; i++) {
        int32_t seen[KEYS];
        n_seen[i] = get_seen(b, i, seen);
        if (n_seen[i] == 0)
            continue;
        get_scores(b, i, seen, b->s + i * KEYS);
        next[i] = get_max(b->s + i * KEYS, b->m[i]);
        alpha[i] = b->m[i] - next[i];
    }
    WF_CPU_VECTOR_LOOP
    for (int i = 0; i < KEYS; i++)
        alpha[i] = wf_exp(alpha[i]);
    for (int64_t i = 0; i < b->n_rows; i++) {
        float *p = b->s + i * KEYS, *o = b->o + i * b->ld;
        const float high = next[i], a = alpha[i];
        if (n_seen[i] == 0) {
            EACH_KEY(p[j] = 0.0f);
            continue;
        }
        // Hidden: exp(-inf) is +0. Where the maximum is not finite the whole row is NaN anyway.
        EACH_KEY(p[j] = wf_flush(wf_exp(p[j] - high)));
        b->l[i] = WF_FMA(b->l[i], a, get_sum(p));
        b->m[i] = high;
        WF_CPU_VECTOR_LOOP
        for (int64_t c = 0; c < b->d; c++)
            o[c] = o[c] * a;
    }
}

static void slope(const wf_cpu_attention_block *b)
{
    const float scale = b->scale;
    for (int64_t i = 0; i < b->n_rows; i++) {
        float *p = b->s + i * KEYS, *dp = b->dp + i * KEYS;
        const float lse = b->lse[i], delta = b->delta[i];
        int32_t seen[KEYS];
        get_seen(b, i, seen);
        get_scores(b, i, seen, p);
        EACH_KEY({
            const float e = wf_flush(wf_exp(p[j] - lse));
            const float one = seen[j] ? e : 0.0f;
            const float ds = (one * (dp[j] - delta)) * scale;
            p[j] = one;
            dp[j] = seen[j] ? ds : 0.0f;
        });
    }
}

static void finish(float *y, const float *o, float l, int64_t n)
{
    if (l == 0.0f) { // no key at all
        for (int64_t c = 0; c < n; c++)
            y[c] = 0.0f;
        return;
    }
    WF_CPU_VECTOR_LOOP
    for (int64_t c = 0; c < n; c++)
        y[c] = WF_DIV(o[c], l) + 0.0f;
}

static void log_sum(float *lse, const float *m, const float *l, int64_t n)
{
    WF_CPU_VECTOR_LOOP
    for (int64_t i = 0; i < n; i++)
        lse[i] = m[i] + wf_log(l[i]);
}

static void add(float *y, const float *x, int64_t n)
{
    WF_CPU_VECTOR_LOOP
    for (int64_t c = 0; c < n; c++)
        y[c] = y[c] + x[c];
}

static void terms(const wf_cpu_attention_terms *p)
{
    for (int64_t i = 0; i < p->n_rows; i++) {
        float *c = p->c + i * p->ldc;
        for (int64_t t = 0; t < p->n_terms; t++) {
            const float a = p->a[i * p->a_row + t * p->a_term];
            const float *b = p->b + t * p->b_step;
            if (!p->seen[i * p->a_row + t * p->a_term])
                continue;
            WF_CPU_VECTOR_LOOP
            for (int64_t j = 0; j < p->n_cols; j++)
                c[j] = WF_FMA(a, b[j], c[j]);
        }
    }
}

const wf_cpu_attention WF_CPU_NAME(wf_cpu_attention);
const wf_cpu_attention WF_CPU_NAME(wf_cpu_attention) = {softmax, slope, finish,
                                                        log_sum, add,   terms};
