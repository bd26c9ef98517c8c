// A few families of pictures and sound, small, train to one set of weights on cpu whatever the threads and
// instruction sets. The others are in family_bits_test.c.
// labels: notsan (train_run trains there)
#include "train/family_small.h"

#define DIR_A TEMP("family-a")
#define STEPS 4

static void no_bit_depends_on_the_cpu(void **state)
{
    static const char *const names[] = {"unet", "vae", "layers", "audio"};
    const tiny_how one = {.dir = DIR_A, .n_threads = 1};
    const tiny_how other = {.dir = DIR_A, .isa = "scalar", .n_threads = 2};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        family_small_compare(family_small_find(names[i]), STEPS, &one, &other);
}

const struct CMUnitTest wf_tests_family_train[] = {
    cmocka_unit_test(no_bit_depends_on_the_cpu),
};
const unsigned long wf_n_tests_family_train = WF_N_TESTS(wf_tests_family_train);
