// What the files of WINDOW tasks share: sizes and tensors of one task. Stage: PROGRAM, RUN.
#ifndef WF_CPU_WINDOW_H
#define WF_CPU_WINDOW_H

#include "device/cpu/cpu.h"
#include "op/window_common.h"

#define WF_CPU_WINDOW_ITEM 8192 // results times window cells in an item: some microseconds

typedef struct wf_cpu_window_tensor {
    char *data;
    int64_t n, c; // strides in elements
    int64_t space[WF_WINDOW_AXES];
} wf_cpu_window_tensor;

// first and those after it; count 0: none.
typedef struct wf_cpu_window_range {
    int64_t first, count;
} wf_cpu_window_range;

typedef struct wf_cpu_window_params {
    const wf_cpu_windows *loops;
    wf_window_shape s;
    int64_t channels;
    bool is_by_channel;           // a line is [c], else it is the last spatial axis
    int64_t size[WF_WINDOW_AXES]; // cells of the result: out, or for gradients in
    int64_t n_lines, lines_per_item, line_len;
    wf_cpu_window_tensor x, y, where;           // x: the side of in; y: the side of out
    float *counts[WF_WINDOW_AXES];              // along each axis, cells that window p counts
    wf_cpu_window_range *reach[WF_WINDOW_AXES]; // gradients: windows over an axis' input coordinate
} wf_cpu_window_params;

static inline int64_t wf_cpu_window_offset(const wf_cpu_window_tensor *t, int64_t n,
                                           const int64_t at[WF_WINDOW_AXES])
{
    return n * t->n + at[0] * t->space[0] + at[1] * t->space[1] + at[2] * t->space[2];
}

// Input coordinate of window p's cell r along an axis.
static inline int64_t wf_cpu_window_input(const wf_window_shape *s, int axis, int64_t p, int64_t r)
{
    return p * s->stride[axis] - s->pad[axis] + r * s->dilation[axis];
}

// Window cell of window q that lies on input coordinate h along an axis; -1: none does.
int64_t wf_cpu_window_cell_on(const wf_window_shape *s, int axis, int64_t q, int64_t h);

// Maxima over channels side by side, by whole rows: cpu_window_rows.c. Adds the task's phase, or does
// nothing and says so where the tensors do not lie so. p is filled in but for the cut into items.
typedef struct wf_cpu_window_rows_task {
    wf_cpu_lower *q;
    const wf_cpu_window_params *p;
    int64_t n_batch;
    bool is_grad;
} wf_cpu_window_rows_task;
weft_status wf_cpu_window_add_rows(const wf_cpu_window_rows_task *task, bool *out_is_added,
                                   weft_error *err);

#endif
