// z = a^b, elementwise.
#include "op/build.h"
#include "op/elementwise.h"

// b * a^(b-1), and 0 where b is 0: the power has a pole at a = 0 there.
static weft_val base_grad(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const weft_val a = q->in[0], b = q->in[1];
    const weft_val zero = wf_build_scalar_like(g, b, 0.0);
    const weft_val one = wf_build_scalar_like(g, b, 1.0);
    const weft_val slope = weft_mul(g, b, weft_pow(g, a, weft_sub(g, b, one)));
    return weft_mul(g, q->dout[0], weft_select(g, weft_equal(g, b, zero), zero, slope));
}

// a^b * ln a, and 0 where a is 0 and b is not below 0: its limit. NaN for a below 0.
static weft_val exponent_grad(const wf_grad_query *q)
{
    weft_graph *g = q->g;
    const weft_val a = q->in[0], b = q->in[1];
    const weft_val zero = wf_build_scalar_like(g, a, 0.0);
    const weft_val one = wf_build_scalar_like(g, a, 1.0);
    const weft_val is_limit = weft_and(g, weft_equal(g, a, zero), weft_less_equal(g, zero, b));
    const weft_val base = weft_select(g, is_limit, one, a);
    return weft_mul(g, q->dout[0], weft_mul(g, q->out[0], weft_log(g, base)));
}

static void grad(const wf_grad_query *q)
{
    if (q->need[0])
        q->din[0] = base_grad(q);
    if (q->need[1])
        q->din[1] = exponent_grad(q);
}

WF_ELEMENTWISE_F2(pow, wf_pow(a, b), pow(a, b), grad, 0)
