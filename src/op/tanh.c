// y = tanh a, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // tanh(a) = 2 sigmoid(2a) - 1, so dy / da = 4 sigmoid'(2a): 1 - y^2 loses its bits where y is near 1.
    const weft_val slope = wf_build_sigmoid_slope(q->g, wf_build_scale(q->g, q->in[0], 2.0));
    q->din[0] = weft_mul(q->g, q->dout[0], wf_build_scale(q->g, slope, 4.0));
}

WF_ELEMENTWISE_F1(tanh, wf_tanh(a), tanh(a), grad, 0)
