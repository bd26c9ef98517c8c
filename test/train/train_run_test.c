// Trainings of a small network: it learns; no bit depends on instruction set, threads or loader threads;
// a run that stops and goes on is the run that never stopped; a bad step is named and changes nothing.
// labels: valgrind
#include "train/train_tools.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIR_A TEMP("run-a")
#define DIR_B TEMP("run-b")

static void fresh(const char *dir)
{
    tiny_remove(dir);
}

static void train_in(const char *dir, tiny_how how, tiny_run *run)
{
    if (!how.path)
        how.path = tiny_write(tiny_recipe);
    how.dir = dir;
    if (!how.is_resumed)
        fresh(dir);
    tiny_train(&how, run);
}

static void train_good(const char *dir, tiny_how how, tiny_run *run)
{
    train_in(dir, how, run);
    if (run->status != WEFT_OK)
        print_message("%s\n", run->err.message);
    assert_int_equal(run->status, WEFT_OK);
    assert_true(run->is_done);
}

static void learns(void **state)
{
    static const char *const longer[] = {"train.epochs=12"};
    tiny_run run = {0};
    (void)state;
    train_good(DIR_A, (tiny_how){.settings = longer, .n_settings = 1}, &run);
    assert_int_equal(run.n_steps, 72);
    assert_int_equal(run.n_epochs, 12);
    assert_true(run.val_accuracy > 0.9);
    assert_true(run.done.peak_bytes <= run.done.planned_bytes);
    assert_int_equal(strlen(run.done.weights_sha256), 64);
    static const char *const files[] = {
        "recipe.yaml",  "log.jsonl",           "checkpoint.safetensors",
        "receipt.json", "weights.safetensors", "best.safetensors"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_true(tiny_same_file(DIR_A, DIR_A, files[i]));
    }
}

// The sha of weights.safetensors of one way to run.
static void sha_of(tiny_how how, char out[65])
{
    tiny_run run = {0};
    train_good(DIR_B, how, &run);
    memcpy(out, run.done.weights_sha256, 65);
}

static void no_bit_depends_on_the_machine(void **state)
{
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    char first[65], other[65];
    (void)state;
    sha_of((tiny_how){.n_threads = 1}, first);
    sha_of((tiny_how){.n_threads = 1}, other);
    assert_string_equal(first, other);
    sha_of((tiny_how){.n_threads = 2}, other);
    assert_string_equal(first, other);
    sha_of((tiny_how){.n_threads = 3, .n_loader_threads = 3}, other);
    assert_string_equal(first, other);
    sha_of((tiny_how){.device = "ref"}, other);
    assert_string_equal(first, other);
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        tiny_run run = {0};
        train_in(DIR_B, (tiny_how){.isa = isas[i]}, &run);
        if (run.status == WEFT_ERR_DEVICE || run.status == WEFT_ERR_NAME)
            continue; // the processor has it not; cpu_isa tests count that
        assert_int_equal(run.status, WEFT_OK);
        assert_string_equal(first, run.done.weights_sha256);
    }
}

static void seeds_differ(void **state)
{
    static const char *const seed[] = {"seed=4"};
    char first[65], other[65];
    (void)state;
    sha_of((tiny_how){0}, first);
    sha_of((tiny_how){.settings = seed, .n_settings = 1}, other);
    assert_string_not_equal(first, other);
}

