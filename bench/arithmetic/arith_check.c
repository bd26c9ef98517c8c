// Every kernel against the plain loops of the definition, bit for bit, and against float64 within the bound of its chains.
#include "arith_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "arith_measure.h"
#include "arith_reference.h"

static int report(const char *isa, const char *what, int64_t different, double bounds)
{
    if (different == 0 && bounds <= 1.0) {
        return 0;
    }
    printf("WRONG %s %s: %lld values differ from the definition; error is %.2f of its bound\n", isa,
           what, (long long)different, bounds);
    return 1;
}

// The largest error of c in units of its bound: (terms in a chain + blocks) half ulps of the sum of magnitudes.
static double in_bounds(const float *c, const double *truth, const double *magnitude, int64_t n,
                        int64_t k)
{
    int64_t len = arith_block_len(k, ARITH_BLOCK);
    double steps = k == 0 ? 1.0 : (double)len + (double)((k + len - 1) / len);
    double worst = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double bound = steps * 0x1p-24 * magnitude[i] * 1.01 + 0x1p-149 * steps;
        double error = fabs((double)c[i] - truth[i]) / bound;
        worst = error > worst ? error : worst;
    }
    return worst;
}

static int check_contract(const arith_kernels *kernels)
{
    static const int64_t shapes[][3] = {
        {1, 1, 0},      {1, 1, 1},      {1, 100, 33},  {1, 48, 5000},  {7, 31, 64},
        {17, 97, 255},  {33, 80, 300},  {9, 49, 4096}, {10, 50, 4097}, {3, 17, 20000},
        {2, 5, 140000}, {1, 3, 140001}, {8, 48, 4160}};
    int failures = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        int64_t m = shapes[i][0], n = shapes[i][1], k = shapes[i][2];
        float *a = arith_floats(m * k + 1), *b = arith_floats(k * n + 1), *c = arith_floats(m * n),
              *want = arith_floats(m * n);
        float *packed = arith_floats(kernels->packed_floats(n, k) + 1),
              *work = arith_floats(2 * m * n);
        double *truth = malloc((size_t)(m * n) * 2 * sizeof *truth);
        arith_random(a, m * k, 1);
        arith_random(b, k * n, 2);
        kernels->pack(n, k, b, n, 1, packed);
        kernels->contract(m, n, k, a, k, packed, c, ARITH_BLOCK, work);
        reference_contract(m, n, k, a, k, 1, b, want, ARITH_BLOCK);
        truth_contract(m, n, k, a, k, 1, b, truth, truth + m * n);
        char what[64];
        snprintf(what, sizeof what, "contract %lldx%lldx%lld", (long long)m, (long long)n,
                 (long long)k);
        failures += report(kernels->name, what, arith_differences(c, want, m * n),
                           in_bounds(c, truth, truth + m * n, m * n, k));
        free(a), free(b), free(c), free(want), free(packed), free(work), free(truth);
    }
    return failures;
}

