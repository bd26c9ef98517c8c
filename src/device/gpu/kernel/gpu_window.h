// Pooling and its gradients: one work-item per element of the result. Sums ascend from +0; a maximum's
// gradient goes where `where` says. src/op/window_*.c are the definitions. Stage: PROGRAM (device code).
//
// In: WF_WINDOW_KIND 0 maximum, 1 its gradient, 2 mean, 3 its gradient; WF_WINDOW_WIDE for 64-bit indices.
#ifndef WF_GPU_WINDOW_H
#define WF_GPU_WINDOW_H

#include "gpu_dialect.h"

#ifdef WF_WINDOW_WIDE
typedef wf_i64 wf_idx;
#else
typedef wf_i32 wf_idx;
#endif

// The order of gpu_lower_window.c. x: the operand or result with the input's cells; y: that with the
// output's; w: where.
typedef struct {
    wf_idx n, c, task, is_gated, count_pad;
    wf_idx in[3], window[3], out[3], stride[3], pad[3], pad_after[3], dilation[3];
    wf_idx x_offset, y_offset, w_offset;
    wf_idx x[5], y[5], w[5]; // strides: sample, channel, cells
} wf_window;

WF_FN wf_idx wf_window_start(const wf_idx s[5], wf_idx offset, wf_idx n, wf_idx c)
{
    return offset + n * s[0] + c * s[1];
}

// Cells of window q along axis i that a mean counts.
WF_FN wf_idx wf_window_axis_count(const wf_window *p, wf_idx q, wf_i32 i)
{
    const wf_idx begin = p->count_pad ? -p->pad[i] : 0;
    const wf_idx end = p->in[i] + (p->count_pad ? p->pad_after[i] : 0);
    const wf_idx first = q * p->stride[i] - p->pad[i], step = p->dilation[i];
    const wf_idx last = first + (p->window[i] - 1) * step;
    // The cells below begin, and those from end on, are left out.
    const wf_idx below = first < begin ? (begin - first + step - 1) / step : 0;
    const wf_idx above = last >= end ? (last - end) / step + 1 : 0;
    const wf_idx n = p->window[i] - below - above;
    return n > 0 ? n : 0;
}

// What the mean of window q divides by. Each axis by itself: a loop over them with an index of its own
// into the arguments crashes rusticl's compiler (Mesa 22.3).
WF_FN wf_f32 wf_window_count(const wf_window *p, const wf_idx q[3])
{
    return (wf_f32)(wf_window_axis_count(p, q[0], 0) * wf_window_axis_count(p, q[1], 1) *
                    wf_window_axis_count(p, q[2], 2));
}

// Row-major index of the cell of window q that lies on input cell h; -1: none does.
WF_FN wf_idx wf_window_cell(const wf_window *p, const wf_idx q[3], const wf_idx h[3])
{
    wf_idx cell = 0;
    wf_i32 is_on = 1;
    for (wf_i32 i = 0; i < 3; i++) {
        const wf_idx r = h[i] + p->pad[i] - q[i] * p->stride[i];
        const wf_idx at = r / p->dilation[i];
        is_on &= r >= 0 && at * p->dilation[i] == r && at < p->window[i];
        cell = cell * p->window[i] + at;
    }
    return is_on ? cell : -1;
}

#define WF_WINDOW_HEAD(cells)                                                                      \
    if (p.is_gated && *status != WF_STATUS_GOOD)                                                   \
        return;                                                                                    \
    const wf_idx item = (wf_idx)WF_GROUP_ID(0) * 64 + WF_LOCAL_ID(0);                              \
    wf_idx at[3];                                                                                  \
    at[2] = item % p.cells[2];                                                                     \
    const wf_idx rest_1 = item / p.cells[2];                                                       \
    at[1] = rest_1 % p.cells[1];                                                                   \
    const wf_idx rest_0 = rest_1 / p.cells[1];                                                     \
    at[0] = rest_0 % p.cells[0];                                                                   \
    const wf_idx plane = rest_0 / p.cells[0];                                                      \
    const wf_idx c = plane % p.c, n = plane / p.c;                                                 \
    if (n >= p.n)                                                                                  \
    return

#if WF_WINDOW_KIND == 0 || WF_WINDOW_KIND == 2

