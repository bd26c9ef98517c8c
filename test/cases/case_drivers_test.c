// Several OpenCL devices on one machine: PoCL's two drivers and its work-group methods train to one hash
// (cases 51, 53, 54); rusticl, whose fma is wrong, is told from them and trains in `fast` only.
// labels: full opencl long
#include "case_command.h"

#define POCL "OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd "
#define RUSTICL "OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd RUSTICL_ENABLE=llvmpipe "
// A cache of its own: a kernel that another method compiled would be found in it.
#define CACHE(name) "XDG_CACHE_HOME=" WEFT_BUILD_DIR "/drivers-" name " "

static bool has_driver(const char *environment)
{
    static case_said said;
    char line[512];
    snprintf(line, sizeof line, "%s$WEFT devices --json", environment);
    case_command(&said, line);
    return said.code == 0 && strstr(said.text, "\"id\":\"opencl:0\"");
}

// Every variable after each of six steps of every third family, batch norm and dropout under AdamW among them: each
// driver and method compiles their kernels anew. (family_bits and sequence_bits train all of them on one.)
static void trains_to_ref(const char *environment, const char *device)
{
    static case_said said;
    static char digest[65];
    char line[512];
    snprintf(line, sizeof line, "%s$WEFT check --op training --every 3 --device %s --json",
             environment, device);
    case_command(&said, line);
    const char *at = strstr(said.text, "\"digest\":\"");
    if (said.code != 0 || !at || !strstr(said.text, "\"different\":0"))
        fail_msg("%s: exit code %d, said:\n%s", line, said.code, said.text);
    if (digest[0])
        assert_memory_equal(at + 10, digest, 64);
    memcpy(digest, at + 10, 64);
}

static void two_devices(void **state)
{
    (void)state;
    if (!has_driver(POCL))
        WF_SKIP("no PoCL");
    trains_to_ref(POCL CACHE("two") "POCL_DEVICES='pthread basic' ", "opencl:0");
    trains_to_ref(POCL CACHE("two") "POCL_DEVICES='pthread basic' ", "opencl:1");
    trains_to_ref(POCL, "cpu");
}

static void work_group_methods(void **state)
{
    (void)state;
    if (!has_driver(POCL))
        WF_SKIP("no PoCL");
    trains_to_ref(POCL CACHE("loops") "POCL_WORK_GROUP_METHOD=loops ", "opencl:0");
    trains_to_ref(POCL CACHE("loopvec") "POCL_WORK_GROUP_METHOD=loopvec ", "opencl:0");
}

static void rusticl_is_not_exact(void **state)
{
    (void)state;
    if (!has_driver(RUSTICL))
        WF_SKIP("no rusticl");
    case_says(RUSTICL "$WEFT devices --json", 0, "\"exact\":\"no\",\"reason\":\"");
    case_says(RUSTICL "$WEFT check --op relu --device opencl:0", 3, ") is not exact: ");
    case_says(RUSTICL "$WEFT check --op relu --device opencl:0", 3, "; ask for precision fast\n");
}

static void rusticl_trains_in_fast(void **state)
{
    (void)state;
    if (!has_driver(RUSTICL))
        WF_SKIP("no rusticl");
    static case_said said;
    case_command(&said, RUSTICL CACHE("rusticl") "$WEFT check --op training --precision fast "
                                                 "--device opencl:0 --json");
    // Families without convolution: Mesa 22.3 ends the process inside its compiler at a kernel of those.
    assert_non_null(strstr(said.text, "\"case\":\"softmax\",\"status\":\"equal\""));
    assert_non_null(strstr(said.text, "\"case\":\"mlp\",\"status\":\"equal\""));
}

const struct CMUnitTest wf_tests_case_drivers[] = {
    cmocka_unit_test(two_devices),
    cmocka_unit_test(work_group_methods),
    cmocka_unit_test(rusticl_is_not_exact),
    cmocka_unit_test(rusticl_trains_in_fast),
};
const unsigned long wf_n_tests_case_drivers = WF_N_TESTS(wf_tests_case_drivers);
