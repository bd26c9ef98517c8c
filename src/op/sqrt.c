// y = the root of a, correctly rounded, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // dy / da = 1 / (2 y): halving is exact.
    q->din[0] = weft_div(q->g, wf_build_scale(q->g, q->dout[0], 0.5), q->out[0]);
}

WF_ELEMENTWISE_F1(sqrt, WF_SQRT(a), sqrt(a), grad, 0)
