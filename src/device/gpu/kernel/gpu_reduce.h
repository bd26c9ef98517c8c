// Reductions of rendered kernels: the states, and the row rule by a group of 32 lanes.
// doc/arithmetic.md, Sums. Stage: PROGRAM (device code, in the common dialect).
#ifndef WF_GPU_REDUCE_H
#define WF_GPU_REDUCE_H

#include "gpu_dialect.h"
#include "math/sum.h"

// Integers wrap; f32 sums are ordered by the caller.
#define wf_sum_first_f32 0.0f
#define wf_sum_first_i8 0
#define wf_sum_first_u8 0
#define wf_sum_first_i32 0
#define wf_sum_first_i64 0
WF_FN wf_f32 wf_sum_f32(wf_f32 a, wf_f32 b)
{
    return a + b;
}
WF_FN wf_i8 wf_sum_i8(wf_i8 a, wf_i8 b)
{
    return (wf_i8)((wf_u8)a + (wf_u8)b);
}
WF_FN wf_u8 wf_sum_u8(wf_u8 a, wf_u8 b)
{
    return (wf_u8)(a + b);
}
WF_FN wf_i32 wf_sum_i32(wf_i32 a, wf_i32 b)
{
    return (wf_i32)((wf_u32)a + (wf_u32)b);
}
WF_FN wf_i64 wf_sum_i64(wf_i64 a, wf_i64 b)
{
    return (wf_i64)((wf_u64)a + (wf_u64)b);
}
#define wf_sum_add_f32(a, v, i) wf_sum_f32(a, v)
#define wf_sum_add_i8(a, v, i) wf_sum_i8(a, v)
#define wf_sum_add_u8(a, v, i) wf_sum_u8(a, v)
#define wf_sum_add_i32(a, v, i) wf_sum_i32(a, v)
#define wf_sum_add_i64(a, v, i) wf_sum_i64(a, v)

#define wf_max_first_f32 wf_as_f32(0xff800000u)
#define wf_min_first_f32 wf_as_f32(0x7f800000u)
WF_FN wf_f32 wf_max_f32(wf_f32 a, wf_f32 b)
{
    return wf_max(a, b);
}
WF_FN wf_f32 wf_min_f32(wf_f32 a, wf_f32 b)
{
    return wf_min(a, b);
}
#define wf_max_add_f32(a, v, i) wf_max(a, v)
#define wf_min_add_f32(a, v, i) wf_min(a, v)
// Names: wf_max_<d>, wf_min_<d>, wf_max_add_<d>, wf_min_add_<d>.
#define WF_EXTREMES(d, T)                                                                          \
    WF_FN T wf_max_##d(T a, T b)                                                                   \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    WF_FN T wf_min_##d(T a, T b)                                                                   \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    WF_FN T wf_max_add_##d(T a, T b, wf_i64 i)                                                     \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    WF_FN T wf_min_add_##d(T a, T b, wf_i64 i)                                                     \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }
WF_EXTREMES(i8, wf_i8)
WF_EXTREMES(u8, wf_u8)
WF_EXTREMES(i32, wf_i32)
WF_EXTREMES(i64, wf_i64)
#define wf_max_first_i8 (wf_i8)(-128)
#define wf_min_first_i8 127
#define wf_max_first_u8 0
#define wf_min_first_u8 255
#define wf_max_first_i32 (wf_i32)0x80000000u
#define wf_min_first_i32 0x7fffffff
#define wf_max_first_i64 (wf_i64)((wf_u64)1 << 63)
#define wf_min_first_i64 (wf_i64)(((wf_u64)1 << 63) - 1)

// What argmax compares: NaN is greatest, -0 equals +0.
WF_FN wf_i32 wf_rank_f32(wf_f32 x)
{
    const wf_u32 u = x == 0.0f ? 0u : wf_as_u32(x);
    const wf_i32 rank = (wf_i32)((u & 0x80000000u) != 0u ? u ^ 0x7fffffffu : u);
    return x != x ? 0x7fffffff : rank;
}
WF_FN wf_i32 wf_rank_i8(wf_i8 x)
{
    return x;
}
WF_FN wf_i32 wf_rank_u8(wf_u8 x)
{
    return x;
}
WF_FN wf_i32 wf_rank_i32(wf_i32 x)
{
    return x;
}
WF_FN wf_i64 wf_rank_i64(wf_i64 x)
{
    return x;
}

// The greatest and its lowest index; index -1 is none. Names: wf_argmax_state_<d>, wf_argmax_first_<d>,
// wf_argmax_<d>, wf_argmax_add_<d>.
#define WF_ARGMAX(d, T)                                                                            \
    typedef struct {                                                                               \
        T v;                                                                                       \
        wf_i64 i;                                                                                  \
    } wf_argmax_state_##d;                                                                         \
    WF_FN wf_argmax_state_##d wf_argmax_first_##d(void)                                            \
    {                                                                                              \
        wf_argmax_state_##d s;                                                                     \
        s.v = 0;                                                                                   \
        s.i = -1;                                                                                  \
        return s;                                                                                  \
    }                                                                                              \
    WF_FN wf_argmax_state_##d wf_argmax_##d(wf_argmax_state_##d a, wf_argmax_state_##d b)          \
    {                                                                                              \
        const bool greater = wf_rank_##d(b.v) > wf_rank_##d(a.v);                                  \
        const bool equal = wf_rank_##d(b.v) == wf_rank_##d(a.v);                                   \
        const bool take = b.i >= 0 && (a.i < 0 || greater || (equal && b.i < a.i));                \
        return take ? b : a;                                                                       \
    }                                                                                              \
    WF_FN wf_argmax_state_##d wf_argmax_add_##d(wf_argmax_state_##d a, T v, wf_i64 i)              \
    {                                                                                              \
        wf_argmax_state_##d b;                                                                     \
        b.v = v;                                                                                   \
        b.i = i;                                                                                   \
        return wf_argmax_##d(a, b);                                                                \
    }