// Stops behind each of some steps (in an epoch, at its end, at the first and last) and goes on.
static void resumed_run_is_the_same(void **state)
{
    static const int64_t stops[] = {1, 4, 6, 7, 17};
    static const char *const files[] = {"weights.safetensors", "best.safetensors", "log.jsonl",
                                        "checkpoint.safetensors", "receipt.json"};
    tiny_run whole = {0};
    (void)state;
    train_good(DIR_A, (tiny_how){0}, &whole);
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        tiny_run half = {.stop_at = stops[i]}, rest = {0};
        char message[512];
        train_in(DIR_B, (tiny_how){0}, &half);
        assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
        snprintf(message, sizeof message, "interrupted, step %d is saved in " DIR_B, (int)stops[i]);
        assert_string_equal(half.err.message, message);
        train_good(DIR_B, (tiny_how){.is_resumed = true}, &rest);
        assert_string_equal(rest.log, "");
        assert_int_equal(half.n_steps + rest.n_steps, whole.n_steps);
        assert_memory_equal(rest.loss, whole.loss + stops[i], (size_t)rest.n_steps * sizeof(float));
        assert_memory_equal(rest.lr, whole.lr + stops[i], (size_t)rest.n_steps * sizeof(float));
        for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
            assert_true(tiny_same_file(DIR_A, DIR_B, files[f]));
        }
    }
}

static void resumes_on_another_device(void **state)
{
    tiny_run whole = {0}, half = {.stop_at = 9}, rest = {0};
    (void)state;
    train_good(DIR_A, (tiny_how){0}, &whole);
    train_in(DIR_B, (tiny_how){.device = "ref"}, &half);
    assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
    train_good(DIR_B, (tiny_how){.is_resumed = true}, &rest);
    assert_string_equal(whole.done.weights_sha256, rest.done.weights_sha256);
}

static void a_finished_run_resumes_to_itself(void **state)
{
    tiny_run whole = {0}, again = {0};
    (void)state;
    train_good(DIR_A, (tiny_how){0}, &whole);
    train_good(DIR_A, (tiny_how){.is_resumed = true}, &again);
    assert_int_equal(again.n_steps, 0);
    assert_string_equal(whole.done.weights_sha256, again.done.weights_sha256);
}

static void resume_without_checkpoint_begins(void **state)
{
    tiny_run run = {0};
    (void)state;
    fresh(DIR_B);
    train_good(DIR_B, (tiny_how){.is_resumed = true}, &run);
    assert_string_equal(run.log, DIR_B " has no checkpoint yet, the run begins at its beginning\n");
    assert_int_equal(run.n_steps, 18);
}

// cases.md 57: a resumed run has the same curve, and another length warns.
static void schedule_goes_on_and_a_new_length_warns(void **state)
{
    static const char text[] =
        TINY_HEAD "model: [flatten, linear: 4]\n"
                  "optimiser: {kind: sgd, lr: 3e-4}\n"
                  "schedule: {kind: cosine, warmup: 10, final_fraction: 0.1}\n"
                  "train: {batch: 16, steps: 100}\n";
    static const char *const longer[] = {"train.steps=120"};
    static const char *const seed[] = {"seed=9"};
    tiny_run whole = {0}, half = {.stop_at = 55}, rest = {0}, stretched = {.stop_at = 101},
             other = {0};
    (void)state;
    const char *path = tiny_write(text);
    train_good(DIR_A, (tiny_how){.path = path}, &whole);
    assert_true(fabsf(whole.lr[0] / 3e-5f - 1.0f) < 1e-6f);
    assert_true(fabsf(whole.lr[9] / 3e-4f - 1.0f) < 1e-6f);
    assert_true(whole.lr[9] == whole.lr[10]);
    assert_true(fabsf(whole.lr[55] / 1.65e-4f - 1.0f) < 1e-6f);
    assert_true(fabsf(whole.lr[99] / 3.0082e-5f - 1.0f) < 1e-4f);
    train_in(DIR_B, (tiny_how){.path = path}, &half);
    assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
    train_good(DIR_B, (tiny_how){.path = path, .is_resumed = true}, &rest);
    assert_string_equal(rest.log, "");
    assert_memory_equal(rest.lr, whole.lr + 55, 45 * sizeof(float));
    train_in(DIR_B,
             (tiny_how){.path = path, .is_resumed = true, .settings = longer, .n_settings = 1},
             &stretched);
    assert_string_equal(stretched.log,
                        "the run began with 100 steps in all, now there are 120: schedules are "
                        "stretched from here on\n");
    train_good(DIR_A,
               (tiny_how){.path = path, .is_resumed = true, .settings = seed, .n_settings = 1},
               &other);
    assert_string_equal(other.log, "the recipe is not the one that the run began with\n");
}

