// z = a + b, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = q->dout[0];
    q->din[1] = q->dout[0];
}

WF_ELEMENTWISE_N2(add, a + b, (T)((U)a + (U)b), a + b, grad, WF_OP_COMMUTATIVE)
