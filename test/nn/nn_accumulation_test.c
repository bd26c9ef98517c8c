// Steps in micro-batches, averages of parameters, statistics of a step.
#include "nn_run.h"

static weft_schedule_options constant_lr(double lr)
{
    weft_schedule_options s = WEFT_SCHEDULE_OPTIONS_INIT;
    s.lr = lr;
    return s;
}

static const float xs[10] = {1.0f, -0.5f, 0.25f, 2.0f, -1.5f, 0.75f, 0.5f, -2.0f, 1.25f, 3.0f};

// loss = mean over labels that count of cross entropy of [x w0, x w1]; n rows.
static weft_val build_rows(nn_run *r, int64_t n, weft_val *out_weight)
{
    weft_graph *g = r->g;
    weft_cross_entropy_options o = WEFT_CROSS_ENTROPY_OPTIONS_INIT;
    const int64_t column[] = {n, 1}, row[] = {1, 2};
    const float first[] = {0.5f, -0.25f};
    o.has_ignore_index = true;
    o.ignore_index = -100;
    const weft_val x = weft_input(g, "x", WEFT_F32, column, 2);
    const weft_val labels = weft_input(g, "labels", WEFT_I32, &n, 1);
    const weft_val w =
        weft_parameter_create(r->nn, "w", weft_constant(g, WEFT_F32, row, 2, first), true);
    const weft_val counts = weft_not_equal(g, labels, weft_scalar(g, WEFT_I32, -100.0));
    *out_weight = weft_sum(g, weft_cast(g, counts, WEFT_F32), NULL, 0, false);
    return weft_cross_entropy(g, weft_matmul(g, x, w, false, false), labels, &o);
}

static void run_rows(nn_run *r, const float *x, const int32_t *labels, size_t n)
{
    NN_OK(weft_program_write(r->program, "x", x, n * 4, err));
    NN_OK(weft_program_write(r->program, "labels", labels, n * 4, err));
    NN_OK(weft_program_run(r->program, err));
    NN_OK(weft_program_check(r->program, err));
}

static void next_model(nn_run *r, bool is_accumulating)
{
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    nn_end_model(r);
    options.is_training = true;
    options.is_accumulating = is_accumulating;
    NN_OK(weft_graph_create(r->ctx, &r->g, err));
    NN_OK(weft_nn_create(r->g, &options, &r->nn, err));
}

static void accumulate(nn_run *r, const float *x, const int32_t *labels, size_t n)
{
    weft_val weight;
    next_model(r, true);
    const weft_val loss = build_rows(r, (int64_t)n, &weight);
    weft_accumulate_step(r->nn, loss, weight);
    nn_compile(r);
    run_rows(r, x, labels, n);
}

// Ends the step; gives its loss.
static float update(nn_run *r, const weft_optimizer_options *o, double lr)
{
    const weft_schedule_options s = constant_lr(lr);
    weft_val weight, loss;
    next_model(r, false);
    build_rows(r, 1, &weight);
    weft_output(r->g, "lr", weft_update_step(r->nn, o, &s, &loss));
    weft_output(r->g, "loss", loss);
    nn_go(r);
    return nn_read_f32(r, "loss");
}

// cases.md 59: one label that counts in the first micro-batch, nine in the second: the mean over labels, and
// the step of one big batch.
static void micro_batches_weigh_what_they_hold(void **state)
{
    static const int32_t labels[13] = {0, -100, -100, -100, 1, 0, 1, 1, 0, 1, 0, 0, 1};
    float x[13], whole[2], parts[2], zero[2];
    weft_val weight;
    const weft_schedule_options s = constant_lr(0.5);
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    nn_run r;
    (void)state;
    for (int i = 0; i < 13; i++) {
        x[i] = xs[i % 10];
    }
    nn_begin(&r, NULL, true);
    const weft_val mean = build_rows(&r, 13, &weight);
    weft_output(r.g, "loss", mean);
    weft_train_step(r.nn, mean, &o, &s);
    nn_compile(&r);
    run_rows(&r, x, labels, 13);
    const float loss = nn_read_f32(&r, "loss");
    NN_OK(weft_state_read(r.state, "w", whole, sizeof whole, err));
    nn_end(&r);

    nn_begin(&r, NULL, true);
    accumulate(&r, x, labels, 4);
    accumulate(&r, x + 4, labels + 4, 9);
    const float accumulated = update(&r, &o, 0.5);
    NN_OK(weft_state_read(r.state, "w", parts, sizeof parts, err));
    nn_near("loss", &accumulated, &loss, 1, 1e-6);
    nn_near("w", parts, whole, 2, 1e-6);
    NN_OK(weft_state_read(r.state, "w.grad", zero, sizeof zero, err));
    assert_true(zero[0] == 0.0f && zero[1] == 0.0f);
    nn_end(&r);
}

