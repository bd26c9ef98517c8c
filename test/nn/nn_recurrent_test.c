// Recurrent layers against PyTorch: values, last states, gradients; lengths; case 23 of GRUs; both orders of
// axes; padding that does not matter.
#include "nn_run.h"

typedef struct {
    weft_val y, last[2];
} result;

typedef result (*builder)(nn_run *r, weft_val x, weft_recurrent_options *o);

static result build_lstm(nn_run *r, weft_val x, weft_recurrent_options *o)
{
    result s;
    s.y = weft_lstm(r->nn, "layer", x, 3, o, &s.last[0], &s.last[1]);
    return s;
}
static result build_gru(nn_run *r, weft_val x, weft_recurrent_options *o)
{
    result s = {0};
    s.y = weft_gru(r->nn, "layer", x, 3, o, &s.last[0]);
    return s;
}
static result build_rnn(nn_run *r, weft_val x, weft_recurrent_options *o)
{
    result s = {0};
    s.y = weft_rnn(r->nn, "layer", x, 3, o, &s.last[0]);
    return s;
}

static weft_val optional_input(nn_run *r, const char *role)
{
    return nn_find(r, role) ? nn_input(r, role) : WEFT_NONE;
}

// Everything that the file holds of one case.
static void run_case(const char *name, builder build, weft_recurrent_options o)
{
    static const char *const roles[] = {"dx", "dh0", "dc0"};
    static const char *const weights[] = {"gh", "gc"}, *const lasts[] = {"hn", "cn"};
    nn_run r;
    weft_val wrt[32], grads[32];
    char names[32][64];
    size_t n = 0;
    nn_begin(&r, "nn_recurrent", true);
    r.test_case = name;
    nn_load_state(&r);
    const weft_val x = nn_input(&r, "x");
    o.lengths = optional_input(&r, "lengths");
    o.h0 = optional_input(&r, "h0");
    o.c0 = optional_input(&r, "c0");
    const result s = build(&r, x, &o);
    weft_val loss = weft_sum(r.g, weft_mul(r.g, s.y, nn_input(&r, "g")), NULL, 0, false);
    for (int i = 0; i < 2 && s.last[i].id; i++) {
        const weft_val part = weft_mul(r.g, s.last[i], nn_input(&r, weights[i]));
        loss = weft_add(r.g, loss, weft_sum(r.g, part, NULL, 0, false));
        weft_output(r.g, lasts[i], s.last[i]);
    }
    const weft_val given[] = {x, o.h0, o.c0};
    for (int i = 0; i < 3; i++) {
        if (given[i].id) {
            snprintf(names[n], sizeof names[n], "%s", roles[i]);
            wrt[n++] = given[i];
        }
    }
    for (size_t i = 0; i < weft_nn_n_parameters(r.nn); i++) {
        assert_true(n < NN_COUNT(wrt));
        snprintf(names[n], sizeof names[n], "d.%s", weft_nn_parameter(r.nn, i).name);
        wrt[n++] = weft_nn_parameter(r.nn, i).val;
    }
    weft_grad(r.g, loss, wrt, n, grads);
    weft_output(r.g, "y", s.y);
    for (size_t i = 0; i < n; i++)
        weft_output(r.g, names[i], grads[i]);
    nn_go(&r);
    nn_expect(&r, "y", "y", NN_TOLERANCE);
    for (int i = 0; i < 2 && s.last[i].id; i++)
        nn_expect(&r, lasts[i], lasts[i], NN_TOLERANCE);
    for (size_t i = 0; i < n; i++)
        nn_expect(&r, names[i], names[i], NN_TOLERANCE);
    nn_end(&r);
}

#define CASE(test, name, build, ...)                                                               \
    static void test(void **state)                                                                 \
    {                                                                                              \
        weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;                                    \
        (void)state;                                                                               \
        __VA_ARGS__;                                                                               \
        run_case(name, build, o);                                                                  \
    }
