// Attention of one instruction set: what lies between the products of a block of queries and keys, and the
// products themselves where hidden pairs may not be multiplied. Stage: RUN, inside attention tasks.
// doc/arithmetic.md, Attention. The products are tiles (cpu_gemm.c).
#include "device/cpu/kernel/cpu_gemm_vec.h"
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

// Keys before this one are seen, as far as there is no mask.
static int32_t get_end(const wf_cpu_attention_block *b, int64_t i)
{
    const int64_t last = b->is_causal && b->causal + i < b->n_keys ? b->causal + i + 1 : b->n_keys;
    return (int32_t)(last > 0 ? last : 0);
}

// Which keys of the block row i sees, as 0 or 1; returns how many.
static int get_seen(const wf_cpu_attention_block *b, int64_t i, int32_t seen[KEYS])
{
    const int32_t end = get_end(b, i);
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

// ---- over the 64 numbers of a row, as vectors
typedef int32_t vi __attribute__((vector_size(VL * 4)));

// v folded with its own upper half, again and again; element 0 is the result.
#if VL == 16
#define FOLD(v, combine)                                                                           \
    v = combine(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12,   \
                                           13, 14, 15));                                           \
    v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7)); \
    v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3)); \
    v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1))
#elif VL == 8
#define FOLD(v, combine)                                                                           \
    v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7));                         \
    v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3));                         \
    v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1))
#else
#define FOLD(v, combine)                                                                           \
    v = combine(v, __builtin_shufflevector(v, v, 2, 3, 2, 3));                                     \
    v = combine(v, __builtin_shufflevector(v, v, 1, 1, 1, 1))
#endif

VEC_INLINE vf v_select(vi mask, vf a, vf b)
{
    return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

VEC_INLINE vf v_add(vf a, vf b)
{
    return a + b;
}

// The greater; NaN of either side stays. The sign of a zero maximum reaches no result: neither exp(s - m) nor
// m + log(l), with l at least 1, shows it.
VEC_INLINE vf v_greater(vf a, vf b)
{
    return v_select((a < b) | (b != b), b, a);
}

static float get_max(const float x[KEYS], float m)
{
    vf high = v_set(m);
    VEC_UNROLL for (int j = 0; j < KEYS; j += VL) high = v_greater(high, v_load(x + j));
    FOLD(high, v_greater);
    return high[0];
}

// Rows of 64 chains into scores; what lies from `end` on becomes -inf.
static void scale_row(float *s, float scale, int32_t end)
{
    vi place;
    for (int j = 0; j < VL; j++)
        place[j] = j;
    VEC_UNROLL for (int j = 0; j < KEYS; j += VL)
    {
        const vf x = v_load(s + j) * v_set(scale);
        v_store(s + j, v_select(place + j < end, x, v_set(-WF_INF)));
    }
}

// The row rule over one block: lanes start at +0, and p is never -0.
static float get_sum(const float p[KEYS])
{
    vf lane[LANES / VL];
    VEC_UNROLL for (int j = 0; j < LANES / VL; j++) lane[j] =
        v_load(p + j * VL) + v_load(p + LANES + j * VL);
    VEC_UNROLL for (int width = LANES / VL / 2; width > 0; width /= 2)
    {
        VEC_UNROLL for (int j = 0; j < width; j++) lane[j] = lane[j] + lane[j + width];
    }
    vf sum = lane[0];
    FOLD(sum, v_add);
    return sum[0];
}

// The scores of row i; returns whether it sees any key.
static bool get_row(const wf_cpu_attention_block *b, int64_t i)
{
    if (!b->bool_mask && !b->added_mask && !b->seen) {
        const int32_t end = get_end(b, i);
        scale_row(b->s + i * KEYS, b->scale, end);
        return end > 0;
    }
    int32_t seen[KEYS];
    const bool is_any = get_seen(b, i, seen) > 0;
    get_scores(b, i, seen, b->s + i * KEYS);
    return is_any;
}

static void softmax(const wf_cpu_attention_block *b)
{
    float alpha[KEYS], next[KEYS];
    bool is_any[KEYS];
    for (int i = 0; i < KEYS; i++) {
        alpha[i] = 0.0f;
        next[i] = 0.0f;
        is_any[i] = false;
    }
    for (int64_t i = 0; i < b->n_rows; i++) {
        is_any[i] = get_row(b, i);
        if (!is_any[i])
            continue;
        next[i] = get_max(b->s + i * KEYS, b->m[i]);
        alpha[i] = b->m[i] - next[i];
    }
    WF_CPU_VECTOR_LOOP
    for (int i = 0; i < KEYS; i++)
        alpha[i] = wf_exp(alpha[i]);
    for (int64_t i = 0; i < b->n_rows; i++) {
        float *p = b->s + i * KEYS, *o = b->o + i * b->ld;
        const float high = next[i], a = alpha[i];
        if (!is_any[i]) {
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
