// next h, next c = lstm_cell(x, p, c): what one step of an LSTM does behind its products.
//   x [b,4h] f32: the input's part of input, forget, candidate and output gate, as PyTorch has them
//   p [b,4h] f32: the state's part of the same
//   c [b,h]  f32
// The expansion is the definition: of x + p, i, f, o = sigmoid; g = tanh; c' = f * c + i * g, which the canonical
// pass makes fma(f, c, i * g); h' = o * tanh(c').
#include "op/build.h"
#include "op/cell_common.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    return wf_infer_cell(info, 4, 'c', out, err);
}

// All [b,h].
typedef struct parts {
    weft_val i, f, g, o;
} parts;

static weft_val part(weft_graph *g, const weft_val *in, const weft_type *c, int64_t k)
{
    const int64_t start[] = {0, k * c->dims[1]}, stop[] = {c->dims[0], (k + 1) * c->dims[1]};
    return weft_add(g, weft_slice(g, in[0], start, stop, NULL),
                    weft_slice(g, in[1], start, stop, NULL));
}

static parts build_parts(weft_graph *g, const weft_val *in, const weft_type *c)
{
    const parts p = {weft_sigmoid(g, part(g, in, c, 0)), weft_sigmoid(g, part(g, in, c, 1)),
                     weft_tanh(g, part(g, in, c, 2)), weft_sigmoid(g, part(g, in, c, 3))};
    return p;
}

static void expand(weft_graph *g, const wf_node_info *info, const weft_val *in, weft_val *out)
{
    const parts p = build_parts(g, in, &info->in[2]);
    out[1] = weft_add(g, weft_mul(g, p.f, in[2]), weft_mul(g, p.i, p.g));
    out[0] = weft_mul(g, p.o, weft_tanh(g, out[1]));
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

static void grad(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const parts p = build_parts(g, q->in, &q->info->in[2]);
    const weft_val dh = q->dout[0];
    weft_val dc = q->dout[1], d_o = WEFT_NONE;
    if (dh.id) {
        const weft_val t = weft_tanh(g, q->out[1]);
        const weft_val through_h = weft_mul(g, weft_mul(g, dh, p.o), tanh_slope(g, t));
        dc = dc.id ? weft_add(g, dc, through_h) : through_h;
        d_o = weft_mul(g, weft_mul(g, dh, t), slope(g, p.o));
    }
    if (q->need[0] || q->need[1]) { // the same of both
        if (!d_o.id)
            d_o = wf_build_fill_like(g, p.o, 0.0);
        const weft_val list[] = {weft_mul(g, weft_mul(g, dc, p.g), slope(g, p.i)),
                                 weft_mul(g, weft_mul(g, dc, q->in[2]), slope(g, p.f)),
                                 weft_mul(g, weft_mul(g, dc, p.i), tanh_slope(g, p.g)), d_o};
        weft_val flushed[4];
        for (int k = 0; k < 4; k++)
            flushed[k] = weft_flush(g, list[k]);
        q->din[0] = q->din[1] = weft_concat(g, flushed, 4, 1);
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
    .n_outputs = 2,
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