CASE(lstm_agrees, "lstm", build_lstm, o.n_layers = 1)
CASE(deep_lstm_of_lengths_agrees, "lstm_deep", build_lstm, o.n_layers = 2;
     o.is_bidirectional = true; o.is_batch_first = true)
CASE(gru_agrees, "gru", build_gru, o.n_layers = 0)
CASE(deep_gru_of_lengths_agrees, "gru_deep", build_gru, o.n_layers = 2; o.is_bidirectional = true)
CASE(rnn_agrees, "rnn", build_rnn, o.n_layers = 2)
CASE(rnn_of_relu_agrees, "rnn_relu", build_rnn, o.is_relu = true; o.no_bias = true;
     o.is_batch_first = true)

// One unit, x = h = 1, W = R = 0.5, biases 0.1 and 0.2.
static float one_unit(bool resets_before, bool no_bias, int64_t batch)
{
    static const weft_type matrix = {WEFT_F32, 2, {3, 1}}, bias = {WEFT_F32, 1, {3}};
    static const float half[] = {0.5f, 0.5f, 0.5f}, b[] = {0.1f, 0.1f, 0.1f},
                       rb[] = {0.2f, 0.2f, 0.2f};
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    nn_run r;
    nn_begin(&r, NULL, false);
    NN_OK(weft_state_write(r.state, "gru.weight_ih_l0", &matrix, half, sizeof half, err));
    NN_OK(weft_state_write(r.state, "gru.weight_hh_l0", &matrix, half, sizeof half, err));
    if (!no_bias) {
        NN_OK(weft_state_write(r.state, "gru.bias_ih_l0", &bias, b, sizeof b, err));
        NN_OK(weft_state_write(r.state, "gru.bias_hh_l0", &bias, rb, sizeof rb, err));
    }
    o.resets_before = resets_before;
    o.no_bias = no_bias;
    o.h0 = weft_fill(r.g, WEFT_F32, (const int64_t[]){1, batch, 1}, 3, 1.0);
    const weft_val x = weft_fill(r.g, WEFT_F32, (const int64_t[]){1, batch, 1}, 3, 1.0);
    const weft_val y = weft_gru(r.nn, "gru", x, 1, &o, NULL);
    weft_output(r.g, "y", y);
    nn_go(&r);
    float got[8] = {0};
    NN_OK(weft_program_read(r.program, "y", got, (size_t)batch * sizeof *got, err));
    for (int64_t i = 1; i < batch; i++)
        assert_memory_equal(&got[i], &got[0], sizeof got[0]);
    nn_end(&r);
    return got[0];
}

// Case 23 (onnxscript#2852, onnxruntime PR#3893); without a bias and a batch of 3, too.
static void a_gru_resets_before_or_behind_the_product(void **state)
{
    (void)state;
    assert_float_equal(one_unit(true, false, 1), 0.9639092f, 1e-6f);
    assert_float_equal(one_unit(false, false, 1), 0.9609753f, 1e-6f);
    const float z = 1.0f / (1.0f + expf(-1.0f)), n = tanhf(0.5f + 0.5f * z);
    assert_float_equal(one_unit(true, true, 3), n + z * (1.0f - n), 1e-6f);
    assert_float_equal(one_unit(false, true, 3), n + z * (1.0f - n), 1e-6f);
}

