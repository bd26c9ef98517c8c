// y = a, but a zero of the same sign where |a| < 2^-126 (doc/arithmetic.md, Numbers), elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = q->dout[0];
}

WF_ELEMENTWISE_F1(flush, wf_flush(a), fabs(a) < 0x1p-126 ? copysign(0.0, a) : a, grad, 0)
