// Recipes' ways to train: every optimiser and schedule, groups, averages, micro-batches, early stopping,
// statistics. Each gives one result on every device, and a run that stops and goes on is the run that never
// stopped, files and all.
#include "train/train_tools.h"

#include <math.h>

#include "io/safetensors.h"

#define DIR_A TEMP("options-a")
#define DIR_B TEMP("options-b")

static void train_in(const char *dir, const char *device, int64_t stop_at, bool is_resumed,
                     const char *const *settings, size_t n, tiny_run *run)
{
    const tiny_how how = {.path = tiny_write(tiny_recipe),
                          .dir = dir,
                          .settings = settings,
                          .n_settings = n,
                          .device = device,
                          .is_resumed = is_resumed};
    memset(run, 0, sizeof *run);
    run->stop_at = stop_at;
    if (!is_resumed)
        tiny_remove(dir);
    tiny_train(&how, run);
    const weft_status expected = stop_at ? WEFT_ERR_INTERRUPTED : WEFT_OK;
    if (run->status != expected)
        fail_msg("%s: %s", n ? settings[0] : "", run->err.message);
}

// cpu, ref, and ref up to step 7 continued on cpu end with the same files.
static void is_one_run(const char *const *settings, size_t n)
{
    static const char *const files[] = {"weights.safetensors", "best.safetensors", "log.jsonl",
                                        "checkpoint.safetensors", "recipe.yaml"};
    static tiny_run whole, other;
    train_in(DIR_A, "cpu", 0, false, settings, n, &whole);
    train_in(DIR_B, "ref", 7, false, settings, n, &other);
    train_in(DIR_B, "cpu", 0, true, settings, n, &other);
    assert_string_equal(other.log, "");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (!tiny_same_file(DIR_A, DIR_B, files[i]))
            fail_msg("%s: %s differs", settings[0], files[i]);
    }
    train_in(DIR_B, "ref", 0, false, settings, n, &other);
    assert_string_equal(whole.done.weights_sha256, other.done.weights_sha256);
}

static void every_optimiser_resumes(void **state)
{
    static const char *const all[] = {
        "optimiser={kind: sgd, lr: 0.01, momentum: 0.9, nesterov: true}",
        "optimiser={kind: adam, lr: 0.01}",
        "optimiser={kind: rmsprop, lr: 1e-3, momentum: 0.5, centered: true}",
        "optimiser={kind: adagrad, lr: 0.01, lr_decay: 0.01}",
        "optimiser={kind: lamb, lr: 0.01, weight_decay: 0.01}",
        "optimiser={kind: lion, lr: 1e-3, weight_decay: 0.1}",
        "optimiser={kind: muon, lr: 0.01, weight_decay: 0.01}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        is_one_run(&all[i], 1);
    }
}

static void wsd_resumes(void **state)
{
    static const char *const settings[] = {"schedule={kind: wsd, warmup: 2, sqrt_decay: true}"};
    (void)state;
    is_one_run(settings, 1);
}

// ---- groups
static void groups_train_apart(void **state)
{
    static const char *const settings[] = {
        "groups=[{match: '*.bias', weight_decay: 0}, {match: 'linear1.*', lr_factor: 0.1}, "
        "{match: 'conv1.weight', frozen: true}]"};
    (void)state;
    is_one_run(settings, 1);
}

static void a_group_of_nothing_is_named(void **state)
{
    static const char *const settings[] = {"groups=[{match: 'conv9.*'}]"};
    static tiny_run run;
    (void)state;
    tiny_remove(DIR_A);
    const tiny_how how = {
        .path = tiny_write(tiny_recipe), .dir = DIR_A, .settings = settings, .n_settings = 1};
    memset(&run, 0, sizeof run);
    tiny_train(&how, &run);
    assert_int_equal(run.status, WEFT_ERR_NAME);
    assert_non_null(strstr(run.err.message, "group 'conv9.*': no parameter has such a name, "
                                            "expected one like 'conv1.weight'"));
}

// ---- averages
static void averages_are_what_is_saved(void **state)
{
    static const char *const settings[] = {"train.ema=0.9"};
    static tiny_run plain, averaged;
    (void)state;
    is_one_run(settings, 1);
    train_in(DIR_A, "cpu", 0, false, NULL, 0, &plain);
    train_in(DIR_B, "cpu", 0, false, settings, 1, &averaged);
    // The training is the same, its result is not.
    assert_memory_equal(plain.loss, averaged.loss, sizeof plain.loss[0] * (size_t)plain.n_steps);
    assert_string_not_equal(plain.done.weights_sha256, averaged.done.weights_sha256);
}

// ---- micro-batches
static void micro_batches_resume(void **state)
{
    // Batches of 16 in 6 + 6 + 4, the last of an epoch, of 10, in 6 + 4.
    static const char *const settings[] = {"train.micro_batch=6", "train.stats_every=4"};
    (void)state;
    is_one_run(settings, 2);
}

// Without what depends on the batch (norm, dropout) the losses are those of whole batches, nearly.
static void micro_batches_are_nearly_the_batch(void **state)
{
    static const char *const plain[] = {"model=[flatten, {linear: 8}, gelu, {linear: 4}]",
                                        "optimiser={kind: sgd, lr: 0.05}", "train.clip_norm=1"};
    static const char *const micro[] = {"model=[flatten, {linear: 8}, gelu, {linear: 4}]",
                                        "optimiser={kind: sgd, lr: 0.05}", "train.clip_norm=1",
                                        "train.micro_batch=5"};
    static tiny_run whole, parts;
    (void)state;
    train_in(DIR_A, "cpu", 0, false, plain, 3, &whole);
    train_in(DIR_B, "cpu", 0, false, micro, 4, &parts);
    assert_int_equal(whole.n_steps, parts.n_steps);
    for (int64_t i = 0; i < whole.n_steps; i++) {
        assert_true(fabsf(whole.loss[i] - parts.loss[i]) < 1e-5f);
        assert_true(whole.lr[i] == parts.lr[i]);
    }
    assert_true(parts.done.peak_bytes <= parts.done.planned_bytes);
}

