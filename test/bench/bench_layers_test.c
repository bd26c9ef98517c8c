// A convolution is measured as it runs inside a network: nothing is copied into another layout. Seen by the memory
// that is planned, which has room for operands and result, and not for copies of them.
#include "weft/weft.h"
#include "wf_test.h"

static void no_layout_is_changed(void **state)
{
    static const weft_bench_conv_shape shapes[] = {
        {8, 16, 32, 16, 3, 1, 1, 1}, {8, 64, 16, 64, 3, 2, 1, 64}, {8, 3, 32, 32, 3, 2, 1, 1}};
    weft_bench_options options = WEFT_BENCH_OPTIONS_INIT;
    weft_device_options one_thread = WEFT_DEVICE_OPTIONS_INIT;
    weft_context *context = NULL;
    weft_device *device = NULL;
    weft_error err = {0};
    (void)state;
    options.seconds = 1e-3;
    one_thread.n_threads = 1;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(context, "cpu", &one_thread, &device, NULL), WEFT_OK);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        for (int d = WEFT_BENCH_FORWARD; d <= WEFT_BENCH_GRAD_WEIGHT; d++) {
            weft_bench_result r;
            if (weft_bench_conv(context, device, &shapes[i], (weft_bench_direction)d, 0.0, &options,
                                &r, &err) != WEFT_OK)
                fail_msg("%s", err.message);
            if (r.planned_bytes > r.bytes + r.bytes / 2)
                fail_msg("shape %zu, direction %d: %llu bytes planned for %llu", i, d,
                         (unsigned long long)r.planned_bytes, (unsigned long long)r.bytes);
        }
    }
    weft_device_close(device);
    weft_context_destroy(context);
}

const struct CMUnitTest wf_tests_bench_layers[] = {
    cmocka_unit_test(no_layout_is_changed),
};
const unsigned long wf_n_tests_bench_layers = WF_N_TESTS(wf_tests_bench_layers);