// The figures of the case: losses 2 (one token) and 1 (nine tokens) make 1.1, not 1.5.
static void losses_are_averaged_by_tokens(void **state)
{
    static const double parts[2][2] = {{2.0, 1.0}, {1.0, 9.0}};
    const weft_schedule_options s = constant_lr(1.0);
    weft_val loss;
    nn_run r;
    float w;
    (void)state;
    nn_begin(&r, NULL, true);
    for (int i = 0; i < 2; i++) {
        next_model(&r, true);
        const weft_val p = weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 1.0), true);
        const weft_val mean = weft_mul(r.g, p, weft_scalar(r.g, WEFT_F32, parts[i][0]));
        weft_accumulate_step(r.nn, mean, weft_scalar(r.g, WEFT_F32, parts[i][1]));
        nn_go(&r);
    }
    next_model(&r, false);
    weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 1.0), true);
    weft_update_step(r.nn, NULL, &s, &loss);
    weft_output(r.g, "loss", loss);
    nn_go(&r);
    assert_true(nn_read_f32(&r, "loss") == 1.1f);
    NN_OK(weft_state_read(r.state, "w", &w, sizeof w, err));
    assert_true(w == 1.0f - 1.1f);
    nn_end(&r);
}

static void a_window_without_labels_changes_nothing(void **state)
{
    static const int32_t labels[4] = {-100, -100, -100, -100};
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    nn_run r;
    float w[2];
    (void)state;
    nn_begin(&r, NULL, true);
    accumulate(&r, xs, labels, 4);
    assert_true(update(&r, &o, 0.5) == 0.0f);
    NN_OK(weft_state_read(r.state, "w", w, sizeof w, err));
    assert_true(w[0] == 0.5f && w[1] == -0.25f);
    nn_end(&r);
}

static void dropout_differs_between_micro_batches(void **state)
{
    static const int64_t dims[] = {64};
    const float ones = 1.0f;
    float x[64], first[64], second[64];
    nn_run r;
    (void)state;
    for (int i = 0; i < 64; i++) {
        x[i] = ones;
    }
    nn_begin(&r, NULL, true);
    next_model(&r, true);
    const weft_val p = weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 1.0), true);
    const weft_val y =
        weft_dropout(r.nn, weft_mul(r.g, weft_input(r.g, "x", WEFT_F32, dims, 1), p), 0.5);
    weft_output(r.g, "y", y);
    weft_accumulate_step(r.nn, weft_mean(r.g, y, NULL, 0, false), weft_scalar(r.g, WEFT_F32, 64.0));
    nn_compile(&r);
    for (int i = 0; i < 2; i++) {
        NN_OK(weft_program_write(r.program, "x", x, sizeof x, err));
        NN_OK(weft_program_run(r.program, err));
        NN_OK(weft_program_read(r.program, "y", i ? second : first, sizeof first, err));
    }
    assert_memory_not_equal(first, second, sizeof first);
    nn_end(&r);
}

static void accumulation_must_be_asked_for(void **state)
{
    nn_run r;
    (void)state;
    nn_begin(&r, NULL, true);
    const weft_val p = weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 1.0), true);
    weft_accumulate_step(r.nn, p, weft_scalar(r.g, WEFT_F32, 1.0));
    nn_expect_error(&r, WEFT_ERR_USAGE,
                    "accumulate_step: the model was not made with is_accumulating");
    nn_end(&r);
}

