// The definitions as plain loops: what the fast kernels must equal bit for bit. fmaf is the C library's, an independent fma.
#include "arith_reference.h"

#include <math.h>
#include <string.h>

void reference_contract(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda_m,
                        int64_t lda_k, const float *b, float *c, int64_t block)
{
    int64_t len = arith_block_len(k, block);
    int64_t n_blocks = k == 0 ? 0 : (k + len - 1) / len;
    int64_t n_groups = n_blocks <= ARITH_GROUPS ? n_blocks : ARITH_GROUPS;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            float total = 0.0f;
            for (int64_t g = 0; g < n_groups; g++) {
                float group = 0.0f;
                for (int64_t u = g * n_blocks / n_groups; u < (g + 1) * n_blocks / n_groups; u++) {
                    float acc = 0.0f;
                    for (int64_t t = u * len; t < (u + 1) * len && t < k; t++) {
                        acc = fmaf(a[i * lda_m + t * lda_k], b[t * n + j], acc);
                    }
                    group = u == g * n_blocks / n_groups ? acc : group + acc;
                }
                total = g == 0 ? group : total + group;
            }
            c[i * n + j] = total + 0.0f;
        }
    }
}

void truth_contract(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda_m, int64_t lda_k,
                    const float *b, double *c, double *magnitude)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0, size = 0.0;
            for (int64_t t = 0; t < k; t++) {
                double term = (double)a[i * lda_m + t * lda_k] * (double)b[t * n + j];
                sum += term;
                size += fabs(term);
            }
            c[i * n + j] = sum;
            magnitude[i * n + j] = size;
        }
    }
}

void reference_im2col(const arith_conv *g, const float *x, float *a)
{
    for (int64_t pixel = 0; pixel < g->n * g->p * g->q; pixel++) {
        int64_t q = pixel % g->q, p = pixel / g->q % g->p, n = pixel / g->q / g->p;
        for (int64_t r = 0; r < g->r; r++) {
            for (int64_t s = 0; s < g->s; s++) {
                int64_t y = p * g->stride + r - g->pad, z = q * g->stride + s - g->pad;
                int is_inside = y >= 0 && y < g->h && z >= 0 && z < g->w;
                for (int64_t c = 0; c < g->c; c++) {
                    *a++ = is_inside ? x[((n * g->h + y) * g->w + z) * g->c + c] : 0.0f;
                }
            }
        }
    }
}

void reference_im2col_input(const arith_conv *g, const float *dy, float *a)
{
    for (int64_t pixel = 0; pixel < g->n * g->h * g->w; pixel++) {
        int64_t x = pixel % g->w, y = pixel / g->w % g->h, n = pixel / g->w / g->h;
        for (int64_t r = 0; r < g->r; r++) {
            for (int64_t s = 0; s < g->s; s++) {
                for (int64_t k = 0; k < g->k; k++) {
                    float value = 0.0f;
                    for (int64_t p = 0; p < g->p; p++) {
                        for (int64_t q = 0; q < g->q; q++) {
                            if (p * g->stride + r - g->pad == y &&
                                q * g->stride + s - g->pad == x) {
                                value = dy[((n * g->p + p) * g->q + q) * g->k + k];
                            }
                        }
                    }
                    *a++ = value;
                }
            }
        }
    }
}

static float row_chunk(const float *x, int64_t n, int lanes)
{
    float lane[64] = {0};
    for (int64_t i = 0; i < n; i++) {
        lane[i % lanes] += x[i];
    }
    for (int width = lanes / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            lane[i] += lane[i + width];
        }
    }
    return lane[0];
}

float reference_row_sum(const float *x, int64_t n, int64_t chunk, int lanes, float *work)
{
    while (n > chunk) {
        int64_t count = (n + chunk - 1) / chunk;
        for (int64_t b = 0; b < count; b++) {
            work[b] = row_chunk(x + b * chunk, b + 1 < count ? chunk : n - b * chunk, lanes);
        }
        x = work;
        n = count;
    }
    return row_chunk(x, n, lanes);
}

void reference_column_sum(const float *x, int64_t rows, int64_t cols, int64_t chunk, float *y,
                          float *work)
{
    for (int64_t j = 0; j < cols; j++) {
        int64_t n = rows;
        for (int64_t i = 0; i < n; i++) {
            work[i] = x[i * cols + j];
        }
        do {
            int64_t count = 0;
            for (int64_t i = 0; i < n; i += chunk) {
                float acc = 0.0f;
                for (int64_t u = i; u < i + chunk && u < n; u++) {
                    acc += work[u];
                }
                work[count++] = acc;
            }
            n = count;
        } while (n > 1);
        y[j] = work[0];
    }
}

static arith_moments merge(arith_moments a, arith_moments b)
{
    if (b.count == 0.0f) {
        return a;
    }
    if (a.count == 0.0f) {
        return b;
    }
    float n = a.count + b.count;
    float delta = b.mean - a.mean;
    float share = b.count / n;
    return (arith_moments){n, fmaf(delta, share, a.mean),
                           (a.m2 + b.m2) + (delta * delta) * (a.count * share)};
}

static arith_moments moments_chunk(const float *x, int64_t n)
{
    float mean = row_chunk(x, n, ARITH_LANES) / (float)n;
    float lane[ARITH_LANES] = {0};
    for (int64_t i = 0; i < n; i++) {
        float d = x[i] - mean;
        lane[i % ARITH_LANES] = fmaf(d, d, lane[i % ARITH_LANES]);
    }
    for (int width = ARITH_LANES / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            lane[i] += lane[i + width];
        }
    }
    return (arith_moments){(float)n, mean, lane[0]};
}

