// Metrics of a classifier, computed in the step.
#include "nn/nn_builder.h"

// Two bool [n]: the row counts; it counts and is right.
static bool count_rows(weft_graph *g, weft_val logits, weft_val labels, const int32_t *ignore_index,
                       weft_val *out_counts, weft_val *out_is_right)
{
    const weft_val in[] = {logits, labels};
    if (!wf_build_ready(g, NULL, in, 2))
        return false;
    const weft_type x = weft_val_type(g, logits), t = weft_val_type(g, labels);
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (x.ndim != 2 || t.ndim != 1 || x.dims[0] != t.dims[0] || t.dtype != WEFT_I32) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "accuracy: logits is %s, labels is %s, expected f32[n,c] and i32[n]",
                      wf_type_text(&x, a), wf_type_text(&t, b));
        return false;
    }
    const int32_t none =
        -1; // no class is that, and without ignore_index such a label stops the step
    *out_counts = weft_not_equal(
        g, labels, weft_scalar(g, WEFT_I32, (double)(ignore_index ? *ignore_index : none)));
    *out_is_right =
        weft_and(g, *out_counts, weft_equal(g, weft_argmax(g, logits, 1, false), labels));
    return true;
}

weft_val weft_count_correct(weft_graph *g, weft_val logits, weft_val labels,
                            const int32_t *ignore_index)
{
    weft_val counts, is_right;
    if (!count_rows(g, logits, labels, ignore_index, &counts, &is_right))
        return WEFT_NONE;
    return weft_sum(g, weft_cast(g, is_right, WEFT_I64), NULL, 0, false);
}

weft_val weft_accuracy(weft_graph *g, weft_val logits, weft_val labels, const int32_t *ignore_index)
{
    weft_val counts, is_right;
    if (!count_rows(g, logits, labels, ignore_index, &counts, &is_right))
        return WEFT_NONE;
    weft_scope_push(g, "accuracy");
    const weft_val right = weft_sum(g, weft_cast(g, is_right, WEFT_I64), NULL, 0, false);
    const weft_val all = weft_sum(g, weft_cast(g, counts, WEFT_I64), NULL, 0, false);
    const weft_val below = weft_max(g, all, weft_scalar(g, WEFT_I64, 1.0));
    const weft_val y = weft_div(g, weft_cast(g, right, WEFT_F32), weft_cast(g, below, WEFT_F32));
    weft_scope_pop(g);
    return y;
}
