// y = 1 / (1 + e^-a), elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    q->din[0] = weft_mul(q->g, q->dout[0], wf_build_sigmoid_slope(q->g, q->in[0]));
}

WF_ELEMENTWISE_F1(sigmoid, wf_sigmoid(a), 1.0 / (1.0 + exp(-a)), grad, 0)
