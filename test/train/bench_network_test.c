// The benchmark networks by name, as they train and as they answer: batch, flops, memory, and a wrong name.
#include <stdio.h>
#include <string.h>

#include "weft/weft.h"
#include "weft_config.h"
#include "wf_test.h"

typedef struct rig {
    weft_context *context;
    weft_device *device;
} rig;

static int setup(void **state)
{
    static rig r;
    weft_device_options one_thread = WEFT_DEVICE_OPTIONS_INIT;
    one_thread.n_threads = 1;
    assert_int_equal(weft_context_create(NULL, &r.context, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(r.context, "cpu", &one_thread, &r.device, NULL), WEFT_OK);
    *state = &r;
    return 0;
}

static int teardown(void **state)
{
    rig *r = *state;
    weft_device_close(r->device);
    weft_context_destroy(r->context);
    return 0;
}

static weft_bench_result measure(const rig *r, const char *name)
{
    weft_bench_options options = WEFT_BENCH_OPTIONS_INIT;
    weft_bench_result result;
    weft_error err = {0};
    if (!WEFT_HAVE_YAML)
        WF_SKIP("built without libyaml");
    options.seconds = 1e-3;
    if (weft_bench_network(r->context, r->device, name, 100.0, &options, &result, &err) != WEFT_OK)
        fail_msg("%s: %s", name, err.message);
    assert_true(result.median_ms > 0.0 && result.n_runs >= 5);
    assert_true(result.gflops > 0.0);
    return result;
}

// Products and convolutions by hand; what is elementwise comes on top.
static void expect_flops(const weft_bench_result *r, double products)
{
    if ((double)r->flops < products || (double)r->flops > 1.1 * products)
        fail_msg("%llu flops, expected %g and little more", (unsigned long long)r->flops, products);
}

static void answers_for_one_sample(void **state)
{
    const weft_bench_result r = measure(*state, "mlp-infer");
    assert_int_equal(r.batch, 1);
    expect_flops(&r, 2.0 * (784 * 512 + 512 * 256 + 256 * 10));
    // Its weights, and those again as products read them.
    assert_true(r.planned_bytes > 8 * 535818 && r.planned_bytes < 9 * 535818);
}

// Forward, gradients of weights, and of the inputs of all but the first layer.
static void trains_with_its_batch(void **state)
{
    const weft_bench_result r = measure(*state, "mlp");
    assert_int_equal(r.batch, 128);
    const double first = 784 * 512, rest = 512 * 256 + 256 * 10;
    expect_flops(&r, 128 * 2.0 * (2 * first + 3 * rest));
}

typedef struct tally {
    size_t n_calls;
    uint64_t n_tasks;
    double share, last_ms, flops;
    bool has_product;
} tally;

static void count_task(void *user, const weft_bench_task *t)
{
    tally *sum = user;
    assert_true(sum->n_calls == 0 || t->ms <= sum->last_ms);
    assert_true(t->n_tasks > 0 && t->ms > 0.0);
    sum->has_product |=
        !strcmp(t->kind, "contract") && !strcmp(t->shape, "f32[1,784] f32[512,784] -> f32[1,512]");
    sum->n_calls++;
    sum->n_tasks += t->n_tasks;
    sum->share += t->share;
    sum->flops += t->flops;
    sum->last_ms = t->ms;
}

static void tells_what_tasks_take(void **state)
{
    const rig *r = *state;
    weft_bench_options options = WEFT_BENCH_OPTIONS_INIT;
    weft_bench_result result;
    tally sum = {0};
    if (!WEFT_HAVE_YAML)
        WF_SKIP("built without libyaml");
    options.seconds = 1e-3;
    options.task = count_task;
    options.user = &sum;
    assert_int_equal(
        weft_bench_network(r->context, r->device, "mlp-infer", 0.0, &options, &result, NULL),
        WEFT_OK);
    assert_true(sum.has_product);
    assert_true(sum.n_tasks >= sum.n_calls && sum.n_calls == 3);
    assert_true(sum.share > 0.999 && sum.share < 1.001);
    assert_true((uint64_t)sum.flops == result.flops);
}

static void names_are_listed(void **state)
{
    weft_bench_result result;
    weft_error err = {0};
    const rig *r = *state;
    size_t n = 0;
    bool has_vgg6 = false;
    for (; weft_bench_network_name(n); n++) {
        has_vgg6 |= !strcmp(weft_bench_network_name(n), "vgg6");
    }
    assert_int_equal(n, 11);
    assert_true(has_vgg6);
    static const char *const wrong[] = {"", "ml", "mlpx", "-infer", "mlp-infer-infer"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char message[64];
        snprintf(message, sizeof message, "bench: no network '%s'", wrong[i]);
        assert_int_equal(
            weft_bench_network(r->context, r->device, wrong[i], 0.0, NULL, &result, &err),
            WEFT_ERR_NAME);
        assert_string_equal(err.message, message);
    }
}

#define RIG_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
const struct CMUnitTest wf_tests_bench_network[] = {
    RIG_TEST(answers_for_one_sample),
    RIG_TEST(trains_with_its_batch),
    RIG_TEST(tells_what_tasks_take),
    RIG_TEST(names_are_listed),
};
const unsigned long wf_n_tests_bench_network = WF_N_TESTS(wf_tests_bench_network);
