// Lion (X. Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023, algorithm 2).
#include "nn/nn_optimizer.h"

static weft_val mix(weft_graph *g, weft_val m, double beta, weft_val grad)
{
    return weft_add(g, weft_mul(g, m, wf_nn_number(g, beta)),
                    weft_mul(g, grad, wf_nn_number(g, 1.0 - beta)));
}

static weft_val build(wf_update *u, const weft_parameter *p, weft_val grad)
{
    weft_graph *g = u->g;
    const weft_val m = wf_update_state(u, p, "m", 0.0);
    const weft_val direction = weft_sign(g, mix(g, m, u->beta1, grad));
    weft_assign(g, m, weft_flush(g, mix(g, m, u->beta2, grad)));
    return weft_sub(g, wf_update_shrink(u, p), weft_mul(g, u->lr, direction));
}

const wf_optimizer wf_optimizer_lion = {
    .name = "lion", .build = build, .beta1 = 0.9, .beta2 = 0.99};
