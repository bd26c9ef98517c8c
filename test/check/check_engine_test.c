// The check engine must be able to fail: ops with a wrong gradient, a wrong truth, other bits on another
// device, NaN of another payload; and its inputs are the same everywhere.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check/check.h"
#include "graph/registry.h"
#include "wf_test.h"

// ---- an op that squares, in versions that are each wrong in one way
static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    (void)err;
    *out = info->in[0];
    return WEFT_OK;
}

static int n_calls; // of eval, to tell ref (first) from the device under test (second)
static float spoil; // what the second call adds
static double bend; // what the truth is multiplied with
static double tilt; // what the gradient is multiplied with

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const float *x = q->in[0].data;
    float *y = q->out[0].data;
    for (int64_t i = 0; i < wf_type_count(&q->out[0].type); i++) {
        y[i] = x[i] * x[i] + (i == 2 && n_calls % 2 == 1 ? spoil : 0.0f);
    }
    n_calls++;
    return WEFT_OK;
}

static weft_status eval_truth(wf_eval *q, weft_error *err)
{
    (void)err;
    const double *x = q->in[0].data;
    for (int64_t i = 0; i < wf_type_count(&q->out[0].type); i++) {
        ((double *)q->out[0].data)[i] = x[i] * x[i] * bend;
    }
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const weft_val two = weft_scalar(q->g, WEFT_F32, 2.0 * tilt);
    q->din[0] = weft_mul(q->g, q->dout[0], weft_mul(q->g, q->in[0], two));
}

static const wf_op square;
static weft_val build(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    return wf_graph_add(g, &square, in, 1, NULL);
}

static void cases(wf_check_list *list)
{
    wf_check_add(list, (wf_check_case){.name = wf_check_name(list, "%d", 5),
                                       .build = build,
                                       .n_inputs = 1,
                                       .bound = 4.0,
                                       .inputs = {WF_CHECK_INPUT(WEFT_F32, 5)}});
}

static const wf_op square = {
    .name = "square_for_test",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_CALL,
    .infer = infer,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval_truth,
    .cases = cases,
};

typedef struct told {
    unsigned n_different;
    char reason[256];
} told;

static void found(void *user, const weft_check_event *event)
{
    told *t = user;
    if (event->status == WEFT_CHECK_DIFFERENT && t->n_different++ == 0) {
        (void)snprintf(t->reason, sizeof t->reason, "%s", event->reason);
    }
}

