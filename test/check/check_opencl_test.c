// An OpenCL device by the check engine: in the quick run some cases of the ops with kernels of their own
// and a random graph, because the driver compiles every kernel for the first time; in the full run every
// case of every other op (check_opencl_rest has the others).
// labels: sweep opencl long
#include "check_session.h"

#include "device/opencl_open.h"

static const struct {
    const char *op;
    uint32_t every;
} sample[] = {
    {"matmul", 19},
    {"conv", 19},
    {"conv_grad_input", 19},
    {"conv_grad_weight", 19},
    {"reduce_sum", 17},
    {"moments", 29},
    {"window_max", 11},
    {"gather", 11},
    {"scatter_add", 10},
    {"cumsum", 14},
    {"flip", 12},
    {"cast", 50},
    {"softmax_cross_entropy", 10},
    {"not", 11},
    {"random_graph", 0},
};

static void equals_ref(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *device = opencl_open_exact(&ctx);
    for (size_t i = 0; i < WF_COUNT_OF(sample) && !wf_test_is_full(); i++) {
        weft_check_options c = WEFT_CHECK_OPTIONS_INIT;
        c.op = sample[i].op;
        c.every = sample[i].every;
        c.n_random = 1;
        assert_int_equal(check_device(ctx, device, &c).n_skipped, 0);
    }
    for (size_t i = 0; i < ctx->n_ops && wf_test_is_full(); i += 2) {
        weft_check_options c = WEFT_CHECK_OPTIONS_INIT;
        c.op = ctx->ops[i]->name;
        assert_int_equal(check_device(ctx, device, &c).n_skipped, 0);
    }
    weft_device_close(device);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_check_opencl[] = {cmocka_unit_test(equals_ref)};
const unsigned long wf_n_tests_check_opencl = WF_N_TESTS(wf_tests_check_opencl);
