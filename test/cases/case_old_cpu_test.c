// Case 94 (dlib#749, tensorflow#45866, tiny-dnn#313): one binary runs on processors without AVX, without
// AVX2 and with all of it. qemu emulates the older ones and stops at an instruction that they lack.
// labels: full noasan notsan (qemu has no room for their shadow memory)
#include "case_command.h"

#define QEMU "$(command -v qemu-x86_64-static || command -v qemu-x86_64) -cpu "

static void runs_on(const char *cpu, const char *op, const char *part)
{
    char line[512];
    static case_said said;
#if !defined(__x86_64__)
    WF_SKIP("the old processors are x86-64 ones");
#endif
    case_command(&said, "command -v qemu-x86_64-static || command -v qemu-x86_64");
    if (said.code != 0)
        WF_SKIP("no qemu-x86_64, install qemu-user-static");
    snprintf(line, sizeof line,
             "OCL_ICD_VENDORS=/nonexistent " QEMU "%s $WEFT check --device cpu --op %s --every 5",
             cpu, op);
    case_says(line, 0, part);
    case_says(line, 0, " 0 different");
}

static void without_avx(void **state)
{
    (void)state;
    runs_on("Nehalem", "relu", "cpu (");
    runs_on("Nehalem", "matmul", "cpu (");
}

static void without_avx2(void **state)
{
    (void)state;
    runs_on("Westmere", "exp", "cpu (");
    runs_on("Westmere", "conv", "cpu (");
}

// An instruction set that the processor lacks is refused by name.
static void avx2_is_refused(void **state)
{
    (void)state;
    runs_on("Nehalem", "relu", "cpu (");
    case_says("OCL_ICD_VENDORS=/nonexistent " QEMU "Nehalem $WEFT check --op relu --isa avx2", 3,
              "avx2");
}

const struct CMUnitTest wf_tests_case_old_cpu[] = {
    cmocka_unit_test(without_avx),
    cmocka_unit_test(without_avx2),
    cmocka_unit_test(avx2_is_refused),
};
const unsigned long wf_n_tests_case_old_cpu = WF_N_TESTS(wf_tests_case_old_cpu);
