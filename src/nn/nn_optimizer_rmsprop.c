// RMSprop (T. Hinton's lecture 6e, 2012), as PyTorch writes it; centred after A. Graves, 2013.
#include "nn/nn_optimizer.h"

static weft_val build(wf_update *u, const weft_parameter *p, weft_val grad)
{
    weft_graph *g = u->g;
    const weft_val d = wf_update_add_decay(u, p, grad);
    const double alpha = u->beta2;
    weft_val v = wf_update_average(u, p, "v", alpha, weft_mul(g, d, d));
    if (u->o->is_centered) {
        const weft_val mean = wf_update_average(u, p, "mean", alpha, d);
        // A variance; rounding must not make it negative.
        v = weft_max(g, weft_sub(g, v, weft_mul(g, mean, mean)), wf_nn_number(g, 0.0));
    }
    const weft_val below = weft_add(g, weft_sqrt(g, v), wf_nn_number(g, u->epsilon));
    weft_val move = weft_div(g, d, below);
    if (u->momentum != 0.0) {
        const weft_val old = wf_update_state(u, p, "momentum", 0.0);
        const weft_val now = weft_add(g, weft_mul(g, old, wf_nn_number(g, u->momentum)), move);
        move = weft_assign(g, old, weft_flush(g, now));
    }
    return weft_sub(g, p->val, weft_mul(g, u->lr, move));
}

const wf_optimizer wf_optimizer_rmsprop = {
    .name = "rmsprop", .build = build, .beta2 = 0.99, .epsilon = 1e-8};
