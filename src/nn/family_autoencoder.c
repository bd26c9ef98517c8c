// Autoencoders: dense or convolutional, and denoising where noise or masking is above 0 (P. Vincent et al., JMLR
// 2010). The result is the picture before the sigmoid, for the loss bce; for mse it is the picture.
#include "nn/block.h"

typedef struct values {
    wf_coder_options coder;
    double noise, masking;
} values;

static const values defaults = {{0, {{512, 256}, 2}, {{16, 32}, 2}, 32, 0}, 0.0, 0.0};

static const wf_option options[] = {
    {"kind", WF_OPTION_CHOICE, offsetof(values, coder.kind), 0, 0, wf_coder_kinds},
    {"hidden", WF_OPTION_INTEGERS, offsetof(values, coder.hidden), 1, 1e6, NULL},
    {"channels", WF_OPTION_INTEGERS, offsetof(values, coder.channels), 1, 65536, NULL},
    {"code", WF_OPTION_INTEGER, offsetof(values, coder.code), 1, 1e6, NULL},
    {"activation", WF_OPTION_CHOICE, offsetof(values, coder.activation), 0, 0,
     wf_coder_activations},
    {"noise", WF_OPTION_NUMBER, offsetof(values, noise), 0, 1e6, NULL},
    {"masking", WF_OPTION_NUMBER, offsetof(values, masking), 0, 0.99, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    const weft_val given = wf_coder_corrupt(b->nn, b->x, o->noise, o->masking);
    const weft_val features = wf_coder_encode(b->nn, &o->coder, given);
    b->code = weft_linear(b->nn, "code", features, o->coder.code, NULL);
    return wf_coder_decode(b->nn, &o->coder, b->code, b->x);
}

const wf_family wf_family_autoencoder = {
    .name = "autoencoder",
    .summary = "autoencoder: dense, convolutional, denoising",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
