// A product as the kernel of gpu_product.h sees it: sizes and strides in one record, filled in by
// gpu_lower_contract.c and gpu_lower_conv.c, launched by gpu_product_lower.c.
#ifndef WF_GPU_PRODUCT_LOWER_H
#define WF_GPU_PRODUCT_LOWER_H

#include "device/gpu/gpu_lower.h"

typedef struct wf_gpu_product {
    int32_t kind;         // WF_PRODUCT_KIND
    int32_t term_spatial; // WF_TERM_SPATIAL
    bool a_k_fast, b_k_fast;
    int64_t m, n, k;
    int64_t a_offset, b_offset, c_offset; // elements, from views
    int64_t a_m, c_m;
    int64_t batch_size[6], batch_a[6], batch_b[6], batch_c[6];
    int64_t term_size[4], term_a[4], term_b[4], term_scale[3], term_shift[3];
    int64_t column_size[4], column_b[4], column_c[4], column_scale[3], column_shift[3];
    int64_t limit[3], stride[3], cell_b[3];
} wf_gpu_product;

// Everything 1 or 0: a product of one element that reads nothing.
void wf_gpu_product_init(wf_gpu_product *p);
size_t wf_gpu_product_workspace(const wf_gpu_product *p);
// Launches for c = a b, where the views are the task's operands.
weft_status wf_gpu_product_lower(wf_gpu_builder *b, const wf_gpu_product *p, const wf_view *a_view,
                                 const wf_view *b_view, const wf_view *c_view);

#endif
