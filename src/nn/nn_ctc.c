// The CTC loss: minus the log of the probability of all ways to write the labels, with blanks and
// repetitions, over the steps of a sequence. A. Graves et al., ICML 2006.
//
// The labels are laid out with blanks around them, s = 0 .. 2n: blank, label, blank, ..; alpha[b,s] is the log
// of the probability of all ways to have reached s. One scan carries it through time; the backward scan of
// its gradient is the backward recursion. Two places of -inf in front of alpha make both shifts views.
#include <math.h>

#include "nn/nn_builder.h"

typedef struct {
    weft_graph *g;
    int64_t t, b, c, n, s; // steps, samples, classes, labels, places
    weft_val minus_inf;
} shapes;

// log(sum of exp over the list), -inf where all are: then nothing of the gradient flows.
static weft_val log_sum(weft_graph *g, const weft_val *list, size_t n)
{
    const weft_val zero = wf_nn_number(g, 0.0), minus_inf = wf_nn_number(g, -INFINITY);
    weft_val max = list[0], sum = WEFT_NONE;
    for (size_t i = 1; i < n; i++)
        max = weft_max(g, max, list[i]);
    max = weft_stop_gradient(g, max);
    const weft_val is_possible = weft_less(g, minus_inf, max);
    const weft_val base = weft_select(g, is_possible, max, zero);
    for (size_t i = 0; i < n; i++) {
        const weft_val e = weft_flush(g, weft_exp(g, weft_sub(g, list[i], base)));
        sum = sum.id ? weft_add(g, sum, e) : e;
    }
    const weft_val safe = weft_select(g, is_possible, sum, wf_nn_number(g, 1.0));
    return weft_select(g, is_possible, weft_add(g, base, weft_log(g, safe)), minus_inf);
}

static weft_val places(weft_graph *g, weft_val alpha, int64_t from, int64_t n)
{
    const weft_type t = weft_val_type(g, alpha);
    const int64_t start[] = {0, from}, stop[] = {t.dims[0], from + n};
    return weft_slice(g, alpha, start, stop, NULL);
}

// states: alpha [b,2+s]; sequences: log-probabilities [b,s], inside [b,1]; captured: may skip [b,s]
static void step(weft_graph *g, void *user, const weft_scan_step *step_values)
{
    const shapes *z = user;
    const weft_val alpha = step_values->states[0];
    const weft_val skipped = weft_select(g, step_values->captured[0], places(g, alpha, 0, z->s),
                                         wf_nn_number(g, -INFINITY));
    const weft_val ways[] = {places(g, alpha, 2, z->s), places(g, alpha, 1, z->s), skipped};
    const weft_val next = weft_add(g, log_sum(g, ways, 3), step_values->sequences[0]);
    static const int64_t before[] = {0, 2}, after[] = {0, 0};
    const weft_val kept = weft_select(g, step_values->sequences[1], next, ways[0]);
    step_values->next_states[0] = weft_pad(g, kept, before, after, -INFINITY);
}

// [b,s] i32: blank, label, blank, ..; labels behind a sample's length become blanks.
static weft_val lay_out(const shapes *z, weft_val labels, weft_val sizes, int32_t blank_label)
{
    weft_graph *g = z->g;
    const int64_t flat[] = {z->b, z->n}, column[] = {z->b, z->n, 1}, last[] = {z->b, 1};
    const int64_t pairs[] = {z->b, 2 * z->n}, one_size[] = {z->b, 1};
    const weft_val blank = weft_scalar(g, WEFT_I32, blank_label);
    const weft_val is_label =
        weft_less(g, weft_iota(g, WEFT_I32, flat, 2, 1), weft_reshape(g, sizes, one_size, 2));
    const weft_val known = weft_select(g, is_label, labels, blank);
    weft_index_guard(g, known, z->c);
    const weft_val pair[] = {weft_broadcast(g, blank, column, 3),
                             weft_reshape(g, known, column, 3)};
    const weft_val parts[] = {weft_reshape(g, weft_concat(g, pair, 2, 2), pairs, 2),
                              weft_broadcast(g, blank, last, 2)};
    return weft_concat(g, parts, 2, 1);
}

