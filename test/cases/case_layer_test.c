// Layers, losses and steps that other systems got wrong, on every device: halves near the end of their range,
// labels that are ignored, norms of one value and of large ones, attention to nothing.
// labels: opencl
#include "cases_run.h"

#include "math/half.h"

static weft_nn *model_of(case_run *r)
{
    weft_nn_options o = WEFT_NN_OPTIONS_INIT;
    weft_nn *nn;
    o.is_training = true;
    assert_int_equal(weft_nn_create(r->g, &o, &nn, NULL), WEFT_OK);
    return nn;
}

static weft_val halves(case_run *r, const int64_t *dims, int32_t ndim, const float *values,
                       uint16_t *out)
{
    int64_t n = 1;
    for (int32_t i = 0; i < ndim; i++) {
        n *= dims[i];
    }
    for (int64_t i = 0; i < n; i++) {
        out[i] = wf_f32_to_f16(values[i]);
    }
    return weft_cast(r->g, case_input(r, WEFT_F16, dims, ndim, out), WEFT_F32);
}

static void read_output(case_run *r, const char *name, void *out, size_t bytes)
{
    weft_error err;
    if (weft_program_read(r->program, name, out, bytes, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
}

static void read_variable(case_run *r, const char *name, void *out, size_t bytes)
{
    weft_error err;
    if (weft_state_read(r->state, name, out, bytes, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
}

// pytorch/pytorch#158310: halves near -20000 lie 16 apart.
static void softmax_of_near_halves(void **state)
{
    static const float x[] = {-20000.0f, -20016.0f, -20032.0f, -20000.0f};
    static const double y[] = {0.49999997, 5.6267584e-8, 6.3320872e-15, 0.49999997};
    static const double logs[] = {-0.6931472, -16.6931472, -32.6931472, -0.6931472};
    uint16_t bits[4];
    case_run r = case_begin(state);
    case_expect(&r, weft_softmax(r.g, halves(&r, CASE_DIMS(1, 4), x, bits), 1), y, 4, 1e-7);
    case_end(&r);
    r = case_begin(state);
    case_expect(&r, weft_log_softmax(r.g, halves(&r, CASE_DIMS(1, 4), x, bits), 1), logs, 4, 4e-6);
    case_end(&r);
}

// pytorch/pytorch#70348, #75181, #116349: a batch without a label that counts has the loss 0 and moves nothing; the
// step behind it learns.
static void ignored_labels_poison_nothing(void **state)
{
    static const float x[] = {1, 2, 3, 4}, first[] = {0.5f, -0.25f, 0.125f, 1, -1, 0.75f};
    static const int32_t none[] = {-100, -100}, some[] = {2, -100};
    weft_cross_entropy_options ce = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    weft_optimizer_options adam = WEFT_OPTIMIZER_OPTIONS_INIT;
    weft_schedule_options schedule = WEFT_SCHEDULE_OPTIONS_INIT;
    float loss, w[6], moments[6];
    ce.has_ignore_index = true;
    ce.ignore_index = -100;
    adam.kind = WEFT_OPTIMIZER_ADAM;
    adam.clip_norm = 1.0;
    schedule.lr = 0.1;
    case_run r = case_begin(state);
    weft_nn *nn = model_of(&r);
    const weft_val v = case_f32(&r, CASE_DIMS(2, 2), x);
    const weft_val labels = case_input(&r, WEFT_I32, CASE_DIMS(2), none);
    const weft_val weight =
        weft_parameter_create(nn, "w", weft_constant(r.g, WEFT_F32, CASE_DIMS(2, 3), first), true);
    const weft_val mean =
        weft_cross_entropy(r.g, weft_matmul(r.g, v, weight, false, false), labels, &ce);
    weft_output(r.g, "loss", mean);
    weft_train_step(nn, mean, &adam, &schedule);
    weft_nn_destroy(nn);
    assert_int_equal(case_go(&r, NULL), WEFT_OK);
    read_output(&r, "loss", &loss, sizeof loss);
    assert_true(loss == 0.0f);
    read_variable(&r, "w", w, sizeof w);
    assert_memory_equal(w, first, sizeof w);
    read_variable(&r, "w.v", moments, sizeof moments);
    for (int i = 0; i < 6; i++) {
        assert_true(moments[i] == 0.0f);
    }
    assert_int_equal(weft_program_write(r.program, "x1", some, sizeof some, NULL), WEFT_OK);
    assert_int_equal(weft_program_run(r.program, NULL), WEFT_OK);
    assert_int_equal(weft_program_check(r.program, NULL), WEFT_OK);
    read_output(&r, "loss", &loss, sizeof loss);
    assert_true(loss > 0.0f && isfinite(loss));
    read_variable(&r, "w", w, sizeof w);
    for (int i = 0; i < 6; i++) {
        assert_true(isfinite(w[i]) && w[i] != first[i]);
    }
    case_end(&r);
}

// pytorch/pytorch#63004: the class that is ignored stands in the denominator of the other rows:
// log(e + e^2 + e^3) - 1, not log(e + e^2) - 1 = 1.3132617.
static void an_ignored_class_is_a_class(void **state)
{
    static const float x[] = {1, 2, 3, 0, 1, 0, 3, 1, 2};
    static const int32_t labels[] = {0, 2, 1};
    static const double loss[] = {2.4076060};
    weft_cross_entropy_options o = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    o.has_ignore_index = true;
    o.ignore_index = 2;
    case_run r = case_begin(state);
    const weft_val v = case_f32(&r, CASE_DIMS(3, 3), x);
    const weft_val l = case_input(&r, WEFT_I32, CASE_DIMS(3), labels);
    case_expect(&r, weft_cross_entropy(r.g, v, l, &o), loss, 1, 1e-6);
    case_end(&r);
}

// karpathy/nn-zero-to-hero#44: normalised by the biased variance, the unbiased one is stored.
static void batch_norm_of_four(void **state)
{
    static const float x[] = {1, 2, 3, 4};
    static const double y[] = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
    float variance;
    case_run r = case_begin(state);
    weft_nn *nn = model_of(&r);
    const weft_val v = weft_batch_norm(nn, "bn", case_f32(&r, CASE_DIMS(4, 1), x), NULL);
    weft_nn_destroy(nn);
    case_expect(&r, v, y, 4, 1e-6);
    read_variable(&r, "bn.running_var", &variance, sizeof variance);
    assert_true(fabsf(variance - 1.0666667f) <= 1e-6f);
    case_end(&r);
}

// pytorch/pytorch#1381, #4534; FluxML/Flux.jl#1992; torch/nn#1271: one value for each channel is its own mean, and
// leaves the variance as it was; one row of several pixels is an ordinary batch.
static void batch_norm_of_one(void **state)
{
    static const float x[] = {5, 7, 9, 11};
    for (int64_t side = 1; side <= 2; side++) {
        float y[4], dx[4], variance = 1.0f;
        weft_val grad;
        case_run r = case_begin(state);
        weft_nn *nn = model_of(&r);
        const weft_val v = case_f32(&r, CASE_DIMS(1, 1, side, side), x);
        const weft_val n = weft_batch_norm(nn, "bn", v, NULL);
        weft_nn_destroy(nn);
        weft_grad(r.g, weft_sum(r.g, weft_mul(r.g, n, v), NULL, 0, false), &v, 1, &grad);
        weft_output(r.g, "y", n);
        weft_output(r.g, "dx", grad);
        assert_int_equal(case_go(&r, NULL), WEFT_OK);
        read_output(&r, "y", y, (size_t)(side * side) * sizeof *y);
        read_output(&r, "dx", dx, (size_t)(side * side) * sizeof *dx);
        if (side > 1) // else nothing asks for it, and it is not made
            read_variable(&r, "bn.running_var", &variance, sizeof variance);
        else
            assert_int_equal(weft_state_type(r.state, "bn.running_var").dtype, WEFT_DTYPE_NONE);
        for (int64_t i = 0; i < side * side; i++) {
            assert_true(isfinite(y[i]) && isfinite(dx[i]));
        }
        assert_true(side > 1 || y[0] == 0.0f);
        assert_true(side == 1 || fabsf(variance - (0.9f + 0.1f * 20.0f / 3.0f)) <= 1e-6f);
        case_end(&r);
    }
}

// microsoft/onnxruntime#17692, #29034, PR#28442: the squares of these halves, and the sum of 2048 of them, are beyond f16.
static void norms_of_halves(void **state)
{
    static const float x[] = {400, -400, 600, -600};
    static const double y[] = {0.7844645, -0.7844645, 1.1766968, -1.1766968};
    uint16_t bits[4];
    for (int is_rms = 0; is_rms < 2; is_rms++) {
        case_run r = case_begin(state);
        weft_nn *nn = model_of(&r);
        const weft_val v = halves(&r, CASE_DIMS(1, 4), x, bits);
        const weft_val n =
            is_rms ? weft_rms_norm(nn, "norm", v, 1e-5) : weft_layer_norm(nn, "norm", v, NULL);
        weft_nn_destroy(nn);
        case_expect(&r, n, y, 4, 1e-6);
        case_end(&r);
    }
}

static void rms_norm_of_a_long_row(void **state)
{
    enum { N = 2048 };
    static float x[N];
    static double y[N];
    static uint16_t bits[N];
    const double root = sqrt((181.0 * 181.0 + 200.0 * 200.0) / 2.0 + 1e-5);
    for (int i = 0; i < N; i++) {
        x[i] = i % 2 ? 200.0f : 181.0f;
        y[i] = (double)x[i] / root;
    }
    case_run r = case_begin(state);
    weft_nn *nn = model_of(&r);
    const weft_val n = weft_rms_norm(nn, "norm", halves(&r, CASE_DIMS(1, N), x, bits), 1e-5);
    weft_nn_destroy(nn);
    case_expect(&r, n, y, N, 1e-6);
    case_end(&r);
}

// pytorch/pytorch#24816, #26098; burn PR#4697; rten PR#1321; iree#24175: a query that sees no key gives 0, and no
// gradient is anything but a number.
static void attention_to_nothing(void **state)
{
    enum { D = 4, N_Q = 2 * D, N_K = 3 * D };
    static const uint8_t sees[] = {1, 0, 1, 0, 0, 0}; // key 1 is seen by nobody
    float q[N_Q], k[N_K], v[N_K], got[2 * N_Q + 2 * N_K];
    weft_attention_options o = WEFT_ATTENTION_OPTIONS_INIT;
    weft_val in[3], all[4];
    for (int i = 0; i < N_K; i++) {
        q[i % N_Q] = (float)(i * 5 % 7) - 3.0f;
        k[i] = (float)(i * 3 % 11) - 5.0f;
        v[i] = (float)(i % 5) + 1.0f;
    }
    case_run r = case_begin(state);
    in[0] = case_f32(&r, CASE_DIMS(1, 1, 2, D), q);
    in[1] = case_f32(&r, CASE_DIMS(1, 1, 3, D), k);
    in[2] = case_f32(&r, CASE_DIMS(1, 1, 3, D), v);
    o.mask = case_input(&r, WEFT_BOOL, CASE_DIMS(1, 1, 2, 3), sees);
    all[0] = weft_attention(r.g, in[0], in[1], in[2], &o, NULL);
    weft_grad(r.g, weft_sum(r.g, weft_mul(r.g, all[0], all[0]), NULL, 0, false), in, 3, all + 1);
    weft_output(r.g, "all", weft_concat(r.g, all, 4, 2));
    assert_int_equal(case_go(&r, NULL), WEFT_OK);
    read_output(&r, "all", got, sizeof got);
    // Rows of all: 2 of y, 2 of dq, 3 of dk, 3 of dv.
    static const bool is_zero[] = {false, true,  false, true, false,
                                   true,  false, false, true, false};
    for (int i = 0; i < 2 * N_Q + 2 * N_K; i++) {
        assert_true(isfinite(got[i]));
        assert_true(!is_zero[i / D] || got[i] == 0.0f);
    }
    assert_true(got[0] > 0.0f && got[3 * N_K] != 0.0f);
    case_end(&r);
}

const struct CMUnitTest wf_tests_case_layer[] = {
    CASE_TEST(softmax_of_near_halves),      CASE_TEST(ignored_labels_poison_nothing),
    CASE_TEST(an_ignored_class_is_a_class), CASE_TEST(batch_norm_of_four),
    CASE_TEST(batch_norm_of_one),           CASE_TEST(norms_of_halves),
    CASE_TEST(rms_norm_of_a_long_row),      CASE_TEST(attention_to_nothing),
};
const unsigned long wf_n_tests_case_layer = WF_N_TESTS(wf_tests_case_layer);
