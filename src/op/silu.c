// y = a * sigmoid(a), elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // dy / da = s(a) + a s(a) s(-a) = s(a) (1 + a s(-a)), s = sigmoid; s(-a), not 1 - s(a), keeps its bits.
    weft_graph *g = q->g;
    const weft_val a = q->in[0];
    const weft_val other = weft_sigmoid(g, weft_neg(g, a));
    const weft_val factor = weft_fma(g, a, other, wf_build_scalar_like(g, a, 1.0));
    q->din[0] = weft_mul(g, q->dout[0], weft_mul(g, weft_sigmoid(g, a), factor));
}

WF_ELEMENTWISE_F1(silu, wf_silu(a), a < -1e30 ? -0.0 : a / (1.0 + exp(-a)), grad, 0)
