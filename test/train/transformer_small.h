// Small transformers as recipes: what the tests of bits and of written text train.
#ifndef TRANSFORMER_SMALL_H
#define TRANSFORMER_SMALL_H

#include "train/train_tools.h"

#define DIR_A TEMP("transformer-a")
#define TEXT WEFT_TEST_TMP "/transformer.txt"

#define TAIL                                                                                       \
    "loss: cross_entropy\noptimiser: {kind: adamw, lr: 3e-3, weight_decay: 0.01}\n"                \
    "schedule: cosine\ntrain: {batch: 6, steps: 8, clip_norm: 1}\n"
#define OF_TEXT "data: {reader: text, file: " TEXT ", context: 20, validation: 0.2}\n"

static const char *const recipes[] = {
    "name: gpt\nseed: 2\n" OF_TEXT
    "model: {family: gpt, width: 24, heads: 4, kv_heads: 2, layers: 2, dropout: 0.1}\n" TAIL,
    "name: gpt\nseed: 2\n" OF_TEXT
    "model: {family: gpt, width: 18, heads: 3, layers: 1, tied: true, norm: rms, std: 0}\n" TAIL,
    "name: bert\nseed: 2\n" OF_TEXT
    "model: {family: bert, width: 24, heads: 4, layers: 2, segments: 2, pad: 0}\n"
    "target: {kind: masked, share: 0.2}\n" TAIL,
    "name: bert\nseed: 2\ndata: {reader: synthetic, context: 9, n_classes: 7}\n"
    "model: {family: bert, width: 16, heads: 2, layers: 1, vocabulary: 7}\n" TAIL,
    "name: vit\nseed: 2\ndata: {reader: synthetic, image: [3, 8, 12], n_classes: 5, normalise: "
    "false}\nmodel: {family: vit, patch: 4, width: 24, heads: 4, layers: 2, dropout: 0.1}\n" TAIL,
};
#define N_RECIPES (sizeof recipes / sizeof recipes[0])

static inline void write_text(void)
{
    FILE *f = fopen(TEXT, "w");
    assert_non_null(f);
    for (int i = 0; i < 40; i++)
        fprintf(f, "line %d: the weft goes over, \xc3\xa9t\xc3\xa9, and under again.\n",
                i * i % 37);
    fclose(f);
}

static inline void train(const char *recipe, tiny_how how, char out_sha[65])
{
    tiny_run run = {0};
    write_text();
    how.path = tiny_write(recipe);
    how.dir = DIR_A;
    if (!how.is_resumed)
        tiny_remove(DIR_A);
    tiny_train(&how, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s", run.err.message);
    memcpy(out_sha, run.done.weights_sha256, 65);
}

#endif
