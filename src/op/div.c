// z = a / b, correctly rounded; integers toward zero, n / 0 = 0 and MIN / -1 = MIN, elementwise.
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    const weft_val da = weft_div(q->g, q->dout[0], q->in[1]);
    q->din[0] = da;
    // dz / db = -a / b^2 = -z / b
    q->din[1] = q->need[1] ? weft_neg(q->g, weft_mul(q->g, da, q->out[0])) : WEFT_NONE;
}

WF_ELEMENTWISE_N2(div, WF_DIV(a, b),
                  (T)(b == 0                         ? 0
                      : ((T)-1 < (T)1 && b == (T)-1) ? (T)(0 - (U)a)
                                                     : a / b),
                  a / b, grad, 0)
