// Up to 16 products side by side, fed term by term in the definition's order (math/product.h).
#ifndef WF_CPU_PRODUCT_H
#define WF_CPU_PRODUCT_H

#include "device/cpu/cpu_isa.h"
#include "math/product.h"

#define WF_CPU_PRODUCT_LANES 16

typedef struct wf_cpu_sum {
    const wf_cpu_products *products;
    size_t n;
    int64_t block_len, n_blocks;
    int64_t block; // the one at hand, and how many of its terms are in
    int64_t in_block;
    int64_t group;
    float chain[WF_CPU_PRODUCT_LANES];
    float groups[WF_CPU_PRODUCT_LANES];
    float total[WF_CPU_PRODUCT_LANES];
} wf_cpu_sum;

static inline void wf_cpu_sum_start(wf_cpu_sum *s, const wf_cpu_products *products, int64_t k,
                                    size_t n)
{
    *s = (wf_cpu_sum){.products = products, .n = n};
    s->block_len = wf_product_block_len(k);
    s->n_blocks = wf_product_n_blocks(k);
}

// The block at hand is complete.
static inline void wf_cpu_sum_close(wf_cpu_sum *s)
{
    const bool is_first = s->block == wf_product_group_start(s->n_blocks, s->group);
    const bool is_last = s->block + 1 == wf_product_group_start(s->n_blocks, s->group + 1);
    for (size_t j = 0; j < s->n; j++) {
        s->groups[j] = is_first ? s->chain[j] : s->groups[j] + s->chain[j];
        if (is_last)
            s->total[j] = s->group == 0 ? s->groups[j] : s->total[j] + s->groups[j];
        s->chain[j] = 0.0f;
    }
    s->group += is_last;
    s->block++;
    s->in_block = 0;
}

// Terms t < k: a[t * a_step] times b[t * b_step + j * b_lane] for output j.
static inline void wf_cpu_sum_feed(wf_cpu_sum *s, const float *a, int64_t a_step, const float *b,
                                   int64_t b_step, int64_t b_lane, int64_t k)
{
    while (k > 0) {
        const int64_t left = s->block_len - s->in_block;
        const int64_t len = k < left ? k : left;
        s->products->chain(s->chain, a, a_step, b, b_step, b_lane, len, s->n);
        a += len * a_step;
        b += len * b_step;
        k -= len;
        s->in_block += len;
        if (s->in_block == s->block_len)
            wf_cpu_sum_close(s);
    }
}

static inline void wf_cpu_sum_store(wf_cpu_sum *s, float *y, int64_t y_stride)
{
    if (s->in_block > 0)
        wf_cpu_sum_close(s); // the last block may be short
    for (size_t j = 0; j < s->n; j++)
        y[(int64_t)j * y_stride] = s->total[j] + 0.0f;
}

#endif
