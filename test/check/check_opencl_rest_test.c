// The other half of what check_opencl runs in full, random graphs and training runs; and the kernels with a
// form of their own on a GPU, in that form: lanes as work-items, tiles in local memory.
// labels: exhaustive opencl (the other half of check_opencl, about ten minutes of kernels to compile)
#include "check_session.h"

#include "device/opencl_open.h"

static void check_ops(weft_context *ctx, weft_device *device, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        weft_check_options c = WEFT_CHECK_OPTIONS_INIT;
        c.op = names[i];
        c.n_random = 12;
        assert_int_equal(check_device(ctx, device, &c).n_skipped, 0);
    }
}

static void equals_ref(void **state)
{
    (void)state;
    static const char *const others[] = {"random_graph", "training"};
    weft_context *ctx;
    weft_device *device = opencl_open_exact(&ctx);
    for (size_t i = 1; i < ctx->n_ops; i += 2) {
        check_ops(ctx, device, &ctx->ops[i]->name, 1);
    }
    check_ops(ctx, device, others, WF_COUNT_OF(others));
    weft_device_close(device);
    weft_context_destroy(ctx);
}

static void equals_ref_as_gpu(void **state)
{
    (void)state;
    static const char *const ops[] = {"matmul",           "conv",       "conv_grad_input",
                                      "conv_grad_weight", "reduce_sum", "moments",
                                      "training"};
    weft_context *ctx;
    weft_device *device = opencl_open_exact(&ctx);
    opencl_as_gpu(device);
    check_ops(ctx, device, ops, WF_COUNT_OF(ops));
    weft_device_close(device);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_check_opencl_rest[] = {
    cmocka_unit_test(equals_ref),
    cmocka_unit_test(equals_ref_as_gpu),
};
const unsigned long wf_n_tests_check_opencl_rest = WF_N_TESTS(wf_tests_check_opencl_rest);
