// Products: matmul and the three convolutions, one kernel. c[m,n] = sum over k of a[m,k] * b[k,n], where b
// may be gathered from an image; one launch makes every block's chain, a second adds the blocks.
// doc/arithmetic.md, Products. Stage: PROGRAM (device code, in the common dialect).
//
// In, set by the host in front of the text:
//   WF_PRODUCT_KIND    0: b[k,n] is a matrix
//                      1: b is read at coordinates term + column (convolution and its weight gradient)
//                      2: b is read at (column - term) / stride (the input gradient)
//   WF_TERM_SPATIAL    which of a term's four coordinates is the first spatial one (0 or 1)
//   WF_PRODUCT_WIDE    indices need 64 bits
//   WF_TILE_M N K      the part of c that one group makes, and the terms it holds at one time
//   WF_GROUP_M N       its work-items (1, 1 on a processor)
//   WF_A_K_FAST, WF_B_K_FAST   neighbouring work-items read neighbouring k
// Letters: m, n, k as above; a term is an index of k, a column an index of n.
#ifndef WF_GPU_PRODUCT_H
#define WF_GPU_PRODUCT_H

#include "gpu_dialect.h"
#include "math/product.h"

#ifdef WF_PRODUCT_WIDE
typedef wf_i64 wf_idx;
#else
typedef wf_i32 wf_idx;
#endif

// The order of gpu_product_lower.c.
typedef struct {
    wf_idx m, n, k, block_len, n_blocks, tiles_m, tiles_n, n_batches;
    wf_idx a_offset, b_offset, c_offset, work_offset; // elements
    wf_idx a_m, c_m;                                  // per row
    wf_idx task, is_gated;
    wf_idx batch_size[6], batch_a[6], batch_b[6], batch_c[6];
    wf_idx term_size[4], term_a[4], term_b[4], term_scale[3], term_shift[3];
    wf_idx column_size[4], column_b[4], column_c[4], column_scale[3], column_shift[3];
    wf_idx limit[3], stride[3], cell_b[3]; // of the coordinates of b
} wf_product;

typedef struct {
    wf_idx a, b, x, y, z;
} wf_term;
typedef struct {
    wf_idx b, c, x, y, z;
} wf_column;
typedef struct {
    wf_idx a, b, c;
} wf_bases;

WF_FN wf_bases wf_product_bases(const wf_product *p, wf_idx batch)
{
    wf_bases base;
    base.a = p->a_offset;
    base.b = p->b_offset;
    base.c = p->c_offset;
    for (wf_i32 i = 5; i >= 0; i--) {
        const wf_idx at = batch % p->batch_size[i];
        batch = batch / p->batch_size[i];
        base.a += at * p->batch_a[i];
        base.b += at * p->batch_b[i];
        base.c += at * p->batch_c[i];
    }
    return base;
}

WF_FN wf_term wf_product_term(const wf_product *p, wf_idx k)
{
    wf_term t;
#if WF_PRODUCT_KIND == 0
    t.a = k * p->term_a[3];
    t.b = k * p->term_b[3];
    t.x = t.y = t.z = 0;
#else
    const wf_idx q3 = k % p->term_size[3];
    const wf_idx k2 = k / p->term_size[3];
    const wf_idx q2 = k2 % p->term_size[2];
    const wf_idx k1 = k2 / p->term_size[2];
    const wf_idx q1 = k1 % p->term_size[1];
    const wf_idx q0 = k1 / p->term_size[1];
    t.a = q0 * p->term_a[0] + q1 * p->term_a[1] + q2 * p->term_a[2] + q3 * p->term_a[3];
    t.b = q0 * p->term_b[0] + q1 * p->term_b[1] + q2 * p->term_b[2] + q3 * p->term_b[3];
#if WF_TERM_SPATIAL == 0
    t.x = q0 * p->term_scale[0] + p->term_shift[0];
    t.y = q1 * p->term_scale[1] + p->term_shift[1];
    t.z = q2 * p->term_scale[2] + p->term_shift[2];
#else
    t.x = q1 * p->term_scale[0] + p->term_shift[0];
    t.y = q2 * p->term_scale[1] + p->term_shift[1];
    t.z = q3 * p->term_scale[2] + p->term_shift[2];
#endif
#endif
    return t;
}

WF_FN wf_column wf_product_column(const wf_product *p, wf_idx n)
{
    wf_column c;
#if WF_PRODUCT_KIND == 0
    c.b = n * p->column_b[3];
    c.c = n * p->column_c[3];
    c.x = c.y = c.z = 0;
#else
    const wf_idx q3 = n % p->column_size[3];
    const wf_idx n2 = n / p->column_size[3];
    const wf_idx q2 = n2 % p->column_size[2];
    const wf_idx n1 = n2 / p->column_size[2];
    const wf_idx q1 = n1 % p->column_size[1];
    const wf_idx q0 = n1 / p->column_size[1];
    c.b = q0 * p->column_b[0] + q1 * p->column_b[1] + q2 * p->column_b[2] + q3 * p->column_b[3];
    c.c = q0 * p->column_c[0] + q1 * p->column_c[1] + q2 * p->column_c[2] + q3 * p->column_c[3];
    c.x = q1 * p->column_scale[0] + p->column_shift[0];
    c.y = q2 * p->column_scale[1] + p->column_shift[1];
    c.z = q3 * p->column_scale[2] + p->column_shift[2];
#endif
    return c;
}