// ---- early stopping
static void a_run_without_progress_ends(void **state)
{
    // A rate of nearly nothing: the first epoch stays the best by more than min_delta.
    static const char *const settings[] = {"optimiser={kind: sgd, lr: 1e-9}", "train.epochs=9",
                                           "train.patience=2", "train.min_delta=0.5"};
    static const char *const more[] = {"optimiser={kind: sgd, lr: 1e-9}", "train.epochs=9",
                                       "train.patience=4", "train.min_delta=0.5"};
    static tiny_run run;
    (void)state;
    train_in(DIR_A, "cpu", 0, false, settings, 4, &run);
    assert_int_equal(run.n_epochs, 3);
    assert_int_equal(run.n_steps, 18);
    assert_int_equal(run.done.steps, 18);
    // It is at its end, and stays there.
    train_in(DIR_A, "cpu", 0, true, settings, 4, &run);
    assert_int_equal(run.n_steps, 0);
    assert_true(run.is_done);
    is_one_run(settings, 4);
    // With more patience it goes on.
    train_in(DIR_A, "cpu", 0, false, settings, 4, &run);
    train_in(DIR_A, "cpu", 0, true, more, 4, &run);
    assert_int_equal(run.n_epochs, 2);
}

// ---- statistics
static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) {
        n++;
    }
    return n;
}

static void statistics_change_no_bit(void **state)
{
    static const char *const settings[] = {"train.stats_every=2"};
    static tiny_run plain, sampled;
    (void)state;
    train_in(DIR_A, "cpu", 0, false, NULL, 0, &plain);
    train_in(DIR_B, "cpu", 0, false, settings, 1, &sampled);
    assert_string_equal(plain.done.weights_sha256, sampled.done.weights_sha256);
    char *log = NULL;
    const wf_allocator a = wf_allocator_default();
    assert_int_equal(wf_file_read_text(&a, DIR_B "/log.jsonl", &log, NULL), WEFT_OK);
    // Steps 2, 4, 8, 10, 14, 16: those of 6, 12, 18 are short.
    assert_int_equal(count_of(log, "{\"event\":\"statistics\",\"step\":"), 6);
    assert_int_equal(count_of(log, "{\"name\":\"conv1.weight\",\"gradient_norm\":"), 6);
    assert_int_equal(count_of(log, "\"dead\":[{\"name\":\"relu1\",\"share\":"), 6);
    wf_free(&a, log);
    is_one_run(settings, 1);
}

// Biases alone decide: below 0 and, of relu6, at and above 6 a channel has no gradient. leaky_relu always has one.
static void dead_channels_are_those_without_a_gradient(void **state)
{
    static const float zeros[4 * TINY_SIDE * TINY_SIDE] = {0};
    static const float first[] = {-1.0f, 7.0f, 3.0f, 6.0f}, second[] = {-1.0f, 7.0f, -3.0f, 6.0f};
    static const wf_st_tensor tensors[] = {
        {"linear1.weight", WEFT_F32, 2, {4, TINY_SIDE * TINY_SIDE}, zeros, 0},
        {"linear1.bias", WEFT_F32, 1, {4}, first, 0},
        {"linear2.weight", WEFT_F32, 2, {4, 4}, zeros, 0},
        {"linear2.bias", WEFT_F32, 1, {4}, second, 0},
    };
    static const char *const settings[] = {
        "model=[flatten, linear: 4, relu6, linear: 4, relu, leaky_relu, linear: 4]",
        "train={batch: 16, steps: 1, stats_every: 1, init_from: {file: " TEMP(
            "dead.safetensors") ", new: [\"linear3.*\"]}}"};
    const wf_allocator a = wf_allocator_default();
    char *log = NULL;
    tiny_run run;
    (void)state;
    assert_int_equal(wf_safetensors_write(&a, TEMP("dead.safetensors"), tensors, 4, NULL, 0, NULL),
                     WEFT_OK);
    train_in(DIR_A, "cpu", 0, false, settings, 2, &run);
    assert_int_equal(wf_file_read_text(&a, DIR_A "/log.jsonl", &log, NULL), WEFT_OK);
    if (!strstr(log, "\"dead\":[{\"name\":\"relu61/relu6\",\"share\":0.75},"
                     "{\"name\":\"relu1\",\"share\":0.5}]"))
        fail_msg("%s", log);
    wf_free(&a, log);
}

const struct CMUnitTest wf_tests_train_options[] = {
    cmocka_unit_test(every_optimiser_resumes),
    cmocka_unit_test(wsd_resumes),
    cmocka_unit_test(groups_train_apart),
    cmocka_unit_test(a_group_of_nothing_is_named),
    cmocka_unit_test(averages_are_what_is_saved),
    cmocka_unit_test(micro_batches_resume),
    cmocka_unit_test(micro_batches_are_nearly_the_batch),
    cmocka_unit_test(a_run_without_progress_ends),
    cmocka_unit_test(statistics_change_no_bit),
    cmocka_unit_test(dead_channels_are_those_without_a_gradient),
};
const unsigned long wf_n_tests_train_options = WF_N_TESTS(wf_tests_train_options);
