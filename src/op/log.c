// y = ln a, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = weft_div(q->g, q->dout[0], q->in[0]);
}

WF_ELEMENTWISE_F1(log, wf_log(a), log(a), grad, 0)
