// A text from a run: a script that reads tokens, draws the next and writes it. A family with a cache reads each
// token once; any other language model runs its whole window. Stage: train.
#include <string.h>

#include "data/vocabulary.h"
#include "train/sample.h"

typedef struct sampler {
    wf_allocator allocator;
    const weft_recipe *recipe;
    const weft_sample_options *options;
    wf_vocabulary vocabulary;
    wf_program_cache programs;
    weft_script *script;
    int64_t context;
    bool is_cached;
    int32_t *tokens;   // all so far
    int64_t n, n_read; // read by the model
    int64_t first;     // the token that stands first in the window
    int32_t *window;   // [context], without a cache
    void (*wrote)(void *user, const char *bytes, size_t n);
    void *wrote_user;
} sampler;

bool wf_sample_is_text(const weft_recipe *recipe)
{
    return recipe->v.data.unit == 1 || recipe->v.data.vocabulary;
}

static weft_status open_vocabulary(sampler *s, weft_error *err)
{
    const wf_recipe_data *d = &s->recipe->v.data;
    if (!wf_sample_is_text(s->recipe))
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "%s: its data is no text, expected a language model",
                  s->recipe->v.name);
    if (d->unit == 1) {
        wf_vocabulary_init_bytes(&s->vocabulary, &s->allocator);
        return WEFT_OK;
    }
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
static weft_status build_model(void *user, weft_graph *g, const weft_val *reads, weft_val *writes,
                               weft_error *err)
{
    const sampler *s = user;
    const wf_model *model = &s->recipe->v.model;
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    weft_nn *nn;
    options.uses_averages = s->programs.uses_averages;
    WEFT_TRY(weft_nn_create(g, &options, &nn, err));
    if (s->is_cached) {
        wf_family_build b = {.nn = nn,
                             .options = model->options,
                             .x = reads[0],
                             .n_classes = s->vocabulary.n,
                             .is_decoding = true,
                             .context = s->context};
        writes[0] = model->family->build(&b);
    } else {
        writes[0] = wf_recipe_build(s->recipe, nn, reads[0], s->vocabulary.n, NULL);
    }
    weft_nn_destroy(nn);
    WEFT_TRY(weft_graph_status(g, err));
    const weft_type t = weft_val_type(g, writes[0]);
    if (t.ndim != 3 || t.dims[2] != s->vocabulary.n)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "its result does not say what token comes next, expected a language model");
    return WEFT_OK;
}

// Where the context is full the window moves: its last half stays, and is read again.
static weft_status make_room(void *user, weft_script *script, weft_error *err)
{
    static const weft_type scalar = {.dtype = WEFT_I32};
    static const int32_t zero = 0;
    sampler *s = user;
    if (s->n - s->first > s->context) {
        s->first = s->n - (s->context + 1) / 2;
        s->n_read = s->first;
        if (s->is_cached)
            WEFT_TRY(
                weft_state_write(s->programs.state, "position", &scalar, &zero, sizeof zero, err));
    }
    return weft_script_set_number(script, "n_unread", s->is_cached ? s->n - s->n_read : 1, err);
}

// The next token that the cache has not seen; without a cache the window, filled up with zeros.
static weft_status next_tokens(void *user, weft_script *script, weft_error *err)
{
    sampler *s = user;
    weft_type type = {.dtype = WEFT_I32, .ndim = 2, .dims = {1, 1}};
    const int64_t n = s->n - s->first;
    if (s->is_cached)
        return weft_script_set(script, "tokens", &type, &s->tokens[s->n_read++], err);
    type.dims[1] = s->context;
    memset(s->window, 0, (size_t)s->context * sizeof *s->window);
    memcpy(s->window, s->tokens + s->first, (size_t)n * sizeof *s->window);
    return weft_script_set(script, "tokens", &type, s->window, err);
}