// [b,s] bool: may place s follow s - 2? A label that differs from the one before.
static weft_val find_skips(const shapes *z, weft_val laid_out, int32_t blank_label)
{
    weft_graph *g = z->g;
    static const int64_t before[] = {0, 2}, none[] = {0, 0};
    const weft_val blank = weft_scalar(g, WEFT_I32, blank_label);
    // In front of the first label stands a blank: it is reached from there.
    const weft_val two_before =
        places(g, weft_pad(g, laid_out, before, none, blank_label), 0, z->s);
    return weft_and(g, weft_not_equal(g, laid_out, blank), weft_not_equal(g, laid_out, two_before));
}

// [t,b,s]: log-probabilities of the laid out labels.
static weft_val pick(const shapes *z, weft_val log_p, weft_val laid_out)
{
    weft_graph *g = z->g;
    const int64_t rows[] = {z->t, z->b, 1}, flat[] = {z->t * z->b * z->c}, one[] = {1, z->b, z->s};
    const weft_val step_rows =
        weft_mul(g, weft_iota(g, WEFT_I32, rows, 3, 0), weft_scalar(g, WEFT_I32, (double)z->b));
    const weft_val row = weft_add(g, step_rows, weft_iota(g, WEFT_I32, rows, 3, 1));
    const weft_val first = weft_mul(g, row, weft_scalar(g, WEFT_I32, (double)z->c));
    const weft_val idx = weft_add(g, first, weft_reshape(g, laid_out, one, 3));
    return weft_gather(g, weft_reshape(g, log_p, flat, 1), idx, 0);
}

// [b]: minus the log of what stands at the last label or the blank behind it.
static weft_val finish(const shapes *z, weft_val alpha, weft_val sizes, bool zero_infinity)
{
    weft_graph *g = z->g;
    static const int32_t last = 1;
    const int64_t dims[] = {z->b, z->s}, column[] = {z->b, 1};
    const weft_val two = weft_scalar(g, WEFT_I32, 2.0), one = weft_scalar(g, WEFT_I32, 1.0);
    const weft_val end = weft_mul(g, weft_reshape(g, sizes, column, 2), two);
    const weft_val place = weft_iota(g, WEFT_I32, dims, 2, 1);
    const weft_val is_end =
        weft_or(g, weft_equal(g, place, end), weft_equal(g, place, weft_sub(g, end, one)));
    const weft_val ends = weft_select(g, is_end, places(g, alpha, 2, z->s), z->minus_inf);
    const weft_val max = weft_stop_gradient(g, weft_reduce_max(g, ends, &last, 1, true));
    const weft_val is_possible = weft_less(g, z->minus_inf, max);
    const weft_val base = weft_select(g, is_possible, max, wf_nn_number(g, 0.0));
    const weft_val e = weft_flush(g, weft_exp(g, weft_sub(g, ends, base)));
    const weft_val sum =
        weft_select(g, is_possible, weft_sum(g, e, &last, 1, true), wf_nn_number(g, 1.0));
    const weft_val loss = weft_neg(g, weft_add(g, base, weft_log(g, sum)));
    const weft_val otherwise = wf_nn_number(g, zero_infinity ? 0.0 : INFINITY);
    return weft_reshape(g, weft_select(g, is_possible, loss, otherwise), &z->b, 1);
}

static bool check(weft_graph *g, const weft_type *x, const weft_type *labels,
                  const weft_ctc_options *o)
{
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (x->dtype != WEFT_F32 || labels->dtype != WEFT_I32) {
        wf_graph_fail(g, NULL, WEFT_ERR_DTYPE,
                      "ctc: logits is %s, labels is %s, expected f32 and i32", wf_type_text(x, a),
                      wf_type_text(labels, b));
        return false;
    }
    if (x->ndim != 3 || labels->ndim != 2 || x->dims[1] != labels->dims[0] || x->dims[0] < 1 ||
        wf_type_count(x) > INT32_MAX) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE,
                      "ctc: logits is %s, labels is %s, expected [t,b,c] and [b,n], t >= 1",
                      wf_type_text(x, a), wf_type_text(labels, b));
        return false;
    }
    if (o->blank < 0 || o->blank >= x->dims[2]) {
        wf_graph_fail(g, NULL, WEFT_ERR_ATTR, "ctc: blank is %d, expected 0 <= blank < %lld",
                      o->blank, (long long)x->dims[2]);
        return false;
    }
    const weft_type want = wf_type_make(WEFT_I32, 1, &x->dims[1]);
    const weft_val given[] = {o->lengths, o->label_lengths};
    for (int i = 0; i < 2; i++) {
        const weft_type t = weft_val_type(g, given[i]);
        if (given[i].id && !wf_type_equal(&t, &want)) {
            wf_graph_fail(g, NULL, WEFT_ERR_SHAPE, "ctc: %s is %s, expected %s",
                          i ? "label_lengths" : "lengths", wf_type_text(&t, a),
                          wf_type_text(&want, b));
            return false;
        }
    }
    return true;
}

