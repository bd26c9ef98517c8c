// Recurrent layers: LSTM, GRU and the plain RNN, in layers and both directions, over sequences of one
// or of many lengths. Names, shapes, gate order and formulas are PyTorch's.
//
// Work is time-major, [t,b,..], whatever the caller's order, so that both orders give the same bits. The
// input's products for all steps are one product before the scan; the step multiplies the state only.
// S. Hochreiter, J. Schmidhuber, Neural Computation 1997 (LSTM); K. Cho et al., EMNLP 2014 (GRU).
#include <stdio.h>

#include "nn/nn_builder.h"

typedef enum { CELL_TANH, CELL_RELU, CELL_LSTM, CELL_GRU, CELL_GRU_RESET_BEFORE } cell_kind;

// One kind of layer: gates per unit, states.
static int64_t n_gates(cell_kind kind)
{
    return kind == CELL_LSTM ? 4 : kind == CELL_TANH || kind == CELL_RELU ? 1 : 3;
}

typedef struct {
    weft_nn *nn;
    weft_graph *g;
    cell_kind kind;
    const weft_recurrent_options *o;
    int64_t t, b, hidden;
    weft_val mask; // [t,b,1] bool: the step is inside the sequence; none: all are
    weft_val finals[2][2 * WEFT_MAX_RECURRENT_LAYERS]; // h, c: [1,b,h] by layer and direction
    size_t n_finals;
} stack;

static weft_val columns(weft_graph *g, weft_val x, int64_t from, int64_t to)
{
    const weft_type t = weft_val_type(g, x);
    const int64_t start[] = {0, from}, stop[] = {t.dims[0], to};
    return weft_slice(g, x, start, stop, NULL);
}

// ---- one step
typedef struct {
    cell_kind kind;
    int64_t hidden;
    bool has_mask;
    bool has_bias; // of the state's product, added in the step: GRU
} step_info;

static weft_val with_bias(weft_graph *g, const step_info *info, weft_val p, weft_val bias)
{
    return info->has_bias ? weft_add(g, p, bias) : p;
}

// The reset gate in front of the product, as ONNX's linear_before_reset = 0 has it.
static weft_val reset_before(weft_graph *g, const step_info *info, const weft_scan_step *s)
{
    const int64_t n = info->hidden;
    const weft_val x = s->sequences[0], h = s->states[0], w = s->captured[0];
    const int64_t rows[] = {0, 0}, gates[] = {2 * n, n}, all[] = {3 * n, n},
                  candidate[] = {2 * n, 0};
    const int64_t first[] = {0}, two[] = {2 * n}, three[] = {3 * n};
    weft_val p = weft_matmul(g, h, weft_slice(g, w, rows, gates, NULL), false, true);
    if (info->has_bias)
        p = weft_add(g, p, weft_slice(g, s->captured[1], first, two, NULL));
    const weft_val rz = weft_sigmoid(g, weft_add(g, columns(g, x, 0, 2 * n), p));
    const weft_val r = columns(g, rz, 0, n), z = columns(g, rz, n, 2 * n);
    weft_val q =
        weft_matmul(g, weft_mul(g, r, h), weft_slice(g, w, candidate, all, NULL), false, true);
    if (info->has_bias)
        q = weft_add(g, q, weft_slice(g, s->captured[1], two, three, NULL));
    const weft_val c = weft_tanh(g, weft_add(g, columns(g, x, 2 * n, 3 * n), q));
    return weft_add(g, weft_mul(g, z, weft_sub(g, h, c)), c);
}

// The next states, before the mask.
static void run_cell(weft_graph *g, const step_info *info, const weft_scan_step *s,
                     weft_val next[2])
{
    next[1] = WEFT_NONE;
    if (info->kind == CELL_GRU_RESET_BEFORE) {
        next[0] = reset_before(g, info, s);
        return;
    }
    const weft_val p = weft_matmul(g, s->states[0], s->captured[0], false, true);
    if (info->kind == CELL_LSTM) {
        weft_lstm_cell(g, s->sequences[0], p, s->states[1], &next[0], &next[1]);
    } else if (info->kind == CELL_GRU) {
        const weft_val biased = with_bias(g, info, p, info->has_bias ? s->captured[1] : WEFT_NONE);
        next[0] = weft_gru_cell(g, s->sequences[0], biased, s->states[0]);
    } else {
        const weft_val sum = weft_add(g, s->sequences[0], p);
        next[0] = info->kind == CELL_RELU ? weft_relu(g, sum) : weft_tanh(g, sum);
    }
}

static void run_step(weft_graph *g, void *user, const weft_scan_step *s)
{
    const step_info *info = user;
    weft_val next[2];
    run_cell(g, info, s, next);
    s->stacks[0] = next[0];
    for (int i = 0; i < (info->kind == CELL_LSTM ? 2 : 1); i++) {
        // Behind its end a sequence keeps its state and gives 0.
        s->next_states[i] =
            info->has_mask ? weft_select(g, s->sequences[1], next[i], s->states[i]) : next[i];
    }
    if (info->has_mask)
        s->stacks[0] = weft_select(g, s->sequences[1], next[0], wf_nn_number(g, 0.0));
}