static int check_conv_case(const arith_kernels *kernels, const arith_conv *g)
{
    int failures = 0;
    int64_t taps = g->r * g->s, pixels = g->n * g->p * g->q, in_pixels = g->n * g->h * g->w;
    int64_t x_n = in_pixels * g->c, y_n = pixels * g->k, w_n = taps * g->c * g->k;
    float *x = arith_floats(x_n), *y = arith_floats(y_n), *dy = arith_floats(y_n),
          *dx = arith_floats(x_n), *dw = arith_floats(w_n);
    float *w_kc = arith_floats(w_n), *w_ck = arith_floats(w_n), *zeros = arith_floats(g->c + g->k);
    float *packed = arith_floats(2 * kernels->packed_floats(g->k + g->c, taps * (g->c + g->k)));
    float *work = arith_floats(2 * (x_n + y_n + w_n) + (g->k + 64) * (pixels + 64));
    float *a = arith_floats(pixels * taps * g->c + in_pixels * taps * g->k),
          *want = arith_floats(x_n + y_n + w_n);
    arith_random(x, x_n, 3);
    arith_random(dy, y_n, 4);
    arith_random(w_ck, w_n, 5); // [(r,s,c),k]
    for (int64_t t = 0; t < taps; t++) {
        for (int64_t c = 0; c < g->c; c++) {
            for (int64_t k = 0; k < g->k; k++) {
                w_kc[(t * g->k + k) * g->c + c] = w_ck[(t * g->c + c) * g->k + k];
            }
        }
    }
    dy[0] = -0.0f;
    x[0] = -0.0f;
    kernels->pack(g->k, taps * g->c, w_ck, g->k, 1, packed);
    kernels->conv(g, x, packed, y, ARITH_BLOCK, work, zeros);
    reference_im2col(g, x, a);
    reference_contract(pixels, g->k, taps * g->c, a, taps * g->c, 1, w_ck, want, ARITH_BLOCK);
    failures += report(kernels->name, "conv", arith_differences(y, want, y_n), 0.0);

    kernels->conv_weight(g, x, dy, dw, ARITH_BLOCK, work);
    reference_contract(taps * g->c, g->k, pixels, a, 1, taps * g->c, dy, want, ARITH_BLOCK);
    failures +=
        report(kernels->name, "conv weight gradient", arith_differences(dw, want, w_n), 0.0);

    kernels->pack(g->c, taps * g->k, w_kc, g->c, 1, packed);
    kernels->conv_input(g, dy, packed, dx, ARITH_BLOCK, work, zeros);
    reference_im2col_input(g, dy, a);
    reference_contract(in_pixels, g->c, taps * g->k, a, taps * g->k, 1, w_kc, want, ARITH_BLOCK);
    failures += report(kernels->name, "conv input gradient", arith_differences(dx, want, x_n), 0.0);
    free(x), free(y), free(dy), free(dx), free(dw), free(w_kc), free(w_ck), free(zeros),
        free(packed), free(work), free(a), free(want);
    return failures;
}

static int check_conv(const arith_kernels *kernels)
{
    static const arith_conv cases[] = {
        {.n = 2, .h = 9, .w = 11, .c = 5, .k = 19, .r = 3, .s = 3, .stride = 1, .pad = 1},
        {.n = 1, .h = 8, .w = 7, .c = 16, .k = 50, .r = 3, .s = 2, .stride = 2, .pad = 1},
        {.n = 3, .h = 6, .w = 6, .c = 1, .k = 8, .r = 5, .s = 5, .stride = 1, .pad = 2},
        {.n = 1,
         .h = 3,
         .w = 3,
         .c = 600,
         .k = 9,
         .r = 3,
         .s = 3,
         .stride = 1,
         .pad = 1}, // 5400 terms: a block ends inside a tap
        {.n = 6,
         .h = 29,
         .w = 29,
         .c = 3,
         .k = 4,
         .r = 3,
         .s = 3,
         .stride = 1,
         .pad = 1}, // 5046 terms of the weight gradient
        {.n = 1, .h = 5, .w = 5, .c = 3, .k = 4, .r = 1, .s = 1, .stride = 3, .pad = 2},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        arith_conv g = cases[i];
        g.p = (g.h + 2 * g.pad - g.r) / g.stride + 1;
        g.q = (g.w + 2 * g.pad - g.s) / g.stride + 1;
        failures += check_conv_case(kernels, &g);
    }
    return failures;
}

