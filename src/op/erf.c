// y = the error function of a, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // dy / da = 2 / sqrt(pi) * e^(-a^2)
    const weft_val square = weft_mul(q->g, q->in[0], q->in[0]);
    const weft_val bell = wf_build_exp_flush(q->g, weft_neg(q->g, square));
    q->din[0] = weft_mul(q->g, q->dout[0], wf_build_scale(q->g, bell, 1.1283791670955126));
}

WF_ELEMENTWISE_F1(erf, wf_erf(a), erf(a), grad, 0)