WF_KERNEL WF_KERNEL_SIZE(64, 1,
                         1) void wf_window_forward(WF_GLOBAL const wf_f32 *x, WF_GLOBAL wf_f32 *y,
                                                   WF_GLOBAL wf_u8 *where, WF_GLOBAL wf_u32 *status,
                                                   const wf_window p)
{
    WF_WINDOW_HEAD(out);
    const wf_idx from = wf_window_start(p.x, p.x_offset, n, c);
    wf_f32 best = 0.0f;
    wf_idx best_cell = -1, cell = 0;
    for (wf_idx r0 = 0; r0 < p.window[0]; r0++) {
        const wf_idx h0 = at[0] * p.stride[0] - p.pad[0] + r0 * p.dilation[0];
        for (wf_idx r1 = 0; r1 < p.window[1]; r1++) {
            const wf_idx h1 = at[1] * p.stride[1] - p.pad[1] + r1 * p.dilation[1];
            for (wf_idx r2 = 0; r2 < p.window[2]; r2++, cell++) {
                const wf_idx h2 = at[2] * p.stride[2] - p.pad[2] + r2 * p.dilation[2];
                const wf_i32 inside =
                    h0 >= 0 && h0 < p.in[0] && h1 >= 0 && h1 < p.in[1] && h2 >= 0 && h2 < p.in[2];
                if (!inside)
                    continue;
                const wf_f32 v = x[from + h0 * p.x[2] + h1 * p.x[3] + h2 * p.x[4]];
#if WF_WINDOW_KIND == 0
                const wf_i32 zeros = v == 0.0f && best == 0.0f && wf_as_u32(best) > wf_as_u32(v);
                const wf_i32 above = best == best && (v != v || v > best || zeros);
                if (best_cell < 0 || above) {
                    best = v;
                    best_cell = cell;
                }
#else
                best = best + v;
#endif
            }
        }
    }
    const wf_idx to = wf_window_start(p.y, p.y_offset, n, c);
#if WF_WINDOW_KIND == 0
    y[to + at[0] * p.y[2] + at[1] * p.y[3] + at[2] * p.y[4]] = best;
    const wf_idx to_w = wf_window_start(p.w, p.w_offset, n, c);
    where[to_w + at[0] * p.w[2] + at[1] * p.w[3] + at[2] * p.w[4]] = (wf_u8)best_cell;
#else
    y[to + at[0] * p.y[2] + at[1] * p.y[3] + at[2] * p.y[4]] =
        WF_DIV(best, wf_window_count(&p, at));
#endif
}

#else

// The windows that may lie on cell h along axis i: first to last.
WF_FN wf_idx wf_window_first(const wf_window *p, wf_idx h, wf_i32 i)
{
    const wf_idx below = h + p->pad[i] - p->dilation[i] * (p->window[i] - 1);
    return below <= 0 ? 0 : (below + p->stride[i] - 1) / p->stride[i];
}
WF_FN wf_idx wf_window_last(const wf_window *p, wf_idx h, wf_i32 i)
{
    const wf_idx last = (h + p->pad[i]) / p->stride[i];
    return last < p->out[i] ? last : p->out[i] - 1;
}

WF_KERNEL WF_KERNEL_SIZE(64, 1,
                         1) void wf_window_backward(WF_GLOBAL wf_f32 *x, WF_GLOBAL const wf_f32 *y,
                                                    WF_GLOBAL const wf_u8 *where,
                                                    WF_GLOBAL wf_u32 *status, const wf_window p)
{
    WF_WINDOW_HEAD(in);
    const wf_idx from = wf_window_start(p.y, p.y_offset, n, c);
#if WF_WINDOW_KIND == 1
    const wf_idx from_w = wf_window_start(p.w, p.w_offset, n, c);
#endif
    wf_f32 sum = 0.0f;
    wf_idx q[3];
    for (q[0] = wf_window_first(&p, at[0], 0); q[0] <= wf_window_last(&p, at[0], 0); q[0]++) {
        for (q[1] = wf_window_first(&p, at[1], 1); q[1] <= wf_window_last(&p, at[1], 1); q[1]++) {
            for (q[2] = wf_window_first(&p, at[2], 2); q[2] <= wf_window_last(&p, at[2], 2);
                 q[2]++) {
                const wf_idx cell = wf_window_cell(&p, q, at);
                if (cell < 0)
                    continue;
                const wf_f32 dy = y[from + q[0] * p.y[2] + q[1] * p.y[3] + q[2] * p.y[4]];
#if WF_WINDOW_KIND == 1
                if (where[from_w + q[0] * p.w[2] + q[1] * p.w[3] + q[2] * p.w[4]] == cell)
                    sum = sum + dy;
#else
                sum = sum + WF_DIV(dy, wf_window_count(&p, q));
#endif
            }
        }
    }
    x[wf_window_start(p.x, p.x_offset, n, c) + at[0] * p.x[2] + at[1] * p.x[3] + at[2] * p.x[4]] =
        sum;
}

#endif
#endif
