// Recurrent networks, transformers and sound, small, train 30 steps to one set of weights on every instruction set of
// the machine and through OpenCL.
// labels: full opencl notsan noasan long
#include "train/family_small.h"

#define DIR_A TEMP("sequence-bits")
#define STEPS 30

static const family_kind kinds[] = {FAMILY_RECURRENT, FAMILY_TRANSFORMER, FAMILY_SOUND};

static void on_every_instruction_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        family_small_on_cpus(kinds[i], STEPS, DIR_A);
}

static void through_opencl(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        family_small_through_opencl(kinds[i], STEPS, DIR_A);
}

const struct CMUnitTest wf_tests_sequence_bits[] = {
    cmocka_unit_test(on_every_instruction_set),
    cmocka_unit_test(through_opencl),
};
const unsigned long wf_n_tests_sequence_bits = WF_N_TESTS(wf_tests_sequence_bits);
