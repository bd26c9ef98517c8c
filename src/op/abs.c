// y = |a|; the least integer stays what it is, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // sign(0) is 0: the subgradient in the middle.
    q->din[0] = weft_mul(q->g, q->dout[0], weft_sign(q->g, q->in[0]));
}

WF_ELEMENTWISE_N1(abs, wf_abs(a), (T)(a > 0 ? (U)a : 0 - (U)a), fabs(a), grad, 0)
