// The model under construction: names, initialisers, dropout, the odd sizes of batch norm, metrics, softmax of
// extreme logits, errors.
#include "nn_run.h"

static void names_parameters_by_scope(void **state)
{
    (void)state;
    nn_run r;
    static const int64_t window[] = {3, 3};
    nn_begin(&r, NULL, true);
    weft_scope_push(r.g, "encoder");
    const weft_val x = weft_fill(r.g, WEFT_F32, NN_DIMS(2, 3, 8, 8), 1.0);
    const weft_val y = weft_conv_layer(r.nn, "conv1", x, 4, window, NULL);
    weft_scope_pop(r.g);
    weft_linear(r.nn, "fc", weft_flatten(r.g, y, 1), 10, NULL);
    static const char *const names[] = {"encoder.conv1.weight", "encoder.conv1.bias", "fc.weight",
                                        "fc.bias"};
    assert_int_equal(weft_nn_n_parameters(r.nn), NN_COUNT(names));
    for (size_t i = 0; i < NN_COUNT(names); i++) {
        const weft_parameter p = weft_nn_parameter(r.nn, i);
        assert_string_equal(p.name, names[i]);
        assert_int_equal(p.has_decay, i % 2 == 0);
    }
    const weft_type w = weft_val_type(r.g, weft_nn_parameter(r.nn, 2).val);
    assert_true(w.ndim == 2 && w.dims[0] == 10 && w.dims[1] == 144);
    nn_end(&r);
}

static void refuses_a_name_twice(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    const weft_val x = weft_fill(r.g, WEFT_F32, NN_DIMS(2, 3), 1.0);
    weft_linear(r.nn, "fc", x, 10, NULL);
    weft_linear(r.nn, "fc", x, 10, NULL);
    assert_int_equal(weft_graph_status(r.g, NULL), WEFT_ERR_NAME);
    nn_end(&r);
}

// Mean, deviation and greatest magnitude of a variable drawn by an initialiser.
static void draw(weft_init init, double *out_mean, double *out_deviation, double *out_most)
{
    nn_run r;
    static float w[64 * 16 * 9];
    double sum = 0.0, squares = 0.0, most = 0.0;
    nn_begin(&r, NULL, true);
    weft_output(r.g, "w", weft_init_values(r.nn, &init, NN_DIMS(64, 16, 3, 3)));
    nn_go(&r);
    NN_OK(weft_program_read(r.program, "w", w, sizeof w, err));
    for (size_t i = 0; i < NN_COUNT(w); i++) {
        sum += (double)w[i];
        squares += (double)w[i] * (double)w[i];
        most = fmax(most, fabs((double)w[i]));
    }
    *out_mean = sum / NN_COUNT(w);
    *out_deviation = sqrt(squares / NN_COUNT(w) - *out_mean * *out_mean);
    *out_most = most;
    nn_end(&r);
}

// fan_in = 16 * 9 = 144, fan_out = 64 * 9 = 576.
static void initialisers_have_their_spread(void **state)
{
    (void)state;
    const double kaiming = sqrt(2.0 / 144), xavier = sqrt(2.0 / 720);
    const struct {
        weft_init init;
        double mean, deviation, most; // most 0: not bounded
    } table[] = {
        {{WEFT_INIT_ZEROS, 0, 0, 0}, 0, 0, 0},
        {{WEFT_INIT_ONES, 0, 0, 0}, 1, 0, 1},
        {{WEFT_INIT_UNIFORM, -1, 3, 0}, 1, 4 / sqrt(12), 3},
        {{WEFT_INIT_NORMAL, 0.5, 2, 0}, 0.5, 2, 0},
        {{WEFT_INIT_KAIMING_UNIFORM, 0, 0, 0}, 0, kaiming, kaiming * sqrt(3)},
        {{WEFT_INIT_KAIMING_NORMAL, 0, 0, 0}, 0, kaiming, 0},
        {{WEFT_INIT_KAIMING_NORMAL, 0, 0, 1}, 0, kaiming / sqrt(2), 0},
        {{WEFT_INIT_XAVIER_UNIFORM, 0, 0, 0}, 0, xavier, xavier * sqrt(3)},
        {{WEFT_INIT_XAVIER_NORMAL, 0, 0, 0}, 0, xavier, 0},
        {{WEFT_INIT_DEFAULT, 0, 0, 0}, 0, 1.0 / 12 / sqrt(3), 1.0 / 12},
    };
    for (size_t i = 0; i < NN_COUNT(table); i++) {
        double mean, deviation, most;
        draw(table[i].init, &mean, &deviation, &most);
        assert_true(fabs(mean - table[i].mean) <= 0.05 * table[i].deviation);
        assert_true(fabs(deviation - table[i].deviation) <= 0.03 * table[i].deviation);
        if (table[i].most > 0.0) {
            assert_true(most <= table[i].most * (1 + 1e-6) && most >= table[i].most * 0.99);
        }
    }
}

