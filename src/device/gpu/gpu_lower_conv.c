// Convolution and its gradients on a GPU: products whose b is gathered from an image, never stored.
// Orders of terms: doc/arithmetic.md, Products. See gpu_product_lower.h.
#include "device/gpu/gpu_product_lower.h"
#include "op/conv_common.h"

// Strides of a view [n, c, spatial..] with three spatial axes; missing ones are 0.
typedef struct image {
    int64_t n, c, cell[WF_CONV_AXES];
} image;

static image image_of(const wf_view *v)
{
    image s = {v->strides[0], v->strides[1], {0, 0, 0}};
    int32_t rank = v->type.ndim - 2;
    for (int32_t i = 0; i < rank; i++)
        s.cell[WF_CONV_AXES - rank + i] = v->strides[2 + i];
    return s;
}

// y[k,(n,p)] = sum over (r,c) of w[k,(r,c)] x[(r,c),(n,p)]
static void describe_forward(const wf_conv_shape *s, image x, image w, image y, wf_gpu_product *p)
{
    p->kind = 1;
    p->m = s->kg;
    p->n = s->n * wf_conv_volume(s->out);
    p->k = wf_conv_volume(s->window) * s->cg;
    p->a_m = w.n;
    p->c_m = y.c;
    p->batch_a[5] = s->kg * w.n;
    p->batch_b[5] = s->cg * x.c;
    p->batch_c[5] = s->kg * y.c;
    p->term_size[3] = s->cg;
    p->term_a[3] = w.c;
    p->term_b[3] = x.c;
    p->column_size[0] = s->n;
    p->column_b[0] = x.n;
    p->column_c[0] = y.n;
    for (int i = 0; i < WF_CONV_AXES; i++) {
        p->term_size[i] = s->window[i];
        p->term_a[i] = w.cell[i];
        p->term_b[i] = s->dilation[i] * x.cell[i];
        p->term_scale[i] = s->dilation[i];
        p->column_size[1 + i] = s->out[i];
        p->column_b[1 + i] = s->stride[i] * x.cell[i];
        p->column_c[1 + i] = y.cell[i];
        p->column_scale[i] = s->stride[i];
        p->column_shift[i] = -s->pad[i];
        p->b_offset -= s->pad[i] * x.cell[i];
        p->limit[i] = s->in[i];
    }
}

// dx[c,(n,h)] = sum over (r,k) of w[(r,k),c] dy[(r,k),(n,h)]
static void describe_grad_input(const wf_conv_shape *s, image y, image w, image x,
                                wf_gpu_product *p)
{
    p->m = s->cg;
    p->n = s->n * wf_conv_volume(s->in);
    p->k = wf_conv_volume(s->window) * s->kg;
    p->a_m = w.c;
    p->c_m = x.c;
    p->batch_a[5] = s->kg * w.n;
    p->batch_b[5] = s->kg * y.c;
    p->batch_c[5] = s->cg * x.c;
    p->term_size[3] = s->kg;
    p->term_a[3] = w.n;
    p->term_b[3] = y.c;
    p->column_size[0] = s->n;
    p->column_b[0] = y.n;
    p->column_c[0] = x.n;
    bool is_dense = s->stride[0] == 1 && s->stride[1] == 1 && s->stride[2] == 1;
    // Without holes the cell is column - term, and its index is a sum: the plain gather does.
    p->kind = is_dense ? 1 : 2;
    for (int i = 0; i < WF_CONV_AXES; i++) {
        p->term_size[i] = s->window[i];
        p->term_a[i] = w.cell[i];
        p->term_scale[i] = is_dense ? -s->dilation[i] : s->dilation[i];
        p->column_size[1 + i] = s->in[i];
        p->column_c[1 + i] = x.cell[i];
        p->column_scale[i] = 1;
        p->column_shift[i] = s->pad[i];
        p->limit[i] = s->out[i];
        if (is_dense) {
            p->term_b[i] = -s->dilation[i] * y.cell[i];
            p->column_b[1 + i] = y.cell[i];
            p->b_offset += s->pad[i] * y.cell[i];
        } else {
            p->stride[i] = s->stride[i];
            p->cell_b[i] = y.cell[i];
        }
    }
}

