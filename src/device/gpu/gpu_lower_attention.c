// attention and its gradient on a GPU: sizes and the mask's kind are arguments, how many columns of d a
// work-item holds is a macro. Kernels and method: gpu_attention.h.
#include <string.h>

#include "device/gpu/gpu_lower.h"
#include "device/gpu/gpu_source.h"
#include "op/attention_common.h"

#define GROUP 64
#define ROWS 8
#define MAX_COLUMNS 16 // d up to 1024: private memory is the limit

// The kernel's wf_attention, in its order.
typedef struct attention_values {
    int64_t b, h, hk, tq, tk, d, is_causal, scale;
    int64_t mask_strides[4];
    int64_t q_offset, k_offset, v_offset, mask_offset, y_offset, z_offset;
    int64_t lse_offset, delta_offset, dout_offset;
    int64_t mask_kind, is_gated;
} attention_values;

typedef struct launcher {
    wf_gpu_builder *b;
    attention_values v;
    int n_columns;
    wf_gpu_arg args[13];
    size_t n_args;
} launcher;

static void add_buffer(launcher *l, wf_gpu_place place)
{
    l->args[l->n_args++].buffer = place.buffer;
}

static int64_t add_view(launcher *l, const wf_view *view)
{
    const wf_gpu_place place = wf_gpu_place_view(l->b, view);
    add_buffer(l, place);
    return place.offset;
}

static weft_status launcher_init(launcher *l, wf_gpu_builder *b, bool is_grad)
{
    const wf_task *t = b->task;
    weft_type in[WF_ATTENTION_MASK + 1], out[3];
    wf_attention_shape s;
    memset(l, 0, sizeof *l);
    for (size_t i = 0; i < t->n_inputs && i < WF_COUNT_OF(in); i++) {
        in[i] = t->inputs[i].type;
        if (!wf_view_is_dense(&t->inputs[i])) {
            WEFT_FAIL(b->err, WEFT_ERR_INTERNAL, "%s: operand %zu is not dense", t->node->op->name,
                      i);
        }
    }
    for (size_t i = 0; i < t->n_outputs && i < WF_COUNT_OF(out); i++)
        out[i] = t->outputs[i].type;
    const wf_node_info info = {t->node->op, t->n_inputs, in, t->n_outputs, out, t->node->attrs};
    WEFT_TRY(wf_attention_shape_get(&info, is_grad, &s, b->err));
    uint32_t bits;
    memcpy(&bits, &s.scale, sizeof bits);
    l->b = b;
    l->v = (attention_values){.b = s.b,
                              .h = s.h,
                              .hk = s.hk,
                              .tq = s.tq,
                              .tk = s.tk,
                              .d = s.d,
                              .is_causal = s.is_causal,
                              .scale = (int64_t)bits};
    memcpy(l->v.mask_strides, s.mask_strides, sizeof l->v.mask_strides);
    l->v.is_gated = t->is_gated;
    l->v.mask_kind = !s.has_mask ? 0 : s.is_additive ? 2 : 1;
    const int64_t n_columns = (s.d + GROUP - 1) / GROUP;
    if (n_columns > MAX_COLUMNS) {
        WEFT_FAIL(b->err, WEFT_ERR_UNSUPPORTED, "%s: d is %lld, at most %d fit on %s",
                  t->node->op->name, (long long)s.d, MAX_COLUMNS * GROUP, b->dev->base.id);
    }
    l->n_columns = (int)n_columns;
    return WEFT_OK;
}

// q, k, v and the mask, as bytes and as floats; q in its place where there is none.
static void add_operands(launcher *l)
{
    const wf_task *t = l->b->task;
    l->n_args = 0;
    l->v.q_offset = add_view(l, &t->inputs[0]);
    l->v.k_offset = add_view(l, &t->inputs[1]);
    l->v.v_offset = add_view(l, &t->inputs[2]);
    const wf_view *mask = &t->inputs[l->v.mask_kind ? t->n_inputs - 1 : 0];
    (void)add_view(l, mask);
    l->v.mask_offset = add_view(l, mask);
}

static weft_status launch(launcher *l, int part, const char *kernel, int64_t n_groups)
{
    wf_text source;
    l->args[l->n_args++].buffer = l->b->dev->status;
    l->args[l->n_args].data = &l->v;
    l->args[l->n_args++].size_bytes = sizeof l->v;
    if (n_groups == 0)
        return WEFT_OK;
    if (n_groups > INT32_MAX) {
        WEFT_FAIL(l->b->err, WEFT_ERR_UNSUPPORTED, "%s: more than 2^31 work-groups",
                  l->b->task->node->op->name);
    }
    const wf_gpu_launch_spec spec = {
        kernel, {GROUP, 1, 1}, {(uint32_t)n_groups, 1, 1}, l->n_args, l->args};
    WEFT_TRY(wf_gpu_source_start(l->b, &source));
    wf_text_printf(&source, "#define WF_PART %d\n#define WF_COLUMNS %d\n", part, l->n_columns);
    weft_status status = wf_gpu_source_append(&source, "gpu_attention.h", l->b->err);
    if (status == WEFT_OK)
        status = wf_gpu_add_launch(l->b, wf_text_str(&source), &spec);
    wf_text_deinit(&source);
    return status;
}

static void add_gradient_operands(launcher *l)
{
    const wf_task *t = l->b->task;
    add_operands(l);
    l->v.lse_offset = add_view(l, &t->inputs[WF_ATTENTION_LSE]);
    l->v.delta_offset = add_view(l, &t->inputs[WF_ATTENTION_DELTA]);
    l->v.dout_offset = add_view(l, &t->inputs[WF_ATTENTION_DOUT]);
}

static int64_t count_blocks(int64_t n)
{
    return (n + ROWS - 1) / ROWS;
}

weft_status wf_gpu_lower_attention(wf_gpu_builder *b)
{
    const wf_task *t = b->task;
    const bool is_grad = t->n_outputs == 3;
    launcher l;
    WEFT_TRY(launcher_init(&l, b, is_grad));
    const int64_t n_query_groups = l.v.b * l.v.h * count_blocks(l.v.tq);
    if (!is_grad) {
        add_operands(&l);
        l.v.y_offset = add_view(&l, &t->outputs[0]);
        l.v.z_offset = add_view(&l, &t->outputs[1]);
        return launch(&l, 0, "wf_attention_forward", n_query_groups);
    }
    add_gradient_operands(&l);
    l.v.y_offset = add_view(&l, &t->outputs[0]);
    WEFT_TRY(launch(&l, 1, "wf_attention_dq", n_query_groups));
    add_gradient_operands(&l);
    l.v.y_offset = add_view(&l, &t->outputs[1]);
    l.v.z_offset = add_view(&l, &t->outputs[2]);
    return launch(&l, 2, "wf_attention_dkv", l.v.b * l.v.hk * count_blocks(l.v.tk));
}
