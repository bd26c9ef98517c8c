// The order of a product's sum: constants that every kernel of matmul and convolution follows, and
// the sum itself as plain loops. doc/arithmetic.md, Products.
//
// One output is a sum of k terms. They are cut into blocks; a block is one ascending chain of fma
// from +0; block sums add in ascending order, or, when there are many, by groups of blocks.
#ifndef WF_MATH_PRODUCT_H
#define WF_MATH_PRODUCT_H

#include "math/dialect.h"

#define WF_PRODUCT_BLOCK 4096 // terms of one chain, at most
#define WF_PRODUCT_ROUND 64   // a block's length is a multiple of it
#define WF_PRODUCT_GROUPS 32  // more blocks than this are added in this many groups

#ifdef WF_DIALECT_C // the plain loops are for the host: ref, tests

// Terms in each block but the last, which may be shorter. 0 when k is 0.
static inline int64_t wf_product_block_len(int64_t k)
{
    int64_t n_blocks = (k + WF_PRODUCT_BLOCK - 1) / WF_PRODUCT_BLOCK;
    if (n_blocks == 0) {
        return 0;
    }
    int64_t len = (k + n_blocks - 1) / n_blocks;
    return (len + WF_PRODUCT_ROUND - 1) / WF_PRODUCT_ROUND * WF_PRODUCT_ROUND;
}

// Blocks of a product of k terms, all of wf_product_block_len(k) but the last.
static inline int64_t wf_product_n_blocks(int64_t k)
{
    int64_t len = wf_product_block_len(k);
    return len == 0 ? 0 : (k + len - 1) / len;
}

static inline int64_t wf_product_n_groups(int64_t n_blocks)
{
    return n_blocks < WF_PRODUCT_GROUPS ? n_blocks : WF_PRODUCT_GROUPS;
}

// The first block of group g; that of group g + 1 ends it. With few blocks each is its own group.
static inline int64_t wf_product_group_start(int64_t n_blocks, int64_t g)
{
    return g * n_blocks / wf_product_n_groups(n_blocks);
}

// The two values of term t, written by the caller's function: a matrix, or a window of an image
// (a term in the padding has operand +0).
typedef void (*wf_product_term)(const void *user, int64_t t, float *out_a, float *out_b);

static inline float wf_product_block(wf_product_term term, const void *user, int64_t begin,
                                     int64_t end)
{
    float acc = 0.0f;
    for (int64_t t = begin; t < end; t++) {
        float a, b;
        term(user, t, &a, &b);
        acc = WF_FMA(a, b, acc);
    }
    return acc;
}

// The sum of k terms, to the last bit as defined.
static inline float wf_product_sum(wf_product_term term, const void *user, int64_t k)
{
    const int64_t len = wf_product_block_len(k);
    const int64_t n_blocks = wf_product_n_blocks(k);
    const int64_t n_groups = wf_product_n_groups(n_blocks);
    float total = 0.0f;
    for (int64_t g = 0; g < n_groups; g++) {
        const int64_t first = wf_product_group_start(n_blocks, g);
        float group = 0.0f;
        for (int64_t u = first; u < wf_product_group_start(n_blocks, g + 1); u++) {
            const int64_t end = (u + 1) * len < k ? (u + 1) * len : k;
            const float acc = wf_product_block(term, user, u * len, end);
            group = u == first ? acc : group + acc;
        }
        total = g == 0 ? group : total + group;
    }
    return total + 0.0f; // -0 becomes +0, so that a skipped term of padding changes nothing
}

#endif
#endif
