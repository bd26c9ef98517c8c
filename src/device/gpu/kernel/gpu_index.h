// gather, scatter_add and the guards. src/op/{gather,scatter_add,guard,index_guard}.c are the definitions.
// Stage: PROGRAM (device code, in the common dialect).
//
// In: WF_ELEM the type of x's elements (for gather: any of its size), WF_ELEM_IS_F32 for sums by the column
// rule, WF_INDEX the type of the indices.
// scatter_add sorts (place, position) pairs, so that equal places stand in ascending position, and then one
// work-item adds each result: no atomics, and the same order everywhere.
#ifndef WF_GPU_INDEX_H
#define WF_GPU_INDEX_H

#include "gpu_dialect.h"
#include "math/sum.h"

// The order of gpu_lower_index.c.
typedef struct {
    wf_i64 outer, size, inner, n_idx, task, is_gated;
    wf_i64 x_offset, idx_offset, updates_offset, y_offset; // elements
    wf_i64 keys_offset, sorted_offset, starts_offset;      // bytes in the workspace
    wf_i64 run;                                            // of a merge: length of the sorted runs
} wf_index;

#define WF_INDEX_HEAD()                                                                            \
    if (p.is_gated && *status != WF_STATUS_GOOD)                                                   \
        return;                                                                                    \
    const wf_i64 item = (wf_i64)WF_GROUP_ID(0) * 64 + WF_LOCAL_ID(0)

// A negative index counts from the end; -1 when it is out of range.
WF_FN wf_i64 wf_index_place(wf_i64 index, wf_i64 size)
{
    const wf_i64 at = index < 0 ? index + size : index;
    return at >= 0 && at < size ? at : -1;
}

// y[o,j,:] = x[o,idx[j],:]
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_gather(WF_GLOBAL const WF_ELEM *x,
                                                  WF_GLOBAL const WF_INDEX *idx,
                                                  WF_GLOBAL WF_ELEM *y, WF_GLOBAL wf_u32 *status,
                                                  const wf_index p)
{
    WF_INDEX_HEAD();
    if (item >= p.outer * p.n_idx * p.inner)
        return;
    const wf_i64 k = item % p.inner;
    const wf_i64 j = item / p.inner % p.n_idx;
    const wf_i64 o = item / p.inner / p.n_idx;
    const wf_i64 at = wf_index_place((wf_i64)idx[p.idx_offset + j], p.size);
    if (at < 0)
        WF_ATOMIC_MIN_U32(status, p.task);
    y[p.y_offset + item] = at < 0 ? (WF_ELEM)0 : x[p.x_offset + (o * p.size + at) * p.inner + k];
}

#define WF_KEYS(offset) ((WF_GLOBAL wf_u64 *)(work + (offset)))

// The pair of each position; one out of range sorts behind all places.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_scatter_keys(WF_GLOBAL const WF_INDEX *idx,
                                                        WF_GLOBAL wf_u8 *work,
                                                        WF_GLOBAL wf_u32 *status, const wf_index p)
{
    WF_INDEX_HEAD();
    if (item >= p.n_idx)
        return;
    const wf_i64 at = wf_index_place((wf_i64)idx[p.idx_offset + item], p.size);
    if (at < 0)
        WF_ATOMIC_MIN_U32(status, p.task);
    WF_KEYS(p.keys_offset)[item] = (wf_u64)(at < 0 ? p.size : at) << 32 | (wf_u64)item;
}

// Sorts runs of 256: an element's place is the number of smaller ones (no two are equal).
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_scatter_rank(WF_GLOBAL wf_u8 *work,
                                                        WF_GLOBAL wf_u32 *status, const wf_index p)
{
    WF_INDEX_HEAD();
    if (item >= p.n_idx)
        return;
    const wf_i64 begin = item / p.run * p.run;
    const wf_i64 end = begin + p.run < p.n_idx ? begin + p.run : p.n_idx;
    const wf_u64 own = WF_KEYS(p.keys_offset)[item];
    wf_i64 rank = 0;
    for (wf_i64 i = begin; i < end; i++)
        rank += WF_KEYS(p.keys_offset)[i] < own;
    WF_KEYS(p.sorted_offset)[begin + rank] = own;
}

