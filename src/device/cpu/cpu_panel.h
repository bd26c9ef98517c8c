// What matmul and convolutions share above the kernels: panels of packed columns, and the sum of a
// product's blocks over a whole strip of results. doc/arithmetic.md, "Products".
//
// A packed matrix [terms, cols] lies in panels of sizes->cols columns, each term-major; the last ones
// are as narrow as whole vectors allow, missing columns +0. The panel of column j0 starts at
// j0 * terms.
#ifndef WF_CPU_PANEL_H
#define WF_CPU_PANEL_H

#include "device/cpu/cpu.h"
#include "math/product.h"

// Columns, filled up to whole vectors, of the panel that starts at column j0 of n. One vector alone is
// slow: where one would be left over, two share with the panel before.
static inline int64_t wf_cpu_panel_width(const wf_cpu_tile_sizes *s, int64_t n, int64_t j0)
{
    const int64_t left = wf_cpu_div_up(n - j0, s->lanes), most = s->cols / s->lanes;
    return (left == most + 1 && most > 2 ? 2 : wf_cpu_min(left, most)) * s->lanes;
}

static inline int64_t wf_cpu_packed_floats(const wf_cpu_tile_sizes *s, int64_t n, int64_t n_terms)
{
    return wf_cpu_div_up(n, s->lanes) * s->lanes * n_terms;
}

#define WF_CPU_MAX_PASS_TERMS 512 // of any instruction set

// Terms of one pass: a panel of that many stays in L1, or close.
static inline int64_t wf_cpu_pass_terms(const wf_cpu_tile_sizes *s)
{
    return s->terms;
}

// The same where n_terms are cut into passes of one length.
static inline int64_t wf_cpu_even_pass(const wf_cpu_tile_sizes *s, int64_t n_terms)
{
    const int64_t n_passes = wf_cpu_div_up(n_terms, s->terms);
    return wf_cpu_min(wf_cpu_div_up(wf_cpu_div_up(n_terms, n_passes), 16) * 16, s->terms);
}

// The group that a block belongs to.
static inline int64_t wf_cpu_block_group(int64_t n_blocks, int64_t block)
{
    int64_t g = block * wf_product_n_groups(n_blocks) / n_blocks;
    while (wf_product_group_start(n_blocks, g + 1) <= block)
        g++;
    return g;
}

// n results: a block's chains are complete. group and total are the sums so far; with the last block
// total is the product but for + (+0).
static inline void wf_cpu_block_close(int64_t n_blocks, int64_t block, const float *chain,
                                      float *group, float *total, int64_t n)
{
    const int64_t g = wf_cpu_block_group(n_blocks, block);
    const bool is_first = block == wf_product_group_start(n_blocks, g);
    const bool is_last = block + 1 == wf_product_group_start(n_blocks, g + 1);
    for (int64_t i = 0; i < n; i++) {
        const float sum = is_first ? chain[i] : group[i] + chain[i];
        group[i] = sum;
        if (is_last)
            total[i] = g == 0 ? sum : total[i] + sum;
    }
}

#endif
