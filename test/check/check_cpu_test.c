// The cpu device by the check engine: every op, random graphs and training runs, with each instruction
// set that the machine has, to the bits of ref; the digest is one for all.
// labels: sweep long
#include "check_session.h"

#ifdef __SANITIZE_THREAD__
enum { UNDER_TSAN = 1 }; // where every case takes 20 times as long; races show in a fifth of them
#else
enum { UNDER_TSAN = 0 };
#endif

static void equals_ref(const char *isa, uint32_t n_threads, uint32_t n_random)
{
    weft_context *ctx;
    weft_device *device;
    weft_error err;
    weft_device_options o = WEFT_DEVICE_OPTIONS_INIT;
    weft_check_options c = WEFT_CHECK_OPTIONS_INIT;
    o.isa = isa;
    o.n_threads = n_threads;
    c.every = wf_test_is_full() || (!isa && !UNDER_TSAN) ? 1 : 5;
    c.n_random = wf_test_is_full() ? 20 * n_random : n_random;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    const weft_status status = weft_device_open(ctx, "cpu", &o, &device, &err);
    if (status != WEFT_OK) {
        weft_context_destroy(ctx);
        if (status == WEFT_ERR_DEVICE || status == WEFT_ERR_NAME) {
            WF_SKIP("%s", err.message);
        }
        fail_msg("%s", err.message);
    }
    assert_int_equal(check_device(ctx, device, &c).n_skipped, 0);
    weft_device_close(device);
    weft_context_destroy(ctx);
}

static void best(void **state)
{
    (void)state;
    equals_ref(NULL, 0, 60);
}

static void scalar(void **state)
{
    (void)state;
    equals_ref("scalar", 1, 20);
}

static void avx2(void **state)
{
    (void)state;
    equals_ref("avx2", 3, 20);
}

static void avx512(void **state)
{
    (void)state;
    equals_ref("avx512", 1, 20);
}

const struct CMUnitTest wf_tests_check_cpu[] = {
    cmocka_unit_test(best),
    cmocka_unit_test(scalar),
    cmocka_unit_test(avx2),
    cmocka_unit_test(avx512),
};
const unsigned long wf_n_tests_check_cpu = WF_N_TESTS(wf_tests_check_cpu);
