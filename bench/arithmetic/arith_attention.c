// Experiment: attention by the definition: per query, blocks of keys ascending, running maximum, sum and output.
//
// Vectors run over keys for the scores and over d for the output; no sum is vectorised but the row sum of p, whose 32 lanes are the
// definition's. exp is a stand-in of the same cost as the project's (its bits are the reference's here too).
#include <math.h>

#include "arith_product.h"

enum { MAX_KEYS = 512, MAX_D = 256 };

void NAME(attention)(const arith_attention *g, const float *q, const float *k_packed,
                     const float *v_packed, float *o, float *state);
void NAME(exp)(const float *x, float *y, int64_t n);

// exp: n = round(x log2 e), r = x - n ln 2 in two parts, degree 6, scaled by two factors so that a subnormal result rounds once.
ARITH_INLINE vf v_exp(vf x)
{
    vf magic = v_set(0x1.8p23f);
    vi is_low = x < v_set(-104.0f);
    vi is_high = x > v_set(88.8f);
    vf clamped = v_select(is_low, v_set(-104.0f), v_select(is_high, v_set(88.8f), x));
    vf t = v_fma(clamped, v_set(0x1.715476p0f), magic);
    vf n = t - magic;
    vf r = v_fma(n, v_set(-0x1.62e4p-1f), clamped);
    r = v_fma(n, v_set(-0x1.7f7d1cp-20f), r);
    vf p = v_set(0x1.6c16c2p-10f);
    p = v_fma(p, r, v_set(0x1.111112p-7f));
    p = v_fma(p, r, v_set(0x1.555556p-5f));
    p = v_fma(p, r, v_set(0x1.555556p-3f));
    p = v_fma(p, r, v_set(0x1p-1f));
    p = v_fma(p, r, v_set(1.0f));
    p = v_fma(p, r, v_set(1.0f));
    vi e = (vi)t - (vi)magic;
    vi half = e >> 1;
    vf y = (p * (vf)((half + 127) << 23)) * (vf)(((e - half) + 127) << 23);
    return v_select(is_low, v_zero(), v_select(is_high, v_set(INFINITY), y));
}

ARITH_INLINE vf v_flush(vf x)
{
    vi bits = (vi)x;
    vi is_small = (bits & 0x7fffffff) < 0x00800000;
    return (vf)(bits & ~(is_small & 0x7fffffff));
}

void NAME(exp)(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i += VL) {
        v_store(y + i, v_exp(v_load(x + i)));
    }
}

#define FOLD(v, combine)                                                                           \
    _Static_assert(VL == 16 || VL == 8 || VL == 4, "lanes");                                       \
    FOLD_16(v, combine)                                                                            \
    FOLD_8(v, combine)                                                                             \
    v = combine(v, SHUFFLE_2(v));                                                                  \
    v = combine(v, SHUFFLE_1(v));

// Each step brings the upper half of the lanes in use beside the lower.
#if VL == 16
#define FOLD_16(v, combine)                                                                        \
    v = combine(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12,   \
                                           13, 14, 15));
#define FOLD_8(v, combine)                                                                         \
    v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7));
#define SHUFFLE_2(v) __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3)
#define SHUFFLE_1(v) __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)
#elif VL == 8
#define FOLD_16(v, combine)
#define FOLD_8(v, combine) v = combine(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7));
#define SHUFFLE_2(v) __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3)
#define SHUFFLE_1(v) __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1)
#else
#define FOLD_16(v, combine)
#define FOLD_8(v, combine)
#define SHUFFLE_2(v) __builtin_shufflevector(v, v, 2, 3, 2, 3)
#define SHUFFLE_1(v) __builtin_shufflevector(v, v, 1, 1, 1, 1)
#endif

ARITH_INLINE vf v_add(vf a, vf b)
{
    return a + b;
}

// The larger; NaN of either side stays. (The sign of a zero maximum reaches no result: exp(s - m) and m + log l do not see it.)
ARITH_INLINE vf v_max(vf a, vf b)
{
    return v_select((a < b) | (b != b), b, a);
}

// Scales a row of scores and returns its largest; keys past n become -inf, whose exp is +0.
static float scale_and_max(float *s, int64_t n, int64_t padded, float scale)
{
    vf high = v_set(-INFINITY);
    for (int64_t i = 0; i < padded; i += VL) {
        vf x = v_load(s + i) * v_set(scale);
        if (i + VL > n) {
            for (int64_t j = n > i ? n - i : 0; j < VL; j++) {
                x[j] = -INFINITY;
            }
        }
        v_store(s + i, x);
        high = v_max(high, x);
    }
    FOLD(high, v_max)
    return high[0];
}

// p = flush(exp(s - m)) in place; returns its row sum. Lanes past n hold +0, and p is never -0, so they change nothing.
static float exp_and_sum(float *s, int64_t padded, float m)
{
    vf shift = v_set(m);
    vf lane[ARITH_LANES / VL];
    UNROLL for (int j = 0; j < ARITH_LANES / VL; j++) lane[j] = v_zero();
    for (int64_t i = 0; i < padded; i += ARITH_LANES) {
        UNROLL for (int j = 0; j < ARITH_LANES / VL; j++)
        {
            vf p = v_flush(v_exp(v_load(s + i + j * VL) - shift));
            v_store(s + i + j * VL, p);
            lane[j] += p;
        }
    }
    UNROLL for (int step = ARITH_LANES / VL / 2; step > 0; step /= 2)
    {
        UNROLL for (int j = 0; j < step; j++) lane[j] += lane[j + step];
    }
    vf sum = lane[0];
    FOLD(sum, v_add)
    return sum[0];
}

