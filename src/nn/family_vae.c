// Variational autoencoder. D. Kingma, M. Welling, ICLR 2014; beta as in I. Higgins et al., ICLR 2017. The code is
// drawn in training and is its mean in evaluation. To be trained with {kind: bce, reduction: sum}: the loss of a
// sample is then its negative evidence lower bound.
#include "nn/block.h"

typedef struct values {
    wf_coder_options coder;
    double beta;
} values;

static const values defaults = {{0, {{400}, 1}, {{16, 32}, 2}, 20, 0}, 1.0};

static const wf_option options[] = {
    {"kind", WF_OPTION_CHOICE, offsetof(values, coder.kind), 0, 0, wf_coder_kinds},
    {"hidden", WF_OPTION_INTEGERS, offsetof(values, coder.hidden), 1, 1e6, NULL},
    {"channels", WF_OPTION_INTEGERS, offsetof(values, coder.channels), 1, 65536, NULL},
    {"code", WF_OPTION_INTEGER, offsetof(values, coder.code), 1, 1e6, NULL},
    {"activation", WF_OPTION_CHOICE, offsetof(values, coder.activation), 0, 0,
     wf_coder_activations},
    {"beta", WF_OPTION_NUMBER, offsetof(values, beta), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

// KL(N(mean, exp(logvar)) || N(0, 1)) of each sample, times beta: f32 [b].
static weft_val divergence(weft_graph *g, weft_val mean, weft_val logvar, weft_val var, double beta)
{
    static const int32_t last = 1;
    const weft_val one = wf_nn_number(g, 1.0);
    // (mean^2 + var - 1 - logvar) / 2
    const weft_val squares = weft_add(g, weft_mul(g, mean, mean), weft_sub(g, var, one));
    const weft_val terms = weft_sub(g, squares, logvar);
    return weft_mul(g, weft_sum(g, terms, &last, 1, false), wf_nn_number(g, 0.5 * beta));
}

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_graph *g = weft_nn_graph(b->nn);
    const weft_val features = wf_coder_encode(b->nn, &o->coder, b->x);
    const weft_val mean = weft_linear(b->nn, "mean", features, o->coder.code, NULL);
    const weft_val logvar = weft_linear(b->nn, "logvar", features, o->coder.code, NULL);
    weft_val code = mean;
    if (!mean.id || !logvar.id)
        return WEFT_NONE;
    weft_scope_push(g, "latent");
    const weft_val half = weft_mul(g, logvar, wf_nn_number(g, 0.5));
    const weft_val deviation = weft_flush(g, weft_exp(g, half));
    if (b->nn->is_training) {
        const weft_type t = weft_val_type(g, mean);
        const weft_val z =
            weft_random_normal(g, weft_nn_seed(b->nn), weft_nn_step(b->nn), t.dims, t.ndim);
        code = weft_add(g, mean, weft_mul(g, deviation, z));
    }
    b->penalty = divergence(g, mean, logvar, weft_flush(g, weft_exp(g, logvar)), o->beta);
    weft_scope_pop(g);
    b->code = mean;
    return wf_coder_decode(b->nn, &o->coder, code, b->x);
}

const wf_family wf_family_vae = {
    .name = "vae",
    .summary = "variational autoencoder",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
