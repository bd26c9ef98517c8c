// Micro-batches, averages and statistics on OpenCL give the bits of the cpu device.
// labels: full opencl (a program for each size of a part)
#include "train/train_tools.h"

#define DIR_A TEMP("options-opencl-a")
#define DIR_B TEMP("options-opencl-b")

static bool has_opencl(void)
{
    weft_context *context;
    weft_device *device = NULL;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    const bool has = weft_device_open(context, "opencl", NULL, &device, NULL) == WEFT_OK;
    weft_device_close(device);
    weft_context_destroy(context);
    return has;
}

static void everything_is_equal(void **state)
{
    static const char *const settings[] = {"train.micro_batch=6", "train.ema=0.9",
                                           "train.stats_every=4",
                                           "optimiser={kind: muon, lr: 0.01, weight_decay: 0.01}"};
    static const char *const files[] = {"weights.safetensors", "checkpoint.safetensors",
                                        "log.jsonl"};
    tiny_run run = {0};
    (void)state;
    if (!has_opencl())
        WF_SKIP("opencl: no device that can run exact");
    tiny_how how = {
        .path = tiny_write(tiny_recipe), .settings = settings, .n_settings = 4, .dir = DIR_A};
    tiny_remove(DIR_A);
    tiny_remove(DIR_B);
    tiny_train(&how, &run);
    assert_int_equal(run.status, WEFT_OK);
    how.device = "opencl";
    how.dir = DIR_B;
    memset(&run, 0, sizeof run);
    tiny_train(&how, &run);
    if (run.status != WEFT_OK)
        fail_msg("%s", run.err.message);
    assert_true(run.done.peak_bytes <= run.done.planned_bytes);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_true(tiny_same_file(DIR_A, DIR_B, files[i]));
    }
}

const struct CMUnitTest wf_tests_train_options_opencl[] = {
    cmocka_unit_test(everything_is_equal),
};
const unsigned long wf_n_tests_train_options_opencl = WF_N_TESTS(wf_tests_train_options_opencl);
