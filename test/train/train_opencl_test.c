// Trainings through OpenCL give the bits of the cpu device, whole or resumed from one to the other.
// labels: opencl
#include "train/train_tools.h"

#define DIR_A TEMP("opencl-run-a")
#define DIR_B TEMP("opencl-run-b")

static void train_in(const char *dir, tiny_how how, tiny_run *run, weft_status expected)
{
    how.path = tiny_write(tiny_recipe);
    how.dir = dir;
    if (!how.is_resumed)
        tiny_remove(dir);
    tiny_train(&how, run);
    if (run->status != expected)
        fail_msg("%s", run->err.message);
}

static void same_bits(void **state)
{
    tiny_run cpu = {0}, other = {0};
    const char *device = tiny_exact_opencl();
    (void)state;
    train_in(DIR_A, (tiny_how){0}, &cpu, WEFT_OK);
    train_in(DIR_B, (tiny_how){.device = device}, &other, WEFT_OK);
    assert_string_equal(cpu.done.weights_sha256, other.done.weights_sha256);
    assert_true(other.done.peak_bytes <= other.done.planned_bytes);
    assert_true(tiny_same_file(DIR_A, DIR_B, "log.jsonl"));
    assert_true(tiny_same_file(DIR_A, DIR_B, "checkpoint.safetensors"));
}

static void resumes_across_devices(void **state)
{
    tiny_run whole = {0}, half = {.stop_at = 8}, rest = {0};
    const char *device = tiny_exact_opencl();
    (void)state;
    train_in(DIR_A, (tiny_how){0}, &whole, WEFT_OK);
    train_in(DIR_B, (tiny_how){0}, &half, WEFT_ERR_INTERRUPTED);
    train_in(DIR_B, (tiny_how){.device = device, .is_resumed = true}, &rest, WEFT_OK);
    assert_string_equal(whole.done.weights_sha256, rest.done.weights_sha256);
}

const struct CMUnitTest wf_tests_train_opencl[] = {
    cmocka_unit_test(same_bits),
    cmocka_unit_test(resumes_across_devices),
};
const unsigned long wf_n_tests_train_opencl = WF_N_TESTS(wf_tests_train_opencl);
