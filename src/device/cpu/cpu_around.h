// A tensor seen around an axis as [outer, mid, inner]: how INDEX and ORDER tasks walk their operands.
// Stage: PROGRAM, RUN.
#ifndef WF_CPU_AROUND_H
#define WF_CPU_AROUND_H

#include <string.h>

#include "device/cpu/cpu.h"

typedef struct wf_cpu_around {
    char *data;
    wf_cpu_group outer, mid, inner;
    int64_t n_outer, n_mid, n_inner;
} wf_cpu_around;

// mid: the n_axes axes from `axis` on.
static inline wf_cpu_around wf_cpu_around_make(const wf_cpu_lower *q, const wf_view *view,
                                               int32_t axis, int32_t n_axes)
{
    const weft_type *t = &view->type;
    const int32_t behind = axis + n_axes;
    wf_cpu_around a = {.data = wf_cpu_view_data(q, view), .n_outer = 1, .n_mid = 1, .n_inner = 1};
    a.outer = wf_cpu_group_make(t->dims, view->strides, axis);
    a.mid = wf_cpu_group_make(t->dims + axis, view->strides + axis, n_axes);
    a.inner = wf_cpu_group_make(t->dims + behind, view->strides + behind, t->ndim - behind);
    for (int32_t i = 0; i < t->ndim; i++) {
        int64_t *n = i < axis ? &a.n_outer : i < behind ? &a.n_mid : &a.n_inner;
        *n *= t->dims[i];
    }
    return a;
}

// The first element of [outer, mid, :].
static inline char *wf_cpu_around_row(const wf_cpu_around *t, int32_t size_log2, int64_t outer,
                                      int64_t mid)
{
    const wf_cpu_stretch a = wf_cpu_group_stretch(&t->outer, outer, 1);
    const wf_cpu_stretch b = wf_cpu_group_stretch(&t->mid, mid, 1);
    return t->data + (a.offset + b.offset) * ((int64_t)1 << size_log2);
}

static inline bool wf_cpu_group_is_plain(const wf_cpu_group *g)
{
    return g->ndim == 0 || (g->ndim == 1 && g->strides[0] == 1);
}

// n elements of a row from `first` on, into or out of a dense array.
static inline void wf_cpu_around_read(const wf_cpu_elementwise *e, int32_t size_log2, char *dst,
                                      const wf_cpu_around *t, const char *row, int64_t first,
                                      int64_t n)
{
    for (int64_t i = 0; i < n;) {
        const wf_cpu_stretch s = wf_cpu_group_stretch(&t->inner, first + i, n - i);
        e->copies[size_log2](dst + (i << size_log2), 1, row + s.offset * ((int64_t)1 << size_log2),
                             s.stride, (size_t)s.len);
        i += s.len;
    }
}

static inline void wf_cpu_around_write(const wf_cpu_elementwise *e, int32_t size_log2,
                                       const wf_cpu_around *t, char *row, const char *src,
                                       int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        const wf_cpu_stretch s = wf_cpu_group_stretch(&t->inner, first + i, n - i);
        e->copies[size_log2](row + s.offset * ((int64_t)1 << size_log2), s.stride,
                             src + (i << size_log2), 1, (size_t)s.len);
        i += s.len;
    }
}

// Element j of an operand of i32 or i64.
static inline int64_t wf_cpu_read_index(const wf_cpu_operand *idx, weft_dtype dtype, int64_t j)
{
    const wf_cpu_stretch s = wf_cpu_group_stretch(&idx->b, j, 1);
    const void *at = idx->data + s.offset * ((int64_t)1 << idx->size_log2);
    if (dtype == WEFT_I32) {
        int32_t value;
        memcpy(&value, at, sizeof value);
        return value;
    }
    int64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

// dynamic_slice and dynamic_update: cpu_dynamic.c.
weft_status wf_cpu_lower_dynamic(wf_cpu_lower *q, weft_error *err);

#endif
