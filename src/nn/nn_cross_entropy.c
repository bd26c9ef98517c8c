// Cross-entropy of classes, with what training adds to it: ignored rows, smoothed labels, weights.
#include "nn/nn_builder.h"

static bool check(weft_graph *g, const weft_type *x, const weft_type *labels,
                  const weft_cross_entropy_options *o)
{
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (!wf_nn_options_check(g, "cross_entropy", o->struct_size, sizeof *o))
        return false;
    bool is_fitting = x->ndim >= 2 && labels->ndim == x->ndim - 1;
    for (int32_t i = 0; is_fitting && i < labels->ndim; i++) {
        is_fitting = labels->dims[i] == x->dims[i == 0 ? 0 : i + 1];
    }
    if (!is_fitting) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "cross_entropy: logits is %s, labels is %s, expected [n,c,..] and [n,..]",
                      wf_type_text(x, a), wf_type_text(labels, b));
        return false;
    }
    if (!(o->label_smoothing >= 0.0 && o->label_smoothing <= 1.0)) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR,
                      "cross_entropy: label_smoothing is %g, expected 0 to 1", o->label_smoothing);
        return false;
    }
    if (o->class_weights.id) {
        const weft_type w = weft_val_type(g, o->class_weights);
        if (w.dtype != WEFT_F32 || w.ndim != 1 || w.dims[0] != x->dims[1]) {
            wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                          "cross_entropy: class_weights is %s, expected f32[%lld]",
                          wf_type_text(&w, a), (long long)x->dims[1]);
            return false;
        }
    }
    return true;
}

// [n,c,s..] as [n*s..,c]
static weft_val rows_of(weft_graph *g, weft_val logits, const weft_type *x)
{
    if (x->ndim == 2)
        return logits;
    int32_t order[WEFT_MAX_DIM] = {0};
    for (int32_t i = 2; i < x->ndim; i++) {
        order[i - 1] = i;
    }
    order[x->ndim - 1] = 1;
    int64_t rows = x->dims[0];
    for (int32_t i = 2; i < x->ndim; i++) {
        rows *= x->dims[i];
    }
    const int64_t dims[] = {rows, x->dims[1]};
    return weft_reshape(g, weft_permute(g, logits, order), dims, 2);
}

// - sum over classes of weight * log_softmax, for each row: what smoothing spreads over all classes.
static weft_val spread_loss(weft_graph *g, weft_val rows, weft_val class_weights)
{
    static const int32_t last = 1;
    weft_val logp = weft_log_softmax(g, rows, 1);
    if (class_weights.id)
        logp = weft_mul(g, logp, class_weights);
    return weft_neg(g, weft_sum(g, logp, &last, 1, false));
}

// The sum of the losses over the sum of the weights that count; 0 / 0 is 0.
static weft_val mean_of(weft_graph *g, weft_val losses, weft_val weights)
{
    if (!weights.id)
        return wf_nn_reduce(g, losses, WEFT_REDUCTION_MEAN);
    const weft_val total = weft_sum(g, losses, NULL, 0, false);
    const weft_val count = weft_sum(g, weights, NULL, 0, false);
    const weft_val is_none = weft_equal(g, count, wf_nn_number(g, 0.0));
    return weft_div(g, total, weft_select(g, is_none, wf_nn_number(g, 1.0), count));
}

weft_val weft_cross_entropy(weft_graph *g, weft_val logits, weft_val labels,
                            const weft_cross_entropy_options *options)
{
    static const weft_cross_entropy_options none = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    const weft_cross_entropy_options *o = options ? options : &none;
    const weft_val in[] = {logits, labels};
    if (!wf_build_ready(g, NULL, in, 2))
        return WEFT_NONE;
    const weft_type x = weft_val_type(g, logits), lt = weft_val_type(g, labels);
    if (!check(g, &x, &lt, o))
        return WEFT_NONE;
    weft_scope_push(g, "cross_entropy");
    const int64_t n_rows = wf_type_count(&lt);
    const weft_val rows = rows_of(g, logits, &x), zero = wf_nn_number(g, 0.0);
    weft_val label = wf_build_reshape(g, labels, 1, &n_rows);
    weft_val is_kept = WEFT_NONE, weights = WEFT_NONE; // [n_rows]
    if (o->has_ignore_index) {
        const weft_val ignored = weft_scalar(g, WEFT_I32, (double)o->ignore_index);
        is_kept = weft_not_equal(g, label, ignored);
        // Ignored rows are computed as class 0 and do not count.
        label = weft_select(g, is_kept, label, weft_scalar(g, WEFT_I32, 0.0));
        weights = weft_fill(g, WEFT_F32, &n_rows, 1, 1.0);
    }
    weft_val losses = weft_softmax_cross_entropy(g, rows, label);
    if (o->class_weights.id) {
        weights = weft_gather(g, o->class_weights, label, 0);
        losses = weft_mul(g, losses, weights);
    }
    if (o->label_smoothing > 0.0) {
        const double share = x.dims[1] ? o->label_smoothing / (double)x.dims[1] : 0.0;
        const weft_val spread = spread_loss(g, rows, o->class_weights);
        losses = weft_add(g, weft_mul(g, losses, wf_nn_number(g, 1.0 - o->label_smoothing)),
                          weft_mul(g, spread, wf_nn_number(g, share)));
    }
    if (is_kept.id) {
        losses = weft_select(g, is_kept, losses, zero);
        weights = weft_select(g, is_kept, weights, zero);
    }
    weft_val loss;
    if (o->reduction == WEFT_REDUCTION_MEAN)
        loss = mean_of(g, losses, weights);
    else if (o->reduction == WEFT_REDUCTION_SUM)
        loss = weft_sum(g, losses, NULL, 0, false);
    else
        loss = wf_build_reshape(g, losses, lt.ndim, lt.dims);
    weft_scope_pop(g);
    return loss;
}
