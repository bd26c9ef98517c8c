// The task of masked tokens: some are hidden, the model says what stood there. J. Devlin et al., NAACL 2019. In:
// tokens [b,t]. Out: what the model is given, and the places and tokens that count. Stage: recipe.
#include "graph/graph.h"
#include "op/build.h"
#include "recipe/recipe.h"

// Of the chosen places, in training: shares that become the mask, or any token; the others stay.
#define MASKED 0.8
#define MASKED_OR_RANDOM 0.9

// Random numbers [b,t] in [0,1): new ones each step in training, always the same otherwise.
static weft_val draw(weft_nn *nn, const char *scope, const weft_type *t, bool is_training)
{
    weft_graph *g = weft_nn_graph(nn);
    const int64_t fixed = 0;
    const weft_val zero = weft_constant(g, WEFT_I64, NULL, 0, &fixed);
    weft_scope_push(g, scope);
    const weft_val u = weft_random_uniform(g, is_training ? weft_nn_seed(nn) : zero,
                                           is_training ? weft_nn_step(nn) : zero, t->dims, t->ndim);
    weft_scope_pop(g);
    return u;
}

static weft_val number(weft_graph *g, double value)
{
    return weft_scalar(g, WEFT_F32, value);
}

// What stands at a chosen place.
static weft_val replace(weft_nn *nn, weft_val x, int64_t n_classes, bool is_training)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_type t = weft_val_type(g, x);
    const weft_val mask = weft_fill(g, WEFT_I32, t.dims, t.ndim, (double)n_classes);
    if (!is_training)
        return mask;
    const weft_val what = draw(nn, "what", &t, true), which = draw(nn, "which", &t, true);
    const weft_val random =
        weft_cast(g, weft_mul(g, which, number(g, (double)n_classes)), WEFT_I32);
    const weft_val kept =
        weft_select(g, weft_less(g, what, number(g, MASKED_OR_RANDOM)), random, x);
    return weft_select(g, weft_less(g, what, number(g, MASKED)), mask, kept);
}

weft_val wf_task_masked(weft_nn *nn, weft_val x, int64_t n_classes, double share, bool is_training,
                        weft_val *out_x, weft_val *out_rows)
{
    weft_graph *g = weft_nn_graph(nn);
    const weft_type t = weft_val_type(g, x);
    const int64_t chosen = (int64_t)(share * (double)t.dims[1] + 0.5);
    const int64_t k = chosen < 1 ? 1 : chosen > t.dims[1] ? t.dims[1] : chosen;
    const int64_t places[] = {t.dims[0], k}, n_rows = t.dims[0] * k, n_all = t.dims[0] * t.dims[1];
    const int64_t from[] = {0, k - 1}, to[] = {t.dims[0], k};
    weft_val greatest, at;
    weft_scope_push(g, "masked");
    // As many places in each text: those of its k greatest numbers.
    const weft_val u = draw(nn, "where", &t, is_training);
    weft_top_k(g, u, k, 1, true, &greatest, &at);
    const weft_val least = weft_slice(g, greatest, from, to, NULL);
    *out_x =
        weft_select(g, weft_less_equal(g, least, u), replace(nn, x, n_classes, is_training), x);
    const weft_val first = weft_mul(g, weft_iota(g, WEFT_I32, places, 2, 0),
                                    weft_scalar(g, WEFT_I32, (double)t.dims[1]));
    *out_rows = weft_reshape(g, weft_add(g, first, at), &n_rows, 1);
    const weft_val target = weft_gather(g, weft_reshape(g, x, &n_all, 1), *out_rows, 0);
    weft_scope_pop(g);
    return target;
}
