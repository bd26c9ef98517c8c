// Small recurrent models as recipes, on a text of the test's own: what the tests of bits train.
#ifndef RECURRENT_SMALL_H
#define RECURRENT_SMALL_H

#include "train/train_tools.h"

#define RECURRENT_DIR TEMP("recurrent")

// The first two write text.
static const char *const recurrent_models[] = {
    "model: {family: lstm, width: 11, hidden: 9, layers: 2, dropout: 0.1}\n",
    "model: {family: gru, width: 11, layers: 1}\n",
    "model: {family: rnn, width: 7, layers: 1, bidirectional: true}\n",
    "model: {family: ctc, width: 6, hidden: 7}\nloss: own\n",
};
#define N_RECURRENT (sizeof recurrent_models / sizeof recurrent_models[0])
#define N_RECURRENT_TEXT 2

static inline const char *recurrent_write(size_t model, int steps)
{
    const char *path = TEMP("recurrent.txt"), *m = recurrent_models[model];
    char text[2048];
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    for (int i = 0; i < 60; i++)
        fprintf(f, "round %d and round the mill wheel goes, ", i);
    fclose(f);
    snprintf(
        text, sizeof text,
        "name: recurrent\nseed: 7\n"
        "data: {reader: text, file: %s, unit: char, context: 12, stride: 12, validation: 0.2}\n%s%s"
        "optimiser: {kind: adamw, lr: 3e-3, weight_decay: 0.01}\nschedule: cosine\n"
        "train: {batch: 6, steps: %d, clip_norm: 1}\n",
        path, m, strstr(m, "loss:") ? "" : "loss: cross_entropy\n", steps);
    return tiny_write(text);
}

// Trains it and copies the digest of its weights.
static inline void recurrent_train(size_t model, int steps, tiny_how how, char out_sha[65])
{
    tiny_run run = {0};
    how.dir = RECURRENT_DIR;
    how.path = recurrent_write(model, steps);
    if (!how.is_resumed)
        tiny_remove(how.dir);
    tiny_train(&how, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s: %s", recurrent_models[model], run.err.message);
    memcpy(out_sha, run.done.weights_sha256, 65);
}

#endif
