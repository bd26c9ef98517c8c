// z = a - b, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = q->dout[0];
    q->din[1] = q->need[1] ? weft_neg(q->g, q->dout[0]) : WEFT_NONE;
}

WF_ELEMENTWISE_N2(sub, a - b, (T)((U)a - (U)b), a - b, grad, 0)
