// The gradient of attention's added mask, out of ordinary ops: dS before the scale, summed over the axes along
// which the mask is broadcast (doc/arithmetic.md, Attention). No kernel of its own: the scores [b,h,tq,tk] stand
// in memory, which only networks pay that learn such a mask (biases of relative places).
#include <math.h>

#include "op/attention_common.h"

// x [b,h,tq,d] with keys [b,hk,tk,d], each head with those that it shares -> [b,h,tq,tk]
static weft_val pair_products(weft_graph *g, const wf_attention_shape *s, weft_val x, weft_val keys)
{
    const int64_t rows[] = {s->b, s->hk, s->h / s->hk * s->tq, s->d};
    const int64_t pairs[] = {s->b, s->h, s->tq, s->tk};
    const weft_val all = weft_matmul(g, wf_build_reshape(g, x, 4, rows), keys, false, true);
    return wf_build_reshape(g, all, 4, pairs);
}

// bool, to be broadcast to [b,h,tq,tk]: what wf_attention_sees says of each pair.
static weft_val seen_pairs(weft_graph *g, const wf_attention_shape *s, weft_val mask)
{
    const int64_t dims[] = {1, 1, s->tq, s->tk};
    const weft_val shown = weft_not_equal(g, mask, weft_scalar(g, WEFT_F32, -(double)INFINITY));
    if (!s->is_causal)
        return shown;
    const weft_val last = weft_add(g, weft_iota(g, WEFT_I32, dims, 4, 2),
                                   weft_scalar(g, WEFT_I32, (double)(s->tk - s->tq)));
    return weft_and(g, shown, weft_less_equal(g, weft_iota(g, WEFT_I32, dims, 4, 3), last));
}

weft_val wf_attention_mask_grad(const wf_grad_query *q, weft_val dout, weft_val delta)
{
    weft_graph *g = q->g;
    wf_attention_shape s;
    if (wf_attention_shape_get(q->info, false, &s, NULL) != WEFT_OK || !delta.id)
        return WEFT_NONE; // recorded before
    const weft_val mask = q->in[3];
    const int64_t row[] = {s.b, s.h, s.tq, 1};
    // fma(chain, scale, mask), as in the op itself
    const weft_val scaled =
        wf_build_scale(g, pair_products(g, &s, q->in[0], q->in[1]), (double)s.scale);
    const weft_val score = weft_add(g, scaled, mask);
    const weft_val p =
        wf_build_exp_flush(g, weft_sub(g, score, wf_build_reshape(g, q->out[1], 4, row)));
    const weft_val dp = pair_products(g, &s, dout, q->in[2]);
    const weft_val ds = weft_mul(g, p, weft_sub(g, dp, wf_build_reshape(g, delta, 4, row)));
    // Hidden keys may hold anything: their pairs are chosen away, not multiplied by 0.
    const weft_val terms =
        weft_select(g, seen_pairs(g, &s, mask), ds, weft_scalar(g, WEFT_F32, 0.0));
    return wf_build_sum_to(g, terms, q->info->in[3].ndim, q->info->in[3].dims);
}