// The scores of TILE_ROWS queries become p; m, l and o are renewed. A row without keys keeps all.
static void softmax_rows(int64_t rows, const int64_t *used, int64_t padded, float scale, float *s,
                         int64_t ld, float *m, float *l, float *o, int64_t d)
{
    float next[16], alpha[16] = {0};
    for (int64_t i = 0; i < rows; i++) {
        vf high = used[i] > 0
                      ? v_max(v_set(m[i]), v_set(scale_and_max(s + i * ld, used[i], padded, scale)))
                      : v_set(m[i]);
        next[i] = high[0];
        alpha[i] = used[i] > 0 ? m[i] - next[i] : 0.0f;
    }
    for (int64_t i = 0; i < rows; i += VL) {
        v_store(alpha + i, v_exp(v_load(alpha + i)));
    }
    for (int64_t i = 0; i < rows; i++) {
        if (used[i] == 0) {
            continue;
        }
        float sum = exp_and_sum(s + i * ld, padded, next[i]);
        l[i] = v_fma(v_set(l[i]), v_set(alpha[i]), v_set(sum))[0];
        m[i] = next[i];
        for (int64_t j = 0; j < d; j += VL) {
            v_store(o + i * d + j, v_load(o + i * d + j) * v_set(alpha[i]));
        }
    }
}

// TILE_ROWS queries from t0 on against one block of keys.
static void attention_block(const arith_attention *g, int64_t rows, int64_t t0, int64_t key,
                            int64_t n_keys, const float *const *q, const float *k_block,
                            const float *v_packed, float *o, float *m, float *l, float scale)
{
    float s[TILE_ROWS * (MAX_KEYS + 16)] __attribute__((aligned(64)));
    const int64_t ld = (n_keys + ARITH_LANES - 1) / ARITH_LANES * ARITH_LANES + 16;
    const float *p[TILE_ROWS];
    int64_t used[TILE_ROWS];
    int64_t least = n_keys, most = 0;
    for (int64_t i = 0; i < TILE_ROWS; i++) {
        int64_t row = i < rows ? i : rows - 1;
        used[i] = g->is_causal ? smaller(n_keys, t0 + row + g->t_k - g->t_q - key + 1) : n_keys;
        used[i] = used[i] > 0 ? used[i] : 0;
        least = smaller(least, used[i]);
        most = used[i] > most ? used[i] : most;
        p[i] = s + i * ld;
    }
    for (int64_t j0 = 0, width; j0 < most; j0 += width) {
        width = panel_width(n_keys, j0);
        tile_rows[width / VL - 1](1, g->d, q, k_block + j0 * g->d, s + j0, s + j0, ld,
                                  TILE_START_ZERO);
    }
    softmax_rows(rows, used, (most + ARITH_LANES - 1) / ARITH_LANES * ARITH_LANES, scale, s, ld, m,
                 l, o, g->d);
    for (int64_t j0 = 0, width; j0 < g->d; j0 += width) {
        width = panel_width(g->d, j0);
        const float *v = v_packed + j0 * g->t_k + key * width;
        tile_place place = {o + j0, o + j0, g->d, rows, smaller(width, g->d - j0), 0};
        run_tile_rows(1, least, p, v, width, &place);
        // The diagonal: rows end at different keys, and a key that is masked is no term.
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < width && used[i] > least; j += VL) {
                vf acc = v_load(o + i * g->d + j0 + j);
                for (int64_t t = least; t < used[i]; t++) {
                    acc = v_fma(v_set(p[i][t]), v_load(v + t * width + j), acc);
                }
                v_store(o + i * g->d + j0 + j, acc);
            }
        }
    }
}

// d must be a multiple of VL here; the experiment's is 64.
void NAME(attention)(const arith_attention *g, const float *q, const float *k_packed,
                     const float *v_packed, float *o, float *state)
{
    float scale = 1.0f / sqrtf((float)g->d);
    int64_t per_head = (g->t_k + VL - 1) / VL * VL * g->d;
    for (int64_t head = 0; head < g->heads;
         head++, k_packed += per_head, v_packed += g->t_k * g->d) {
        for (int64_t t0 = 0; t0 < g->t_q; t0 += TILE_ROWS) {
            int64_t rows = smaller(TILE_ROWS, g->t_q - t0);
            float own[TILE_ROWS * MAX_D] __attribute__((aligned(64))) = {0};
            float m[TILE_ROWS], l[TILE_ROWS];
            const float *q_rows[TILE_ROWS];
            for (int64_t i = 0; i < TILE_ROWS; i++) {
                m[i] = -INFINITY;
                l[i] = 0.0f;
                q_rows[i] = q + (head * g->t_q + t0 + smaller(i, rows - 1)) * g->d;
            }
            int64_t end = g->is_causal ? smaller(g->t_k, t0 + rows + g->t_k - g->t_q) : g->t_k;
            for (int64_t key = 0; key < end; key += g->keys) {
                attention_block(g, rows, t0, key, smaller(g->keys, g->t_k - key), q_rows,
                                k_packed + key * g->d, v_packed, own, m, l, scale);
            }
            for (int64_t i = 0; i < rows; i++) {
                float *out = o + (head * g->t_q + t0 + i) * g->d;
                for (int64_t j = 0; j < g->d; j++) {
                    out[j] = l[i] == 0.0f ? 0.0f : own[i * g->d + j] / l[i] + 0.0f;
                }
                state[(head * g->t_q + t0 + i) * 2] = m[i];
                state[(head * g->t_q + t0 + i) * 2 + 1] = l[i];
            }
        }
    }
}
