// y = e^a - 1, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // Not y + 1: for a below 0 that has lost the bits of a small e^a.
    q->din[0] = weft_mul(q->g, q->dout[0], wf_build_exp_flush(q->g, q->in[0]));
}

WF_ELEMENTWISE_F1(expm1, wf_expm1(a), expm1(a), grad, 0)
