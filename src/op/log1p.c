// y = ln(1 + a), elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    const weft_val one = wf_build_scalar_like(q->g, q->in[0], 1.0);
    q->din[0] = weft_div(q->g, q->dout[0], weft_add(q->g, q->in[0], one));
}

WF_ELEMENTWISE_F1(log1p, wf_log1p(a), log1p(a), grad, 0)