// cases.md 63: the step, the scope and the op are named; the checkpoint before it stays as it was.
// A length below the warm-up, as --steps gives it: the first steps of the long run, to its bits, and a line that
// says so.
static void a_short_run_is_the_beginning_of_a_long_one(void **state)
{
    static const char *const kinds[] = {"schedule.kind=constant", "schedule.kind=linear",
                                        "schedule.kind=cosine", "schedule.kind=step",
                                        "schedule.kind=wsd"};
    static const char text[] = TINY_HEAD "model: [flatten, linear: 4]\n"
                                         "optimiser: {kind: sgd, lr: 0.1}\n"
                                         "schedule: {kind: constant, warmup: 10}\n"
                                         "train: {batch: 16, steps: 20}\n";
    (void)state;
    const char *path = tiny_write(text);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        tiny_run whole = {0}, part = {0}, one = {0};
        const char *settings[] = {kinds[i], "train.steps=4"};
        const char *single[] = {kinds[i], "train.steps=1"};
        train_good(DIR_A, (tiny_how){.path = path, .settings = settings, .n_settings = 1}, &whole);
        train_good(DIR_B, (tiny_how){.path = path, .settings = settings, .n_settings = 2}, &part);
        assert_int_equal(part.n_steps, 4);
        assert_memory_equal(part.lr, whole.lr, 4 * sizeof part.lr[0]);
        assert_memory_equal(part.loss, whole.loss, 4 * sizeof part.loss[0]);
        assert_string_equal(whole.log, "");
        assert_string_equal(part.log,
                            "schedule.warmup is 10 and the run has 4 steps: its rate only rises\n");
        train_good(DIR_B, (tiny_how){.path = path, .settings = single, .n_settings = 2}, &one);
        assert_int_equal(one.n_steps, 1);
        assert_true(one.lr[0] == whole.lr[0]);
    }
}

static void a_bad_step_is_named(void **state)
{
    static const char *const hot[] = {"optimiser.lr=1e10",  "schedule=constant",
                                      "optimiser.kind=sgd", "optimiser={kind: sgd, lr: 1e10}",
                                      "train.clip_norm=0",  "train.checkpoint_every=1",
                                      "train.epochs=20"};
    tiny_run run = {0}, again = {0};
    (void)state;
    train_in(DIR_A, (tiny_how){.settings = hot, .n_settings = 7}, &run);
    assert_int_equal(run.status, WEFT_ERR_NONFINITE);
    char step[32];
    snprintf(step, sizeof step, "step %d: ", (int)run.n_steps + 1);
    assert_memory_equal(run.err.message, step, strlen(step));
    assert_non_null(strstr(run.err.message, "tiny.yaml:"));
    assert_non_null(strstr(run.err.message, "/"));
    // What was saved before loads, and goes wrong at the same step.
    train_in(DIR_A, (tiny_how){.settings = hot, .n_settings = 7, .is_resumed = true}, &again);
    assert_int_equal(again.status, WEFT_ERR_NONFINITE);
    assert_int_equal(again.n_steps, 0);
    assert_string_equal(run.err.message, again.err.message);
}

