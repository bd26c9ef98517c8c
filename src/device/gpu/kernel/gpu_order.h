// sort and top_k. src/op/order.h says which order; stable. Stage: PROGRAM (device code, in the common
// dialect).
//
// In: WF_ELEM the type of x's elements, WF_KEY the unsigned type of a key, WF_ORDER_F32, _SIGNED or _UNSIGNED.
// Runs of 256 are sorted by counting, then neighbouring runs merge: an element's place is its own in its run
// and that in the other one. Of a run only the first k elements are looked at again, so a top_k of a long row
// is little more than the first step. No local memory, no barrier, any row length.
#ifndef WF_GPU_ORDER_H
#define WF_GPU_ORDER_H

#include "gpu_dialect.h"

// The order of gpu_lower_order.c. Rows are [outer, inner], elements of a row inner apart in x.
typedef struct {
    wf_i64 n_rows, n, k, inner, is_descending, is_gated;
    wf_i64 x_offset, values_offset, indices_offset; // elements
    wf_i64 keys_offset, places_offset;              // bytes in the workspace
    wf_i64 to_keys_offset, to_places_offset;
    wf_i64 run; // length of the sorted runs
} wf_order;

#define WF_ORDER_HEAD(n_items)                                                                     \
    if (p.is_gated && *status != WF_STATUS_GOOD)                                                   \
        return;                                                                                    \
    const wf_i64 item = (wf_i64)WF_GROUP_ID(0) * 64 + WF_LOCAL_ID(0);                              \
    if (item >= (n_items))                                                                         \
    return

#define WF_ORDER_KEYS(offset) ((WF_GLOBAL WF_KEY *)(work + (offset)))
#define WF_ORDER_PLACES(offset) ((WF_GLOBAL wf_i32 *)(work + (offset)))

// A number whose unsigned order is the order of sorting.
WF_FN WF_KEY wf_order_key(WF_ELEM x, wf_i32 is_descending)
{
#if defined(WF_ORDER_F32)
    const WF_KEY key = wf_sort_key(x);
    return wf_is_nan(x) ? (WF_KEY)0xffffffffu : is_descending ? ~key : key;
#elif defined(WF_ORDER_SIGNED)
    const WF_KEY key = (WF_KEY)x ^ (WF_KEY)((WF_KEY)1 << (sizeof(WF_KEY) * 8 - 1));
    return is_descending ? (WF_KEY)~key : key;
#else
    const WF_KEY key = (WF_KEY)x;
    return is_descending ? (WF_KEY)~key : key;
#endif
}

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_order_keys(WF_GLOBAL const WF_ELEM *x,
                                                      WF_GLOBAL wf_u8 *work,
                                                      WF_GLOBAL wf_u32 *status, const wf_order p)
{
    WF_ORDER_HEAD(p.n_rows * p.n);
    const wf_i64 row = item / p.n, j = item % p.n;
    const wf_i64 at = (row / p.inner * p.n + j) * p.inner + row % p.inner;
    WF_ORDER_KEYS(p.keys_offset)
    [item] = wf_order_key(x[p.x_offset + at], p.is_descending != 0 ? 1 : 0);
}

// An element's place in its run: how many are smaller, or equal and before it.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_order_rank(WF_GLOBAL wf_u8 *work,
                                                      WF_GLOBAL wf_u32 *status, const wf_order p)
{
    WF_ORDER_HEAD(p.n_rows * p.n);
    const wf_i64 row = item / p.n, j = item % p.n, begin = j / p.run * p.run;
    const wf_i64 end = begin + p.run < p.n ? begin + p.run : p.n;
    WF_GLOBAL const WF_KEY *keys = WF_ORDER_KEYS(p.keys_offset) + row * p.n;
    const WF_KEY own = keys[j];
    wf_i64 rank = 0;
    for (wf_i64 i = begin; i < j; i++)
        rank += keys[i] <= own ? 1 : 0;
    for (wf_i64 i = j + 1; i < end; i++)
        rank += keys[i] < own ? 1 : 0;
    if (rank >= p.k)
        return;
    WF_ORDER_KEYS(p.to_keys_offset)[row * p.n + begin + rank] = own;
    WF_ORDER_PLACES(p.to_places_offset)[row * p.n + begin + rank] = (wf_i32)j;
}

// Pairs of sorted runs become one.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_order_merge(WF_GLOBAL wf_u8 *work,
                                                       WF_GLOBAL wf_u32 *status, const wf_order p)
{
    WF_ORDER_HEAD(p.n_rows * p.n);
    const wf_i64 row = item / p.n, j = item % p.n;
    const wf_i64 own_begin = j / p.run * p.run, pair_begin = j / (2 * p.run) * (2 * p.run);
    const wf_i64 place = j - own_begin;
    if (place >= p.k)
        return;
    const wf_i32 is_left = own_begin == pair_begin ? 1 : 0;
    const wf_i64 other = is_left ? own_begin + p.run : pair_begin;
    WF_GLOBAL const WF_KEY *keys = WF_ORDER_KEYS(p.keys_offset) + row * p.n;
    const WF_KEY own = keys[j];
    wf_i64 length = p.n - other < p.run ? p.n - other : p.run;
    length = length < p.k ? length : p.k;
    // How many of the other run come before: of equals, the left run's do.
    wf_i64 low = 0, high = length > 0 ? length : 0;
    while (low < high) {
        const wf_i64 middle = low + (high - low) / 2;
        const WF_KEY key = keys[other + middle];
        const wf_i32 before = is_left ? key < own : key <= own;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    if (place + low >= p.k)
        return;
    const wf_i64 to = row * p.n + pair_begin + place + low;
    WF_ORDER_KEYS(p.to_keys_offset)[to] = own;
    WF_ORDER_PLACES(p.to_places_offset)[to] = WF_ORDER_PLACES(p.places_offset)[item];
}

WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_order_write(WF_GLOBAL const WF_ELEM *x,
                                                       WF_GLOBAL WF_ELEM *values,
                                                       WF_GLOBAL wf_i32 *indices,
                                                       WF_GLOBAL wf_u8 *work,
                                                       WF_GLOBAL wf_u32 *status, const wf_order p)
{
    WF_ORDER_HEAD(p.n_rows * p.k);
    const wf_i64 row = item / p.k, j = item % p.k;
    const wf_i64 outer = row / p.inner, i = row % p.inner;
    const wf_i32 from = WF_ORDER_PLACES(p.places_offset)[row * p.n + j];
    const wf_i64 to = (outer * p.k + j) * p.inner + i;
    values[p.values_offset + to] = x[p.x_offset + (outer * p.n + from) * p.inner + i];
    indices[p.indices_offset + to] = from;
}

#endif
