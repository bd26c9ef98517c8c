// For the tests of GPT: a small one, and its logits of all tokens at once against those of a few at a time.
#ifndef GPT_DECODE_H
#define GPT_DECODE_H

#include "nn_run.h"

WF_UNUSED static weft_gpt_options small(void)
{
    weft_gpt_options o = WEFT_GPT_OPTIONS_INIT;
    o.vocabulary = 19;
    o.d = 24;
    o.heads = 4;
    o.layers = 2;
    o.context = 70; // two blocks of keys
    return o;
}

enum { BATCH = 2, LENGTH = 67 };

WF_UNUSED static void make_tokens(int32_t *tokens, int64_t n, int64_t vocabulary)
{
    for (int64_t i = 0; i < n; i++)
        tokens[i] = (int32_t)((i * 7 + i * i % 11) % vocabulary);
}

// Logits of all tokens at once, then of n_new at a time, on one state.
WF_UNUSED static void compare(const char *device, const char *isa, const weft_gpt_options *o,
                              int64_t n_new)
{
    nn_run r;
    int32_t tokens[BATCH * LENGTH];
    const int64_t row = o->vocabulary;
    float *all = malloc((size_t)(BATCH * LENGTH * row) * sizeof *all);
    float *one = malloc((size_t)(BATCH * n_new * row) * sizeof *one);
    assert_true(all && one);
    make_tokens(tokens, BATCH * LENGTH, o->vocabulary);
    nn_begin_on(&r, device, isa, NULL, false);
    weft_output(r.g, "logits",
                weft_gpt(r.nn, weft_input(r.g, "tokens", WEFT_I32, NN_DIMS(BATCH, LENGTH)), o));
    NN_OK(weft_compile(r.state, r.g, NULL, &r.program, err));
    NN_OK(weft_program_write(r.program, "tokens", tokens, sizeof tokens, err));
    NN_OK(weft_program_run(r.program, err));
    NN_OK(weft_program_read(r.program, "logits", all, (size_t)(BATCH * LENGTH * row) * sizeof *all,
                            err));
    nn_end_model(&r);
    nn_model(&r, false);
    weft_output(
        r.g, "logits",
        weft_gpt_decode(r.nn, weft_input(r.g, "tokens", WEFT_I32, NN_DIMS(BATCH, n_new)), o));
    NN_OK(weft_compile(r.state, r.g, NULL, &r.program, err));
    for (int64_t t = 0; t + n_new <= LENGTH; t += n_new) {
        int32_t next[BATCH * LENGTH];
        for (int64_t i = 0; i < BATCH * n_new; i++)
            next[i] = tokens[i / n_new * LENGTH + t + i % n_new];
        NN_OK(weft_program_write(r.program, "tokens", next, (size_t)(BATCH * n_new) * 4, err));
        NN_OK(weft_program_run(r.program, err));
        NN_OK(weft_program_check(r.program, err));
        NN_OK(weft_program_read(r.program, "logits", one, (size_t)(BATCH * n_new * row) * 4, err));
        for (int64_t b = 0; b < BATCH; b++) {
            assert_memory_equal(one + b * n_new * row, all + (b * LENGTH + t) * row,
                                (size_t)(n_new * row) * sizeof *one);
        }
    }
    nn_end(&r);
    free(all);
    free(one);
}

#endif
