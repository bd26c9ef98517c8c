// dw = conv_grad_weight(x, dy): the convolution's gradient in its weights.
//   x [n,c,in..], dy [n,k,out..] -> dw [k,c/groups,window..], all f32
// Bits: a product whose terms run over the samples, then over the output's cells, row-major; padding
// is a term with x = +0.
#include "op/check_case.h"
#include "op/conv_common.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_conv_shape s;
    WEFT_TRY(wf_conv_shape_get(info, WF_CONV_GRAD_WEIGHT, &s, err));
    out[0] = wf_conv_type_w(&s);
    return WEFT_OK;
}

// dw is linear in x and in dy: with u the gradient arriving at dw, <u, dw> = <conv(x, u), dy>.
static void grad(const wf_grad_query *q)
{
    const weft_conv_options o = wf_conv_options_get(q->info);
    if (q->need[0]) {
        q->din[0] = weft_flush(
            q->g, weft_conv_grad_input(q->g, q->in[1], q->dout[0], q->info->in[0].dims + 2, &o));
    }
    if (q->need[1])
        q->din[1] = weft_flush(q->g, weft_conv(q->g, q->in[0], q->dout[0], &o));
}

// dw[k,c,r] of one pair of channels and window cell
static void eval_cell(const wf_eval *q, const wf_conv_shape *s, wf_conv_terms *terms, int64_t k,
                      int64_t c, int64_t cell)
{
    const int64_t volume_in = wf_conv_volume(s->in), volume_out = wf_conv_volume(s->out);
    const int64_t xc = k / s->kg * s->cg + c;
    int64_t p[WF_CONV_AXES], r[WF_CONV_AXES];
    wf_conv_split(cell, s->window, r);
    for (int64_t n = 0; n < s->n; n++) {
        for (int64_t pi = 0; pi < volume_out; pi++) {
            // dw[k,c,r] += x[n,xc,at] * dy[n,k,p]
            wf_conv_split(pi, s->out, p);
            const int64_t at = wf_conv_input_cell(s, p, r);
            const int64_t xi = at < 0 ? -1 : (n * s->c + xc) * volume_in + at;
            wf_conv_terms_add(terms, wf_conv_get(&q->in[0], xi),
                              wf_conv_get(&q->in[1], (n * s->k + k) * volume_out + pi));
        }
    }
    wf_conv_terms_store(terms, &q->out[0], (k * s->cg + c) * wf_conv_volume(s->window) + cell);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_conv_shape s;
    WEFT_TRY(wf_conv_shape_get(q->info, WF_CONV_GRAD_WEIGHT, &s, err));
    wf_conv_terms terms;
    WEFT_TRY(wf_conv_terms_init(&terms, &q->allocator, s.n * wf_conv_volume(s.out), err));
    const int64_t volume = wf_conv_volume(s.window);
    for (int64_t k = 0; k < s.k; k++) {
        for (int64_t c = 0; c < s.cg; c++) {
            for (int64_t cell = 0; cell < volume; cell++) {
                eval_cell(q, &s, &terms, k, c, cell);
            }
        }
    }
    wf_conv_terms_deinit(&terms, &q->allocator);
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_conv_cases(list, WF_CONV_GRAD_WEIGHT);
}

static const wf_attr_spec attrs[] = {WF_CONV_ATTR_SPECS, {"window", WF_ATTR_INTS}};

const wf_op wf_op_conv_grad_weight = {
    .name = "conv_grad_weight",
    .n_inputs = 2,
    .n_outputs = 1,
    .flags = WF_OP_WEIGHT_RESULT | WF_OP_NO_MINUS_ZERO,
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

weft_val weft_conv_grad_weight(weft_graph *g, weft_val x, weft_val dy, const int64_t *window,
                               const weft_conv_options *options)
{
    const weft_val in[] = {x, dy};
    return wf_conv_build(g, &wf_op_conv_grad_weight, in, options, window);
}
