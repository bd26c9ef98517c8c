// Transformers by recipe: one set of weights whatever the instruction sets and threads, also resumed; text that
// weft_sample_run writes, with the cache and without it; tokens out of logits.
// labels: notsan (train_run trains there)
#include <math.h>

#include "train/family_small.h"

#include "weft/sample.h"

#define DIR_A TEMP("transformer")
#define STEPS 8

static void no_bit_depends_on_the_cpu(void **state)
{
    const tiny_how one = {.dir = DIR_A, .n_threads = 1};
    const tiny_how other = {.dir = DIR_A, .isa = "scalar", .n_threads = 2};
    (void)state;
    for (size_t i = 0; i < n_families_small; i++) {
        if (families_small[i].kind == FAMILY_TRANSFORMER)
            family_small_compare(&families_small[i], STEPS, &one, &other);
    }
}

static void resumed_it_is_the_same(void **state)
{
    static const char *const names[] = {"gpt", "bert", "vit"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        family_small_resume(family_small_find(names[i]), STEPS, 3, DIR_A);
}

static void train(const char *name)
{
    char sha[65];
    family_small_train(family_small_find(name), STEPS, (tiny_how){.dir = DIR_A}, sha);
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
    (void)state;
    o.n_tokens = 70;
    o.seed = 5;
    static const char *const names[] = {"gpt", "gpt, tied"};
    for (size_t i = 0; i < 2; i++) {
        train(names[i]);
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

static void see_node(void *user, const weft_script_node *node)
{
    written *w = user;
    w->n += (size_t)snprintf(w->text + w->n, sizeof w->text - w->n, "%d %s %s [%s]\n",
                             (int)node->depth, node->kind, node->name, node->signature);
}

// What samples is a script, and inspect tells what of it runs on the host.
static void inspect_lists_the_script(void **state)
{
    weft_inspect_events events = WEFT_INSPECT_EVENTS_INIT;
    written list = {.n = 0};
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
    (void)state;
    train("gpt, tied");
    events.user = &list;
    events.script = see_node;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(weft_recipe_read(context, DIR_A "/recipe.yaml", NULL, 0, &recipe, NULL),
                     WEFT_OK);
    assert_int_equal(weft_device_open(context, "cpu", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_inspect_run(recipe, device, NULL, 0, &events, NULL), WEFT_OK);
    assert_string_equal(list.text, "0 loop write [n_tokens]\n"
                                   "1 host make_room [-> n_unread]\n"
                                   "1 loop read [n_unread]\n"
                                   "2 host next_tokens [-> tokens]\n"
                                   "2 program model [tokens -> logits]\n"
                                   "1 host draw [logits, write -> token]\n"
                                   "1 host write_text [token ->]\n");
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
}

static void strange_characters_are_errors(void **state)
{
    weft_sample_options o = WEFT_SAMPLE_OPTIONS_INIT;
    written text;
    weft_error err = {0};
    (void)state;
    train("gpt, tied");
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
    (void)state;
    train("vit");
    assert_int_equal(sample(&o, &text, &err), WEFT_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "small: its data is no text, expected a language model");
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
    cmocka_unit_test(inspect_lists_the_script),
    cmocka_unit_test(strange_characters_are_errors),
    cmocka_unit_test(pictures_write_no_text),
    cmocka_unit_test(temperature_zero_takes_the_greatest),
    cmocka_unit_test(draws_by_probability),
};
const unsigned long wf_n_tests_transformer = WF_N_TESTS(wf_tests_transformer);