static int check_sums(const arith_kernels *kernels)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 1000, 1024, 1025, 5000, 8192, 70001, 1100000};
    int failures = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int64_t n = sizes[i];
        float *x = arith_floats(n + 1), *work = arith_floats(n + 64), *want = arith_floats(n + 64);
        arith_random(x, n, 6);
        double truth = 0.0, size = 0.0;
        for (int64_t j = 0; j < n; j++) {
            truth += (double)x[j];
            size += fabs((double)x[j]);
        }
        float got = kernels->row_sum(x, n, ARITH_ROW_CHUNK, ARITH_LANES, work);
        float expected = reference_row_sum(x, n, ARITH_ROW_CHUNK, ARITH_LANES, want);
        double bound = 3.0 * 37.0 * 0x1p-24 * size + 1e-30;
        failures += report(kernels->name, "row sum", arith_differences(&got, &expected, 1),
                           fabs((double)got - truth) / bound);
        if (n > 0) {
            arith_moments *store = malloc(((size_t)n + 1) * sizeof *store);
            arith_moments m = kernels->moments(x, n, store);
            arith_moments r = reference_moments(x, n, store);
            free(store);
            double square = 0.0;
            for (int64_t j = 0; j < n; j++) {
                square += ((double)x[j] - truth / (double)n) * ((double)x[j] - truth / (double)n);
            }
            int64_t different =
                arith_differences(&m.mean, &r.mean, 1) + arith_differences(&m.m2, &r.m2, 1);
            failures += report(kernels->name, "moments", different,
                               fabs((double)m.m2 - square) / (1e-5 * square + 1e-30));
        }
        int64_t cols = 37, rows = n / 37;
        if (rows > 0) {
            float *y = arith_floats(2 * cols);
            kernels->column_sum(x, rows, cols, ARITH_COLUMN_CHUNK, y, work);
            reference_column_sum(x, rows, cols, ARITH_COLUMN_CHUNK, y + cols, want);
            failures +=
                report(kernels->name, "column sum", arith_differences(y, y + cols, cols), 0.0);
            free(y);
        }
        free(x), free(work), free(want);
    }
    return failures;
}

static int check_attention(const arith_kernels *kernels)
{
    static const arith_attention cases[] = {
        {.heads = 2, .t_q = 37, .t_k = 37, .d = 64, .is_causal = 1, .keys = 64},
        {.heads = 1, .t_q = 150, .t_k = 150, .d = 64, .is_causal = 1, .keys = 64},
        {.heads = 1, .t_q = 1, .t_k = 130, .d = 32, .is_causal = 1, .keys = 64},
        {.heads = 2, .t_q = 20, .t_k = 200, .d = 64, .is_causal = 0, .keys = 64},
        {.heads = 1, .t_q = 20, .t_k = 200, .d = 64, .is_causal = 0, .keys = 128},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const arith_attention *g = &cases[i];
        int64_t q_n = g->heads * g->t_q * g->d, k_n = g->heads * g->t_k * g->d,
                per_head = kernels->packed_floats(g->t_k, g->d);
        float *q = arith_floats(q_n), *k = arith_floats(k_n), *v = arith_floats(k_n),
              *o = arith_floats(2 * q_n);
        float *kp = arith_floats(g->heads * per_head), *vp = arith_floats(k_n),
              *state = arith_floats(4 * g->heads * g->t_q);
        double *truth = malloc((size_t)q_n * sizeof *truth);
        arith_random(q, q_n, 7);
        arith_random(k, k_n, 8);
        arith_random(v, k_n, 9);
        for (int64_t h = 0; h < g->heads; h++) {
            const float *kh = k + h * g->t_k * g->d;
            for (int64_t t = 0; t < g->t_k; t += g->keys) {
                int64_t n = g->t_k - t < g->keys ? g->t_k - t : g->keys;
                kernels->pack(n, g->d, kh + t * g->d, 1, g->d, kp + h * per_head + t * g->d);
            }
            kernels->pack(g->d, g->t_k, v + h * g->t_k * g->d, g->d, 1, vp + h * g->t_k * g->d);
        }
        kernels->attention(g, q, kp, vp, o, state);
        reference_attention(g, q, k, v, o + q_n, state + 2 * g->heads * g->t_q);
        truth_attention(g, q, k, v, truth);
        double worst = 0.0;
        for (int64_t j = 0; j < q_n; j++) {
            worst = fmax(worst, fabs((double)o[j] - truth[j]) / 4e-6);
        }
        int64_t different = arith_differences(o, o + q_n, q_n);
        different += arith_differences(state, state + 2 * g->heads * g->t_q, 2 * g->heads * g->t_q);
        failures += report(kernels->name, "attention", different, worst);
        free(q), free(k), free(v), free(o), free(kp), free(vp), free(state), free(truth);
    }
    return failures;
}

int arith_check(const arith_kernels *kernels)
{
    return check_contract(kernels) + check_conv(kernels) + check_sums(kernels) +
           check_attention(kernels);
}
