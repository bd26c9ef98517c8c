// Folders as a kill between two files leaves them, made by hand: resumed, the run is whole.
// labels: notsan (train_run trains there)
#include "train/train_tools.h"

#include <unistd.h>

#include "weft_config.h"

#define DIR_A TEMP("killed-state-a")
#define DIR_B TEMP("killed-state-b")

static const char phases[] =
    TINY_HEAD "model: [flatten, linear: 4]\noptimiser: {kind: sgd, lr: 0.1}\n"
              "train: {batch: 16, steps: 3}\nphases: [{name: one}, {name: two}]\n";

static void train(const char *recipe, const char *dir, bool is_resumed, tiny_run *run)
{
    const tiny_how how = {.path = tiny_write(recipe), .dir = dir, .is_resumed = is_resumed};
    if (!is_resumed)
        tiny_remove(dir);
    tiny_train(&how, run);
}

// The last checkpoint is there, the weights beside it are still those of the one before.
static void weights_are_older_than_the_checkpoint(void **state)
{
    tiny_run whole = {0}, first = {0}, again = {0};
    (void)state;
    train(tiny_recipe, DIR_A, false, &whole);
    train(tiny_recipe, DIR_B, false, &first);
    assert_int_equal(first.status, WEFT_OK);
    temp_write(DIR_B "/weights.safetensors", "older", 5);
    assert_int_equal(unlink(DIR_B "/receipt.json"), 0);
    train(tiny_recipe, DIR_B, true, &again);
    assert_int_equal(again.status, WEFT_OK);
    assert_string_equal(whole.done.weights_sha256, again.done.weights_sha256);
    assert_true(tiny_same_file(DIR_A, DIR_B, "weights.safetensors"));
}

// By its receipt a phase is known to be over: that is its last file.
static void a_phase_without_its_picture_is_not_over(void **state)
{
    tiny_run failed = {0}, again = {0};
    (void)state;
    if (!WEFT_HAVE_PNG || !WEFT_HAVE_ZLIB)
        WF_SKIP("built without libpng or zlib: no pictures");
    tiny_remove(DIR_A);
    assert_int_equal(wf_directory_create(DIR_A "/one/predictions.png", NULL), WEFT_OK);
    const tiny_how how = {.path = tiny_write(phases), .dir = DIR_A};
    tiny_train(&how, &failed);
    assert_int_equal(failed.status, WEFT_ERR_FILE);
    assert_false(wf_file_is_regular(DIR_A "/one/receipt.json"));
    assert_int_equal(rmdir(DIR_A "/one/predictions.png"), 0);
    train(phases, DIR_A, true, &again);
    assert_int_equal(again.status, WEFT_OK);
    assert_true(wf_file_is_regular(DIR_A "/one/predictions.png"));
    assert_true(wf_file_is_regular(DIR_A "/one/receipt.json"));
}

// As a single training does: the command then prints the run's end again.
static void finished_phases_say_so_when_resumed(void **state)
{
    tiny_run whole = {0}, again = {0};
    (void)state;
    train(phases, DIR_A, false, &whole);
    train(phases, DIR_A, true, &again);
    assert_int_equal(again.status, WEFT_OK);
    assert_int_equal(again.n_steps, 0);
    assert_true(again.is_done);
    assert_string_equal(whole.done.weights_sha256, again.done.weights_sha256);
}

const struct CMUnitTest wf_tests_killed_state[] = {
    cmocka_unit_test(weights_are_older_than_the_checkpoint),
    cmocka_unit_test(a_phase_without_its_picture_is_not_over),
    cmocka_unit_test(finished_phases_say_so_when_resumed),
};
const unsigned long wf_n_tests_killed_state = WF_N_TESTS(wf_tests_killed_state);
