// An OpenCL device by the check engine: a sample of every op's cases and a few random graphs in the quick
// run, where the driver compiles each kernel for the first time; all of them in the full one.
// labels: sweep opencl
#include "check_session.h"

#include "device/opencl_open.h"

static void equals_ref(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *device = opencl_open_exact(&ctx);
    weft_check_options c = WEFT_CHECK_OPTIONS_INIT;
    c.every = wf_test_is_full() ? 1 : 17;
    c.n_random = wf_test_is_full() ? 0 : 2;
    const weft_check_result result = check_device(ctx, device, &c);
    assert_int_equal(result.n_skipped, 0);
    weft_device_close(device);
    weft_context_destroy(ctx);
}

// As on a GPU: work-items as lanes, tiles in local memory.
static void equals_ref_as_gpu(void **state)
{
    (void)state;
    static const char *const ops[] = {"matmul",           "conv",       "conv_grad_input",
                                      "conv_grad_weight", "reduce_sum", "moments",
                                      "training"};
    weft_context *ctx;
    weft_device *device = opencl_open_exact(&ctx);
    opencl_as_gpu(device);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        weft_check_options c = WEFT_CHECK_OPTIONS_INIT;
        c.op = ops[i];
        c.every = wf_test_is_full() ? 1 : 17;
        (void)check_device(ctx, device, &c);
    }
    weft_device_close(device);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_check_opencl[] = {
    cmocka_unit_test(equals_ref),
    cmocka_unit_test(equals_ref_as_gpu),
};
const unsigned long wf_n_tests_check_opencl = WF_N_TESTS(wf_tests_check_opencl);
