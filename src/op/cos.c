// y = cos a, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = weft_neg(q->g, weft_mul(q->g, q->dout[0], weft_sin(q->g, q->in[0])));
}

WF_ELEMENTWISE_F1(cos, wf_cos(a), cos(a), grad, 0)
