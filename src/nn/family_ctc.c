// CTC: writes down what it hears. Tokens become a signal of unknown speed, the network reads it back, and its
// loss (recipe: `loss: own`) is that of all alignments. In: tokens [b,n]. Out: logits [b,3n,classes + 1], the
// blank last. Stage: nn.
//
// The signal stands for a recording: each token is a fixed random vector of `width` numbers, held for 2 or 3
// frames, with noise; what is behind the last token is silence. It is drawn anew in each step.
#include "nn/family.h"

typedef struct values {
    int64_t classes, width, hidden, layers;
    double noise, dropout;
} values;

static const values defaults = {.width = 24, .hidden = 64, .layers = 1, .noise = 0.3};

static const wf_option options[] = {
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {"width", WF_OPTION_INTEGER, offsetof(values, width), 1, 1e6, NULL},
    {"hidden", WF_OPTION_INTEGER, offsetof(values, hidden), 1, 1e6, NULL},
    {"layers", WF_OPTION_INTEGER, offsetof(values, layers), 1, WEFT_MAX_RECURRENT_LAYERS, NULL},
    {"noise", WF_OPTION_NUMBER, offsetof(values, noise), 0, 10, NULL},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

enum {
    MAX_FRAMES = 3
}; // of a token; 2 at least, so that the same one twice leaves room for a blank

// i32 [b,n]: 2 or 3.
static weft_val draw_durations(weft_nn *nn, int64_t b, int64_t n)
{
    const int64_t dims[] = {b, n};
    const weft_val bits = weft_random_bits(nn->g, weft_nn_seed(nn), weft_nn_step(nn), dims, 2);
    const weft_val one = weft_and(nn->g, bits, weft_scalar(nn->g, WEFT_I32, 1.0));
    return weft_add(nn->g, one, weft_scalar(nn->g, WEFT_I32, 2.0));
}

// f32 [b,n,width]: each token's vector, the same in every run.
static weft_val look_up(weft_graph *g, weft_val tokens, int64_t n_classes, int64_t width)
{
    const int64_t dims[] = {n_classes, width};
    const weft_val zero = weft_scalar(g, WEFT_I64, 0.0);
    return weft_gather(g, weft_random_normal(g, zero, zero, dims, 2), tokens, 0);
}

// f32 [b,3n,width] and the frames of each sample, i32 [b].
static weft_val record(wf_family_build *b, const values *v, int64_t n_classes,
                       weft_val *out_lengths)
{
    weft_graph *g = b->nn->g;
    static const int32_t tokens = 1;
    const weft_type t = weft_val_type(g, b->x);
    const int64_t n_b = t.dims[0], n = t.dims[1], n_frames = MAX_FRAMES * n;
    const int64_t column[] = {n_b, 1, n}, held[] = {n_b, n_frames, n};
    const int64_t whole[] = {n_b, n_frames, v->width};
    weft_scope_push(g, "signal");
    const weft_val durations = draw_durations(b->nn, n_b, n);
    const weft_val end = weft_reshape(g, weft_cumsum(g, durations, 1, false, false), column, 3);
    const weft_val start = weft_sub(g, end, weft_reshape(g, durations, column, 3));
    const weft_val frame = weft_iota(g, WEFT_I32, held, 3, 1);
    const weft_val is_held =
        weft_and(g, weft_less_equal(g, start, frame), weft_less(g, frame, end));
    const weft_val clean = weft_matmul(g, weft_cast(g, is_held, WEFT_F32),
                                       look_up(g, b->x, n_classes, v->width), false, false);
    const weft_val noise =
        weft_random_normal(g, weft_nn_seed(b->nn), weft_nn_step(b->nn), whole, 3);
    *out_lengths = weft_sum(g, durations, &tokens, 1, false);
    const weft_val signal = weft_add(g, clean, weft_mul(g, noise, wf_nn_number(g, v->noise)));
    weft_scope_pop(g);
    return signal;
}

// f32 [b]: each sample's loss over its number of tokens.
static weft_val loss_of(wf_family_build *b, weft_val logits, weft_val lengths, int64_t n_classes)
{
    weft_graph *g = b->nn->g;
    static const int32_t time_major[] = {1, 0, 2};
    weft_ctc_options o = WEFT_CTC_OPTIONS_INIT;
    o.reduction = WEFT_REDUCTION_NONE;
    o.blank = (int32_t)n_classes;
    o.lengths = lengths;
    const weft_val losses = weft_ctc_loss(g, weft_permute(g, logits, time_major), b->x, &o);
    const double n = (double)weft_val_type(g, b->x).dims[1];
    return weft_div(g, losses, wf_nn_number(g, n > 0.0 ? n : 1.0));
}

static weft_val build(wf_family_build *b)
{
    const values *v = b->options;
    weft_graph *g = b->nn->g;
    const weft_type t = weft_val_type(g, b->x);
    const int64_t n_classes = wf_family_classes(b, v->classes);
    char text[WF_TYPE_TEXT];
    weft_val lengths = WEFT_NONE;
    if (t.dtype != WEFT_I32 || t.ndim != 2 || t.dims[1] < 1) {
        wf_graph_fail(g, NULL, WEFT_ERR_SHAPE, "ctc: x is %s, expected tokens i32 [b,n]",
                      wf_type_text(&t, text));
        return WEFT_NONE;
    }
    const weft_val signal = record(b, v, n_classes, &lengths);
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    o.n_layers = (int32_t)v->layers;
    o.is_bidirectional = true;
    o.is_batch_first = true;
    o.dropout = v->dropout;
    o.lengths = lengths;
    const weft_val heard = weft_lstm(b->nn, "lstm", signal, v->hidden, &o, NULL, NULL);
    const weft_val logits = weft_linear(b->nn, "head", heard, n_classes + 1, NULL);
    if (logits.id)
        b->penalty = loss_of(b, logits, lengths, n_classes);
    return logits;
}

const wf_family wf_family_ctc = {
    .name = "ctc",
    .summary = "bidirectional LSTM that writes down tokens heard through noise",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
