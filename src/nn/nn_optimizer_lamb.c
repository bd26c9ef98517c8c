// LAMB (Y. You et al., "Large Batch Optimization for Deep Learning", ICLR 2020, algorithm 2; phi is the
// identity). Parameters whose norm, or whose step's norm, is 0 move by lr alone.
#include "nn/nn_optimizer.h"

static weft_val norm(weft_graph *g, weft_val x)
{
    return weft_sqrt(g, weft_sum(g, weft_mul(g, x, x), NULL, 0, false));
}

static weft_val build(wf_update *u, const weft_parameter *p, weft_val grad)
{
    weft_graph *g = u->g;
    const weft_val m = wf_update_average(u, p, "m", u->beta1, grad);
    const weft_val v = wf_update_average(u, p, "v", u->beta2, weft_mul(g, grad, grad));
    const weft_val root = weft_div(g, weft_sqrt(g, v), u->root_correction2);
    const weft_val below = weft_add(g, root, wf_nn_number(g, u->epsilon));
    weft_val move = weft_div(g, weft_div(g, m, u->correction1), below);
    move = wf_update_add_decay(u, p, move);
    const weft_val weights = norm(g, p->val), step = norm(g, move);
    const weft_val zero = wf_nn_number(g, 0.0), one = wf_nn_number(g, 1.0);
    const weft_val has_both = weft_and(g, weft_less(g, zero, weights), weft_less(g, zero, step));
    const weft_val trust =
        weft_select(g, has_both, weft_div(g, weights, weft_select(g, has_both, step, one)), one);
    return weft_sub(g, p->val, weft_mul(g, weft_mul(g, u->lr, trust), move));
}

const wf_optimizer wf_optimizer_lamb = {.name = "lamb",
                                        .prepare = wf_update_prepare_corrections,
                                        .build = build,
                                        .beta1 = 0.9,
                                        .beta2 = 0.999,
                                        .epsilon = 1e-6};
