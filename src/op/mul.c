// z = a * b, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = q->need[0] ? weft_mul(q->g, q->dout[0], q->in[1]) : WEFT_NONE;
    q->din[1] = q->need[1] ? weft_mul(q->g, q->dout[0], q->in[0]) : WEFT_NONE;
}

WF_ELEMENTWISE_N2(mul, a *b, (T)((U)a *(U)b), a *b, grad, WF_OP_COMMUTATIVE | WF_OP_PRODUCT)
