// Multi-layer perceptron: linear layers fc1, fc2, .. with an activation between them.
#include <stdio.h>

#include "nn/family.h"

typedef struct values {
    int64_t classes;
    wf_integers hidden;
    int32_t activation;
    double dropout;
} values;

static const char *const activations[] = {"relu", "tanh", "sigmoid", "gelu", "silu", NULL};

static const values defaults = {0, {{512, 256}, 2}, 0, 0.0};

static const wf_option options[] = {
    {"hidden", WF_OPTION_INTEGERS, offsetof(values, hidden), 1, 1e6, NULL},
    {"activation", WF_OPTION_CHOICE, offsetof(values, activation), 0, 0, activations},
    {"dropout", WF_OPTION_NUMBER, offsetof(values, dropout), 0, 0.99, NULL},
    {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
    {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
};

static weft_val build(wf_family_build *b)
{
    const values *o = b->options;
    weft_graph *g = weft_nn_graph(b->nn);
    weft_val x = weft_flatten(g, b->x, 1);
    char name[16];
    for (int32_t i = 0; i < o->hidden.n; i++) {
        snprintf(name, sizeof name, "fc%d", i + 1);
        x = weft_linear(b->nn, name, x, o->hidden.v[i], NULL);
        x = weft_activation(g, activations[o->activation], x);
        if (o->dropout > 0.0)
            x = weft_dropout(b->nn, x, o->dropout);
    }
    snprintf(name, sizeof name, "fc%d", o->hidden.n + 1);
    return weft_linear(b->nn, name, x, wf_family_classes(b, o->classes), NULL);
}

const wf_family wf_family_mlp = {
    .name = "mlp",
    .summary = "multi-layer perceptron",
    .options = options,
    .options_bytes = sizeof defaults,
    .defaults = &defaults,
    .build = build,
};
