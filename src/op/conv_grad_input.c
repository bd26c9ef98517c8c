// dx = conv_grad_input(dy, w): the convolution's gradient in its input, also the forward of a
// transposed convolution.
//   dy [n,k,out..], w [k,c/groups,window..] -> dx [n,c,input_spatial..], all f32
// Bits: a product whose terms run over the window's cells, row-major, then over the group's output
// channels; cells that no output reaches, and holes of the stride, are terms with dy = +0.
#include "op/check_case.h"
#include "op/conv_common.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_conv_shape s;
    WEFT_TRY(wf_conv_shape_get(info, WF_CONV_GRAD_INPUT, &s, err));
    out[0] = wf_conv_type_x(&s);
    return WEFT_OK;
}

// dx is linear in dy and in w: with u the gradient arriving at dx, <u, dx> = <conv(u, w), dy>.
static void grad(const wf_grad_query *q)
{
    const weft_conv_options o = wf_conv_options_get(q->info);
    if (q->need[0])
        q->din[0] = weft_flush(q->g, weft_conv(q->g, q->dout[0], q->in[1], &o));
    if (q->need[1]) {
        q->din[1] = weft_flush(
            q->g, weft_conv_grad_weight(q->g, q->dout[0], q->in[0], q->info->in[1].dims + 2, &o));
    }
}

// dx[n,c,h] of one sample, channel and cell
static void eval_cell(const wf_eval *q, const wf_conv_shape *s, wf_conv_terms *terms, int64_t n,
                      int64_t c, int64_t cell)
{
    const int64_t volume_out = wf_conv_volume(s->out), volume_w = wf_conv_volume(s->window);
    const int64_t group = c / s->cg;
    int64_t h[WF_CONV_AXES], r[WF_CONV_AXES];
    wf_conv_split(cell, s->in, h);
    for (int64_t wi = 0; wi < volume_w; wi++) {
        wf_conv_split(wi, s->window, r);
        const int64_t at = wf_conv_output_cell(s, h, r);
        for (int64_t i = 0; i < s->kg; i++) {
            // dx[n,c,h] += dy[n,k,at] * w[k,c,r]
            const int64_t k = group * s->kg + i;
            const int64_t yi = at < 0 ? -1 : (n * s->k + k) * volume_out + at;
            wf_conv_terms_add(terms, wf_conv_get(&q->in[0], yi),
                              wf_conv_get(&q->in[1], (k * s->cg + c % s->cg) * volume_w + wi));
        }
    }
    wf_conv_terms_store(terms, &q->out[0], (n * s->c + c) * wf_conv_volume(s->in) + cell);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_conv_shape s;
    WEFT_TRY(wf_conv_shape_get(q->info, WF_CONV_GRAD_INPUT, &s, err));
    wf_conv_terms terms;
    WEFT_TRY(wf_conv_terms_init(&terms, &q->allocator, wf_conv_volume(s.window) * s.kg, err));
    const int64_t volume = wf_conv_volume(s.in);
    for (int64_t n = 0; n < s.n; n++) {
        for (int64_t c = 0; c < s.c; c++) {
            for (int64_t cell = 0; cell < volume; cell++) {
                eval_cell(q, &s, &terms, n, c, cell);
            }
        }
    }
    wf_conv_terms_deinit(&terms, &q->allocator);
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_conv_cases(list, WF_CONV_GRAD_INPUT);
}

static const wf_attr_spec attrs[] = {WF_CONV_ATTR_SPECS, {"input_spatial", WF_ATTR_INTS}};

const wf_op wf_op_conv_grad_input = {
    .name = "conv_grad_input",
    .n_inputs = 2,
    .n_outputs = 1,
    .flags = WF_OP_WEIGHT_OPERAND | WF_OP_NO_MINUS_ZERO,
    .task = WF_TASK_CONV,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_conv_cost,
    .cases = cases,
};

weft_val weft_conv_grad_input(weft_graph *g, weft_val dy, weft_val w, const int64_t *input_spatial,
                              const weft_conv_options *options)
{
    const weft_val in[] = {dy, w};
    return wf_conv_build(g, &wf_op_conv_grad_input, in, options, input_spatial);
}
