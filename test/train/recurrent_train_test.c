// Recurrent networks by recipe: one set of weights whatever the instruction sets and threads, also resumed; text
// that goes on past the window, with the states kept and without.
// labels: notsan (train_run trains there)
#include "train/recurrent_small.h"

#include "weft/sample.h"

static void no_bit_depends_on_the_cpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RECURRENT; i++) {
        char first[65], other[65];
        recurrent_train(i, 5, (tiny_how){.n_threads = 1}, first);
        recurrent_train(i, 5, (tiny_how){.isa = "scalar", .n_threads = 2}, other);
        if (strcmp(first, other) != 0)
            fail_msg("%s: %s on the best set and one thread, %s on scalar and two",
                     recurrent_models[i], first, other);
    }
}

static void resumed_it_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RECURRENT; i++) {
        char whole[65], resumed[65];
        tiny_run half = {.stop_at = 3};
        tiny_how how = {.dir = RECURRENT_DIR};
        recurrent_train(i, 6, how, whole);
        tiny_remove(RECURRENT_DIR);
        how.path = recurrent_write(i, 6);
        tiny_train(&how, &half);
        assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
        how.is_resumed = true;
        recurrent_train(i, 6, how, resumed);
        assert_string_equal(whole, resumed);
    }
}

typedef struct {
    char text[1024];
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

static void sample(bool is_uncached, written *out)
{
    weft_sample_options o = WEFT_SAMPLE_OPTIONS_INIT;
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
    weft_error err = {0};
    o.n_tokens = 40; // longer than the window of 12
    o.seed = 3;
    o.prompt = "round and ro";
    o.is_uncached = is_uncached;
    *out = (written){.n = 0};
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(
        weft_recipe_read(context, RECURRENT_DIR "/recipe.yaml", NULL, 0, &recipe, &err), WEFT_OK);
    assert_int_equal(weft_device_open(context, "cpu", NULL, &device, NULL), WEFT_OK);
    if (weft_sample_run(recipe, device, RECURRENT_DIR, &o, wrote, out, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
}

static void kept_states_change_no_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_RECURRENT_TEXT; i++) {
        written kept, whole;
        char sha[65];
        recurrent_train(i, 5, (tiny_how){0}, sha);
        sample(false, &kept);
        sample(true, &whole);
        assert_true(kept.n >= 52);
        assert_string_equal(kept.text, whole.text);
    }
}

const struct CMUnitTest wf_tests_recurrent_train[] = {
    cmocka_unit_test(no_bit_depends_on_the_cpu),
    cmocka_unit_test(resumed_it_is_the_same),
    cmocka_unit_test(kept_states_change_no_text),
};
const unsigned long wf_n_tests_recurrent_train = WF_N_TESTS(wf_tests_recurrent_train);
