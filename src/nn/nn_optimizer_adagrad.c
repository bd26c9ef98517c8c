// Adagrad (J. Duchi, E. Hazan, Y. Singer, JMLR 2011), as PyTorch writes it.
#include "nn/nn_optimizer.h"

static weft_val build(wf_update *u, const weft_parameter *p, weft_val grad)
{
    weft_graph *g = u->g;
    const weft_val d = wf_update_add_decay(u, p, grad);
    const weft_val old = wf_update_state(u, p, "sum", u->o->initial_sum);
    const weft_val sum = weft_assign(g, old, weft_flush(g, weft_add(g, old, weft_mul(g, d, d))));
    const weft_val below = weft_add(g, weft_sqrt(g, sum), wf_nn_number(g, u->epsilon));
    weft_val lr = u->lr;
    if (u->o->lr_decay != 0.0) {
        const weft_val one = wf_nn_number(g, 1.0);
        const weft_val done = weft_sub(g, u->t, one);
        lr = weft_div(g, lr, weft_add(g, one, weft_mul(g, done, wf_nn_number(g, u->o->lr_decay))));
    }
    return weft_sub(g, p->val, weft_mul(g, lr, weft_div(g, d, below)));
}

const wf_optimizer wf_optimizer_adagrad = {.name = "adagrad", .build = build, .epsilon = 1e-10};