// ---- one layer in one direction
static weft_val parameter(stack *s, const char *what, int layer, bool is_reverse,
                          const int64_t *dims, int32_t ndim)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s_l%d%s", what, layer, is_reverse ? "_reverse" : "");
    const weft_init init = wf_nn_bias_init((weft_init){WEFT_INIT_DEFAULT, 0, 0, 0}, s->hidden);
    return wf_nn_parameter_init(s->nn, name, &init, dims, ndim, ndim > 1);
}

// The first state of a layer and direction: a part of the option, or zeros.
static weft_val first_state(stack *s, weft_val given, int64_t idx)
{
    const int64_t dims[] = {s->b, s->hidden};
    if (!given.id)
        return weft_fill(s->g, WEFT_F32, dims, 2, 0.0);
    const int64_t start[] = {idx, 0, 0}, stop[] = {idx + 1, s->b, s->hidden};
    return weft_reshape(s->g, weft_slice(s->g, given, start, stop, NULL), dims, 2);
}

// x [t,b,i] -> [t,b,h]
static weft_val one_direction(stack *s, weft_val x, int layer, bool is_reverse)
{
    weft_graph *g = s->g;
    const int64_t in = weft_val_type(g, x).dims[2], n = n_gates(s->kind) * s->hidden;
    const bool is_gru = n_gates(s->kind) == 3, is_lstm = s->kind == CELL_LSTM;
    const int64_t w_in[] = {n, in}, w_state[] = {n, s->hidden};
    const weft_val w = parameter(s, "weight_ih", layer, is_reverse, w_in, 2);
    const weft_val u = parameter(s, "weight_hh", layer, is_reverse, w_state, 2);
    const int64_t rows[] = {s->t * s->b, in}, whole[] = {s->t, s->b, n};
    weft_val y =
        weft_matmul(g, wf_build_reshape(g, wf_nn_store(s->nn, x), 2, rows), w, false, true);
    weft_val captured[2] = {u, WEFT_NONE};
    if (!s->o->no_bias) {
        const weft_val b_in = parameter(s, "bias_ih", layer, is_reverse, &n, 1);
        const weft_val b_state = parameter(s, "bias_hh", layer, is_reverse, &n, 1);
        y = weft_add(g, y, is_gru ? b_in : weft_add(g, b_in, b_state));
        captured[1] = b_state;
    }
    const size_t idx = s->n_finals++;
    step_info info = {s->kind, s->hidden, s->mask.id != 0, is_gru && !s->o->no_bias};
    const weft_val states[] = {first_state(s, s->o->h0, (int64_t)idx),
                               is_lstm ? first_state(s, s->o->c0, (int64_t)idx) : WEFT_NONE};
    const weft_val sequences[] = {weft_reshape(g, y, whole, 3), s->mask};
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .is_reverse = is_reverse,
                                 .states = states,
                                 .n_states = is_lstm ? 2 : 1,
                                 .sequences = sequences,
                                 .n_sequences = info.has_mask ? 2 : 1,
                                 .captured = captured,
                                 .n_captured = info.has_bias ? 2 : 1,
                                 .n_stacks = 1,
                                 .step = run_step,
                                 .user = &info};
    weft_val last[2] = {{0}}, out = WEFT_NONE;
    weft_scan(g, &spec, last, &out);
    const int64_t one[] = {1, s->b, s->hidden};
    for (int i = 0; i < (is_lstm ? 2 : 1); i++)
        s->finals[i][idx] = weft_reshape(g, last[i], one, 3);
    return wf_nn_store(s->nn, out);
}

// ---- all layers
// [t,b,1]: is the step inside the sequence?
static weft_val build_mask(stack *s)
{
    const int64_t dims[] = {s->t, s->b, 1}, lengths[] = {1, s->b, 1};
    const weft_val step = weft_iota(s->g, WEFT_I32, dims, 3, 0);
    return weft_less(s->g, step, weft_reshape(s->g, s->o->lengths, lengths, 3));
}

