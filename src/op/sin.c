// y = sin a, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = weft_mul(q->g, q->dout[0], weft_cos(q->g, q->in[0]));
}

WF_ELEMENTWISE_F1(sin, wf_sin(a), sin(a), grad, 0)