// alpha behind the last step: [b,2+s]
static weft_val run(shapes *z, weft_val log_p, weft_val laid_out, const weft_ctc_options *o)
{
    weft_graph *g = z->g;
    const int64_t rest[] = {z->b, z->s + 1}, first[] = {z->b, 2}, steps[] = {z->t, z->b, 1};
    const int64_t lengths[] = {1, z->b, 1}, start[] = {z->b, 1};
    // Before the first step all probability stands in front of the first blank.
    const weft_val parts[] = {weft_broadcast(g, z->minus_inf, first, 2),
                              weft_fill(g, WEFT_F32, start, 2, 0.0),
                              places(g, weft_broadcast(g, z->minus_inf, rest, 2), 0, z->s - 1)};
    const weft_val alpha = weft_concat(g, parts, 3, 1);
    const weft_val step_idx = weft_iota(g, WEFT_I32, steps, 3, 0);
    const weft_val limit = o->lengths.id ? weft_reshape(g, o->lengths, lengths, 3)
                                         : weft_scalar(g, WEFT_I32, (double)z->t);
    const weft_val sequences[] = {pick(z, log_p, laid_out), weft_less(g, step_idx, limit)};
    const weft_val may_skip = find_skips(z, laid_out, o->blank);
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .states = &alpha,
                                 .n_states = 1,
                                 .sequences = sequences,
                                 .n_sequences = 2,
                                 .captured = &may_skip,
                                 .n_captured = 1,
                                 .step = step,
                                 .user = z};
    weft_val last = WEFT_NONE;
    weft_scan(g, &spec, &last, NULL);
    return last;
}

weft_val weft_ctc_loss(weft_graph *g, weft_val logits, weft_val labels,
                       const weft_ctc_options *options)
{
    static const weft_ctc_options none = WEFT_CTC_OPTIONS_INIT;
    const weft_ctc_options *o = options ? options : &none;
    const weft_val in[] = {logits, labels};
    if (!wf_build_ready(g, NULL, in, 2) || !logits.id || !labels.id ||
        !wf_nn_options_check(g, "ctc", o->struct_size, sizeof *o)) {
        return WEFT_NONE;
    }
    const weft_type x = weft_val_type(g, logits), l = weft_val_type(g, labels);
    if (!check(g, &x, &l, o))
        return WEFT_NONE;
    weft_scope_push(g, "ctc");
    shapes z = {g, x.dims[0], x.dims[1], x.dims[2], l.dims[1], 2 * l.dims[1] + 1, WEFT_NONE};
    z.minus_inf = wf_nn_number(g, -INFINITY);
    const weft_val sizes = o->label_lengths.id
                               ? o->label_lengths
                               : weft_broadcast(g, weft_scalar(g, WEFT_I32, (double)z.n), &z.b, 1);
    const weft_val laid_out = lay_out(&z, labels, sizes, o->blank);
    const weft_val alpha = run(&z, weft_log_softmax(g, logits, 2), laid_out, o);
    weft_val loss = finish(&z, alpha, sizes, o->zero_infinity);
    if (o->reduction == WEFT_REDUCTION_MEAN) {
        const weft_val one = weft_scalar(g, WEFT_I32, 1.0);
        loss = weft_div(g, loss, weft_cast(g, weft_max(g, sizes, one), WEFT_F32));
    }
    loss = wf_nn_reduce(g, loss, o->reduction);
    weft_scope_pop(g);
    return loss;
}
