// Adam (D. Kingma, J. Ba, ICLR 2015) and AdamW (I. Loshchilov, F. Hutter, ICLR 2019), as PyTorch writes them.
#include "nn/nn_optimizer.h"

#include "math/weft_math.h"

// 1 - beta^t = -expm1(t log(beta)), which keeps its relative accuracy at small t. log(beta) is a constant.
static weft_val correction(weft_graph *g, weft_val t, double beta)
{
    const float log_beta = wf_log1p(-(float)(1.0 - beta));
    const weft_val power = weft_mul(g, t, wf_nn_number(g, (double)log_beta));
    return weft_neg(g, weft_expm1(g, power));
}

void wf_update_prepare_corrections(wf_update *u)
{
    u->correction1 = correction(u->g, u->t, u->beta1);
    u->root_correction2 = weft_sqrt(u->g, correction(u->g, u->t, u->beta2));
}

static weft_val build(wf_update *u, const weft_parameter *p, weft_val d, weft_val start)
{
    weft_graph *g = u->g;
    const weft_val m = wf_update_average(u, p, "m", u->beta1, d);
    const weft_val v = wf_update_average(u, p, "v", u->beta2, weft_mul(g, d, d));
    const weft_val root = weft_div(g, weft_sqrt(g, v), u->root_correction2);
    const weft_val below = weft_add(g, root, wf_nn_number(g, u->epsilon));
    const weft_val step_size = weft_div(g, u->lr, u->correction1);
    return weft_sub(g, start, weft_mul(g, step_size, weft_div(g, m, below)));
}

static weft_val build_adam(wf_update *u, const weft_parameter *p, weft_val grad)
{
    return build(u, p, wf_update_add_decay(u, p, grad), p->val);
}

weft_val wf_update_adamw(wf_update *u, const weft_parameter *p, weft_val grad)
{
    return build(u, p, grad, wf_update_shrink(u, p));
}

#define DEFAULTS .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8

const wf_optimizer wf_optimizer_adam = {
    .name = "adam", .prepare = wf_update_prepare_corrections, .build = build_adam, DEFAULTS};
const wf_optimizer wf_optimizer_adamw = {
    .name = "adamw", .prepare = wf_update_prepare_corrections, .build = wf_update_adamw, DEFAULTS};
