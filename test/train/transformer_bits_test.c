// Transformers, small, train 30 steps to one set of weights on every instruction set of the machine and through
// OpenCL.
// labels: full opencl notsan noasan
#include "train/transformer_small.h"

static const char *const steps[] = {"train.steps=30"};

static void train_30(const char *recipe, const char *device, const char *isa, uint32_t n_threads,
                     char out_sha[65])
{
    train(recipe,
          (tiny_how){.device = device,
                     .isa = isa,
                     .n_threads = n_threads,
                     .settings = steps,
                     .n_settings = 1},
          out_sha);
}

static void one_set_of_weights(const char *device, const char *isa, uint32_t n_threads)
{
    for (size_t i = 0; i < N_RECIPES; i += 2) {
        char first[65], other[65];
        train_30(recipes[i], "cpu", "scalar", 1, first);
        train_30(recipes[i], device, isa, n_threads, other);
        if (strcmp(first, other) != 0)
            fail_msg("recipe %zu: %s on cpu, %s on %s %s", i, first, other, device, isa ? isa : "");
    }
}

static void on_every_instruction_set(void **state)
{
    static const char *const isas[] = {"avx2", "avx512", "neon"};
    (void)state;
    for (size_t i = 0; i < sizeof isas / sizeof isas[0]; i++) {
        if (tiny_has_device("cpu", isas[i]))
            one_set_of_weights("cpu", isas[i], 2);
    }
}

static void through_opencl(void **state)
{
    (void)state;
    one_set_of_weights(tiny_exact_opencl(), NULL, 0);
}

const struct CMUnitTest wf_tests_transformer_bits[] = {
    cmocka_unit_test(on_every_instruction_set),
    cmocka_unit_test(through_opencl),
};
const unsigned long wf_n_tests_transformer_bits = WF_N_TESTS(wf_tests_transformer_bits);
