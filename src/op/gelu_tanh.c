// y = a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 a^3))), elementwise.
#include "op/build.h"
#include "op/elementwise.h"

static void grad(const wf_grad_query *q)
{
    // y = a s(v), v = 2 sqrt(2/pi) (a + 0.044715 a^3), s = sigmoid;
    // dy / da = s(v) (1 + a s(-v) v'), v' = 2 sqrt(2/pi) (1 + 3 * 0.044715 a^2).
    // Beyond 64 the slope is 0 or 1 to the last bit; there a^2 must not overflow.
    weft_graph *g = q->g;
    const weft_val limit = wf_build_scalar_like(g, q->in[0], 64.0);
    const weft_val a = weft_max(g, weft_min(g, q->in[0], limit), weft_neg(g, limit));
    const weft_val square = weft_mul(g, a, a);
    const weft_val one = wf_build_scalar_like(g, a, 1.0);
    const weft_val cubic = wf_build_scalar_like(g, a, 0.071354816272600258);
    const weft_val linear = wf_build_scalar_like(g, a, 1.5957691216057308);
    const weft_val v = weft_mul(g, a, weft_fma(g, square, cubic, linear));
    const weft_val slope = weft_fma(g, square, wf_build_scale(g, cubic, 3.0), linear);
    const weft_val other = weft_mul(g, weft_sigmoid(g, weft_neg(g, v)), slope);
    const weft_val factor = weft_fma(g, a, other, one);
    q->din[0] = weft_mul(g, q->dout[0], weft_mul(g, weft_sigmoid(g, v), factor));
}

WF_ELEMENTWISE_F1(gelu_tanh, wf_gelu_tanh(a),
                  a < -1e30 ? -0.0
                            : a / (1.0 + exp(-1.5957691216057308 * (a + 0.044715 * a * a * a))),
                  grad, 0)
