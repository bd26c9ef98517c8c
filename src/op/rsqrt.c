// y = 1 / sqrt(a), each rounded, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // dy / da = -y / (2 a)
    const weft_val slope = weft_div(q->g, wf_build_scale(q->g, q->out[0], -0.5), q->in[0]);
    q->din[0] = weft_mul(q->g, q->dout[0], slope);
}

WF_ELEMENTWISE_F1(rsqrt, wf_rsqrt(a), 1.0 / sqrt(a), grad, 0)