// How many of keys[begin, end), sorted, are below `key`.
WF_FN wf_i64 wf_lower_bound(WF_GLOBAL const wf_u64 *keys, wf_i64 begin, wf_i64 end, wf_u64 key)
{
    wf_i64 low = begin, high = end;
    while (low < high) {
        const wf_i64 middle = low + (high - low) / 2;
        const wf_i32 below = keys[middle] < key;
        low = below ? middle + 1 : low;
        high = below ? high : middle;
    }
    return low - begin;
}

// Merges pairs of sorted runs: an element's place is its own in its run and that in the other one.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_scatter_merge(WF_GLOBAL wf_u8 *work,
                                                         WF_GLOBAL wf_u32 *status, const wf_index p)
{
    WF_INDEX_HEAD();
    if (item >= p.n_idx)
        return;
    const wf_i64 own_begin = item / p.run * p.run;
    const wf_i64 pair_begin = item / (2 * p.run) * (2 * p.run);
    const wf_i64 other = own_begin == pair_begin ? own_begin + p.run : pair_begin;
    const wf_i64 other_begin = other < p.n_idx ? other : p.n_idx;
    const wf_i64 other_end = other_begin + p.run < p.n_idx ? other_begin + p.run : p.n_idx;
    const wf_u64 own = WF_KEYS(p.keys_offset)[item];
    const wf_i64 rank = wf_lower_bound(WF_KEYS(p.keys_offset), other_begin, other_end, own);
    WF_KEYS(p.sorted_offset)[pair_begin + (item - own_begin) + rank] = own;
}

// starts[i]: where the run of place i begins; starts[size] ends the last one.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_scatter_starts(WF_GLOBAL wf_u8 *work,
                                                          WF_GLOBAL wf_u32 *status,
                                                          const wf_index p)
{
    WF_INDEX_HEAD();
    if (item > p.size)
        return;
    ((WF_GLOBAL wf_u32 *)(work + p.starts_offset))[item] =
        (wf_u32)wf_lower_bound(WF_KEYS(p.keys_offset), 0, p.n_idx, (wf_u64)item << 32);
}

// One result: base + the sum of its run.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_scatter_add(WF_GLOBAL const WF_ELEM *x,
                                                       WF_GLOBAL const WF_ELEM *updates,
                                                       WF_GLOBAL WF_ELEM *y, WF_GLOBAL wf_u8 *work,
                                                       WF_GLOBAL wf_u32 *status, const wf_index p)
{
    WF_INDEX_HEAD();
    if (item >= p.outer * p.size * p.inner)
        return;
    const wf_i64 k = item % p.inner;
    const wf_i64 at = item / p.inner % p.size;
    const wf_i64 o = item / p.inner / p.size;
    WF_GLOBAL const wf_u32 *starts = (WF_GLOBAL const wf_u32 *)(work + p.starts_offset);
    WF_GLOBAL const wf_u64 *keys = WF_KEYS(p.keys_offset);
    const wf_i64 begin = starts[at], end = starts[at + 1];
    const WF_ELEM base = x[p.x_offset + item];
#ifdef WF_ELEM_IS_F32
    // The column rule as it streams: 64 elements make one of the next level. Levels that hold nothing add
    // +0 to a sum that is never -0.
    wf_f32 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f, s4 = 0.0f, s5 = 0.0f;
    for (wf_i64 i = begin; i < end; i++) {
        const wf_i64 j = (wf_i64)(keys[i] & 0xffffffffu);
        const wf_i64 count = i - begin + 1;
        s0 = s0 + updates[p.updates_offset + (o * p.n_idx + j) * p.inner + k];
        if (count % 64 != 0)
            continue;
        s1 = s1 + s0;
        s0 = 0.0f;
        if (count / 64 % 64 != 0)
            continue;
        s2 = s2 + s1;
        s1 = 0.0f;
        if (count / 4096 % 64 != 0)
            continue;
        s3 = s3 + s2;
        s2 = 0.0f;
        if (count / 262144 % 64 != 0)
            continue;
        s4 = s4 + s3;
        s3 = 0.0f;
        if (count / 16777216 % 64 != 0)
            continue;
        s5 = s5 + s4;
        s4 = 0.0f;
    }
    s1 = s1 + s0;
    s2 = s2 + s1;
    s3 = s3 + s2;
    s4 = s4 + s3;
    s5 = s5 + s4;
    y[p.y_offset + item] = begin == end ? base : base + s5;
#else
    wf_u64 sum = (wf_u64)base; // wraps
    for (wf_i64 i = begin; i < end; i++) {
        const wf_i64 j = (wf_i64)(keys[i] & 0xffffffffu);
        sum += (wf_u64)updates[p.updates_offset + (o * p.n_idx + j) * p.inner + k];
    }
    y[p.y_offset + item] = (WF_ELEM)sum;
#endif
}

