// A few families of pictures, small, train to one set of weights on cpu whatever the threads and instruction sets. The
// others are in family_bits_test.c.
// labels: notsan (train_run trains there)
#include "train/family_small.h"

#define DIR_A TEMP("family-a")
#define STEPS 4

static const family_small *find(const char *name)
{
    for (size_t i = 0; i < N_FAMILIES_SMALL; i++) {
        if (!strcmp(families_small[i].name, name))
            return &families_small[i];
    }
    fail_msg("no %s", name);
    return NULL;
}

static void no_bit_depends_on_the_cpu(void **state)
{
    static const char *const names[] = {"unet", "vae", "layers"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const family_small *f = find(names[i]);
        char first[65], other[65];
        family_small_train(f, STEPS, (tiny_how){.dir = DIR_A, .n_threads = 1}, first);
        family_small_train(f, STEPS, (tiny_how){.dir = DIR_A, .isa = "scalar", .n_threads = 2},
                           other);
        if (strcmp(first, other) != 0)
            fail_msg("%s: %s on the best set and one thread, %s on scalar and two", f->name, first,
                     other);
    }
}

const struct CMUnitTest wf_tests_family_train[] = {
    cmocka_unit_test(no_bit_depends_on_the_cpu),
};
const unsigned long wf_n_tests_family_train = WF_N_TESTS(wf_tests_family_train);
