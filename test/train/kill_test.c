// A run killed at random moments and resumed each time ends with the bits of the run that was not: the
// command is a process of its own, ended by SIGKILL in the middle of steps, saves and evaluations.
// labels: sweep opencl noasan notsan long (a build that is slow to start is killed before it has begun)
#include "device/opencl_open.h"
#include "train/process.h"
#include "train/train_tools.h"

#include <signal.h>
#include <sys/wait.h>

#define DIR_A TEMP("kill-a")
#define DIR_B TEMP("kill-b")

// out_events: its events as it works, or NULL.
static pid_t start(const char *dir, const char *device, bool is_resumed, FILE **out_events)
{
    const char *const arguments[] = {"train",
                                     TEMP("tiny.yaml"),
                                     "--out",
                                     dir,
                                     "--device",
                                     device,
                                     wf_test_is_full() ? "train.epochs=400" : "train.epochs=40",
                                     "train.checkpoint_every=3",
                                     is_resumed ? "--resume" : "--quiet",
                                     out_events ? "--json" : NULL,
                                     NULL};
    return process_start(arguments, out_events);
}

// Seconds of a whole run in dir.
static double time_whole(const char *dir, const char *device)
{
    tiny_remove(dir);
    const double begun = process_seconds();
    assert_int_equal(process_end(start(dir, device, false, NULL)), 0);
    return process_seconds() - begun;
}

// A run of 240 steps (2400 in the full run, so that twenty kills find it at work), killed n times, each
// time on the next of two devices.
static void kill_and_resume(const char *recipe, int n, unsigned seed, const char *const devices[2])
{
    static const char *const files[] = {"weights.safetensors", "best.safetensors", "log.jsonl",
                                        "checkpoint.safetensors"};
    int n_killed = 0;
    tiny_data();
    tiny_write(recipe);
    double whole[2];
    whole[0] = whole[1] = time_whole(DIR_A, devices[1]);
    if (strcmp(devices[0], devices[1]) != 0) {
        time_whole(DIR_B, devices[0]); // leaves compiled kernels in the cache
        whole[0] = time_whole(DIR_B, devices[0]);
    }
    tiny_remove(DIR_B);
    srand(seed);
    for (int i = 0; i < n; i++) {
        // Most of the kills fall while it runs; each resumed run is shorter than the last.
        const double moment =
            whole[i % 2] * (n < 20 ? 0.35 : 0.1) * (double)(rand() % 1000) / 1000.0;
        const pid_t child = start(DIR_B, devices[i % 2], true, NULL);
        process_sleep(moment);
        kill(child, SIGKILL);
        n_killed += process_was_killed(process_end(child));
    }
    assert_int_equal(process_end(start(DIR_B, "cpu", true, NULL)), 0);
    print_message("seed %u: killed %d times of %d, a whole run takes %.2f s on %s, %.2f s on %s\n",
                  seed, n_killed, n, whole[0], devices[0], whole[1], devices[1]);
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        assert_true(tiny_same_file(DIR_A, DIR_B, files[f]));
    }
}

static void killed_run_is_the_same(void **state)
{
    static const char *const cpu[2] = {"cpu", "cpu"};
    (void)state;
    kill_and_resume(tiny_recipe, wf_test_is_full() ? 20 : 4, 1, cpu);
}

static void killed_and_resumed_on_another_device(void **state)
{
    static const char *const both[2] = {"ref", "cpu"};
    (void)state;
    kill_and_resume(tiny_recipe, wf_test_is_full() ? 20 : 3, 2, both);
}

static void killed_and_resumed_through_opencl(void **state)
{
    static const char *const both[2] = {"opencl", "cpu"};
    weft_context *context;
    (void)state;
    weft_device_close(opencl_open_exact(&context)); // or a skip
    weft_context_destroy(context);
    kill_and_resume(tiny_recipe, wf_test_is_full() ? 20 : 2, 3, both);
}

// With everything that a step may keep: parts of a batch, averages, a group, patience, statistics.
static void killed_with_every_option(void **state)
{
    static const char *const cpu[2] = {"cpu", "cpu"};
    static const char recipe[] =
        TINY_HEAD "model: [conv: {out: 4, kernel: 3}, batch_norm, relu, flatten, dropout: 0.2, "
                  "linear: 4]\n"
                  "optimiser: {kind: muon, lr: 1e-2, weight_decay: 0.01}\n"
                  "groups: [{match: 'linear1.*', adamw: true, lr_factor: 0.5}]\n"
                  "schedule: {kind: wsd, warmup: 5}\n"
                  "train: {batch: 16, epochs: 3, clip_norm: 1, micro_batch: 6, ema: 0.95, "
                  "patience: 1000, stats_every: 5}\n";
    (void)state;
    kill_and_resume(recipe, wf_test_is_full() ? 20 : 3, 4, cpu);
}

// SIGINT finishes the step, saves, and exits with 130; the run goes on from there.
static void interrupt_saves(void **state)
{
    FILE *events;
    char line[512];
    (void)state;
    tiny_data();
    tiny_write(tiny_recipe);
    tiny_remove(DIR_A);
    tiny_remove(DIR_B);
    assert_int_equal(process_end(start(DIR_A, "cpu", false, NULL)), 0);
    const pid_t child = start(DIR_B, "ref", false, &events);
    // ref is slow enough to be met at work.
    while (fgets(line, sizeof line, events) && !strstr(line, "\"step\":")) {
    }
    kill(child, SIGINT);
    const int code = process_end(child);
    fclose(events);
    assert_true(WIFEXITED(code));
    assert_int_equal(WEXITSTATUS(code), 130);
    assert_int_equal(process_end(start(DIR_B, "cpu", true, NULL)), 0);
    assert_true(tiny_same_file(DIR_A, DIR_B, "weights.safetensors"));
    assert_true(tiny_same_file(DIR_A, DIR_B, "log.jsonl"));
}

const struct CMUnitTest wf_tests_kill[] = {
    cmocka_unit_test(killed_run_is_the_same),
    cmocka_unit_test(killed_and_resumed_on_another_device),
    cmocka_unit_test(killed_and_resumed_through_opencl),
    cmocka_unit_test(killed_with_every_option),
    cmocka_unit_test(interrupt_saves),
};
const unsigned long wf_n_tests_kill = WF_N_TESTS(wf_tests_kill);