// ---- guards: is everything finite (WF_ELEM_IS_F32), or every index in [0, size)?
#ifdef WF_ELEM_IS_F32
#define WF_GUARD_GOOD(v) wf_is_finite(v)
#else
#define WF_GUARD_GOOD(v) ((wf_i64)(v) >= 0 && (wf_i64)(v) < p.size)
#endif

// A few elements: one work-item.
WF_KERNEL WF_KERNEL_SIZE(1, 1, 1) void wf_guard_small(WF_GLOBAL const WF_ELEM *x,
                                                      WF_GLOBAL wf_u8 *y, WF_GLOBAL wf_u32 *status,
                                                      const wf_index p)
{
    if (p.is_gated && *status != WF_STATUS_GOOD)
        return;
    wf_i32 good = 1;
    for (wf_i64 i = 0; i < p.n_idx; i++)
        good &= WF_GUARD_GOOD(x[p.x_offset + i]);
    if (!good)
        WF_ATOMIC_MIN_U32(status, p.task);
    y[p.y_offset] = (wf_u8)good;
}

// Many: a word in the workspace that bad elements lower.
WF_KERNEL WF_KERNEL_SIZE(1, 1, 1) void wf_guard_start(WF_GLOBAL wf_u8 *work,
                                                      WF_GLOBAL wf_u32 *status, const wf_index p)
{
    *(WF_GLOBAL wf_u32 *)(work + p.keys_offset) = WF_STATUS_GOOD;
}

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_guard_scan(WF_GLOBAL const WF_ELEM *x,
                                                      WF_GLOBAL wf_u8 *work,
                                                      WF_GLOBAL wf_u32 *status, const wf_index p)
{
    WF_INDEX_HEAD();
    wf_i32 good = 1;
    for (wf_i64 i = item; i < p.n_idx; i += p.run)
        good &= WF_GUARD_GOOD(x[p.x_offset + i]);
    if (!good) {
        WF_ATOMIC_MIN_U32((WF_GLOBAL wf_u32 *)(work + p.keys_offset), p.task);
        WF_ATOMIC_MIN_U32(status, p.task);
    }
}

WF_KERNEL WF_KERNEL_SIZE(1, 1, 1) void wf_guard_end(WF_GLOBAL wf_u8 *y, WF_GLOBAL wf_u8 *work,
                                                    WF_GLOBAL wf_u32 *status, const wf_index p)
{
    y[p.y_offset] = (wf_u8)(*(WF_GLOBAL wf_u32 *)(work + p.keys_offset) == WF_STATUS_GOOD);
}

#endif