// A layer's first weights do not depend on the mode, nor on what else is random in the graph.
static void weights_do_not_depend_on_the_mode(void **state)
{
    (void)state;
    float w[2][12];
    for (int i = 0; i < 2; i++) {
        nn_run r;
        nn_begin(&r, NULL, i == 1);
        weft_val x = weft_fill(r.g, WEFT_F32, NN_DIMS(2, 3), 1.0);
        x = weft_dropout(r.nn, x, 0.5);
        weft_output(r.g, "y", weft_linear(r.nn, "fc", x, 4, NULL));
        nn_go(&r);
        NN_OK(weft_state_read(r.state, "fc.weight", w[i], sizeof w[i], err));
        nn_end(&r);
    }
    assert_memory_equal(w[0], w[1], sizeof w[0]);
}

static void dropout_keeps_its_share(void **state)
{
    (void)state;
    enum { N = 1 << 14 };
    static float y[2][N], dx[N];
    nn_run r;
    weft_val grad;
    nn_begin(&r, NULL, true);
    const weft_val step = weft_nn_step(r.nn);
    const weft_val x = weft_add(r.g, weft_fill(r.g, WEFT_F32, NN_DIMS(N), 3.0),
                                weft_cast(r.g, weft_mul(r.g, step, weft_scalar(r.g, WEFT_I64, 0.0)),
                                          WEFT_F32)); // not a constant
    const weft_val v = weft_dropout(r.nn, x, 0.25);
    weft_grad(r.g, weft_sum(r.g, v, NULL, 0, false), &x, 1, &grad);
    weft_output(r.g, "y", v);
    weft_output(r.g, "dx", grad);
    weft_assign(r.g, step, weft_add(r.g, step, weft_scalar(r.g, WEFT_I64, 1.0)));
    for (int i = 0; i < 2; i++) {
        nn_go(&r);
        NN_OK(weft_program_read(r.program, "y", y[i], sizeof y[i], err));
    }
    NN_OK(weft_program_read(r.program, "dx", dx, sizeof dx, err));
    const float scale = (float)(1.0 / 0.75);
    int n_kept = 0, n_same = 0;
    for (int i = 0; i < N; i++) {
        assert_true(y[1][i] == 0.0f || y[1][i] == 3.0f * scale);
        assert_true(dx[i] == (y[1][i] == 0.0f ? 0.0f : scale));
        n_kept += y[1][i] != 0.0f;
        n_same += y[0][i] == y[1][i];
    }
    assert_true(abs(n_kept - N * 3 / 4) < N / 50);
    assert_true(abs(n_same - N * 5 / 8) < N / 50); // another step is another mask: 3/4^2 + 1/4^2
    nn_end(&r);
}

static void dropout_is_off_in_evaluation(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, false);
    const weft_val x = weft_fill(r.g, WEFT_F32, NN_DIMS(4), 3.0);
    assert_int_equal(weft_dropout(r.nn, x, 0.9).id, x.id);
    nn_end(&r);
}

static void refuses_to_drop_all(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    weft_dropout(r.nn, weft_fill(r.g, WEFT_F32, NN_DIMS(4), 3.0), 1.0);
    nn_expect_error(&r, WEFT_ERR_ATTR, "dropout: p is 1, expected 0 <= p < 1");
    nn_end(&r);
}

// [1 2 3 4]: normalised by the biased variance; the unbiased one is stored.
static void batch_norm_uses_both_variances(void **state)
{
    (void)state;
    nn_run r;
    static const float x[] = {1, 2, 3, 4};
    static const float expected[] = {-1.3416354f, -0.4472118f, 0.4472118f, 1.3416354f};
    float y[4], var = 0.0f;
    nn_begin(&r, NULL, true);
    weft_output(r.g, "y",
                weft_batch_norm(r.nn, "bn", weft_constant(r.g, WEFT_F32, NN_DIMS(4, 1), x), NULL));
    nn_go(&r);
    NN_OK(weft_program_read(r.program, "y", y, sizeof y, err));
    nn_near("y", y, expected, 4, 1e-6);
    NN_OK(weft_state_read(r.state, "bn.running_var", &var, sizeof var, err));
    assert_true(fabsf(var - 1.0666667f) < 1e-6f);
    nn_end(&r);
}

// A short last batch of n rows of side * side pixels, in a state that other batches have used.
static void run_batch(nn_run *r, int64_t n, int64_t side, float *out_mean, float *out_var)
{
    static const float data[] = {5, 7, 9, 11};
    float y[4], grad[4];
    weft_val dx;
    const int64_t dims[] = {n, 1, side, side};
    const size_t count = (size_t)(n * side * side);
    const weft_val x = weft_constant(r->g, WEFT_F32, dims, 4, data);
    const weft_val v = weft_batch_norm(r->nn, "bn", x, NULL);
    weft_grad(r->g, weft_sum(r->g, weft_mul(r->g, v, x), NULL, 0, false), &x, 1, &dx);
    weft_output(r->g, "y", v);
    weft_output(r->g, "dx", dx);
    nn_go(r);
    NN_OK(weft_program_read(r->program, "y", y, count * sizeof *y, err));
    NN_OK(weft_program_read(r->program, "dx", grad, count * sizeof *grad, err));
    for (size_t k = 0; k < count; k++) {
        assert_true(isfinite(y[k]) && isfinite(grad[k]));
    }
    assert_true(count > 1 || y[0] == 0.0f);
    NN_OK(weft_state_read(r->state, "bn.running_mean", out_mean, sizeof *out_mean, err));
    NN_OK(weft_state_read(r->state, "bn.running_var", out_var, sizeof *out_var, err));
    nn_end_model(r);
}

