// next h, next c, gates = lstm_cell(x, p, c): what one step of an LSTM does behind its products.
//   x [b,4h] f32: the input's part of input, forget, candidate and output gate, as PyTorch has them
//   p [b,4h] f32: the state's part of the same
//   c [b,h]  f32
//   gates [b,4h]: i, f, g, o, for the gradient: of functions that are dear, only tanh(c') is computed again
// The expansion is the definition: of x + p, i, f, o = sigmoid; g = tanh; c' = f * c + i * g, which the canonical
// pass makes fma(f, c, i * g); h' = o * tanh(c').
#include "op/build.h"
#include "op/cell_common.h"

enum { OUT_H, OUT_C, OUT_GATES };

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    WEFT_TRY(wf_infer_cell(info, 4, 'c', out, err));
    out[OUT_GATES] = info->in[0];
    return WEFT_OK;
}

// All [b,h].
typedef struct parts {
    weft_val i, f, g, o;
} parts;

// One of the four parts of x [b,4h].
static weft_val part(weft_graph *g, weft_val x, const weft_type *c, int64_t k)
{
    const int64_t start[] = {0, k * c->dims[1]}, stop[] = {c->dims[0], (k + 1) * c->dims[1]};
    return weft_slice(g, x, start, stop, NULL);
}

static weft_val sum(weft_graph *g, const weft_val *in, const weft_type *c, int64_t k)
{
    return weft_add(g, part(g, in[0], c, k), part(g, in[1], c, k));
}

static weft_val next_c(weft_graph *g, const parts *p, weft_val c)
{
    return weft_add(g, weft_mul(g, p->f, c), weft_mul(g, p->i, p->g));
}

static void expand(weft_graph *g, const wf_node_info *info, const weft_val *in, weft_val *out)
{
    const weft_type *c = &info->in[2];
    const parts p = {weft_sigmoid(g, sum(g, in, c, 0)), weft_sigmoid(g, sum(g, in, c, 1)),
                     weft_tanh(g, sum(g, in, c, 2)), weft_sigmoid(g, sum(g, in, c, 3))};
    const weft_val gates[] = {p.i, p.f, p.g, p.o};
    out[OUT_C] = next_c(g, &p, in[2]);
    out[OUT_H] = weft_mul(g, p.o, weft_tanh(g, out[OUT_C]));
    out[OUT_GATES] = weft_concat(g, gates, 4, 1);
}

// y (1 - y): its error is relative to 1, which is what a gate's gradient is added to.
static weft_val slope(weft_graph *g, weft_val y)
{
    return weft_mul(g, y, weft_sub(g, weft_scalar(g, WEFT_F32, 1.0), y));
}

static weft_val tanh_slope(weft_graph *g, weft_val y)
{
    return weft_sub(g, weft_scalar(g, WEFT_F32, 1.0), weft_mul(g, y, y));
}

// Gradients of i, f, g, o; what arrives at the gates themselves comes from a gradient of this gradient.
static parts build_gate_gradients(const wf_grad_query *q, const parts *p, weft_val dc, weft_val d_o)
{
    weft_graph *g = q->g;
    weft_val d[] = {weft_mul(g, dc, p->g), weft_mul(g, dc, q->in[2]), weft_mul(g, dc, p->i), d_o};
    for (int64_t k = 0; k < 4 && q->dout[OUT_GATES].id; k++)
        d[k] = weft_add(g, d[k], part(g, q->dout[OUT_GATES], &q->info->in[2], k));
    return (parts){d[0], d[1], d[2], d[3]};
}

static void grad(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const weft_type *c = &q->info->in[2];
    const weft_val gates = q->out[OUT_GATES], dh = q->dout[OUT_H];
    const parts p = {part(g, gates, c, 0), part(g, gates, c, 1), part(g, gates, c, 2),
                     part(g, gates, c, 3)};
    weft_val dc = q->dout[OUT_C], d_o = wf_build_fill_like(g, p.o, 0.0);
    if (dh.id) {
        // c' again, by the same ops: of a scan it costs less than a stack.
        const weft_val t = weft_tanh(g, next_c(g, &p, q->in[2]));
        const weft_val through_h = weft_mul(g, weft_mul(g, dh, p.o), tanh_slope(g, t));
        dc = dc.id ? weft_add(g, dc, through_h) : through_h;
        d_o = weft_mul(g, dh, t);
    }
    if (!dc.id)
        dc = wf_build_fill_like(g, p.o, 0.0);
    if (q->need[0] || q->need[1]) { // the same of both
        const parts d = build_gate_gradients(q, &p, dc, d_o);
        const weft_val list[] = {weft_flush(g, weft_mul(g, d.i, slope(g, p.i))),
                                 weft_flush(g, weft_mul(g, d.f, slope(g, p.f))),
                                 weft_flush(g, weft_mul(g, d.g, tanh_slope(g, p.g))),
                                 weft_flush(g, weft_mul(g, d.o, slope(g, p.o)))};
        q->din[0] = q->din[1] = weft_concat(g, list, 4, 1);
    }
    if (q->need[2])
        q->din[2] = weft_flush(g, weft_mul(g, dc, p.f));
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_val h, c;
    (void)p;
    weft_lstm_cell(g, in[0], in[1], in[2], &h, &c);
    return h;
}

static void cases(wf_check_list *list)
{
    wf_cell_add_cases(list, 4, build_case);
}

const wf_op wf_op_lstm_cell = {
    .name = "lstm_cell",
    .n_inputs = 3,
    .n_outputs = 3,
    .kept_outputs = 1u << OUT_GATES,
    .task = WF_TASK_MAP,
    .infer = infer,
    .grad = grad,
    .expand = expand,
    .cost = wf_cost_cell,
    .cases = cases,
};

void weft_lstm_cell(weft_graph *g, weft_val x, weft_val p, weft_val c, weft_val *out_h,
                    weft_val *out_c)
{
    const weft_val in[] = {x, p, c};
    const weft_val h = wf_graph_add(g, &wf_op_lstm_cell, in, 3, NULL);
    *out_h = h;
    *out_c = wf_val_output(h, 1);
}
