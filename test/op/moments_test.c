// moments: values, accuracy far from zero, chunks, gradient, second order.
#include "op_run.h"

static void gives_mean_and_variance(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, 2.0f, 3.0f, 4.0f, -1.0f, -1.0f, -1.0f, -1.0f};
    static const float mean[] = {2.5f, -1.0f}, variance[] = {1.25f, 0.0f};
    weft_val m, v;
    weft_moments(g, op_f32(g, OP_DIMS(2, 4), x), OP_AXES(1), &m, &v);
    op_expect_dims(g, v, OP_DIMS(2, 1));
    op_expect_f32(g, m, mean, 2);
    op_expect_f32(g, v, variance, 2);
}

static void keeps_a_small_variance_far_from_zero(void **state)
{
    weft_graph *g = *state;
    // Sum of squares minus square of sum would have nothing left: 10000^2 takes all 24 bits.
    float x[3000];
    for (int i = 0; i < 3000; i++) {
        x[i] = 10000.0f + (float)(i % 2);
    }
    static const float mean[] = {10000.5f}, variance[] = {0.25f};
    weft_val m, v;
    weft_moments(g, op_f32(g, OP_DIMS(3000), x), NULL, 0, &m, &v);
    op_expect_f32(g, m, mean, 1);
    op_expect_f32(g, v, variance, 1);
    weft_moments(g, op_f32(g, OP_DIMS(1500, 2), x), OP_AXES(0), &m, &v);
    static const float means[] = {10000.0f, 10001.0f}, none[] = {0.0f, 0.0f};
    op_expect_f32(g, m, means, 2);
    op_expect_f32(g, v, none, 2);
}

static void is_nan_of_nothing(void **state)
{
    weft_graph *g = *state;
    static const float nan[] = {NAN};
    weft_val m, v;
    weft_moments(g, weft_constant(g, WEFT_F32, OP_DIMS(0), NULL), NULL, 0, &m, &v);
    op_expect_f32(g, m, nan, 1);
    op_expect_f32(g, v, nan, 1);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(3, 2, 2));
    weft_val m, v;
    weft_moments(g, x, OP_AXES(0, 2), &m, &v);
    op_check_gradient(g, op_loss(g, m), x);
    op_check_gradient(g, op_loss(g, v), x);
    const weft_val both = weft_add(g, weft_mul(g, m, m), weft_sqrt(g, v));
    op_check_gradient(g, op_loss(g, both), x);
    op_check_second(g, op_loss(g, both), x);
}

static void refuses_integers(void **state)
{
    weft_graph *g = *state;
    weft_val m, v;
    weft_moments(g, weft_fill(g, WEFT_I32, OP_DIMS(3), 1.0), NULL, 0, &m, &v);
    assert_int_equal(v.id, 0);
    op_expect_error(g, m, WEFT_ERR_DTYPE, "moments: x is i32[3], expected f32");
}

const struct CMUnitTest wf_tests_moments[] = {
    OP_TEST(gives_mean_and_variance), OP_TEST(keeps_a_small_variance_far_from_zero),
    OP_TEST(is_nan_of_nothing),       OP_TEST(has_its_gradients),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_moments = WF_N_TESTS(wf_tests_moments);
