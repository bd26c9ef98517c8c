// Recipes with phases: each begins with the weights of the one before, the whole stops and goes on to the same bits, and
// what is wrong is named.
#include "train/train_tools.h"

#include "recipe/recipe.h"

#define DIR_A TEMP("phases-a")
#define DIR_B TEMP("phases-b")
#define HEAD                                                                                        \
    "name: stacked\nseed: 2\ndata: {reader: synthetic, image: [1, 6, 6], n_classes: 4, normalise: " \
    "false}\nmodel: {family: dbn, hidden: [12, 8], mode: rbm}\nloss: own\ntarget: image\n"          \
    "optimiser: {kind: sgd, lr: 0.05, momentum: 0.5}\ntrain: {batch: 64, steps: 5}\n"
#define PHASES                                                                                       \
    "phases:\n  - {name: one, model: {layer: 1, chains: 6}}\n"                                       \
    "  - {name: two, model: {layer: 2}, train: {steps: 4, init_from: {new: [\"rbm2.*\"]}}}\n"        \
    "  - name: top\n    data: {take: 200}\n    model: {mode: classifier}\n    loss: cross_entropy\n" \
    "    target: label\n    optimiser: {kind: adam, lr: 1e-2}\n"                                     \
    "    train: {epochs: 2, init_from: {new: [\"fc.*\"]}}\n"

static void clear(const char *dir)
{
    char path[512];
    snprintf(path, sizeof path, "%s/one", dir);
    tiny_remove(path);
    snprintf(path, sizeof path, "%s/two", dir);
    tiny_remove(path);
    tiny_remove(dir);
}

static tiny_how how_in(const char *dir)
{
    return (tiny_how){.path = tiny_write(HEAD PHASES), .dir = dir};
}

static void train(const char *dir, tiny_how how, tiny_run *run, weft_status expected)
{
    if (!how.is_resumed)
        clear(dir);
    tiny_train(&how, run);
    if (run->status != expected)
        fail_msg("%s", run->err.message);
}

static void share_their_parameters(void **state)
{
    tiny_run run = {0}, again = {0};
    tiny_how how = how_in(DIR_A);
    (void)state;
    train(DIR_A, how, &run, WEFT_OK);
    // 5 of the first, 4 of the second, two epochs of four batches.
    assert_int_equal(run.n_steps, 5 + 4 + 8);
    assert_true(wf_file_is_regular(DIR_A "/one/weights.safetensors"));
    assert_true(wf_file_is_regular(DIR_A "/two/receipt.json"));
    // The last phase's recipe alone, from the weights beside it, is the same training.
    how.path = DIR_A "/recipe.yaml";
    how.dir = DIR_B;
    train(DIR_B, how, &again, WEFT_OK);
    assert_string_equal(run.done.weights_sha256, again.done.weights_sha256);
    // Without what was pre-trained it is another.
    tiny_run other = {0};
    static const char *const lr[] = {"optimiser.lr=0.1"};
    how = how_in(DIR_B);
    how.settings = lr;
    how.n_settings = 1;
    train(DIR_B, how, &other, WEFT_OK);
    assert_string_not_equal(run.done.weights_sha256, other.done.weights_sha256);
}

static void stop_and_go_on(void **state)
{
    static const int64_t stops[] = {2, 4}; // of whichever phase gets there first
    tiny_run whole = {0};
    (void)state;
    train(DIR_A, how_in(DIR_A), &whole, WEFT_OK);
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        tiny_run half = {.stop_at = stops[i]}, rest = {0};
        tiny_how how = how_in(DIR_B);
        train(DIR_B, how, &half, WEFT_ERR_INTERRUPTED);
        assert_non_null(strstr(half.err.message, "phase one"));
        how.is_resumed = true;
        train(DIR_B, how, &rest, WEFT_OK);
        assert_string_equal(whole.done.weights_sha256, rest.done.weights_sha256);
        assert_true(tiny_same_file(DIR_A, DIR_B, "weights.safetensors"));
    }
}

static void share_a_short_length(void **state)
{
    static const char *const steps[] = {"train.steps=6"};
    tiny_run run = {0};
    tiny_how how = how_in(DIR_A);
    (void)state;
    how.settings = steps;
    how.n_settings = 1;
    train(DIR_A, how, &run, WEFT_OK);
    assert_int_equal(run.n_steps, 6);
    assert_int_equal(run.done.steps, 2);
}

static void say_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {HEAD "phases: one\n", "9:9: phases: 'one', expected a list of maps"},
        {HEAD "phases: [one]\n", "9:10: phases: 'one', expected a map with a name"},
        {HEAD "phases: [{model: {layer: 1}}]\n", "9:10: phases: no key 'name', expected one"},
        {HEAD "phases: [{name: a.b}]\n",
         "9:17: phases.name: 'a.b', expected one without '/', '.' and blanks"},
        {HEAD "phases: [{name: a}, {name: a}]\n", "9:28: phases.name: 'a' is another phase's"},
        {HEAD "phases: [{nmae: a, model: {layer: 1}}]\n",
         "9:11: unknown key 'nmae' in phases, expected name, data, model, train, loss, target, "
         "optimiser, groups or schedule, did you mean 'name'"},
        {HEAD "phases: [{name: a, train: {stpes: 3}}]\n",
         "9:28: unknown key 'stpes' in train, expected batch, epochs, steps, checkpoint_every, "
         "log_every, clip_norm, clip_value, loader_threads, micro_batch, ema, patience, min_delta, "
         "stats_every, tensorboard or init_from, did you mean 'steps'"},
        {HEAD "phases: [{name: a, modl: {layer: 1}}]\n",
         "9:20: unknown key 'modl' in phases, expected name, data, model, train, loss, target, "
         "optimiser, groups or schedule, did you mean 'model'"},
        {HEAD "phases: [{name: a, model: {layr: 1}}]\n",
         "9:28: unknown key 'layr' in model, expected family, mode, hidden, layer, gibbs, chains, "
         "linear_top, dropout or classes, did you mean 'layer'"},
    };
    weft_context *context;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        weft_recipe *recipe;
        weft_error err = {0};
        char expected[512];
        const char *path = tiny_write(wrong[i].text);
        snprintf(expected, sizeof expected, "%s:%s", path, wrong[i].message);
        assert_int_equal(weft_recipe_read(context, path, NULL, 0, &recipe, &err), WEFT_ERR_RECIPE);
        assert_string_equal(err.message, expected);
    }
    weft_context_destroy(context);
}

const struct CMUnitTest wf_tests_phases[] = {
    cmocka_unit_test(share_their_parameters),
    cmocka_unit_test(stop_and_go_on),
    cmocka_unit_test(share_a_short_length),
    cmocka_unit_test(say_what_is_wrong),
};
const unsigned long wf_n_tests_phases = WF_N_TESTS(wf_tests_phases);