// ---- averages
// w falls by 1 a step from 10; a step's decay is min(0.5, n / (9 + n)).
static void averages_follow_the_weights(void **state)
{
    const weft_schedule_options s = constant_lr(1.0);
    nn_run r;
    double expected = 0.0;
    float average, frozen, y;
    (void)state;
    nn_begin(&r, NULL, true);
    const weft_val w = weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 10.0), true);
    weft_parameter_create(r.nn, "other", weft_scalar(r.g, WEFT_F32, 3.0), true);
    weft_nn_freeze(r.nn, "other");
    weft_train_step(r.nn, w, NULL, &s);
    weft_average_parameters(r.nn, 0.5);
    for (int n = 0; n < 12; n++) {
        const double keep = fmin(0.5, n / (9.0 + n));
        nn_go(&r);
        expected = keep * expected + (1.0 - keep) * (10.0 - (n + 1));
        NN_OK(weft_state_read(r.state, "w.ema", &average, sizeof average, err));
        assert_true(fabs((double)average - expected) < 1e-5);
    }
    NN_OK(weft_state_read(r.state, "other.ema", &frozen, sizeof frozen, err));
    assert_true(frozen == 3.0f);
    nn_end_model(&r);
    // A model that uses them reads them under the parameter's name.
    weft_nn_options options = WEFT_NN_OPTIONS_INIT;
    options.uses_averages = true;
    NN_OK(weft_graph_create(r.ctx, &r.g, err));
    NN_OK(weft_nn_create(r.g, &options, &r.nn, err));
    const weft_val p = weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 10.0), true);
    assert_string_equal(weft_nn_parameter(r.nn, 0).name, "w");
    weft_output(r.g, "y", weft_mul(r.g, p, weft_scalar(r.g, WEFT_F32, 1.0)));
    nn_go(&r);
    y = nn_read_f32(&r, "y");
    assert_memory_equal(&y, &average, sizeof y);
    nn_end(&r);
}

static void refuses_a_decay_of_one(void **state)
{
    nn_run r;
    (void)state;
    nn_begin(&r, NULL, true);
    weft_average_parameters(r.nn, 1.0);
    nn_expect_error(&r, WEFT_ERR_ATTR, "average: decay is 1, expected 0 < decay < 1");
    nn_end(&r);
}

// ---- statistics
static void statistics_tell_of_each_parameter(void **state)
{
    static const int64_t dims[] = {2};
    static const float first[] = {3.0f, 4.0f};
    const weft_schedule_options s = constant_lr(0.5);
    float got[4];
    nn_run r;
    (void)state;
    nn_begin(&r, NULL, true);
    const weft_val a =
        weft_parameter_create(r.nn, "a", weft_constant(r.g, WEFT_F32, dims, 1, first), true);
    const weft_val b = weft_parameter_create(r.nn, "b", weft_scalar(r.g, WEFT_F32, 0.0), true);
    weft_train_step(r.nn, weft_add(r.g, weft_sum(r.g, a, NULL, 0, false), b), NULL, &s);
    weft_output(r.g, "stats", weft_step_statistics(r.nn));
    nn_go(&r);
    NN_OK(weft_program_read(r.program, "stats", got, sizeof got, err));
    // Gradients are ones; a moves by (0.5, 0.5) from a norm of 5, b from 0.
    assert_true(fabs((double)got[0] - sqrt(2.0)) < 1e-6);
    assert_true(fabs((double)got[1] - sqrt(0.5) / 5.0) < 1e-6);
    assert_true(got[2] == 1.0f && got[3] == 0.0f);
    nn_end(&r);
}

static void statistics_want_a_step(void **state)
{
    nn_run r;
    (void)state;
    nn_begin(&r, NULL, true);
    weft_parameter_create(r.nn, "a", weft_scalar(r.g, WEFT_F32, 1.0), true);
    weft_step_statistics(r.nn);
    nn_expect_error(
        &r, WEFT_ERR_USAGE,
        "statistics/step_statistics: no parameter was moved, expected a training step before");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_accumulation[] = {
    cmocka_unit_test(micro_batches_weigh_what_they_hold),
    cmocka_unit_test(losses_are_averaged_by_tokens),
    cmocka_unit_test(a_window_without_labels_changes_nothing),
    cmocka_unit_test(dropout_differs_between_micro_batches),
    cmocka_unit_test(accumulation_must_be_asked_for),
    cmocka_unit_test(averages_follow_the_weights),
    cmocka_unit_test(refuses_a_decay_of_one),
    cmocka_unit_test(statistics_tell_of_each_parameter),
    cmocka_unit_test(statistics_want_a_step),
};
const unsigned long wf_n_tests_nn_accumulation = WF_N_TESTS(wf_tests_nn_accumulation);