// A little network of one sequence in t steps, of which 4 count.
static void run_padded(int64_t t, float padding, bool is_batch_first, float y[12], float dw[36])
{
    nn_run r;
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    float x[16];
    const int64_t dims[] = {is_batch_first ? 1 : t, is_batch_first ? t : 1, 2};
    static const int32_t four = 4;
    static const int64_t one = 1;
    nn_begin(&r, NULL, true);
    for (int64_t i = 0; i < 2 * t; i++)
        x[i] = i < 8 ? 0.37f * (float)(i - 3) : padding;
    o.is_bidirectional = true;
    o.is_batch_first = is_batch_first;
    o.lengths = weft_constant(r.g, WEFT_I32, &one, 1, &four);
    const weft_val in = weft_constant(r.g, WEFT_F32, dims, 3, x);
    const weft_val all = weft_lstm(r.nn, "lstm", in, 3, &o, NULL, NULL);
    const int64_t flat[] = {t, 6}, from[] = {0, 0}, to[] = {4, 3};
    const weft_val some = weft_slice(r.g, weft_reshape(r.g, all, flat, 2), from, to, NULL);
    const weft_val loss = weft_sum(r.g, weft_mul(r.g, some, some), NULL, 0, false);
    const weft_val weight = weft_nn_parameter(r.nn, 1).val; // weight_hh_l0 [12,3]
    weft_val grad;
    weft_grad(r.g, loss, &weight, 1, &grad);
    weft_output(r.g, "y", some);
    weft_output(r.g, "dw", grad);
    nn_go(&r);
    NN_OK(weft_program_read(r.program, "y", y, 12 * sizeof *y, err));
    NN_OK(weft_program_read(r.program, "dw", dw, 36 * sizeof *dw, err));
    nn_end(&r);
}

static void padding_changes_no_bit(void **state)
{
    float y[4][12], dw[4][36];
    (void)state;
    run_padded(4, 0.0f, false, y[0], dw[0]);
    run_padded(7, 5.0f, false, y[1], dw[1]);
    run_padded(8, NAN, false, y[2], dw[2]);
    run_padded(8, INFINITY, true, y[3], dw[3]);
    for (int i = 1; i < 4; i++) {
        assert_memory_equal(y[i], y[0], sizeof y[0]);
        assert_memory_equal(dw[i], dw[0], sizeof dw[0]);
    }
}

static void says_what_does_not_fit(void **state)
{
    nn_run r;
    weft_recurrent_options o = WEFT_RECURRENT_OPTIONS_INIT;
    (void)state;
    nn_begin(&r, NULL, false);
    const weft_val x = weft_input(r.g, "x", WEFT_F32, NN_DIMS(5, 4));
    (void)weft_lstm(r.nn, "l", x, 3, &o, NULL, NULL);
    nn_expect_error(&r, WEFT_ERR_SHAPE,
                    "lstm: x is f32[5,4], hidden is 3, expected f32 [t,b,i] and 1 or more");
    nn_end(&r);
    nn_begin(&r, NULL, false);
    o.h0 = weft_input(r.g, "h0", WEFT_F32, NN_DIMS(1, 2, 4));
    const weft_val y = weft_input(r.g, "x", WEFT_F32, NN_DIMS(5, 2, 4));
    (void)weft_gru(r.nn, "l", y, 3, &o, NULL);
    nn_expect_error(&r, WEFT_ERR_SHAPE, "gru: h0 is f32[1,2,4], expected f32[1,2,3]");
    nn_end(&r);
    nn_begin(&r, NULL, false);
    o.h0 = WEFT_NONE;
    o.n_layers = 33;
    const weft_val z = weft_input(r.g, "x", WEFT_F32, NN_DIMS(5, 2, 4));
    (void)weft_rnn(r.nn, "l", z, 3, &o, NULL);
    nn_expect_error(&r, WEFT_ERR_ATTR, "rnn: 33 layers, expected 1 to 32");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_recurrent[] = {
    cmocka_unit_test(lstm_agrees),
    cmocka_unit_test(deep_lstm_of_lengths_agrees),
    cmocka_unit_test(gru_agrees),
    cmocka_unit_test(deep_gru_of_lengths_agrees),
    cmocka_unit_test(rnn_agrees),
    cmocka_unit_test(rnn_of_relu_agrees),
    cmocka_unit_test(a_gru_resets_before_or_behind_the_product),
    cmocka_unit_test(padding_changes_no_bit),
    cmocka_unit_test(says_what_does_not_fit),
};
const unsigned long wf_n_tests_nn_recurrent = WF_N_TESTS(wf_tests_nn_recurrent);
