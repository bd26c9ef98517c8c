// Fused kernels on the first exact OpenCL device, in the form of a processor and in that of a GPU: random MAP,
// ROW and COLUMN kernels over strided operands, against the values by definition (kernel_case.c).
#include "kernel_case.h"
#include "opencl_open.h"
#include "wf_test.h"

static void run_seeds(bool as_gpu, uint64_t first, uint64_t n, int64_t max_points)
{
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    if (as_gpu)
        opencl_as_gpu(dev);
    for (uint64_t seed = first; seed < first + n; seed++) {
        kernel_case c;
        kernel_case_make(ctx, seed, max_points, &c);
        kernel_case_run(dev, &c, seed);
        kernel_case_free(&c);
    }
    assert_int_equal(dev->buffer_bytes, 4); // the status word
    dev->driver->close(dev);
    weft_context_destroy(ctx);
}

static void random_kernels(void **state)
{
    (void)state;
    run_seeds(false, 1, wf_test_is_full() ? 300 : 24, 40000);
}

static void random_kernels_as_gpu(void **state)
{
    (void)state;
    run_seeds(true, 1, wf_test_is_full() ? 60 : 10, 40000);
}

const struct CMUnitTest wf_tests_opencl_kernel[] = {cmocka_unit_test(random_kernels),
                                                    cmocka_unit_test(random_kernels_as_gpu)};
const unsigned long wf_n_tests_opencl_kernel = WF_N_TESTS(wf_tests_opencl_kernel);
