// Every family of pictures, small, trains 30 steps to one set of weights on every instruction set of the machine and
// through OpenCL; every family does so resumed; some are seen to learn. Sequences: sequence_bits_test.c.
// labels: full opencl notsan noasan long
#include "train/family_small.h"

#define DIR_A TEMP("family-bits")
#define STEPS 30

static void on_every_instruction_set(void **state)
{
    (void)state;
    family_small_on_cpus(FAMILY_PICTURES, STEPS, DIR_A);
}

static void through_opencl(void **state)
{
    (void)state;
    family_small_through_opencl(FAMILY_PICTURES, STEPS, DIR_A);
}

static void resumed_it_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_families_small; i++)
        family_small_resume(&families_small[i], STEPS, 2, DIR_A);
}

static void learns(void **state)
{
    static const char *const names[] = {"resnet18", "unet", "vae"};
    (void)state;
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        tiny_run run = {0};
        tiny_how how = {.path = family_small_write(family_small_find(names[k]), 100, 0),
                        .dir = DIR_A};
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

const struct CMUnitTest wf_tests_family_bits[] = {
    cmocka_unit_test(resumed_it_is_the_same),
    cmocka_unit_test(learns),
    cmocka_unit_test(on_every_instruction_set),
    cmocka_unit_test(through_opencl),
};
const unsigned long wf_n_tests_family_bits = WF_N_TESTS(wf_tests_family_bits);
