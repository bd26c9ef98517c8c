// Recurrent families, small, train 30 steps to one set of weights on every instruction set of the machine and
// through OpenCL.
// labels: full opencl notsan noasan
#include "train/recurrent_small.h"

static void found(void *user, const weft_device_info *info)
{
    char *id = user;
    if (!id[0] && info->usable && info->exact != WEFT_EXACT_NO && !strncmp(info->id, "opencl", 6))
        snprintf(id, 64, "%s", info->id);
}

static void one_set_of_weights(const char *device, const char *isa)
{
    for (size_t i = 0; i < N_RECURRENT; i++) {
        char first[65], other[65];
        recurrent_train(i, 30, (tiny_how){.isa = "scalar", .n_threads = 1}, first);
        recurrent_train(i, 30, (tiny_how){.device = device, .isa = isa}, other);
        if (strcmp(first, other) != 0)
            fail_msg("%s: %s on cpu, %s on %s %s", recurrent_models[i], first, other, device,
                     isa ? isa : "");
    }
}

static void on_every_instruction_set(void **state)
{
    static const char *const isas[] = {"avx2", "avx512", "neon"};
    (void)state;
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        weft_context *context;
        weft_device *device = NULL;
        weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
        options.isa = isas[i];
        assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
        const bool has = weft_device_open(context, "cpu", &options, &device, NULL) == WEFT_OK;
        weft_device_close(device);
        weft_context_destroy(context);
        if (has)
            one_set_of_weights("cpu", isas[i]);
    }
}

static void through_opencl(void **state)
{
    weft_context *context;
    char id[64] = "";
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    weft_devices_list(context, found, id);
    weft_context_destroy(context);
    if (!id[0])
        WF_SKIP("no OpenCL device with exact arithmetic on this machine");
    one_set_of_weights(id, NULL);
}

const struct CMUnitTest wf_tests_recurrent_bits[] = {
    cmocka_unit_test(on_every_instruction_set),
    cmocka_unit_test(through_opencl),
};
const unsigned long wf_n_tests_recurrent_bits = WF_N_TESTS(wf_tests_recurrent_bits);
