// Text from a trained run: one token after the other, drawn from what the model says comes next.
#ifndef WEFT_SAMPLE_H
#define WEFT_SAMPLE_H

#include <weft/train.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a token is drawn. Logits are divided by the temperature; of the tokens, the most probable first and of
// equals the lowest, the first top_k are kept, and of these the fewest whose probabilities reach top_p.
typedef struct weft_sample_options {
    size_t struct_size;
    double temperature; // 0: always the most probable token
    int64_t top_k;      // 0: all
    double top_p;       // 0 or 1: all
    int64_t seed;
    // Of weft_sample_run:
    const char *prompt; // UTF-8; NULL or empty: the model begins behind its first token
    int64_t n_tokens;   // to write
    bool is_best;       // the weights of the best epoch instead of the last
    bool is_uncached;   // runs the whole window for each token: slower, the same text
} weft_sample_options;
#define WEFT_SAMPLE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(weft_sample_options), 1, 0, 0, 0, NULL, 200, false, false                           \
    }

// One token of n from their logits, for place `at` of a text: the same seed and place draw the same number
// everywhere. A NaN is never drawn; where nothing can be drawn the result is the first token.
//   logits   f32 [n]
// Numerics: exp of weft, Philox; sums in f64, in the order above. Errors: WEFT_ERR_ATTR (an option out of its
// range), WEFT_ERR_USAGE, WEFT_ERR_MEMORY.
WEFT_API weft_status weft_sample_token(const float *logits, int64_t n,
                                       const weft_sample_options *options, int64_t at,
                                       int64_t *out_token, weft_error *err);

// Writes a text: calls wrote with the prompt, then with the bytes of each token as soon as it is drawn.
//   recipe    of a run folder: its data is a text
// A model that keeps a cache reads each token once; where the context is full its last half is read again.
// Errors: WEFT_ERR_UNSUPPORTED (no language model), WEFT_ERR_INDEX (a character of the prompt that the text
// did not have), and as weft_eval_run.
WEFT_API weft_status weft_sample_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                                     const weft_sample_options *options,
                                     void (*wrote)(void *user, const char *bytes, size_t n),
                                     void *user, weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