arith_moments reference_moments(const float *x, int64_t n, arith_moments *work)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i += ARITH_ROW_CHUNK) {
        work[count++] = moments_chunk(x + i, n - i < ARITH_ROW_CHUNK ? n - i : ARITH_ROW_CHUNK);
    }
    while (count > 1) {
        int64_t merged = 0;
        for (int64_t i = 0; i < count; i += ARITH_ROW_CHUNK) {
            arith_moments lane[ARITH_LANES] = {{0, 0, 0}};
            for (int64_t u = i; u < i + ARITH_ROW_CHUNK && u < count; u++) {
                lane[(u - i) % ARITH_LANES] = merge(lane[(u - i) % ARITH_LANES], work[u]);
            }
            for (int width = ARITH_LANES / 2; width > 0; width /= 2) {
                for (int l = 0; l < width; l++) {
                    lane[l] = merge(lane[l], lane[l + width]);
                }
            }
            work[merged++] = lane[0];
        }
        count = merged;
    }
    return work[0];
}

static float with_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

float reference_exp(float x)
{
    if (x < -104.0f) {
        return 0.0f;
    }
    if (x > 88.8f) {
        return INFINITY;
    }
    float t = fmaf(x, 0x1.715476p0f, 0x1.8p23f);
    float n = t - 0x1.8p23f;
    float r = fmaf(n, -0x1.7f7d1cp-20f, fmaf(n, -0x1.62e4p-1f, x));
    float p = fmaf(0x1.6c16c2p-10f, r, 0x1.111112p-7f);
    p = fmaf(p, r, 0x1.555556p-5f);
    p = fmaf(p, r, 0x1.555556p-3f);
    p = fmaf(p, r, 0x1p-1f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    int32_t e = x != x ? 0 : bits_of(t) - bits_of(0x1.8p23f);
    int32_t half = e >= 0 ? e / 2 : -((1 - e) / 2);
    return (p * with_bits((half + 127) << 23)) * with_bits((e - half + 127) << 23);
}

static float flush(float x)
{
    return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

static float larger(float a, float b)
{
    if (a != a || b != b) {
        return NAN;
    }
    return a == b ? (signbit(a) ? b : a) : a < b ? b : a;
}

void reference_attention(const arith_attention *g, const float *q, const float *k, const float *v,
                         float *o, float *state)
{
    float scale = 1.0f / sqrtf((float)g->d);
    for (int64_t row = 0; row < g->heads * g->t_q; row++) {
        int64_t head = row / g->t_q;
        int64_t n_keys = g->is_causal ? row % g->t_q + g->t_k - g->t_q + 1 : g->t_k;
        float m = -INFINITY, l = 0.0f;
        float *out = o + row * g->d;
        memset(out, 0, (size_t)g->d * sizeof *out);
        for (int64_t key = 0; key < n_keys; key += g->keys) {
            float s[512];
            int64_t n = n_keys - key < g->keys ? n_keys - key : g->keys;
            float high = -INFINITY;
            for (int64_t i = 0; i < n; i++) {
                float acc = 0.0f;
                for (int64_t j = 0; j < g->d; j++) {
                    acc = fmaf(q[row * g->d + j], k[(head * g->t_k + key + i) * g->d + j], acc);
                }
                s[i] = acc * scale;
                high = larger(high, s[i]);
            }
            float next = larger(m, high);
            float alpha = reference_exp(m - next);
            for (int64_t i = 0; i < n; i++) {
                s[i] = flush(reference_exp(s[i] - next));
            }
            l = fmaf(l, alpha, row_chunk(s, n, ARITH_LANES));
            for (int64_t j = 0; j < g->d; j++) {
                float acc = out[j] * alpha;
                for (int64_t i = 0; i < n; i++) {
                    acc = fmaf(s[i], v[(head * g->t_k + key + i) * g->d + j], acc);
                }
                out[j] = acc;
            }
            m = next;
        }
        for (int64_t j = 0; j < g->d; j++) {
            out[j] = n_keys <= 0 ? 0.0f : out[j] / l + 0.0f;
        }
        state[row * 2] = m;
        state[row * 2 + 1] = l;
    }
}

void truth_attention(const arith_attention *g, const float *q, const float *k, const float *v,
                     double *o)
{
    double scale = 1.0 / sqrt((double)g->d);
    for (int64_t row = 0; row < g->heads * g->t_q; row++) {
        int64_t head = row / g->t_q;
        int64_t n_keys = g->is_causal ? row % g->t_q + g->t_k - g->t_q + 1 : g->t_k;
        double *out = o + row * g->d;
        double l = 0.0;
        memset(out, 0, (size_t)g->d * sizeof *out);
        for (int64_t i = 0; i < n_keys; i++) {
            double s = 0.0;
            for (int64_t j = 0; j < g->d; j++) {
                s += (double)q[row * g->d + j] * (double)k[(head * g->t_k + i) * g->d + j];
            }
            double p =
                exp(s * scale); // the tests' scores are small: no maximum is needed in float64
            l += p;
            for (int64_t j = 0; j < g->d; j++) {
                out[j] += p * (double)v[(head * g->t_k + i) * g->d + j];
            }
        }
        for (int64_t j = 0; j < g->d; j++) {
            out[j] /= l;
        }
    }
}
