// matmul on a GPU: a and b as strided matrices, batch axes as they lie. See gpu_product_lower.h.
#include "device/gpu/gpu_product_lower.h"

enum { ATTR_TRANSPOSE_A, ATTR_TRANSPOSE_B }; // of src/op/matmul.c

static void describe(const wf_task *task, wf_gpu_product *p)
{
    const wf_view *a = &task->inputs[0], *b = &task->inputs[1], *c = &task->outputs[0];
    int32_t last = a->type.ndim - 1;
    bool is_ta = task->node->attrs[ATTR_TRANSPOSE_A].u.i != 0;
    bool is_tb = task->node->attrs[ATTR_TRANSPOSE_B].u.i != 0;
    wf_gpu_product_init(p);
    p->m = c->type.dims[last - 1];
    p->n = c->type.dims[last];
    p->k = a->type.dims[is_ta ? last - 1 : last];
    p->a_m = a->strides[is_ta ? last : last - 1];
    p->term_a[3] = a->strides[is_ta ? last - 1 : last];
    p->term_b[3] = b->strides[is_tb ? last : last - 1];
    p->column_b[3] = b->strides[is_tb ? last - 1 : last];
    p->c_m = c->strides[last - 1];
    p->column_c[3] = c->strides[last];
    p->a_k_fast = p->term_a[3] == 1;
    p->b_k_fast = p->term_b[3] == 1 && p->column_b[3] != 1;
    for (int32_t i = 0; i < last - 1; i++) {
        int32_t at = 6 - (last - 1) + i; // right-aligned: at most WEFT_MAX_DIM - 2 batch axes
        p->batch_size[at] = c->type.dims[i];
        p->batch_a[at] = a->strides[i];
        p->batch_b[at] = b->strides[i];
        p->batch_c[at] = c->strides[i];
    }
}

size_t wf_gpu_workspace_contract(const wf_gpu_device *dev, const wf_task *task)
{
    (void)dev;
    wf_gpu_product p;
    describe(task, &p);
    return wf_gpu_product_workspace(&p);
}

weft_status wf_gpu_lower_contract(wf_gpu_builder *b)
{
    wf_gpu_product p;
    describe(b->task, &p);
    return wf_gpu_product_lower(b, &p, &b->task->inputs[0], &b->task->inputs[1],
                                &b->task->outputs[0]);
}
