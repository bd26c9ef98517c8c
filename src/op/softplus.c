// y = ln(1 + e^a), elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = weft_mul(q->g, q->dout[0], weft_sigmoid(q->g, q->in[0]));
}

WF_ELEMENTWISE_F1(softplus, wf_softplus(a), a > 0.0 ? a + log1p(exp(-a)) : log1p(exp(a)), grad, 0)
