// Transformers by recipe: one set of weights whatever the instruction sets and threads, also resumed; text that
// weft_sample_run writes, with the cache and without it; tokens out of logits.
// labels: notsan (train_run trains there)
#include <math.h>

#include "train/transformer_small.h"

#include "weft/sample.h"

static void no_bit_depends_on_the_cpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RECIPES; i++) {
        char first[65], other[65];
        train(recipes[i], (tiny_how){.n_threads = 1}, first);
        train(recipes[i], (tiny_how){.isa = "scalar", .n_threads = 2}, other);
        if (strcmp(first, other) != 0)
            fail_msg("recipe %zu: %s on the best set and one thread, %s on scalar and two", i,
                     first, other);
    }
}

static void resumed_it_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RECIPES; i += 2) {
        char whole[65], resumed[65];
        tiny_run half = {.stop_at = 3};
        tiny_how how = {.dir = DIR_A};
        train(recipes[i], how, whole);
        tiny_remove(DIR_A);
        how.path = tiny_write(recipes[i]);
        tiny_train(&how, &half);
        assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
        how.is_resumed = true;
        train(recipes[i], how, resumed);
        assert_string_equal(whole, resumed);
    }
}

// ---- text
typedef struct written {
    char text[4096];
    size_t n;
} written;

static void wrote(void *user, const char *bytes, size_t n)
{
    written *w = user;
    assert_true(w->n + n < sizeof w->text);
    memcpy(w->text + w->n, bytes, n);
    w->n += n;
    w->text[w->n] = 0;
}

static weft_status sample(const weft_sample_options *options, written *out, weft_error *err)
{
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
    *out = (written){.n = 0};
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(weft_recipe_read(context, DIR_A "/recipe.yaml", NULL, 0, &recipe, err),
                     WEFT_OK);
    assert_int_equal(weft_device_open(context, "cpu", NULL, &device, NULL), WEFT_OK);
    const weft_status status = weft_sample_run(recipe, device, DIR_A, options, wrote, out, err);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
    return status;
}

// Longer than the context, so that the window moves; the prompt, too.
static void a_cache_changes_no_text(void **state)
{
    weft_sample_options o = WEFT_SAMPLE_OPTIONS_INIT;
    written cached, whole, other;
    weft_error err = {0};
    char sha[65];
    (void)state;
    o.n_tokens = 70;
    o.seed = 5;
    for (size_t i = 0; i < 2; i++) {
        train(recipes[i], (tiny_how){0}, sha);
        o.prompt = "line 9: the weft goes over, \xc3\xa9t\xc3\xa9";
        o.is_uncached = false;
        if (sample(&o, &cached, &err) != WEFT_OK)
            fail_msg("%s", err.message);
        o.is_uncached = true;
        assert_int_equal(sample(&o, &whole, &err), WEFT_OK);
        assert_string_equal(cached.text, whole.text);
        assert_true(strncmp(cached.text, o.prompt, strlen(o.prompt)) == 0);
        assert_true(cached.n >= strlen(o.prompt) + 70);
        o.prompt = NULL;
        assert_int_equal(sample(&o, &other, &err), WEFT_OK);
        assert_true(other.n >= 70 && strcmp(other.text, cached.text) != 0);
    }
}

static void strange_characters_are_errors(void **state)
{
    weft_sample_options o = WEFT_SAMPLE_OPTIONS_INIT;
    written text;
    weft_error err = {0};
    char sha[65];
    (void)state;
    train(recipes[1], (tiny_how){0}, sha);
    o.prompt = "line Z";
    assert_int_equal(sample(&o, &text, &err), WEFT_ERR_INDEX);
    assert_non_null(strstr(err.message, "prompt"));
    o.prompt = NULL;
    o.temperature = -1.0;
    assert_int_equal(sample(&o, &text, &err), WEFT_ERR_ATTR);
    assert_string_equal(err.message, "sample: temperature is -1, expected 0 to 1e6");
}

static void pictures_write_no_text(void **state)
{
    weft_sample_options o = WEFT_SAMPLE_OPTIONS_INIT;
    written text;
    weft_error err = {0};
    char sha[65];
    (void)state;
    train(recipes[4], (tiny_how){0}, sha);
    assert_int_equal(sample(&o, &text, &err), WEFT_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "vit: its data is no text, expected a language model");
}

// ---- tokens
static int64_t draw(const float *logits, int64_t n, const weft_sample_options *o, int64_t at)
{
    int64_t token = -1;
    assert_int_equal(weft_sample_token(logits, n, o, at, &token, NULL), WEFT_OK);
    return token;
}

static void temperature_zero_takes_the_greatest(void **state)
{
    static const float logits[] = {0.5f, NAN, 3.0f, 3.0f, -INFINITY};
    static const float nothing[] = {NAN, NAN}, all[] = {-INFINITY, -INFINITY};
    weft_sample_options o = WEFT_SAMPLE_OPTIONS_INIT;
    (void)state;
    o.temperature = 0.0;
    assert_int_equal(draw(logits, 5, &o, 0), 2);
    assert_int_equal(draw(nothing, 2, &o, 0), 0);
    o.temperature = 1.0;
    assert_int_equal(draw(nothing, 2, &o, 0), 0);
    const int64_t any = draw(all, 2, &o, 3);
    assert_true(any == 0 || any == 1);
}

// Shares of 4000 draws: exp(1), exp(0), exp(-1), exp(-2) of logits 1, 0, -1, -2 in another order.
static void draws_by_probability(void **state)
{
    static const float logits[] = {-1.0f, 1.0f, -2.0f, 0.0f};
    static const double expected[4][4] = {
        {0.0871, 0.6439, 0.0321, 0.2369}, // all
        {0.0, 0.7311, 0.0, 0.2689},       // top_k 2
        {0.0900, 0.6652, 0.0, 0.2447},    // top_p 0.9: three of them
        {0.0158, 0.8650, 0.0021, 0.1171}, // temperature 0.5
    };
    (void)state;
    for (int k = 0; k < 4; k++) {
        weft_sample_options o = WEFT_SAMPLE_OPTIONS_INIT;
        int64_t count[4] = {0};
        o.seed = 11;
        o.top_k = k == 1 ? 2 : 0;
        o.top_p = k == 2 ? 0.9 : 0.0;
        o.temperature = k == 3 ? 0.5 : 1.0;
        for (int64_t at = 0; at < 4000; at++)
            count[draw(logits, 4, &o, at)]++;
        for (int i = 0; i < 4; i++) {
            const double share = (double)count[i] / 4000.0;
            if (!(fabs(share - expected[k][i]) < 0.03))
                fail_msg("case %d: token %d has a share of %g, expected %g", k, i, share,
                         expected[k][i]);
            assert_true(expected[k][i] > 0.0 || count[i] == 0);
        }
    }
}

const struct CMUnitTest wf_tests_transformer[] = {
    cmocka_unit_test(no_bit_depends_on_the_cpu),
    cmocka_unit_test(resumed_it_is_the_same),
    cmocka_unit_test(a_cache_changes_no_text),
    cmocka_unit_test(strange_characters_are_errors),
    cmocka_unit_test(pictures_write_no_text),
    cmocka_unit_test(temperature_zero_takes_the_greatest),
    cmocka_unit_test(draws_by_probability),
};
const unsigned long wf_n_tests_transformer = WF_N_TESTS(wf_tests_transformer);
