// The shape of a sum: constants that every kernel of reduce_sum and moments follows, and the sums
// themselves as plain loops. doc/arithmetic.md, Sums.
//
// row     chunks of 1024; lane i of 32 adds elements i, i + 32, ... from +0; lanes fold 16, 8, 4, 2, 1
// column  chunks of 64, one ascending lane from +0
// The chunks' results are elements for the same rule, until one is left.
#ifndef WF_MATH_SUM_H
#define WF_MATH_SUM_H

#include "math/dialect.h"

#define WF_SUM_ROW_CHUNK 1024
#define WF_SUM_LANES 32
#define WF_SUM_COLUMN_CHUNK 64

#ifdef WF_DIALECT_C // the plain loops are for the host: ref, tests

// Elements of the input under one element of the top chunk: chunk^levels, the least that leaves at
// most `chunk` of them. Walking the tree from the top needs no memory for the levels between.
static inline int64_t wf_sum_span(int64_t n, int64_t chunk)
{
    int64_t span = 1;
    while ((n + span - 1) / span > chunk) {
        span *= chunk;
    }
    return span;
}

static inline float wf_sum_fold(float lane[WF_SUM_LANES])
{
    for (int width = WF_SUM_LANES / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            lane[i] = lane[i] + lane[i + width];
        }
    }
    return lane[0];
}

// The sum of x[0], x[stride], ... (n of them) by the row rule; +0 for none.
static inline float wf_sum_row(const float *x, int64_t n, int64_t stride)
{
    const int64_t span = wf_sum_span(n, WF_SUM_ROW_CHUNK);
    float lane[WF_SUM_LANES] = {0.0f};
    for (int64_t i = 0, at = 0; at < n; i++, at += span) {
        const int64_t len = n - at < span ? n - at : span;
        const float elem = span == 1 ? x[at * stride] : wf_sum_row(x + at * stride, len, stride);
        lane[i % WF_SUM_LANES] = lane[i % WF_SUM_LANES] + elem;
    }
    return wf_sum_fold(lane);
}

// The same by the column rule.
static inline float wf_sum_column(const float *x, int64_t n, int64_t stride)
{
    const int64_t span = wf_sum_span(n, WF_SUM_COLUMN_CHUNK);
    float acc = 0.0f;
    for (int64_t at = 0; at < n; at += span) {
        const int64_t len = n - at < span ? n - at : span;
        acc += span == 1 ? x[at * stride] : wf_sum_column(x + at * stride, len, stride);
    }
    return acc;
}

// Mean of n numbers and the sum of their squared distances from it. n is carried in f32: it is exact
// up to 2^24, and beyond that wherever chunks are whole.
typedef struct wf_moments {
    float n, mean, m2;
} wf_moments;

// Chan's formula. An empty side is ignored.
static inline wf_moments wf_moments_merge(wf_moments a, wf_moments b)
{
    if (b.n == 0.0f) {
        return a;
    }
    if (a.n == 0.0f) {
        return b;
    }
    const float n = a.n + b.n;
    const float delta = b.mean - a.mean;
    const float share = WF_DIV(b.n, n);
    const float square = delta * delta;
    const wf_moments both = {n, WF_FMA(delta, share, a.mean),
                             (a.m2 + b.m2) + square * (a.n * share)};
    return both;
}

// One chunk, n <= WF_SUM_ROW_CHUNK: two passes.
static inline wf_moments wf_moments_row_chunk(const float *x, int64_t n, int64_t stride)
{
    const float mean = WF_DIV(wf_sum_row(x, n, stride), (float)n);
    float lane[WF_SUM_LANES] = {0.0f};
    for (int64_t i = 0; i < n; i++) {
        const float d = x[i * stride] - mean;
        lane[i % WF_SUM_LANES] = WF_FMA(d, d, lane[i % WF_SUM_LANES]);
    }
    const wf_moments chunk = {(float)n, mean, wf_sum_fold(lane)};
    return chunk;
}

static inline wf_moments wf_moments_column_chunk(const float *x, int64_t n, int64_t stride)
{
    const float mean = WF_DIV(wf_sum_column(x, n, stride), (float)n);
    float acc = 0.0f;
    for (int64_t i = 0; i < n; i++) {
        const float d = x[i * stride] - mean;
        acc = WF_FMA(d, d, acc);
    }
    const wf_moments chunk = {(float)n, mean, acc};
    return chunk;
}

// Moments of x[0], x[stride], ... by the row rule: chunks' moments merge in the tree of the sums.
// n = 0 gives {0, 0, 0}.
static inline wf_moments wf_moments_row(const float *x, int64_t n, int64_t stride)
{
    wf_moments lane[WF_SUM_LANES] = {{0.0f, 0.0f, 0.0f}};
    if (n == 0) {
        return lane[0];
    }
    if (n <= WF_SUM_ROW_CHUNK) {
        return wf_moments_row_chunk(x, n, stride);
    }
    const int64_t span = wf_sum_span(n, WF_SUM_ROW_CHUNK);
    for (int64_t i = 0, at = 0; at < n; i++, at += span) {
        const int64_t len = n - at < span ? n - at : span;
        const wf_moments elem = wf_moments_row(x + at * stride, len, stride);
        lane[i % WF_SUM_LANES] = wf_moments_merge(lane[i % WF_SUM_LANES], elem);
    }
    for (int width = WF_SUM_LANES / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; i++) {
            lane[i] = wf_moments_merge(lane[i], lane[i + width]);
        }
    }
    return lane[0];
}

// The same by the column rule.
static inline wf_moments wf_moments_column(const float *x, int64_t n, int64_t stride)
{
    wf_moments acc = {0.0f, 0.0f, 0.0f};
    if (n == 0) {
        return acc;
    }
    if (n <= WF_SUM_COLUMN_CHUNK) {
        return wf_moments_column_chunk(x, n, stride);
    }
    const int64_t span = wf_sum_span(n, WF_SUM_COLUMN_CHUNK);
    for (int64_t at = 0; at < n; at += span) {
        const int64_t len = n - at < span ? n - at : span;
        acc = wf_moments_merge(acc, wf_moments_column(x + at * stride, len, stride));
    }
    return acc;
}

#endif
#endif
