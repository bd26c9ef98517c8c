// A text from a run: prompt in, tokens drawn one by one. A family with a cache reads each token once; any
// other language model runs its whole window. Stage: train.
#include <string.h>

#include "data/vocabulary.h"
#include "train/trainer.h"
#include "weft/sample.h"

typedef struct sampler {
    wf_allocator allocator;
    const weft_recipe *recipe;
    const weft_sample_options *options;
    wf_vocabulary vocabulary;
    wf_program_cache programs;
    weft_program *program; // owned: it is none of the cache's kinds
    int64_t context;
    bool is_cached;
    int32_t *tokens;   // all so far
    int64_t n, n_read; // read by the cache
    int64_t first;     // the token that stands first in the window
    int32_t *window;   // [context], without a cache
    float *logits;     // of the last token
    float *all;        // [context, n], without a cache
} sampler;

static weft_status open_vocabulary(sampler *s, weft_error *err)
{
    const wf_recipe_data *d = &s->recipe->v.data;
    if (d->unit == 1) {
        wf_vocabulary_init_bytes(&s->vocabulary, &s->allocator);
        return WEFT_OK;
    }
    if (!d->vocabulary)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: its data is no text, expected a language model",
                  s->recipe->v.name);
    return wf_vocabulary_init_text(&s->vocabulary, &s->allocator, d->vocabulary, err);
}

// What a run on this text is given, without the text.
static void describe_data(const sampler *s, wf_train_data *out)
{
    *out = (wf_train_data){.allocator = s->allocator, .n_classes = s->vocabulary.n};
    out->input = (wf_data_field){.name = "token", .dtype = WEFT_I32, .ndim = 1};
    out->input.dim[0] = s->context;
    out->label = out->input;
    out->label.name = "label";
}

// tokens [1,1] or [1,context] -> logits
static weft_status compile(sampler *s, weft_state *state, weft_error *err)
{
    const int64_t dims[] = {1, s->is_cached ? 1 : s->context};
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    weft_graph *g = NULL;
    weft_nn *nn = NULL;
    weft_status status;
    options.uses_averages = s->programs.uses_averages;
    WEFT_TRY(weft_graph_create(state->device->context, &g, err));
    WEFT_TRY_GOTO(weft_nn_create(g, &options, &nn, err));
    const weft_val x = weft_input(g, "token", WEFT_I32, dims, 2);
    weft_val y;
    if (s->is_cached) {
        const wf_model *model = &s->recipe->v.model;
        wf_family_build b = {.nn = nn,
                             .options = model->options,
                             .x = x,
                             .n_classes = s->vocabulary.n,
                             .is_decoding = true,
                             .context = s->context};
        y = model->family->build(&b);
    } else {
        y = wf_recipe_build(s->recipe, nn, x, s->vocabulary.n, NULL);
    }
    weft_output(g, "logits", y);
    WEFT_TRY_GOTO(weft_graph_status(g, err));
    if (weft_val_type(g, y).ndim != 3 || weft_val_type(g, y).dims[2] != s->vocabulary.n) {
        status = wf_error_set(err, WEFT_ERR_UNSUPPORTED,
                              "%s: its model does not say what token comes next, expected a "
                              "language model",
                              s->recipe->v.name);
        goto fail;
    }
    status = weft_compile(state, g, NULL, &s->program, err);
fail:
    weft_nn_destroy(nn);
    weft_graph_destroy(g);
    return status;
}

static weft_status run(sampler *s, const int32_t *tokens, int64_t n, float *logits, weft_error *err)
{
    const size_t row = (size_t)s->vocabulary.n * sizeof(float);
    WEFT_TRY(weft_program_write(s->program, "token", tokens, (size_t)n * sizeof *tokens, err));
    WEFT_TRY(weft_program_run(s->program, err));
    WEFT_TRY(weft_program_check(s->program, err));
    return weft_program_read(s->program, "logits", logits, (size_t)n * row, err);
}

// Where the context is full the window moves: its last half stays.
static weft_status make_room(sampler *s, weft_error *err)
{
    static const weft_type scalar = {.dtype = WEFT_I32};
    static const int32_t zero = 0;
    if (s->n - s->first <= s->context)
        return WEFT_OK;
    s->first = s->n - (s->context + 1) / 2;
    s->n_read = s->first;
    return s->is_cached
               ? weft_state_write(s->programs.state, "position", &scalar, &zero, sizeof zero, err)
               : WEFT_OK;
}

