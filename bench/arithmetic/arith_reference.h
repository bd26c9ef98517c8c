// The definitions as plain loops in C, one term at a time, and the same values in float64. Slow; the experiment's oracle.
#ifndef ARITH_REFERENCE_H
#define ARITH_REFERENCE_H

#include "arith_kernels.h"

// c[m,n] = sum over k of a[i * lda_m + t * lda_k] * b[t * n + j].
void reference_contract(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda_m,
                        int64_t lda_k, const float *b, float *c, int64_t block);
void truth_contract(int64_t m, int64_t n, int64_t k, const float *a, int64_t lda_m, int64_t lda_k,
                    const float *b, double *c, double *magnitude);

// The matrices that turn a convolution into a product: pixels by (r,s,c); dx's pixels by (r,s,k).
void reference_im2col(const arith_conv *g, const float *x, float *a);
void reference_im2col_input(const arith_conv *g, const float *dy, float *a);

float reference_row_sum(const float *x, int64_t n, int64_t chunk, int lanes, float *work);
void reference_column_sum(const float *x, int64_t rows, int64_t cols, int64_t chunk, float *y,
                          float *work);
arith_moments reference_moments(const float *x, int64_t n, arith_moments *work);
float reference_exp(float x);
void reference_attention(const arith_attention *g, const float *q, const float *k, const float *v,
                         float *o, float *state);
void truth_attention(const arith_attention *g, const float *q, const float *k, const float *v,
                     double *o);

#endif
