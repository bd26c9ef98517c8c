// LSTM: classes at each position of a sequence. In: tokens [b,t], or f32 [b,t,i]. Out: logits [b,t,classes].
// Stage: nn.
#include "nn/recurrent.h"

static const wf_recurrent_values defaults = WF_RECURRENT_DEFAULTS;

static weft_val build(wf_family_build *b)
{
    return wf_recurrent_build(b, WF_RECURRENT_LSTM);
}

const wf_family wf_family_lstm = {
    .name = "lstm",
    .summary = "recurrent network (LSTM) that predicts the next token",
    .options = wf_recurrent_options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
    .can_decode = true,
};