// The logits behind the last token.
static weft_status advance(sampler *s, weft_error *err)
{
    WEFT_TRY(make_room(s, err));
    if (!s->is_cached) {
        const int64_t n = s->n - s->first;
        memset(s->window, 0, (size_t)s->context * sizeof *s->window);
        memcpy(s->window, s->tokens + s->first, (size_t)n * sizeof *s->window);
        WEFT_TRY(run(s, s->window, s->context, s->all, err));
        memcpy(s->logits, s->all + (n - 1) * s->vocabulary.n,
               (size_t)s->vocabulary.n * sizeof *s->logits);
        return WEFT_OK;
    }
    for (; s->n_read < s->n; s->n_read++)
        WEFT_TRY(run(s, s->tokens + s->n_read, 1, s->logits, err));
    return WEFT_OK;
}

static weft_status read_prompt(sampler *s, weft_error *err)
{
    const char *prompt = s->options->prompt ? s->options->prompt : "";
    const size_t n_bytes = strlen(prompt);
    const size_t room = n_bytes + 1 + (size_t)s->options->n_tokens;
    size_t n = 0;
    WEFT_TRY(wf_alloc(&s->allocator, room, sizeof *s->tokens, &s->tokens, err));
    WEFT_TRY(wf_vocabulary_encode(&s->vocabulary, "prompt", (const uint8_t *)prompt, n_bytes,
                                  s->tokens, &n, err));
    s->n = n > 0 ? (int64_t)n : 1; // tokens are zeroed: the first one stands for nothing
    return WEFT_OK;
}

static weft_status write_text(sampler *s, void (*wrote)(void *, const char *, size_t), void *user,
                              weft_error *err)
{
    if (s->options->prompt && *s->options->prompt)
        wrote(user, s->options->prompt, strlen(s->options->prompt));
    for (int64_t i = 0; i < s->options->n_tokens; i++) {
        char bytes[WF_UTF8_BYTES];
        int64_t token;
        WEFT_TRY(advance(s, err));
        WEFT_TRY(weft_sample_token(s->logits, s->vocabulary.n, s->options, i, &token, err));
        s->tokens[s->n++] = (int32_t)token;
        wrote(user, bytes, wf_vocabulary_decode(&s->vocabulary, token, bytes));
    }
    return WEFT_OK;
}

static weft_status open_all(sampler *s, const char *run_dir, weft_state *state,
                            const wf_train_data *data, weft_error *err)
{
    const size_t n = (size_t)s->vocabulary.n;
    wf_program_cache_init(&s->programs, s->recipe, data, state, 1);
    s->programs.uses_averages = s->recipe->v.train.ema > 0.0;
    WEFT_TRY(wf_weights_load(&s->programs, run_dir,
                             s->options->is_best ? "best.safetensors" : "weights.safetensors",
                             err));
    WEFT_TRY(compile(s, state, err));
    WEFT_TRY(wf_alloc(&s->allocator, n, sizeof *s->logits, &s->logits, err));
    if (!s->is_cached) {
        const size_t context = (size_t)s->context;
        WEFT_TRY(wf_alloc(&s->allocator, context, sizeof *s->window, &s->window, err));
        WEFT_TRY(wf_alloc(&s->allocator, context, n * sizeof *s->all, &s->all, err));
    }
    return read_prompt(s, err);
}

weft_status weft_sample_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                            const weft_sample_options *options,
                            void (*wrote)(void *user, const char *bytes, size_t n), void *user,
                            weft_error *err)
{
    weft_state *state = NULL;
    wf_train_data data;
    sampler s = {.recipe = recipe, .options = options};
    weft_status status;
    WEFT_REQUIRE(err, recipe && device && run_dir && options && wrote,
                 "sample: without recipe, device, folder, options or wrote");
    WEFT_REQUIRE(err, options->struct_size == sizeof *options,
                 "sample: struct_size is %zu, expected %zu", options->struct_size, sizeof *options);
    if (options->n_tokens < 0)
        WEFT_FAIL(err, WEFT_ERR_ATTR, "sample: n_tokens is %lld, expected 0 or more",
                  (long long)options->n_tokens);
    s.allocator = recipe->allocator;
    s.context = recipe->v.data.context;
    s.is_cached =
        recipe->v.model.family && recipe->v.model.family->can_decode && !options->is_uncached;
    WEFT_TRY_GOTO(open_vocabulary(&s, err));
    describe_data(&s, &data);
    WEFT_TRY_GOTO(weft_state_create(device, &state, err));
    WEFT_TRY_GOTO(open_all(&s, run_dir, state, &data, err));
    status = write_text(&s, wrote, user, err);
fail:
    wf_free(&s.allocator, s.tokens);
    wf_free(&s.allocator, s.window);
    wf_free(&s.allocator, s.logits);
    wf_free(&s.allocator, s.all);
    weft_program_destroy(s.program);
    wf_program_cache_deinit(&s.programs);
    weft_state_destroy(state);
    wf_vocabulary_deinit(&s.vocabulary);
    return status;
}
