// y = conv(x, w): cross-correlation over 1 to 3 spatial axes with stride, padding, dilation, groups.
//   x [n,c,in..], w [k,c/groups,window..] -> y [n,k,out..], all f32
// Bits: a product whose terms run over the window's cells, row-major, then over the group's channels;
// padding is a term with operand +0 (doc/arithmetic.md, "Products").
#include "op/check_case.h"
#include "op/conv_common.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_conv_shape s;
    WEFT_TRY(wf_conv_shape_get(info, WF_CONV_FORWARD, &s, err));
    out[0] = wf_conv_type_y(&s);
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const weft_conv_options o = wf_conv_options_get(q->info);
    if (q->need[0]) {
        q->din[0] = weft_flush(
            q->g, weft_conv_grad_input(q->g, q->dout[0], q->in[1], q->info->in[0].dims + 2, &o));
    }
    if (q->need[1]) {
        q->din[1] = weft_flush(
            q->g, weft_conv_grad_weight(q->g, q->in[0], q->dout[0], q->info->in[1].dims + 2, &o));
    }
}

// y[n,k,p] of one sample, channel and cell
static void eval_cell(const wf_eval *q, const wf_conv_shape *s, wf_conv_terms *terms, int64_t n,
                      int64_t k, int64_t cell)
{
    const int64_t volume_in = wf_conv_volume(s->in), volume_w = wf_conv_volume(s->window);
    const int64_t c0 = k / s->kg * s->cg; // first channel of the group
    int64_t p[WF_CONV_AXES], r[WF_CONV_AXES];
    wf_conv_split(cell, s->out, p);
    for (int64_t wi = 0; wi < volume_w; wi++) {
        wf_conv_split(wi, s->window, r);
        const int64_t at = wf_conv_input_cell(s, p, r);
        for (int64_t c = 0; c < s->cg; c++) {
            // y[n,k,p] += x[n,c0+c,at] * w[k,c,r]
            const int64_t xi = at < 0 ? -1 : (n * s->c + c0 + c) * volume_in + at;
            wf_conv_terms_add(terms, wf_conv_get(&q->in[0], xi),
                              wf_conv_get(&q->in[1], (k * s->cg + c) * volume_w + wi));
        }
    }
    wf_conv_terms_store(terms, &q->out[0], (n * s->k + k) * wf_conv_volume(s->out) + cell);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_conv_shape s;
    WEFT_TRY(wf_conv_shape_get(q->info, WF_CONV_FORWARD, &s, err));
    wf_conv_terms terms;
    WEFT_TRY(wf_conv_terms_init(&terms, &q->allocator, wf_conv_volume(s.window) * s.cg, err));
    const int64_t volume = wf_conv_volume(s.out);
    for (int64_t n = 0; n < s.n; n++) {
        for (int64_t k = 0; k < s.k; k++) {
            for (int64_t cell = 0; cell < volume; cell++) {
                eval_cell(q, &s, &terms, n, k, cell);
            }
        }
    }
    wf_conv_terms_deinit(&terms, &q->allocator);
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_conv_cases(list, WF_CONV_FORWARD);
}

static const wf_attr_spec attrs[] = {WF_CONV_ATTR_SPECS};

const wf_op wf_op_conv = {
    .name = "conv",
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

weft_val weft_conv(weft_graph *g, weft_val x, weft_val w, const weft_conv_options *options)
{
    const weft_val in[] = {x, w};
    return wf_conv_build(g, &wf_op_conv, in, options, NULL);
}