static bool check(stack *s, const char *what, weft_val x)
{
    const weft_recurrent_options *o = s->o;
    const weft_type t = weft_val_type(s->g, x);
    char text[WF_TYPE_TEXT];
    if (t.ndim != 3 || t.dtype != WEFT_F32 || s->hidden < 1) {
        wf_graph_fail(s->g, NULL, t.ndim == 3 && s->hidden >= 1 ? WEFT_ERR_DTYPE : WEFT_ERR_SHAPE,
                      "%s: x is %s, hidden is %lld, expected f32 [%s,i] and 1 or more", what,
                      wf_type_text(&t, text), (long long)s->hidden,
                      o->is_batch_first ? "b,t" : "t,b");
        return false;
    }
    s->t = t.dims[o->is_batch_first ? 1 : 0];
    s->b = t.dims[o->is_batch_first ? 0 : 1];
    const int64_t n = (o->n_layers ? o->n_layers : 1) * (o->is_bidirectional ? 2 : 1);
    if (o->n_layers < 0 || o->n_layers > WEFT_MAX_RECURRENT_LAYERS) {
        wf_graph_fail(s->g, NULL, WEFT_ERR_ATTR, "%s: %d layers, expected 1 to %d", what,
                      o->n_layers, WEFT_MAX_RECURRENT_LAYERS);
        return false;
    }
    const int64_t state[] = {n, s->b, s->hidden};
    const weft_type want = wf_type_make(WEFT_F32, 3, state);
    const weft_type lengths = wf_type_make(WEFT_I32, 1, &s->b);
    const weft_val given[] = {o->h0, o->c0, o->lengths};
    static const char *const names[] = {"h0", "c0", "lengths"};
    for (int i = 0; i < 3; i++) {
        const weft_type have = weft_val_type(s->g, given[i]);
        const weft_type *expected = i < 2 ? &want : &lengths;
        char other[WF_TYPE_TEXT];
        if (given[i].id && !wf_type_equal(&have, expected)) {
            wf_graph_fail(s->g, NULL, WEFT_ERR_SHAPE, "%s: %s is %s, expected %s", what, names[i],
                          wf_type_text(&have, text), wf_type_text(expected, other));
            return false;
        }
    }
    return true;
}

static weft_val run_layers(stack *s, weft_val x)
{
    weft_graph *g = s->g;
    static const int32_t swap[] = {1, 0, 2};
    if (s->o->is_batch_first)
        x = weft_permute(g, x, swap);
    if (s->o->lengths.id) {
        // What stands behind the end, NaN even, must not reach a gradient as 0 times itself.
        s->mask = build_mask(s);
        x = weft_select(g, s->mask, x, wf_nn_number(g, 0.0));
    }
    const int n_layers = s->o->n_layers ? s->o->n_layers : 1;
    for (int layer = 0; layer < n_layers && wf_graph_is_ok(g); layer++) {
        if (layer > 0 && s->o->dropout > 0.0)
            x = weft_dropout(s->nn, x, s->o->dropout);
        const weft_val forward = one_direction(s, x, layer, false);
        if (s->o->is_bidirectional) {
            const weft_val both[] = {forward, one_direction(s, x, layer, true)};
            x = weft_concat(g, both, 2, 2);
        } else {
            x = forward;
        }
    }
    return s->o->is_batch_first ? weft_permute(g, x, swap) : x;
}

static weft_val build(weft_nn *nn, const char *what, const char *name, cell_kind kind, weft_val x,
                      int64_t hidden, const weft_recurrent_options *options,
                      weft_val *out_states[2])
{
    static const weft_recurrent_options none = WEFT_RECURRENT_OPTIONS_INIT;
    weft_graph *g = wf_nn_begin(nn);
    stack s = {.nn = nn, .g = g, .kind = kind, .o = options ? options : &none, .hidden = hidden};
    for (int i = 0; i < 2; i++) {
        if (out_states[i])
            *out_states[i] = WEFT_NONE;
    }
    if (!g || !x.id || !wf_nn_options_check(g, what, s.o->struct_size, sizeof *s.o) ||
        !check(&s, what, x)) {
        return WEFT_NONE;
    }
    weft_scope_push(g, name);
    const weft_val y = run_layers(&s, x);
    for (int i = 0; i < (kind == CELL_LSTM ? 2 : 1); i++) {
        if (out_states[i] && wf_graph_is_ok(g))
            *out_states[i] = weft_concat(g, s.finals[i], s.n_finals, 0);
    }
    weft_scope_pop(g);
    return y;
}

weft_val weft_lstm(weft_nn *nn, const char *name, weft_val x, int64_t hidden,
                   const weft_recurrent_options *options, weft_val *out_h, weft_val *out_c)
{
    weft_val *out[] = {out_h, out_c};
    return build(nn, "lstm", name, CELL_LSTM, x, hidden, options, out);
}

weft_val weft_gru(weft_nn *nn, const char *name, weft_val x, int64_t hidden,
                  const weft_recurrent_options *options, weft_val *out_h)
{
    weft_val *out[] = {out_h, NULL};
    const bool is_before = options && options->resets_before;
    return build(nn, "gru", name, is_before ? CELL_GRU_RESET_BEFORE : CELL_GRU, x, hidden, options,
                 out);
}

weft_val weft_rnn(weft_nn *nn, const char *name, weft_val x, int64_t hidden,
                  const weft_recurrent_options *options, weft_val *out_h)
{
    weft_val *out[] = {out_h, NULL};
    const bool is_relu = options && options->is_relu;
    return build(nn, "rnn", name, is_relu ? CELL_RELU : CELL_TANH, x, hidden, options, out);
}