static weft_status draw_token(void *user, weft_script *script, weft_error *err)
{
    sampler *s = user;
    weft_type type;
    const void *logits;
    int64_t round, token;
    WEFT_TRY(weft_script_get(script, "logits", &type, &logits, err));
    WEFT_TRY(weft_script_get_number(script, "write", &round, err));
    const int64_t row = s->is_cached ? 0 : s->n - s->first - 1;
    WEFT_TRY(weft_sample_token((const float *)logits + row * s->vocabulary.n, s->vocabulary.n,
                               s->options, round, &token, err));
    s->tokens[s->n++] = (int32_t)token;
    return weft_script_set_number(script, "token", token, err);
}

static weft_status write_token(void *user, weft_script *script, weft_error *err)
{
    const sampler *s = user;
    char bytes[WF_UTF8_BYTES];
    int64_t token;
    WEFT_TRY(weft_script_get_number(script, "token", &token, err));
    s->wrote(s->wrote_user, bytes, wf_vocabulary_decode(&s->vocabulary, token, bytes));
    return WEFT_OK;
}

static weft_status make_script(sampler *s, weft_state *state, weft_error *err)
{
    WEFT_TRY(weft_script_create(state, &s->script, err));
    weft_script_loop(s->script, "write", "n_tokens");
    weft_script_host(s->script, "make_room", "-> n_unread", make_room, s);
    weft_script_loop(s->script, "read", "n_unread");
    weft_script_host(s->script, "next_tokens", "-> tokens", next_tokens, s);
    weft_script_program(s->script, "model", "tokens -> logits", build_model, s);
    weft_script_end(s->script);
    weft_script_host(s->script, "draw", "logits, write -> token", draw_token, s);
    weft_script_host(s->script, "write_text", "token ->", write_token, s);
    weft_script_end(s->script);
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

weft_status wf_sample_list(const weft_recipe *recipe, weft_state *state,
                           void (*found)(void *user, const weft_script_node *node), void *user,
                           weft_error *err)
{
    sampler s = {.recipe = recipe};
    weft_status status = make_script(&s, state, err);
    if (status == WEFT_OK)
        status = weft_script_list(s.script, found, user, err);
    weft_script_destroy(s.script);
    return status;
}

static weft_status open_all(sampler *s, const char *run_dir, weft_state *state,
                            const wf_train_data *data, weft_error *err)
{
    wf_program_cache_init(&s->programs, s->recipe, data, state, 1);
    s->programs.uses_averages = s->recipe->v.train.ema > 0.0;
    WEFT_TRY(wf_weights_load(&s->programs, run_dir,
                             s->options->is_best ? "best.safetensors" : "weights.safetensors",
                             err));
    if (!s->is_cached)
        WEFT_TRY(wf_alloc(&s->allocator, (size_t)s->context, sizeof *s->window, &s->window, err));
    WEFT_TRY(make_script(s, state, err));
    return read_prompt(s, err);
}

static weft_status write_text(sampler *s, weft_error *err)
{
    const char *prompt = s->options->prompt;
    if (prompt && *prompt)
        s->wrote(s->wrote_user, prompt, strlen(prompt));
    WEFT_TRY(weft_script_set_number(s->script, "n_tokens", s->options->n_tokens, err));
    return weft_script_run(s->script, err);
}

weft_status weft_sample_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                            const weft_sample_options *options,
                            void (*wrote)(void *user, const char *bytes, size_t n), void *user,
                            weft_error *err)
{
    weft_state *state = NULL;
    wf_train_data data;
    sampler s = {.recipe = recipe, .options = options, .wrote = wrote, .wrote_user = user};
    weft_status status;
    WEFT_REQUIRE(err, recipe && device && run_dir && options && wrote,
                 "sample: without recipe, device, folder, options or wrote");
    WEFT_TRY(wf_sample_check_options(options, err));
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
    status = write_text(&s, err);
fail:
    wf_free(&s.allocator, s.tokens);
    wf_free(&s.allocator, s.window);
    weft_script_destroy(s.script);
    wf_program_cache_deinit(&s.programs);
    weft_state_destroy(state);
    wf_vocabulary_deinit(&s.vocabulary);
    return status;
}
