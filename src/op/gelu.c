// y = a * Phi(a), Phi the normal distribution: by erf, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // dy / da = Phi(a) + a phi(a). Below -1/2, Phi = y / a, which keeps its bits in the tail, where
    // (1 + erf) / 2 has none left; above, the latter, whose own derivative is exact near 0.
    weft_graph *g = q->g;
    const weft_val a = q->in[0];
    const weft_val half = wf_build_scalar_like(g, a, 0.5);
    const weft_val is_tail = weft_less(g, a, weft_neg(g, half));
    const weft_val divisor = weft_select(g, is_tail, a, wf_build_scalar_like(g, a, -1.0));
    const weft_val tail = weft_div(g, q->out[0], divisor);
    const weft_val erf = weft_erf(g, wf_build_scale(g, a, 0.70710678118654752));
    const weft_val phi_sum = weft_select(g, is_tail, tail, weft_fma(g, erf, half, half));
    const weft_val half_square = wf_build_scale(g, weft_mul(g, a, a), -0.5);
    const weft_val bell = wf_build_exp_flush(g, half_square);
    const weft_val phi = wf_build_scale(g, bell, 0.3989422804014327); // 1 / sqrt(2 pi)
    q->din[0] = weft_mul(g, q->dout[0], weft_fma(g, a, phi, phi_sum));
}

WF_ELEMENTWISE_F1(gelu, wf_gelu(a), a < -1e30 ? -0.0 : 0.5 * a * erfc(a * -0.70710678118654752),
                  grad, 0)