// cases.md 62: files that cannot grow stand for a full disk. In a process of its own, whose limit it is.
static void a_full_disk_leaves_the_checkpoint(void **state)
{
    tiny_run whole = {0}, rest = {0};
    int code;
    (void)state;
    train_good(DIR_A, (tiny_how){0}, &whole);
    fresh(DIR_B);
    const char *path = tiny_write(tiny_recipe);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static const char *const every[] = {"train.checkpoint_every=2"};
        tiny_run half = {.stop_at = 6}, full = {0};
        tiny_how how = {.path = path, .dir = DIR_B, .settings = every, .n_settings = 1};
        tiny_train(&how, &half);
        const struct rlimit limit = {2048, 2048};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        how.is_resumed = true;
        tiny_train(&how, &full);
        const bool is_said = strstr(full.err.message, "step 8: not saved, the files of the last "
                                                      "checkpoint are whole: ") != NULL;
        _exit(full.status == WEFT_ERR_FILE && is_said ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_int_equal(code, 0);
    train_good(DIR_B, (tiny_how){.is_resumed = true}, &rest);
    assert_int_equal(rest.n_steps, 12);
    assert_string_equal(whole.done.weights_sha256, rest.done.weights_sha256);
}

static void memory_limit_refuses(void **state)
{
    tiny_run whole = {0}, run = {0}, fitting = {0};
    char expected[256], setting[64];
    const char *settings[] = {setting};
    unsigned long long need, limit;
    long long batch, micro;
    (void)state;
    train_good(DIR_A, (tiny_how){0}, &whole);
    limit = whole.done.planned_bytes - 1;
    train_in(DIR_B, (tiny_how){.memory_limit_bytes = limit}, &run);
    assert_int_equal(run.status, WEFT_ERR_MEMORY);
    assert_int_equal(sscanf(run.err.message,
                            "memory: batch 16 needs %llu bytes, the limit is "
                            "%*u; train.batch=%lld would do, or train.micro_batch=%lld",
                            &need, &batch, &micro),
                     3);
    assert_true(need == whole.done.planned_bytes);
    snprintf(expected, sizeof expected,
             "memory: batch 16 needs %llu bytes, the limit is %llu; "
             "train.batch=%lld would do, or train.micro_batch=%lld",
             need, limit, batch, micro);
    assert_string_equal(run.err.message, expected);
    // All of its words are true.
    snprintf(setting, sizeof setting, "train.batch=%lld", batch);
    train_good(DIR_B,
               (tiny_how){.memory_limit_bytes = limit, .settings = settings, .n_settings = 1},
               &fitting);
    snprintf(setting, sizeof setting, "train.micro_batch=%lld", micro);
    memset(&fitting, 0, sizeof fitting);
    train_good(DIR_B,
               (tiny_how){.memory_limit_bytes = limit, .settings = settings, .n_settings = 1},
               &fitting);
    assert_true(fitting.done.peak_bytes <= limit);
    memset(&run, 0, sizeof run);
    train_good(DIR_B, (tiny_how){.memory_limit_bytes = need}, &run);
}

static void a_run_is_not_overwritten(void **state)
{
    tiny_run first = {0}, second = {0};
    (void)state;
    train_good(DIR_A, (tiny_how){0}, &first);
    tiny_how how = {.path = tiny_write(tiny_recipe), .dir = DIR_A};
    tiny_train(&how, &second);
    assert_int_equal(second.status, WEFT_ERR_FILE);
    assert_string_equal(second.err.message, DIR_A " holds a run already (checkpoint.safetensors), "
                                                  "expected --resume or another folder");
}

const struct CMUnitTest wf_tests_train_run[] = {
    cmocka_unit_test(learns),
    cmocka_unit_test(no_bit_depends_on_the_machine),
    cmocka_unit_test(seeds_differ),
    cmocka_unit_test(resumed_run_is_the_same),
    cmocka_unit_test(resumes_on_another_device),
    cmocka_unit_test(a_finished_run_resumes_to_itself),
    cmocka_unit_test(resume_without_checkpoint_begins),
    cmocka_unit_test(schedule_goes_on_and_a_new_length_warns),
    cmocka_unit_test(a_short_run_is_the_beginning_of_a_long_one),
    cmocka_unit_test(a_bad_step_is_named),
    cmocka_unit_test(a_full_disk_leaves_the_checkpoint),
    cmocka_unit_test(memory_limit_refuses),
    cmocka_unit_test(a_run_is_not_overwritten),
};
const unsigned long wf_n_tests_train_run = WF_N_TESTS(wf_tests_train_run);
