// What the recurrent families share (recurrent_common.c).
#ifndef WF_NN_RECURRENT_H
#define WF_NN_RECURRENT_H

#include "nn/family.h"

typedef enum { WF_RECURRENT_LSTM, WF_RECURRENT_GRU, WF_RECURRENT_RNN } wf_recurrent_kind;

typedef struct wf_recurrent_values {
    int64_t classes, width, hidden, layers;
    bool is_bidirectional;
    double dropout;
} wf_recurrent_values;

#define WF_RECURRENT_DEFAULTS                                                                      \
    {                                                                                              \
        .width = 256, .layers = 2                                                                  \
    }

extern const wf_option wf_recurrent_options[];

// Tokens [b,t] through a table "embed", or sequences [b,t,i] as they are, the layers "lstm" (or "gru", "rnn")
// and a linear "head": logits [b,t,classes].
weft_val wf_recurrent_build(wf_family_build *b, wf_recurrent_kind kind);

#endif
