// Recurrent families, small, train 30 steps to one set of weights on every instruction set of the machine and
// through OpenCL.
// labels: full opencl notsan noasan
#include "train/recurrent_small.h"

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
        if (tiny_has_device("cpu", isas[i]))
            one_set_of_weights("cpu", isas[i]);
    }
}

static void through_opencl(void **state)
{
    (void)state;
    one_set_of_weights(tiny_exact_opencl(), NULL);
}

const struct CMUnitTest wf_tests_recurrent_bits[] = {
    cmocka_unit_test(on_every_instruction_set),
    cmocka_unit_test(through_opencl),
};
const unsigned long wf_n_tests_recurrent_bits = WF_N_TESTS(wf_tests_recurrent_bits);
