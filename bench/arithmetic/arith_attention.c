// Experiment: attention by the definition: per query, blocks of keys ascending, running maximum, sum and output.
//
// Vectors run over keys for the scores and over d for the output; no sum is vectorised but the row sum of p, whose 32 lanes are the
// definition's. exp is a stand-in of the same cost as the project's (its bits are the reference's here too).
#include <math.h>

#include "arith_product.h"

enum { MAX_KEYS = 512, MAX_D = 256 };

void NAME(attention)(const arith_attention *g, const float *q, const float *k_packed, const float *v_packed, float *o, float *state);
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

// max by comparison: NaN wins, then -0 < +0.
ARITH_INLINE float max_float(float a, float b)
{
    if (a != a || b != b) {
        return NAN;
    }
    if (a == b) {
        int32_t ai, bi;
        memcpy(&ai, &a, 4);
        memcpy(&bi, &b, 4);
        return ai < bi ? b : a;
    }
    return a < b ? b : a;
}

static float scalar_exp(float x)
{
    return v_exp(v_set(x))[0];
}

// One row of scores s[n] becomes p[n]; the running m, l are renewed; returns alpha.
static float softmax_block(float *s, int64_t n, int64_t padded, float scale, float *m, float *l)
{
    float block_max = -INFINITY;
    for (int64_t i = n; i < padded; i++) {
        s[i] = -INFINITY;
    }
    vf high = v_set(-INFINITY);
    vi is_nan = {0};
    for (int64_t i = 0; i < padded; i += VL) {
        vf x = v_load(s + i);
        if (i + VL <= n) {
            x = x * v_set(scale);
        } else {
            for (int64_t j = i; j < n; j++) {
                x[j - i] = x[j - i] * scale;
            }
        }
        v_store(s + i, x);
        is_nan |= x != x;
        high = v_select(x > high, x, high);
    }
    for (int i = 0; i < VL; i++) {
        block_max = is_nan[i] ? NAN : max_float(block_max, high[i]);
    }
    float next = max_float(*m, block_max);
    float alpha = scalar_exp(*m - next);
    vf shift = v_set(next);
    for (int64_t i = 0; i < padded; i += VL) {
        v_store(s + i, v_flush(v_exp(v_load(s + i) - shift)));
    }
    // Keys past n are no terms; exp(-inf) made them +0, and +0 lanes change nothing: p is never -0.
    vf lane[ARITH_LANES / VL];
    UNROLL for (int j = 0; j < ARITH_LANES / VL; j++) lane[j] = v_zero();
    for (int64_t i = 0; i < padded; i += ARITH_LANES) {
        UNROLL for (int j = 0; j < ARITH_LANES / VL; j++) lane[j] += v_load(s + i + j * VL);
    }
    float f[ARITH_LANES];
    UNROLL for (int j = 0; j < ARITH_LANES / VL; j++) v_store(f + j * VL, lane[j]);
    for (int width = ARITH_LANES / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            f[i] += f[i + width];
        }
    }
    *l = v_fma(v_set(*l), v_set(alpha), v_set(f[0]))[0];
    *m = next;
    return alpha;
}

// TILE_ROWS queries from t0 on against one block of keys.
static void attention_block(const arith_attention *g, int64_t rows, int64_t t0, int64_t key, int64_t n_keys, const float *const *q,
                            const float *k_block, const float *v_packed, float *o, float *m, float *l, float scale)
{
    float s[TILE_ROWS * MAX_KEYS] __attribute__((aligned(64)));
    const float *p[TILE_ROWS];
    int64_t padded = (n_keys + ARITH_LANES - 1) / ARITH_LANES * ARITH_LANES;
    for (int64_t j0 = 0; j0 < n_keys; j0 += TILE_COLUMNS) {
        int64_t width = panel_width(n_keys, j0);
        tile_rows[width / VL - 1](1, g->d, q, k_block + j0 * g->d, s + j0, MAX_KEYS, TILE_START_ZERO);
    }
    int64_t used[TILE_ROWS];
    int64_t least = n_keys;
    for (int64_t i = 0; i < TILE_ROWS; i++) {
        int64_t row = i < rows ? i : rows - 1;
        used[i] = g->is_causal ? smaller(n_keys, t0 + row + g->t_k - g->t_q - key + 1) : n_keys;
        used[i] = used[i] > 0 ? used[i] : 0;
        least = smaller(least, used[i]);
        p[i] = s + i * MAX_KEYS;
        if (used[i] == 0 || i >= rows) {
            continue;
        }
        float alpha = softmax_block(s + i * MAX_KEYS, used[i], padded, scale, &m[i], &l[i]);
        for (int64_t j = 0; j < g->d; j++) {
            o[i * g->d + j] *= alpha;
        }
    }
    for (int64_t j0 = 0; j0 < g->d; j0 += TILE_COLUMNS) {
        int64_t width = panel_width(g->d, j0);
        const float *v = v_packed + j0 * g->t_k + key * width;
        run_tile_rows(1, least, p, v, width, o + j0, g->d, rows, smaller(width, g->d - j0), 0);
        // The diagonal: rows end at different keys, and a key that is masked is no term.
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = 0; j < width; j += VL) {
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
void NAME(attention)(const arith_attention *g, const float *q, const float *k_packed, const float *v_packed, float *o, float *state)
{
    float scale = 1.0f / sqrtf((float)g->d);
    int64_t per_head = (g->t_k + VL - 1) / VL * VL * g->d;
    for (int64_t head = 0; head < g->heads; head++, k_packed += per_head, v_packed += g->t_k * g->d) {
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
                attention_block(g, rows, t0, key, smaller(g->keys, g->t_k - key), q_rows, k_packed + key * g->d, v_packed, own, m,
                                l, scale);
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
