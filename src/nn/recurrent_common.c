// The recurrent families: an embedding, recurrent layers, a head at each position. Decoding keeps the
// states in variables, so that a token is one step. Stage: nn.
#include "nn/recurrent.h"
#include "weft/transformer.h"

const wf_option wf_recurrent_options[] = {
    {"classes", WF_OPTION_INTEGER, offsetof(wf_recurrent_values, classes), 0, 1e9, NULL},
    {"width", WF_OPTION_INTEGER, offsetof(wf_recurrent_values, width), 1, 1e6, NULL},
    {"hidden", WF_OPTION_INTEGER, offsetof(wf_recurrent_values, hidden), 0, 1e6, NULL},
    {"layers", WF_OPTION_INTEGER, offsetof(wf_recurrent_values, layers), 1,
     WEFT_MAX_RECURRENT_LAYERS, NULL},
    {"bidirectional", WF_OPTION_BOOL, offsetof(wf_recurrent_values, is_bidirectional), 0, 0, NULL},
    {"dropout", WF_OPTION_NUMBER, offsetof(wf_recurrent_values, dropout), 0, 0.99, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

static const char *const names[] = {"lstm", "gru", "rnn"};

// A state from the step before; zeros at position 0, where a new text begins.
static weft_val remembered(wf_family_build *b, const char *name, weft_val position,
                           const int64_t dims[3], weft_val *out_variable)
{
    weft_graph *g = b->nn->g;
    *out_variable = wf_nn_buffer(b->nn, name, weft_fill(g, WEFT_F32, dims, 3, 0.0));
    const weft_val is_first = weft_equal(g, position, weft_scalar(g, WEFT_I32, 0.0));
    return weft_select(g, is_first, wf_nn_number(g, 0.0), *out_variable);
}

static weft_val layers(wf_family_build *b, wf_recurrent_kind kind, weft_val x,
                       const weft_recurrent_options *o, int64_t hidden, weft_val *h, weft_val *c)
{
    switch (kind) {
    case WF_RECURRENT_LSTM: return weft_lstm(b->nn, names[kind], x, hidden, o, h, c);
    case WF_RECURRENT_GRU: return weft_gru(b->nn, names[kind], x, hidden, o, h);
    default: return weft_rnn(b->nn, names[kind], x, hidden, o, h);
    }
}

static weft_val decode(wf_family_build *b, wf_recurrent_kind kind, weft_val x,
                       weft_recurrent_options *o, int64_t hidden)
{
    weft_graph *g = b->nn->g;
    const weft_type t = weft_val_type(g, x);
    const int64_t dims[] = {o->n_layers, t.dims[0], hidden};
    weft_val h_var, c_var = WEFT_NONE, h = WEFT_NONE, c = WEFT_NONE;
    if (o->is_bidirectional) {
        wf_graph_fail(g, NULL, WEFT_ERR_UNSUPPORTED,
                      "%s: the next token of a bidirectional network, expected one direction",
                      names[kind]);
        return WEFT_NONE;
    }
    const weft_val position = wf_nn_buffer(b->nn, "position", weft_scalar(g, WEFT_I32, 0.0));
    o->h0 = remembered(b, "state_h", position, dims, &h_var);
    if (kind == WF_RECURRENT_LSTM)
        o->c0 = remembered(b, "state_c", position, dims, &c_var);
    const weft_val y = layers(b, kind, x, o, hidden, &h, &c);
    weft_assign(g, h_var, h);
    if (kind == WF_RECURRENT_LSTM)
        weft_assign(g, c_var, c);
    const weft_val n = weft_scalar(g, WEFT_I32, (double)t.dims[1]);
    weft_assign(g, position, weft_add(g, position, n));
    return y;
}

weft_val wf_recurrent_build(wf_family_build *b, wf_recurrent_kind kind)
{
    const wf_recurrent_values *v = b->options;
    weft_graph *g = b->nn->g;
    const weft_type t = weft_val_type(g, b->x);
    const int64_t n_classes = wf_family_classes(b, v->classes);
    const int64_t hidden = v->hidden ? v->hidden : v->width;
    weft_val x = b->x;
    if (t.dtype == WEFT_I32) // each token's row
        x = weft_embedding(b->nn, "embed", x, n_classes, v->width, NULL);
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    o.n_layers = (int32_t)v->layers;
    o.is_bidirectional = v->is_bidirectional;
    o.is_batch_first = true;
    o.dropout = v->dropout;
    weft_val y;
    if (b->is_decoding) {
        y = decode(b, kind, x, &o, hidden);
    } else {
        y = layers(b, kind, x, &o, hidden, NULL, NULL);
    }
    return weft_linear(b->nn, "head", y, n_classes, NULL);
}
