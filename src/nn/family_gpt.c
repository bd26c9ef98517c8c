// GPT: the next token of each position. In: tokens [b,t]. Out: logits [b,t,vocabulary]. Stage: nn.
#include "nn/family.h"
#include "weft/transformer.h"

static const char *const activations[] = {"gelu", "gelu_tanh", "silu", "relu", NULL};
static const char *const norms[] = {"layer", "rms", NULL};

typedef struct values {
    int64_t classes, width, heads, kv_heads, layers, context;
    bool is_tied;
    int32_t activation, norm;
    double dropout, std;
} values;

// The constant of GPT-2 for first weights; 0 gives PyTorch's own.
static const values defaults = {
    .width = 128, .heads = 4, .layers = 4, .context = 0, .std = 0.02, .is_tied = false};

static const wf_option options[] = {
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e9, NULL},
    {"width", WF_OPTION_INTEGER, offsetof(values, width), 1, 1e6, NULL},
    {"heads", WF_OPTION_INTEGER, offsetof(values, heads), 1, 1e4, NULL},
    {"kv_heads", WF_OPTION_INTEGER, offsetof(values, kv_heads), 0, 1e4, NULL},
    {"layers", WF_OPTION_INTEGER, offsetof(values, layers), 1, 1e4, NULL},
    {"context", WF_OPTION_INTEGER, offsetof(values, context), 0, 1e7, NULL},
    {"tied", WF_OPTION_BOOL, offsetof(values, is_tied), 0, 0, NULL},
    {"activation", WF_OPTION_CHOICE, offsetof(values, activation), 0, 0, activations},
    {"norm", WF_OPTION_CHOICE, offsetof(values, norm), 0, 0, norms},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"std", WF_OPTION_NUMBER, offsetof(values, std), 0, 10, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

static weft_val build(wf_family_build *b)
{
    const values *v = b->options;
    const weft_type t = weft_val_type(b->nn->g, b->x);
    weft_gpt_options o = WEFT_GPT_OPTIONS_INIT;
    o.vocabulary = wf_family_classes(b, v->classes);
    o.d = v->width;
    o.heads = v->heads;
    o.kv_heads = v->kv_heads;
    o.layers = v->layers;
    // As long as what it is trained on.
    o.context = v->context ? v->context : b->context ? b->context : t.dims[1];
    o.is_tied = v->is_tied;
    o.is_rms = v->norm == 1;
    o.activation = activations[v->activation];
    o.dropout = v->dropout;
    o.std = v->std;
    return b->is_decoding ? weft_gpt_decode(b->nn, b->x, &o) : weft_gpt(b->nn, b->x, &o);
}

const wf_family wf_family_gpt = {
    .name = "gpt",
    .summary = "transformer that predicts the next token",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
    .can_decode = true,
};
