// y = a where a > 0, else +0; NaN stays, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // By the result, which is kept for the next layer anyway. A NaN lets the gradient through.
    const weft_val zero = wf_build_scalar_like(q->g, q->out[0], 0.0);
    const weft_val is_off = weft_less_equal(q->g, q->out[0], zero);
    q->din[0] = weft_select(q->g, is_off, zero, q->dout[0]);
}

WF_ELEMENTWISE_N1(relu, wf_relu(a), (T)(a > 0 ? a : 0), a <= 0.0 ? 0.0 : a, grad, 0)
