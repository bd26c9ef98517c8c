// Gradient descent with momentum (I. Sutskever et al., ICML 2013), as PyTorch writes it.
#include "nn/nn_optimizer.h"

static weft_val build(wf_update *u, const weft_parameter *p, weft_val grad)
{
    weft_graph *g = u->g;
    weft_val d = wf_update_add_decay(u, p, grad);
    if (u->momentum != 0.0) {
        const weft_val momentum = wf_nn_number(g, u->momentum);
        const weft_val old = wf_update_state(u, p, "momentum", 0.0);
        const weft_val velocity =
            weft_assign(g, old, weft_flush(g, weft_add(g, weft_mul(g, old, momentum), d)));
        d = u->o->is_nesterov ? weft_add(g, d, weft_mul(g, velocity, momentum)) : velocity;
    }
    return weft_sub(g, p->val, weft_mul(g, u->lr, d));
}

const wf_optimizer wf_optimizer_sgd = {.name = "sgd", .build = build};
