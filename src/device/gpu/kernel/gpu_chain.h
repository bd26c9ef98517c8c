// cumsum, cumprod and reduce_prod. src/op/{cumsum,cumprod,reduce_prod}.c are the definitions. Stage: PROGRAM
// (device code, in the common dialect).
//
// In: WF_ELEM the type of the elements: wf_f32, or an unsigned one, which wraps.
// A work-item walks one line; of a cumulative sum, one chunk of a line, once the totals of all chunks are
// known. No product stands beside a sum, so nothing can be contracted.
#ifndef WF_GPU_CHAIN_H
#define WF_GPU_CHAIN_H

#include "gpu_dialect.h"

#define WF_CHUNK 1024

// The order of gpu_lower_chain.c.
typedef struct {
    wf_i64 outer, size, inner, n_chunks, is_exclusive, is_reverse;
    wf_i64 x_offset, y_offset, totals_offset; // elements
} wf_chain;

#define WF_CHAIN_ITEM() ((wf_i64)WF_GROUP_ID(0) * 64 + WF_LOCAL_ID(0))

// Element k of a line, in the order of the chain.
WF_FN wf_i64 wf_chain_place(const wf_chain *p, wf_i64 outer, wf_i64 k, wf_i64 inner)
{
    return (outer * p->size + (p->is_reverse ? p->size - 1 - k : k)) * p->inner + inner;
}

// totals[outer,chunk,inner]
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_cumsum_totals(WF_GLOBAL const WF_ELEM *x,
                                                         WF_GLOBAL WF_ELEM *totals,
                                                         const wf_chain p)
{
    const wf_i64 item = WF_CHAIN_ITEM();
    if (item >= p.outer * p.n_chunks * p.inner)
        return;
    const wf_i64 inner = item % p.inner, first = item / p.inner % p.n_chunks * WF_CHUNK;
    const wf_i64 outer = item / p.inner / p.n_chunks;
    const wf_i64 end = first + WF_CHUNK < p.size ? first + WF_CHUNK : p.size;
    WF_ELEM sum = 0;
    for (wf_i64 k = first; k < end; k++)
        sum = sum + x[p.x_offset + wf_chain_place(&p, outer, k, inner)];
    totals[p.totals_offset + item] = sum;
}

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_cumsum(WF_GLOBAL const WF_ELEM *x, WF_GLOBAL WF_ELEM *y,
                                                  WF_GLOBAL const WF_ELEM *totals, const wf_chain p)
{
    const wf_i64 item = WF_CHAIN_ITEM();
    if (item >= p.outer * p.n_chunks * p.inner)
        return;
    const wf_i64 inner = item % p.inner, chunk = item / p.inner % p.n_chunks;
    const wf_i64 outer = item / p.inner / p.n_chunks, first = chunk * WF_CHUNK;
    const wf_i64 end = first + WF_CHUNK < p.size ? first + WF_CHUNK : p.size;
    WF_ELEM before = 0, sum = 0;
    for (wf_i64 c = 0; c < chunk; c++)
        before = before + totals[p.totals_offset + (outer * p.n_chunks + c) * p.inner + inner];
    for (wf_i64 k = first; k < end; k++) {
        const wf_i64 at = wf_chain_place(&p, outer, k, inner);
        const WF_ELEM next = sum + x[p.x_offset + at];
        y[p.y_offset + at] = before + (p.is_exclusive ? sum : next);
        sum = next;
    }
}

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_cumprod(WF_GLOBAL const WF_ELEM *x, WF_GLOBAL WF_ELEM *y,
                                                   const wf_chain p)
{
    const wf_i64 item = WF_CHAIN_ITEM();
    if (item >= p.outer * p.inner)
        return;
    WF_ELEM product = 1;
    for (wf_i64 k = 0; k < p.size; k++) {
        const wf_i64 at = wf_chain_place(&p, item / p.inner, k, item % p.inner);
        const WF_ELEM next = product * x[p.x_offset + at];
        y[p.y_offset + at] = p.is_exclusive ? product : next;
        product = next;
    }
}

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_reduce_prod(WF_GLOBAL const WF_ELEM *x,
                                                       WF_GLOBAL WF_ELEM *y, const wf_chain p)
{
    const wf_i64 item = WF_CHAIN_ITEM();
    if (item >= p.outer * p.inner)
        return;
    WF_ELEM product = 1;
    for (wf_i64 k = 0; k < p.size; k++)
        product = product * x[p.x_offset + wf_chain_place(&p, item / p.inner, k, item % p.inner)];
    y[p.y_offset + item] = product;
}

#endif
