// next h = gru_cell(x, p, h): what one step of a GRU does behind its products.
//   x [b,3h] f32: the input's part of reset gate, update gate and candidate, as PyTorch has them
//   p [b,3h] f32: the state's part of the same; the reset gate multiplies its candidate
//   h [b,h]  f32
// The expansion is the definition: r = sigmoid(x_r + p_r), z = sigmoid(x_z + p_z), n = tanh(r * p_n + x_n),
// h' = z * (h - n) + n; the canonical pass makes fma of the last two.
#include "op/build.h"
#include "op/cell_common.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    return wf_infer_cell(info, 3, 'h', out, err);
}

// All [b,h].
typedef struct parts {
    weft_val r, z, n, p_n;
} parts;

static weft_val part(weft_graph *g, weft_val x, const weft_type *h, int64_t k)
{
    const int64_t start[] = {0, k * h->dims[1]}, stop[] = {h->dims[0], (k + 1) * h->dims[1]};
    return weft_slice(g, x, start, stop, NULL);
}

static parts build_parts(weft_graph *g, const weft_val *in, const weft_type *h)
{
    parts p;
    p.r = weft_sigmoid(g, weft_add(g, part(g, in[0], h, 0), part(g, in[1], h, 0)));
    p.z = weft_sigmoid(g, weft_add(g, part(g, in[0], h, 1), part(g, in[1], h, 1)));
    p.p_n = part(g, in[1], h, 2);
    p.n = weft_tanh(g, weft_add(g, weft_mul(g, p.r, p.p_n), part(g, in[0], h, 2)));
    return p;
}

static void expand(weft_graph *g, const wf_node_info *info, const weft_val *in, weft_val *out)
{
    const parts p = build_parts(g, in, &info->in[2]);
    out[0] = weft_add(g, weft_mul(g, p.z, weft_sub(g, in[2], p.n)), p.n);
}

static void grad(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const parts p = build_parts(g, q->in, &q->info->in[2]);
    const weft_val one = weft_scalar(g, WEFT_F32, 1.0), dh = q->dout[0];
    const weft_val not_z = weft_sub(g, one, p.z);
    const weft_val d_n =
        weft_flush(g, weft_mul(g, weft_mul(g, dh, not_z), weft_sub(g, one, weft_mul(g, p.n, p.n))));
    const weft_val d_z = weft_flush(
        g, weft_mul(g, weft_mul(g, dh, weft_sub(g, q->in[2], p.n)), weft_mul(g, p.z, not_z)));
    const weft_val d_r = weft_flush(
        g, weft_mul(g, weft_mul(g, d_n, p.p_n), weft_mul(g, p.r, weft_sub(g, one, p.r))));
    if (q->need[0]) {
        const weft_val list[] = {d_r, d_z, d_n};
        q->din[0] = weft_concat(g, list, 3, 1);
    }
    if (q->need[1]) {
        const weft_val list[] = {d_r, d_z, weft_flush(g, weft_mul(g, d_n, p.r))};
        q->din[1] = weft_concat(g, list, 3, 1);
    }
    if (q->need[2])
        q->din[2] = weft_flush(g, weft_mul(g, dh, p.z));
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    return weft_gru_cell(g, in[0], in[1], in[2]);
}

static void cases(wf_check_list *list)
{
    wf_cell_add_cases(list, 3, build_case);
}

const wf_op wf_op_gru_cell = {
    .name = "gru_cell",
    .n_inputs = 3,
    .n_outputs = 1,
    .task = WF_TASK_MAP,
    .infer = infer,
    .grad = grad,
    .expand = expand,
    .cost = wf_cost_cell,
    .cases = cases,
};

weft_val weft_gru_cell(weft_graph *g, weft_val x, weft_val p, weft_val h)
{
    const weft_val in[] = {x, p, h};
    return wf_graph_add(g, &wf_op_gru_cell, in, 3, NULL);
}
