// Recurrent networks by recipe: one set of weights whatever the instruction sets and threads, also resumed; text
// that goes on past the window, with the states kept and without.
// labels: notsan (train_run trains there)
#include "train/family_small.h"

#include "weft/sample.h"

#define DIR_A TEMP("recurrent")

static void no_bit_depends_on_the_cpu(void **state)
{
    const tiny_how one = {.dir = DIR_A, .n_threads = 1};
    const tiny_how other = {.dir = DIR_A, .isa = "scalar", .n_threads = 2};
    (void)state;
    for (size_t i = 0; i < n_families_small; i++) {
        if (families_small[i].kind == FAMILY_RECURRENT)
            family_small_compare(&families_small[i], 5, &one, &other);
    }
}

static void resumed_it_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_families_small; i++) {
        if (families_small[i].kind == FAMILY_RECURRENT)
            family_small_resume(&families_small[i], 6, 3, DIR_A);
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
    o.prompt = "line 9: the ";
    o.is_uncached = is_uncached;
    *out = (written){.n = 0};
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(weft_recipe_read(context, DIR_A "/recipe.yaml", NULL, 0, &recipe, &err),
                     WEFT_OK);
    assert_int_equal(weft_device_open(context, "cpu", NULL, &device, NULL), WEFT_OK);
    if (weft_sample_run(recipe, device, DIR_A, &o, wrote, out, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    weft_context_destroy(context);
}

static void kept_states_change_no_text(void **state)
{
    static const char *const names[] = {"lstm", "gru"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        written kept, whole;
        char sha[65];
        family_small_train(family_small_find(names[i]), 5, (tiny_how){.dir = DIR_A}, sha);
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
