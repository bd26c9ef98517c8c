// y = a * Phi(a), Phi the normal distribution: by erf, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // dy / da = Phi(a) + a phi(a). Phi = y / a keeps its bits in the tail, where 1 + erf has none left;
    // near 0, where y / a has none, Phi is 1/2 to within 2^-64.
    weft_graph *g = q->g;
    const weft_val a = q->in[0];
    const weft_val is_small = weft_less(g, weft_abs(g, a), wf_build_scalar_like(g, a, 0x1p-64));
    const weft_val divisor = weft_select(g, is_small, wf_build_scalar_like(g, a, 1.0), a);
    const weft_val quotient = weft_div(g, weft_gelu(g, a), divisor);
    const weft_val phi_sum = weft_select(g, is_small, wf_build_scalar_like(g, a, 0.5), quotient);
    const weft_val half_square = wf_build_scale(g, weft_mul(g, a, a), -0.5);
    const weft_val bell = wf_build_exp_flush(g, half_square);
    const weft_val phi = wf_build_scale(g, bell, 0.3989422804014327); // 1 / sqrt(2 pi)
    q->din[0] = weft_mul(g, q->dout[0], weft_fma(g, a, phi, phi_sum));
}

WF_ELEMENTWISE_F1(gelu, wf_gelu(a), 0.5 * a * erfc(a * -0.70710678118654752), grad, 0)
