// Boxes of elements between memory and tiles. Stage: RUN.
#include "device/cpu/cpu_walk.h"

wf_cpu_group wf_cpu_group_make(const int64_t *dims, const int64_t *strides, int32_t n_axes)
{
    wf_cpu_group g = {0};
    for (int32_t i = 0; i < n_axes; i++) {
        if (dims[i] == 1)
            continue;
        const int32_t last = g.ndim - 1;
        if (g.ndim && g.strides[last] == strides[i] * dims[i]) {
            g.dims[last] *= dims[i];
            g.strides[last] = strides[i];
        } else {
            g.dims[g.ndim] = dims[i];
            g.strides[g.ndim] = strides[i];
            g.ndim++;
        }
    }
    return g;
}

// One side of a box: strides in elements along a and b.
typedef struct side {
    char *data;
    int64_t a, b;
} side;

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

// dst[i,j] = src[i,j], i < na, j < nb. `memory` is the side whose layout decides the inner loop.
static void copy_box(const wf_cpu_elementwise *e, int32_t size_log2, const side *dst,
                     const side *src, const side *memory, int64_t na, int64_t nb)
{
    const int64_t size = (int64_t)1 << size_log2;
    if (dst->a == dst->b * nb && src->a == src->b * nb) {
        e->copies[size_log2](dst->data, dst->b, src->data, src->b, (size_t)(na * nb));
        return;
    }
    if (size_log2 == 2 && na >= 4 && nb >= 4 && dst->b == 1 && src->a == 1 && src->b != 1) {
        e->turn(dst->data, dst->a, src->data, src->b, (size_t)na, (size_t)nb);
        return;
    }
    if (size_log2 == 2 && na >= 4 && nb >= 4 && dst->a == 1 && src->b == 1 && dst->b != 1) {
        e->turn(dst->data, dst->b, src->data, src->a, (size_t)nb, (size_t)na);
        return;
    }
    const bool is_b_short = nb < 8 && na > nb;
    const bool is_a_near = na >= 8 && magnitude(memory->a) < magnitude(memory->b) && memory->a != 0;
    if (is_b_short || is_a_near) {
        for (int64_t j = 0; j < nb; j++) {
            e->copies[size_log2](dst->data + j * dst->b * size, dst->a,
                                 src->data + j * src->b * size, src->a, (size_t)na);
        }
        return;
    }
    for (int64_t i = 0; i < na; i++) {
        e->copies[size_log2](dst->data + i * dst->a * size, dst->b, src->data + i * src->a * size,
                             src->b, (size_t)nb);
    }
}

// Calls copy_box for each pair of stretches; is_gather says which way the elements go.
static void copy_tile(const wf_cpu_elementwise *e, char *tile, const wf_cpu_operand *op,
                      const wf_cpu_tile *t, bool is_gather)
{
    const int64_t size = (int64_t)1 << op->size_log2;
    for (int64_t i = 0; i < t->na;) {
        const wf_cpu_stretch a = wf_cpu_group_stretch(&op->a, t->a0 + i, t->na - i);
        for (int64_t j = 0; j < t->nb;) {
            const wf_cpu_stretch b = wf_cpu_group_stretch(&op->b, t->b0 + j, t->nb - j);
            const side memory = {op->data + (a.offset + b.offset) * size, a.stride, b.stride};
            const side inside = {tile + (i * t->nb + j) * size, t->nb, 1};
            copy_box(e, op->size_log2, is_gather ? &inside : &memory, is_gather ? &memory : &inside,
                     &memory, a.len, b.len);
            j += b.len;
        }
        i += a.len;
    }
}

void wf_cpu_tile_gather(const wf_cpu_elementwise *e, char *tile, const wf_cpu_operand *src,
                        const wf_cpu_tile *t)
{
    copy_tile(e, tile, src, t, true);
}

void wf_cpu_tile_scatter(const wf_cpu_elementwise *e, const wf_cpu_operand *dst, const char *tile,
                         const wf_cpu_tile *t)
{
    // The tile is only read: copy_tile writes the side that is_gather names.
    union {
        const char *from;
        char *to;
    } pointer = {.from = tile};
    copy_tile(e, pointer.to, dst, t, false);
}
