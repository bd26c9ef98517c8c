// Every family of pictures, small, trains 30 steps to one set of weights on every instruction set of the machine and
// through OpenCL; resumed, too; and it learns.
// labels: full opencl notsan noasan
#include "train/family_small.h"

#define DIR_A TEMP("family-bits")
#define STEPS 30

static void one_set_of_weights(const char *device, const char *isa, uint32_t n_threads)
{
    for (size_t i = 0; i < N_FAMILIES_SMALL; i++) {
        const family_small *f = &families_small[i];
        char first[65], other[65];
        family_small_train(f, STEPS, (tiny_how){.dir = DIR_A, .isa = "scalar", .n_threads = 1},
                           first);
        family_small_train(
            f, STEPS,
            (tiny_how){.dir = DIR_A, .device = device, .isa = isa, .n_threads = n_threads}, other);
        if (strcmp(first, other) != 0)
            fail_msg("%s: %s on cpu, %s on %s %s", f->name, first, other, device, isa ? isa : "");
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

static void resumed_it_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FAMILIES_SMALL; i++) {
        const family_small *f = &families_small[i];
        char whole[65], resumed[65];
        tiny_run half = {.stop_at = 2};
        tiny_how how = {.dir = DIR_A};
        family_small_train(f, STEPS, how, whole);
        tiny_remove(DIR_A);
        how.path = family_small_write(f, STEPS);
        tiny_train(&how, &half);
        assert_int_equal(half.status, WEFT_ERR_INTERRUPTED);
        how.is_resumed = true;
        family_small_train(f, STEPS, how, resumed);
        assert_string_equal(whole, resumed);
    }
}

static void learns(void **state)
{
    static const char *const names[] = {"resnet18", "unet", "vae"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        for (size_t i = 0; i < N_FAMILIES_SMALL; i++) {
            tiny_run run = {0};
            tiny_how how = {.dir = DIR_A};
            if (strcmp(families_small[i].name, names[k]) != 0)
                continue;
            how.path = family_small_write(&families_small[i], 100);
            tiny_remove(DIR_A);
            tiny_train(&how, &run);
            assert_int_equal(run.status, WEFT_OK);
            float begin = 0.0f, end = 0.0f;
            for (int s = 0; s < 10; s++) {
                begin += run.loss[s];
                end += run.loss[90 + s];
            }
            if (!(end < 0.99f * begin))
                fail_msg("%s: loss %g at first, %g in the end", names[k], (double)begin / 10,
                         (double)end / 10);
        }
    }
}

const struct CMUnitTest wf_tests_family_bits[] = {
    cmocka_unit_test(resumed_it_is_the_same),
    cmocka_unit_test(learns),
    cmocka_unit_test(on_every_instruction_set),
    cmocka_unit_test(through_opencl),
};
const unsigned long wf_n_tests_family_bits = WF_N_TESTS(wf_tests_family_bits);