// One value per channel, as in a last batch of one row: y = bias, the running variance stays, nothing is
// NaN. One row of several pixels is an ordinary batch.
static void batch_norm_of_one_value_is_defined(void **state)
{
    (void)state;
    nn_run r;
    float mean, var;
    nn_begin(&r, NULL, true);
    run_batch(&r, 1, 2, &mean, &var);
    assert_true(fabsf(mean - 0.8f) < 1e-6f);
    assert_true(fabsf(var - (0.9f + 0.1f * 20.0f / 3.0f)) < 1e-6f);
    const float before = var;
    nn_model(&r, true);
    run_batch(&r, 1, 1, &mean, &var);
    assert_true(fabsf(mean - (0.9f * 0.8f + 0.5f)) < 1e-6f);
    assert_true(var == before);
    nn_end(&r);
}

static void softmax_survives_extreme_logits(void **state)
{
    (void)state;
    nn_run r;
    static const float x[] = {-249.87f, -424.13f, -460.29f, 378.10f, -292.61f}, hot[] = {88.72284f};
    static const float expected[] = {0, 0, 0, 1, 0};
    float y[5];
    nn_begin(&r, NULL, false);
    weft_output(r.g, "y", weft_softmax(r.g, weft_constant(r.g, WEFT_F32, NN_DIMS(1, 5), x), -1));
    weft_output(r.g, "hot",
                weft_log_softmax(r.g, weft_constant(r.g, WEFT_F32, NN_DIMS(1), hot), 0));
    nn_go(&r);
    NN_OK(weft_program_read(r.program, "y", y, sizeof y, err));
    assert_memory_equal(y, expected, sizeof y);
    assert_true(nn_read_f32(&r, "hot") == 0.0f);
    nn_end(&r);
}

static void accuracy_counts_what_counts(void **state)
{
    (void)state;
    nn_run r;
    static const float x[] = {1, 2, 0, 5, 5, 1, 0, 0, 9, 3, 2, 1};
    static const int32_t labels[] = {1, 0, -1, 2}, ignored = -1;
    int64_t n = 0;
    nn_begin(&r, NULL, false);
    const weft_val logits = weft_constant(r.g, WEFT_F32, NN_DIMS(4, 3), x);
    const weft_val l = weft_constant(r.g, WEFT_I32, NN_DIMS(4), labels);
    weft_output(r.g, "n", weft_count_correct(r.g, logits, l, &ignored));
    weft_output(r.g, "share", weft_accuracy(r.g, logits, l, &ignored));
    nn_go(&r);
    NN_OK(weft_program_read(r.program, "n", &n, sizeof n, err));
    assert_int_equal(n, 2); // the tie of row 1 is its lowest class
    assert_true(fabsf(nn_read_f32(&r, "share") - 2.0f / 3.0f) < 1e-7f);
    nn_end(&r);
}

static void refuses_unknown_activations(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, false);
    weft_activation(r.g, "rely", weft_scalar(r.g, WEFT_F32, 1.0));
    nn_expect_error(
        &r, WEFT_ERR_NAME,
        "activation: \"rely\" is unknown, expected relu, relu6, leaky_relu, gelu, gelu_tanh, silu, tanh, "
        "sigmoid, softplus, softmax or none");
    nn_end(&r);
}

static void refuses_old_option_structs(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, false);
    weft_linear_options o = WEFT_LINEAR_OPTIONS_INIT;
    o.struct_size = 0;
    weft_linear(r.nn, "fc", weft_fill(r.g, WEFT_F32, NN_DIMS(2, 3), 1.0), 10, &o);
    assert_int_equal(weft_graph_status(r.g, NULL), WEFT_ERR_USAGE);
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_model[] = {
    cmocka_unit_test(names_parameters_by_scope),
    cmocka_unit_test(refuses_a_name_twice),
    cmocka_unit_test(initialisers_have_their_spread),
    cmocka_unit_test(weights_do_not_depend_on_the_mode),
    cmocka_unit_test(dropout_keeps_its_share),
    cmocka_unit_test(dropout_is_off_in_evaluation),
    cmocka_unit_test(refuses_to_drop_all),
    cmocka_unit_test(batch_norm_uses_both_variances),
    cmocka_unit_test(batch_norm_of_one_value_is_defined),
    cmocka_unit_test(softmax_survives_extreme_logits),
    cmocka_unit_test(accuracy_counts_what_counts),
    cmocka_unit_test(refuses_unknown_activations),
    cmocka_unit_test(refuses_old_option_structs),
};
const unsigned long wf_n_tests_nn_model = WF_N_TESTS(wf_tests_nn_model);
