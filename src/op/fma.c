// y = a * b + c, rounded once, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = q->need[0] ? weft_mul(q->g, q->dout[0], q->in[1]) : WEFT_NONE;
    q->din[1] = q->need[1] ? weft_mul(q->g, q->dout[0], q->in[0]) : WEFT_NONE;
    q->din[2] = q->dout[0];
}

WF_ELEMENTWISE_F3(fma, WF_FMA(a, b, c), a *b + c, grad, 0)
