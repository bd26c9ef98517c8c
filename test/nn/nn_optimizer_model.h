// The model that the tests of optimisers step: three parameters of a golden file.
#ifndef NN_OPTIMIZER_MODEL_H
#define NN_OPTIMIZER_MODEL_H

#include "nn_run.h"

#define N_PARAMETERS 3

// sum(scale (p - target)^2) + sum(sin(3 p)) over the parameters of the golden file.
WF_UNUSED static weft_val build_loss(nn_run *r)
{
    weft_graph *g = r->g;
    weft_val total = weft_scalar(g, WEFT_F32, 0.0);
    for (int i = 0; i < N_PARAMETERS; i++) {
        char target[32], scale[32], first[32];
        snprintf(first, sizeof first, "p%d", i);
        snprintf(target, sizeof target, "target%d", i);
        snprintf(scale, sizeof scale, "scale%d", i);
        const wf_st_tensor *p0 = nn_get(r, first), *t = nn_get(r, target), *s = nn_get(r, scale);
        const weft_val p = weft_parameter_create(
            r->nn, first, weft_constant(g, WEFT_F32, p0->dim, p0->ndim, p0->data), true);
        const weft_val d = weft_sub(g, p, weft_constant(g, WEFT_F32, t->dim, t->ndim, t->data));
        const weft_val k = weft_constant(g, WEFT_F32, s->dim, s->ndim, s->data);
        const weft_val bowl = weft_mul(g, weft_mul(g, d, d), k);
        const weft_val wave = weft_sin(g, weft_mul(g, p, weft_scalar(g, WEFT_F32, 3.0)));
        total = weft_add(g, total, weft_sum(g, weft_add(g, bowl, wave), NULL, 0, false));
    }
    return total;
}

WF_UNUSED static weft_schedule_options constant_lr(double lr)
{
    weft_schedule_options s = WEFT_SCHEDULE_OPTIONS_INIT;
    s.lr = lr;
    return s;
}

WF_UNUSED static weft_optimizer_options of_kind(weft_optimizer_kind kind)
{
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.kind = kind;
    return o;
}

#endif
