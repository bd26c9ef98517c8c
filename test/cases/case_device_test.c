// The device asked for is the device used, or an error that says why: never another one in silence.
// Cases 66 (llama.cpp#5828, #11129; onnxruntime#23372) and 91 (ROCm-OpenCL-Runtime#14,
// OpenCLCapsViewer#7).
// labels: opencl
#include "case_command.h"

#define NO_OPENCL "OCL_ICD_VENDORS=/nonexistent "

static void unknown_device(void **state)
{
    (void)state;
    case_says(
        "$WEFT check --op relu --device opencI", 3,
        "weft: error: device opencI is unknown, did you mean opencl; weft devices lists them\n");
    case_says("$WEFT check --op relu --device cpux:1", 3,
              "device cpux:1 is unknown, did you mean cpu;");
    case_says("$WEFT check --op relu --device cpu:3", 3,
              "weft: error: cpu: there is one cpu device, '3' names another, expected 'cpu'\n");
    case_says("$WEFT check --op relu --device opencl:x", 3, "opencl");
}

// Case 66: a device that this machine, or this weft, does not have
static void absent_device(void **state)
{
    (void)state;
    case_says("$WEFT check --op relu --device cuda", 3, "weft: error: device cuda is unknown");
    case_says("$WEFT check --op relu --device opencl:99", 3, "weft: error: ");
    case_says(NO_OPENCL "$WEFT check --op relu --device opencl", 3,
              "weft: error: no OpenCL driver found: libOpenCL lists no platform");
    case_says("$WEFT train " WEFT_SOURCE_DIR
              "/recipes/fashion-softmax.yaml --steps 1 --device opencl:99 "
              "--out " WEFT_TEST_TMP "/absent",
              3, "weft: error: ");
    assert_int_not_equal(access(WEFT_TEST_TMP "/absent", F_OK), 0);
}

static void numbered_device(void **state)
{
    static case_said said;
    (void)state;
    case_command(&said, "$WEFT check --op relu --device opencl:99");
    assert_int_equal(said.code, 3);
    if (strstr(said.text, "no OpenCL"))
        WF_SKIP("no OpenCL device to count");
    assert_non_null(strstr(said.text, "weft: error: opencl:99: no such device, there are "));
}

// Case 91: no driver is no error of `devices`, which says what it searched; the processor still works
static void no_driver(void **state)
{
    (void)state;
    case_says(NO_OPENCL "$WEFT devices", 0, "no OpenCL driver found: ");
    case_says(NO_OPENCL "$WEFT devices", 0, "searched /nonexistent; install an OpenCL driver");
    case_says(NO_OPENCL "$WEFT devices --json", 0, "\"id\":\"opencl\"");
    case_says(NO_OPENCL "$WEFT check --device cpu --op relu", 0, " 0 different");
    case_says(NO_OPENCL "$WEFT check --device auto --op relu", 0, " 0 different");
}

// Options from outside that change results are refused, not obeyed.
static void spoiled_environment(void **state)
{
    (void)state;
    case_says(
        "POCL_EXTRA_BUILD_FLAGS=-cl-fast-relaxed-math $WEFT check --op relu --device opencl", 3,
        "opencl: POCL_EXTRA_BUILD_FLAGS='-cl-fast-relaxed-math' adds compiler options that change "
        "results, unset it");
}

const struct CMUnitTest wf_tests_case_device[] = {
    cmocka_unit_test(unknown_device),      cmocka_unit_test(absent_device),
    cmocka_unit_test(numbered_device),     cmocka_unit_test(no_driver),
    cmocka_unit_test(spoiled_environment),
};
const unsigned long wf_n_tests_case_device = WF_N_TESTS(wf_tests_case_device);