static told run(weft_check_result *result)
{
    weft_context *ctx;
    weft_device *device;
    weft_error err;
    told t = {0, ""};
    weft_check_options o = WEFT_CHECK_OPTIONS_INIT;
    o.op = "square_for_test";
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(wf_registry_add(ctx, &square, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(ctx, "ref", NULL, &device, NULL), WEFT_OK);
    if (weft_check_run(ctx, device, &o, found, &t, result, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    weft_device_close(device);
    weft_context_destroy(ctx);
    return t;
}

static int reset(void **state)
{
    (void)state;
    n_calls = 0;
    spoil = 0.0f;
    bend = tilt = 1.0;
    return 0;
}

static void passes_what_is_right(void **state)
{
    (void)state;
    weft_check_result result;
    const told t = run(&result);
    assert_string_equal(t.reason, "");
    assert_int_equal(result.n_equal, 2); // dense and strided
    assert_int_equal(strlen(result.digest), 64);
}

static void sees_another_bit(void **state)
{
    (void)state;
    weft_check_result result;
    spoil = 0x1p-20f;
    const told t = run(&result);
    assert_int_equal(t.n_different, 2);
    assert_non_null(strstr(t.reason, "out0 f32[5]: element 2 is "));
    assert_non_null(strstr(t.reason, "1 elements differ"));
}

static void sees_a_wrong_value(void **state)
{
    (void)state;
    weft_check_result result;
    bend = 1.0 + 0x1p-20;
    const told t = run(&result);
    assert_int_equal(t.n_different, 2);
    assert_non_null(strstr(t.reason, "in float64"));
    assert_non_null(strstr(t.reason, "at most 4"));
}

static void sees_a_wrong_gradient(void **state)
{
    (void)state;
    weft_check_result result;
    tilt = 1.001;
    const told t = run(&result);
    assert_int_equal(t.n_different, 1); // differences are taken of the dense case
    assert_non_null(strstr(t.reason, "differences give"));
}

static void names_the_nearest_op(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *device;
    weft_error err;
    weft_check_result result;
    weft_check_options o = WEFT_CHECK_OPTIONS_INIT;
    o.op = "matmull";
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(ctx, "ref", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_check_run(ctx, device, &o, NULL, NULL, &result, &err), WEFT_ERR_NAME);
    assert_string_equal(err.message, "check: op matmull is unknown, did you mean matmul");
    weft_device_close(device);
    weft_context_destroy(ctx);
}

static void every_nan_is_one(void **state)
{
    (void)state;
    const uint32_t a[] = {0x7fc00000u, 0x3f800000u}, b[] = {0xffc12345u, 0x3f800000u};
    const uint32_t c[] = {0x7f800000u, 0x3f800000u}; // an infinity is none
    const int64_t two = 2;
    char reason[256];
    wf_check_result x = {.n = 1}, y = {.n = 1};
    uint8_t da[WF_SHA256_BYTES], db[WF_SHA256_BYTES];
    wf_sha256 sha;
    x.tensors[0] =
        (wf_check_tensor){"x", wf_type_make(WEFT_F32, 1, &two), (void *)(uintptr_t)a, false};
    y.tensors[0] = x.tensors[0];
    y.tensors[0].data = (void *)(uintptr_t)b;
    assert_true(wf_check_equal(&x, &y, reason));
    wf_sha256_init(&sha);
    wf_check_digest(&sha, &x);
    wf_sha256_final(&sha, da);
    wf_sha256_init(&sha);
    wf_check_digest(&sha, &y);
    wf_sha256_final(&sha, db);
    assert_memory_equal(da, db, sizeof da);
    y.tensors[0].data = (void *)(uintptr_t)c;
    assert_false(wf_check_equal(&x, &y, reason));
    y.ended = WEFT_ERR_INDEX;
    assert_false(wf_check_equal(&x, &y, reason));
    assert_string_equal(reason, "the run ended with status ERR_INDEX, expected good");
}

static void fills_the_same_everywhere(void **state)
{
    (void)state;
    const int64_t dims[] = {4};
    const weft_type f = wf_type_make(WEFT_F32, 1, dims), i = wf_type_make(WEFT_I32, 1, dims);
    float x[4];
    int32_t k[4];
    wf_check_fill_data(&f, WF_CHECK_NORMAL, 0, "a case", 0, x);
    wf_check_fill_data(&i, WF_CHECK_INDEX, 10, "a case", 1, k);
    for (int n = 0; n < 4; n++) {
        assert_true(fabsf(x[n]) >= 0.125f && fabsf(x[n]) < 2.0f);
        assert_in_range(k[n], 0, 9);
    }
    uint32_t bits;
    memcpy(&bits, &x[0], 4);
    assert_int_equal(bits, 0xbfdff2b8u);
}

#define ENGINE_TEST(f) cmocka_unit_test_setup(f, reset)
const struct CMUnitTest wf_tests_check_engine[] = {
    ENGINE_TEST(passes_what_is_right),      ENGINE_TEST(sees_another_bit),
    ENGINE_TEST(sees_a_wrong_value),        ENGINE_TEST(sees_a_wrong_gradient),
    ENGINE_TEST(names_the_nearest_op),      ENGINE_TEST(every_nan_is_one),
    ENGINE_TEST(fills_the_same_everywhere),
};
const unsigned long wf_n_tests_check_engine = WF_N_TESTS(wf_tests_check_engine);
