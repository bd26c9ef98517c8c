// Logistic and softmax regression: one linear layer over everything, named fc.
#include "nn/family.h"

typedef struct values {
    int64_t classes;
} values;

static const values defaults = {0};

static const wf_option options[] = {
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    const weft_val x = weft_flatten(weft_nn_graph(b->nn), b->x, 1);
    return weft_linear(b->nn, "fc", x, wf_family_classes(b, o->classes), NULL);
}

const wf_family wf_family_softmax = {
    .name = "softmax",
    .summary = "softmax regression: one linear layer",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
