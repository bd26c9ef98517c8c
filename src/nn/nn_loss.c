// Losses of two values of one shape.
#include "nn/nn_builder.h"

static bool check(weft_graph *g, const char *what, weft_val x, weft_val target)
{
    const weft_val in[] = {x, target};
    if (!wf_build_ready(g, NULL, in, 2))
        return false;
    const weft_type a = weft_val_type(g, x), b = weft_val_type(g, target);
    char at[WF_TYPE_TEXT], bt[WF_TYPE_TEXT];
    if (!wf_type_equal(&a, &b) || a.dtype != WEFT_F32) {
        wf_graph_fail(g, NULL,
                      a.dtype == b.dtype && a.dtype == WEFT_F32 ? WEFT_ERR_SHAPE : WEFT_ERR_DTYPE,
                      "%s: x is %s, target is %s, expected f32 of one shape", what,
                      wf_type_text(&a, at), wf_type_text(&b, bt));
        return false;
    }
    return true;
}

weft_val weft_bce_with_logits(weft_graph *g, weft_val logits, weft_val targets,
                              weft_reduction reduction)
{
    if (!check(g, "bce_with_logits", logits, targets))
        return WEFT_NONE;
    weft_scope_push(g, "bce_with_logits");
    // x > 0: softplus(-x) + x (1 - t); else softplus(x) - x t. No term is large where the loss is small,
    // and the gradient is right at 0, which max(x,0) and |x| would miss.
    const weft_val is_positive = weft_less(g, wf_nn_number(g, 0.0), logits);
    const weft_val below = weft_select(g, is_positive, weft_neg(g, logits), logits); // -|x|
    const weft_val rest = weft_select(g, is_positive, weft_sub(g, wf_nn_number(g, 1.0), targets),
                                      weft_neg(g, targets));
    const weft_val losses = weft_add(g, weft_mul(g, logits, rest), weft_softplus(g, below));
    const weft_val loss = wf_nn_reduce(g, losses, reduction);
    weft_scope_pop(g);
    return loss;
}

weft_val weft_mse(weft_graph *g, weft_val x, weft_val target, weft_reduction reduction)
{
    if (!check(g, "mse", x, target))
        return WEFT_NONE;
    weft_scope_push(g, "mse");
    const weft_val d = weft_sub(g, x, target);
    const weft_val loss = wf_nn_reduce(g, weft_mul(g, d, d), reduction);
    weft_scope_pop(g);
    return loss;
}

weft_val weft_huber(weft_graph *g, weft_val x, weft_val target, double delta,
                    weft_reduction reduction)
{
    if (!check(g, "huber", x, target))
        return WEFT_NONE;
    if (!(delta > 0.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "huber: delta is %g, expected above 0", delta);
        return WEFT_NONE;
    }
    weft_scope_push(g, "huber");
    const weft_val limit = wf_nn_number(g, delta), half = wf_nn_number(g, 0.5);
    const weft_val d = weft_sub(g, x, target), size = weft_abs(g, d);
    const weft_val square = weft_mul(g, weft_mul(g, d, d), half);
    const weft_val line = weft_mul(g, limit, weft_sub(g, size, wf_nn_number(g, delta / 2.0)));
    const weft_val losses = weft_select(g, weft_less_equal(g, size, limit), square, line);
    const weft_val loss = wf_nn_reduce(g, losses, reduction);
    weft_scope_pop(g);
    return loss;
}
