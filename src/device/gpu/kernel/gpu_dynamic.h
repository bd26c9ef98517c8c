// dynamic_slice and dynamic_update. src/op/dynamic_{slice,update}.c are the definitions.
// Stage: PROGRAM (device code, in the common dialect).
//
// In: WF_ELEM any type of the elements' size, WF_INDEX the type of the start.
#ifndef WF_GPU_DYNAMIC_H
#define WF_GPU_DYNAMIC_H

#include "gpu_dialect.h"

// The order of gpu_lower_dynamic.c. x is [outer, size, inner], the part [outer, n_part, inner].
typedef struct {
    wf_i64 outer, size, inner, n_part, task, is_gated;
    wf_i64 x_offset, start_offset, part_offset, y_offset; // elements
} wf_dynamic;

// The start, or -1; marks the step bad.
#define WF_DYNAMIC_HEAD()                                                                          \
    if (p.is_gated && *status != WF_STATUS_GOOD)                                                   \
        return;                                                                                    \
    const wf_i64 item = (wf_i64)WF_GROUP_ID(0) * 64 + WF_LOCAL_ID(0);                              \
    const wf_i64 given = (wf_i64)start[p.start_offset];                                            \
    const wf_i64 at = given >= 0 && given <= p.size - p.n_part ? given : -1;                       \
    if (at < 0 && item == 0)                                                                       \
    WF_ATOMIC_MIN_U32(status, p.task)

// y[o,j,:] = x[o,start + j,:]
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_dynamic_slice(WF_GLOBAL const WF_ELEM *x,
                                                         WF_GLOBAL const WF_INDEX *start,
                                                         WF_GLOBAL WF_ELEM *y,
                                                         WF_GLOBAL wf_u32 *status,
                                                         const wf_dynamic p)
{
    WF_DYNAMIC_HEAD();
    if (item >= p.outer * p.n_part * p.inner)
        return;
    const wf_i64 k = item % p.inner;
    const wf_i64 j = item / p.inner % p.n_part;
    const wf_i64 o = item / p.inner / p.n_part;
    y[p.y_offset + item] =
        at < 0 ? (WF_ELEM)0 : x[p.x_offset + (o * p.size + at + j) * p.inner + k];
}

// y = x, but y[o,start + j,:] = part[o,j,:]
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_dynamic_update(
    WF_GLOBAL const WF_ELEM *x, WF_GLOBAL const WF_INDEX *start, WF_GLOBAL const WF_ELEM *part,
    WF_GLOBAL WF_ELEM *y, WF_GLOBAL wf_u32 *status, const wf_dynamic p)
{
    WF_DYNAMIC_HEAD();
    if (item >= p.outer * p.size * p.inner)
        return;
    const wf_i64 k = item % p.inner;
    const wf_i64 j = item / p.inner % p.size - at;
    const wf_i64 o = item / p.inner / p.size;
    if (at >= 0 && j >= 0 && j < p.n_part)
        y[p.y_offset + item] = part[p.part_offset + (o * p.n_part + j) * p.inner + k];
    else
        y[p.y_offset + item] = x[p.x_offset + item];
}

// The same where y is x: the part only.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_dynamic_write(WF_GLOBAL const WF_INDEX *start,
                                                         WF_GLOBAL const WF_ELEM *part,
                                                         WF_GLOBAL WF_ELEM *y,
                                                         WF_GLOBAL wf_u32 *status,
                                                         const wf_dynamic p)
{
    WF_DYNAMIC_HEAD();
    if (at < 0 || item >= p.outer * p.n_part * p.inner)
        return;
    const wf_i64 k = item % p.inner;
    const wf_i64 j = item / p.inner % p.n_part;
    const wf_i64 o = item / p.inner / p.n_part;
    y[p.y_offset + (o * p.size + at + j) * p.inner + k] = part[p.part_offset + item];
}

#endif