WF_ARGMAX(f32, wf_f32)
WF_ARGMAX(i8, wf_i8)
WF_ARGMAX(u8, wf_u8)
WF_ARGMAX(i32, wf_i32)
WF_ARGMAX(i64, wf_i64)

#ifndef WF_DIALECT_C // the host has its own in math/sum.h
typedef struct {
    wf_f32 n, mean, m2;
} wf_moments;
// Chan's formula. An empty side is ignored.
WF_FN wf_moments wf_moments_merge(wf_moments a, wf_moments b)
{
    wf_moments both;
    const wf_f32 n = a.n + b.n;
    const wf_f32 delta = b.mean - a.mean;
    const wf_f32 share = WF_DIV(b.n, n);
    const wf_f32 square = delta * delta;
    const wf_f32 spread = square * (a.n * share);
    both.n = n;
    both.mean = WF_FMA(delta, share, a.mean);
    both.m2 = (a.m2 + b.m2) + spread;
    return b.n == 0.0f ? a : a.n == 0.0f ? b : both;
}
#endif
// Of nothing: 0 / 0, NaN both.
WF_FN wf_f32 wf_moments_mean(wf_moments m)
{
    return m.n == 0.0f ? WF_NAN : m.mean;
}
WF_FN wf_f32 wf_moments_variance(wf_moments m)
{
    return m.n == 0.0f ? WF_NAN : WF_DIV(m.m2, m.n);
}
WF_FN wf_moments wf_moments_first(void)
{
    wf_moments m;
    m.n = 0.0f;
    m.mean = 0.0f;
    m.m2 = 0.0f;
    return m;
}

// ---- Lanes. On a GPU a row is walked by a work-group of 32 work-items: one lane each, results pass through
// local memory, and no barrier stands in a condition. On a processor one work-item walks it, and the 32
// lanes are a loop over arrays, which becomes vector code.
#ifdef WF_CPU_LANES
#define WF_LANE_OPEN()
#define WF_LANES for (wf_i32 lane = 0; lane < WF_SUM_LANES; lane++)
#define WF_LANE_ONE
#define WF_LANE_LOCAL(T, s)
#define WF_LANE_STATE(T, a, first)                                                                 \
    T a[WF_SUM_LANES];                                                                             \
    for (wf_i32 lane = 0; lane < WF_SUM_LANES; lane++)                                             \
    a[lane] = first
#define WF_LANE_RESET(a, first)                                                                    \
    for (wf_i32 lane = 0; lane < WF_SUM_LANES; lane++)                                             \
    a[lane] = first
#define WF_OF_LANE(a) a[lane]
// State a of lane `to` takes r.
#define WF_LANE_MERGE(a, to, r, merge) a[to] = merge(a[to], r)
// result = a folded by 16, 8, 4, 2, 1.
#define WF_LANE_FOLD(s, a, result, merge)                                                          \
    do {                                                                                           \
        for (wf_i32 lane = 0; lane < 16; lane++)                                                   \
            a[lane] = merge(a[lane], a[lane + 16]);                                                \
        for (wf_i32 lane = 0; lane < 8; lane++)                                                    \
            a[lane] = merge(a[lane], a[lane + 8]);                                                 \
        for (wf_i32 lane = 0; lane < 4; lane++)                                                    \
            a[lane] = merge(a[lane], a[lane + 4]);                                                 \
        for (wf_i32 lane = 0; lane < 2; lane++)                                                    \
            a[lane] = merge(a[lane], a[lane + 2]);                                                 \
        result = merge(a[0], a[1]);                                                                \
    } while (0)
#else
#define WF_LANE_OPEN() const wf_i32 lane = WF_LOCAL_ID(0)
#define WF_LANES
#define WF_LANE_ONE if (lane == 0)
#define WF_LANE_LOCAL(T, s) WF_LOCAL T s[WF_SUM_LANES]
#define WF_LANE_STATE(T, a, first) T a = first
#define WF_LANE_RESET(a, first) a = first
#define WF_OF_LANE(a) a
#define WF_LANE_MERGE(a, to, r, merge)                                                             \
    do {                                                                                           \
        if (lane == (wf_i32)(to))                                                                  \
            a = merge(a, r);                                                                       \
    } while (0)
#define WF_LANE_FOLD(s, a, result, merge)                                                          \
    do {                                                                                           \
        s[lane] = a;                                                                               \
        WF_BARRIER();                                                                              \
        for (wf_i32 width = WF_SUM_LANES / 2; width > 0; width /= 2) {                             \
            if (lane < width)                                                                      \
                s[lane] = merge(s[lane], s[lane + width]);                                         \
            WF_BARRIER();                                                                          \
        }                                                                                          \
        result = s[0];                                                                             \
        WF_BARRIER();                                                                              \
    } while (0)
#endif

// The tree over chunks: 1024 chunks are one element of the third level, which 32 lanes add like the
// second. A state merged with the state of nothing is itself (sums are never -0 here), so a short
// row may pass through all three.
#define WF_ROW_TOP ((wf_i64)WF_SUM_ROW_CHUNK * WF_SUM_ROW_CHUNK)

#endif
