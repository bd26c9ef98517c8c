// How the points of a tile lie in memory: from two linear indices to an element, and boxes of elements
// in and out of tiles.
//
// A kernel's axes are split into two groups, A (slow) and B (fast). A tile is na consecutive indices
// of A times nb consecutive indices of B, held as [na][nb].
#ifndef WF_CPU_WALK_H
#define WF_CPU_WALK_H

#include "device/cpu/cpu_isa.h"

// Element offset as a function of one linear index over a group's axes; neighbouring axes that this
// operand walks as one are merged. Last axis fastest. ndim 0: one point.
typedef struct wf_cpu_group {
    int32_t ndim;
    int64_t dims[WEFT_MAX_DIM];
    int64_t strides[WEFT_MAX_DIM];
} wf_cpu_group;

typedef struct wf_cpu_operand {
    char *data;
    int32_t size_log2; // of an element
    wf_cpu_group a, b;
} wf_cpu_operand;

typedef struct wf_cpu_tile {
    int64_t a0, na;
    int64_t b0, nb;
} wf_cpu_tile;

static inline int32_t wf_cpu_size_log2(weft_dtype dtype)
{
    const size_t size = weft_dtype_size(dtype);
    return size == 8 ? 3 : size == 4 ? 2 : size == 2 ? 1 : 0;
}

// A stretch of a group that one stride walks.
typedef struct wf_cpu_stretch {
    int64_t offset;
    int64_t stride;
    int64_t len;
} wf_cpu_stretch;

// The stretch that begins at linear index p, at most n long.
static inline wf_cpu_stretch wf_cpu_group_stretch(const wf_cpu_group *g, int64_t p, int64_t n)
{
    if (g->ndim <= 1)
        return (wf_cpu_stretch){g->ndim ? p * g->strides[0] : 0, g->ndim ? g->strides[0] : 0, n};
    const int32_t last = g->ndim - 1;
    const int64_t at = p % g->dims[last];
    wf_cpu_stretch s = {at * g->strides[last], g->strides[last], g->dims[last] - at};
    p /= g->dims[last];
    for (int32_t i = last - 1; i > 0; i--) {
        s.offset += p % g->dims[i] * g->strides[i];
        p /= g->dims[i];
    }
    s.offset += p * g->strides[0];
    if (s.len > n)
        s.len = n;
    return s;
}

// The group of n_axes axes with these sizes and strides, merged.
wf_cpu_group wf_cpu_group_make(const int64_t *dims, const int64_t *strides, int32_t n_axes);
static inline bool wf_cpu_group_is_constant(const wf_cpu_group *g)
{
    return g->ndim == 0 || (g->ndim == 1 && g->strides[0] == 0);
}

// The tile's elements where they lie, as rows of nb with *out_pitch elements between rows; NULL when
// they do not lie so. A tile of one row, or with pitch nb, is one block.
static inline char *wf_cpu_operand_locate(const wf_cpu_operand *op, const wf_cpu_tile *t,
                                          int64_t *out_pitch)
{
    const wf_cpu_stretch a = wf_cpu_group_stretch(&op->a, t->a0, t->na);
    const wf_cpu_stretch b = wf_cpu_group_stretch(&op->b, t->b0, t->nb);
    if (a.len < t->na || b.len < t->nb || (b.stride != 1 && t->nb > 1))
        return NULL;
    *out_pitch = t->na > 1 ? a.stride : t->nb;
    return op->data + (a.offset + b.offset) * ((int64_t)1 << op->size_log2);
}

// Copies the operand's elements into a tile, and a tile into the operand's elements.
void wf_cpu_tile_gather(const wf_cpu_elementwise *e, char *tile, const wf_cpu_operand *src,
                        const wf_cpu_tile *t);
void wf_cpu_tile_scatter(const wf_cpu_elementwise *e, const wf_cpu_operand *dst, const char *tile,
                         const wf_cpu_tile *t);

#endif
