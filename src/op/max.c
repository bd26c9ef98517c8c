// z = the greater of a and b: NaN wins, then -0 < +0, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // To the winner; of equals, to a.
    const weft_val zero = wf_build_scalar_like(q->g, q->dout[0], 0.0);
    const weft_val is_a = weft_less_equal(q->g, q->in[1], q->in[0]);
    q->din[0] = q->need[0] ? weft_select(q->g, is_a, q->dout[0], zero) : WEFT_NONE;
    q->din[1] = q->need[1] ? weft_select(q->g, is_a, zero, q->dout[0]) : WEFT_NONE;
}

WF_ELEMENTWISE_N2(max, wf_max(a, b), (T)(a > b ? a : b),
                  a != a  ? a
                  : a > b ? a
                          : b,
                  grad, WF_OP_COMMUTATIVE)
