// y = e^x, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = weft_mul(q->g, q->dout[0], q->out[0]);
}

WF_ELEMENTWISE_F1(exp, wf_exp(a), exp(a), grad, 0)
