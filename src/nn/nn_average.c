// Moving averages of the parameters, and what a step did to each, for people to look at.
#include <stdio.h>
#include <string.h>

#include "nn/nn_builder.h"

// The average begins as the weights themselves and forgets them: the decay rises as n / (9 + n), n steps
// done, until it is the one asked for. B. Polyak, A. Juditsky, 1992; the rise as TensorFlow's.
#define RISE 9.0

const char *wf_nn_average_name(weft_graph *g, const char *parameter)
{
    const size_t bytes = strlen(parameter) + sizeof WF_NN_AVERAGE_SUFFIX;
    char *name = wf_arena_take(&g->arena, bytes);
    if (name)
        snprintf(name, bytes, "%s%s", parameter, WF_NN_AVERAGE_SUFFIX);
    else
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: variable %s%s", parameter,
                      WF_NN_AVERAGE_SUFFIX);
    return name;
}

void weft_average_parameters(weft_nn *nn, double decay)
{
    weft_graph *g = wf_nn_begin(nn);
    if (!g)
        return;
    if (!(decay > 0.0 && decay < 1.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "average: decay is %g, expected 0 < decay < 1",
                      decay);
        return;
    }
    weft_scope_push(g, "average");
    const weft_val done = weft_cast(g, weft_nn_step(nn), WEFT_F32);
    const weft_val rise = weft_div(g, done, weft_add(g, done, wf_nn_number(g, RISE)));
    const weft_val keep = weft_min(g, rise, wf_nn_number(g, decay));
    const weft_val take = weft_sub(g, wf_nn_number(g, 1.0), keep);
    for (size_t i = 0; i < nn->n_parameters; i++) {
        const weft_parameter *p = &nn->parameters[i];
        const weft_type t = weft_val_type(g, p->val);
        const char *name = wf_nn_average_name(g, p->name);
        if (!name)
            break;
        const weft_val old = weft_variable(g, name, weft_fill(g, t.dtype, t.dims, t.ndim, 0.0));
        const weft_val now = p->next.id ? p->next : p->val;
        const weft_val sum = weft_add(g, weft_mul(g, old, keep), weft_mul(g, now, take));
        weft_assign(g, old, weft_flush(g, sum));
    }
    weft_scope_pop(g);
}

static weft_val norm(weft_graph *g, weft_val x)
{
    return weft_sqrt(g, weft_sum(g, weft_mul(g, x, x), NULL, 0, false));
}

weft_val weft_step_statistics(weft_nn *nn)
{
    static const int64_t row[] = {1, 2}, one[] = {1};
    weft_graph *g = wf_nn_begin(nn);
    weft_val *rows = NULL, y = WEFT_NONE;
    size_t n = 0;
    if (!g)
        return WEFT_NONE;
    if (wf_alloc(&nn->allocator, nn->n_parameters, sizeof *rows, &rows, NULL) != WEFT_OK) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: statistics of %zu parameters",
                      nn->n_parameters);
        return WEFT_NONE;
    }
    weft_scope_push(g, "statistics");
    for (size_t i = 0; i < nn->n_parameters; i++) {
        const weft_parameter *p = &nn->parameters[i];
        if (!p->grad.id || !p->next.id)
            continue;
        const weft_val zero = wf_nn_number(g, 0.0), unit = wf_nn_number(g, 1.0);
        const weft_val size = norm(g, p->val), move = norm(g, weft_sub(g, p->next, p->val));
        const weft_val is_zero = weft_equal(g, size, zero);
        const weft_val ratio =
            weft_select(g, is_zero, zero, weft_div(g, move, weft_select(g, is_zero, unit, size)));
        const weft_val pair[] = {weft_reshape(g, norm(g, p->grad), one, 1),
                                 weft_reshape(g, ratio, one, 1)};
        rows[n++] = weft_reshape(g, weft_concat(g, pair, 2, 0), row, 2);
    }
    if (n > 0)
        y = n == 1 ? rows[0] : weft_concat(g, rows, n, 0);
    else
        wf_graph_fail(g, NULL, WEFT_ERR_USAGE,
                      "step_statistics: no parameter was moved, expected a training step before");
    weft_scope_pop(g);
    wf_free(&nn->allocator, rows);
    return y;
}