// b of a term and a column; +0 in the padding and in the holes of a stride.
WF_FN wf_f32 wf_product_b(const wf_product *p, WF_GLOBAL const wf_f32 *b, wf_term t, wf_column c)
{
#if WF_PRODUCT_KIND == 0
    return b[t.b + c.b];
#elif WF_PRODUCT_KIND == 1
    const wf_idx x = t.x + c.x, y = t.y + c.y, z = t.z + c.z;
    const wf_i32 inside =
        x >= 0 && x < p->limit[0] && y >= 0 && y < p->limit[1] && z >= 0 && z < p->limit[2];
    return inside ? b[t.b + c.b] : 0.0f;
#else
    const wf_idx x = c.x - t.x, y = c.y - t.y, z = c.z - t.z;
    const wf_idx px = x / p->stride[0], py = y / p->stride[1], pz = z / p->stride[2];
    const wf_i32 inside = x >= 0 && y >= 0 && z >= 0 && px < p->limit[0] && py < p->limit[1] &&
                          pz < p->limit[2] && px * p->stride[0] == x && py * p->stride[1] == y &&
                          pz * p->stride[2] == z;
    return inside ? b[t.b + c.b + px * p->cell_b[0] + py * p->cell_b[1] + pz * p->cell_b[2]] : 0.0f;
#endif
}

// Where a group is.
typedef struct {
    wf_idx row0, column0, block, batch;
} wf_tile;

WF_FN wf_tile wf_product_tile(const wf_product *p, wf_idx group)
{
    wf_tile t;
    t.column0 = group % p->tiles_n * WF_TILE_N;
    group = group / p->tiles_n;
    t.row0 = group % p->tiles_m * WF_TILE_M;
    group = group / p->tiles_m;
    t.block = group % p->n_blocks;
    t.batch = group / p->n_blocks;
    return t;
}

WF_FN void wf_product_store(const wf_product *p, WF_GLOBAL wf_f32 *c, WF_GLOBAL wf_f32 *work,
                            wf_tile t, wf_idx base_c, wf_idx row, wf_idx column, wf_f32 chain)
{
    if (p->n_blocks == 1) {
        const wf_column at = wf_product_column(p, column);
        // -0 becomes +0, so that a skipped term of padding would change nothing.
        c[base_c + row * p->c_m + at.c] = chain + 0.0f;
    } else {
        work[p->work_offset + ((t.block * p->n_batches + t.batch) * p->m + row) * p->n + column] =
            chain;
    }
}

#define WF_PRODUCT_ARGS                                                                            \
    WF_GLOBAL const wf_f32 *a, WF_GLOBAL const wf_f32 *b, WF_GLOBAL wf_f32 *c,                     \
        WF_GLOBAL wf_f32 *work, WF_GLOBAL wf_u32 *status, const wf_product p

#ifdef WF_CPU_LANES
#include "gpu_product_cpu.h"
#else
#include "gpu_product_tile.h"
#endif

// Adds the blocks of each result: ascending, or by 32 groups when there are more.
WF_KERNEL WF_KERNEL_SIZE(64, 1, 1) void wf_product_combine(WF_PRODUCT_ARGS)
{
    if (p.is_gated && *status != WF_STATUS_GOOD)
        return;
    const wf_idx item = (wf_idx)WF_GROUP_ID(0) * 64 + WF_LOCAL_ID(0);
    const wf_idx per_batch = p.m * p.n;
    if (item >= per_batch * p.n_batches)
        return;
    const wf_idx n_results = per_batch * p.n_batches;
    const wf_i64 n_groups = p.n_blocks < WF_PRODUCT_GROUPS ? p.n_blocks : WF_PRODUCT_GROUPS;
    wf_f32 total = 0.0f;
    for (wf_i64 g = 0; g < n_groups; g++) {
        const wf_idx first = (wf_idx)(g * p.n_blocks / n_groups);
        const wf_idx end = (wf_idx)((g + 1) * p.n_blocks / n_groups);
        wf_f32 group = work[p.work_offset + first * n_results + item];
        for (wf_idx block = first + 1; block < end; block++) {
            group = group + work[p.work_offset + block * n_results + item];
        }
        total = g == 0 ? group : total + group;
    }
    const wf_bases base = wf_product_bases(&p, item / per_batch);
    const wf_idx row = item % per_batch / p.n;
    const wf_column at = wf_product_column(&p, item % p.n);
    c[base.c + row * p.c_m + at.c] = total + 0.0f;
}

#endif