// dw[k,(c,r)] = sum over (n,p) of dy[k,(n,p)] x[(n,p),(c,r)]
static void describe_grad_weight(const wf_conv_shape *s, image x, image y, image w,
                                 wf_gpu_product *p)
{
    p->kind = 1;
    p->term_spatial = 1;
    p->m = s->kg;
    p->n = s->cg * wf_conv_volume(s->window);
    p->k = s->n * wf_conv_volume(s->out);
    p->a_m = y.c;
    p->c_m = w.n;
    p->batch_a[5] = s->kg * y.c;
    p->batch_b[5] = s->cg * x.c;
    p->batch_c[5] = s->kg * w.n;
    p->term_size[0] = s->n;
    p->term_a[0] = y.n;
    p->term_b[0] = x.n;
    p->column_size[0] = s->cg;
    p->column_b[0] = x.c;
    p->column_c[0] = w.c;
    p->a_k_fast = y.cell[WF_CONV_AXES - 1] == 1;
    for (int i = 0; i < WF_CONV_AXES; i++) {
        p->term_size[1 + i] = s->out[i];
        p->term_a[1 + i] = y.cell[i];
        p->term_b[1 + i] = s->stride[i] * x.cell[i];
        p->term_scale[i] = s->stride[i];
        p->term_shift[i] = -s->pad[i];
        p->column_size[1 + i] = s->window[i];
        p->column_b[1 + i] = s->dilation[i] * x.cell[i];
        p->column_c[1 + i] = w.cell[i];
        p->column_scale[i] = s->dilation[i];
        p->b_offset -= s->pad[i] * x.cell[i];
        p->limit[i] = s->in[i];
    }
}

// Which operands are a and b of the product is said by *out_a, *out_b.
static weft_status describe(const wf_task *task, wf_gpu_product *p, const wf_view **out_a,
                            const wf_view **out_b, weft_error *err)
{
    const weft_type in[] = {task->inputs[0].type, task->inputs[1].type};
    const wf_node_info info = {task->node->op, 2, in, 1, &task->outputs[0].type, task->node->attrs};
    wf_conv_shape s;
    wf_conv_kind kind;
    WEFT_TRY(wf_conv_shape_of(&info, &s, &kind, err));
    image first = image_of(&task->inputs[0]), second = image_of(&task->inputs[1]);
    image result = image_of(&task->outputs[0]);
    wf_gpu_product_init(p);
    p->batch_size[5] = s.groups;
    *out_a = &task->inputs[1]; // w, w and dy
    *out_b = &task->inputs[0];
    switch (kind) {
    case WF_CONV_FORWARD: describe_forward(&s, first, second, result, p); break;
    case WF_CONV_GRAD_INPUT: describe_grad_input(&s, first, second, result, p); break;
    case WF_CONV_GRAD_WEIGHT: describe_grad_weight(&s, first, second, result, p); break;
    }
    return WEFT_OK;
}

size_t wf_gpu_workspace_conv(const wf_gpu_device *dev, const wf_task *task)
{
    (void)dev;
    wf_gpu_product p;
    const wf_view *a, *b;
    return describe(task, &p, &a, &b, NULL) == WEFT_OK ? wf_gpu_product_workspace(&p) : 0;
}

weft_status wf_gpu_lower_conv(wf_gpu_builder *b)
{
    wf_gpu_product p;
    const wf_view *a_view, *b_view;
    WEFT_TRY(describe(b->task, &p, &a_view, &b_view, b->err));
    return wf_gpu_product_lower(b, &p, a_view, b_view, &b->task->outputs[0]);
}
