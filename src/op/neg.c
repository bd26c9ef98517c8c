// y = -a, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = weft_neg(q->g, q->dout[0]);
}

WF_ELEMENTWISE_N1(neg, -a, (T)(0 - (U)a), -a, grad, 0)
