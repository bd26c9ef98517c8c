// reduce_max: values, NaN, zeros, shared gradient, errors.
#include "op_run.h"

static void takes_the_greatest(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {3.0f, -1.0f, 0.5f, -5.0f, 2.0f, 1.0f}, y[] = {3.0f, 2.0f};
    static const float nan[] = {1.0f, NAN, INFINITY}, is_nan[] = {NAN};
    static const float zeros[] = {-0.0f, 0.0f, -0.0f}, zero[] = {0.0f};
    static const int8_t ints[] = {INT8_MIN, INT8_MAX, 0}, int_y[] = {INT8_MAX};
    op_expect_f32(g, weft_reduce_max(g, op_f32(g, OP_DIMS(2, 3), x), OP_AXES(1), false), y, 2);
    op_expect_f32(g, weft_reduce_max(g, op_f32(g, OP_DIMS(3), nan), NULL, 0, false), is_nan, 1);
    op_expect_f32(g, weft_reduce_max(g, op_f32(g, OP_DIMS(3), zeros), NULL, 0, false), zero, 1);
    const weft_val bytes = weft_constant(g, WEFT_I8, OP_DIMS(3), ints);
    op_expect_bytes(g, weft_reduce_max(g, bytes, NULL, 0, false), WEFT_I8, int_y, 1);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3, 2));
    op_check_gradient(g, op_loss(g, weft_reduce_max(g, x, OP_AXES(0, 2), false)), x);
}

static void shares_the_gradient_of_ties(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {7.0f, 1.0f, 7.0f, 2.0f}, dx[] = {0.5f, 0.0f, 0.5f, 0.0f};
    const weft_val a = op_f32(g, OP_DIMS(4), x);
    weft_val d;
    weft_grad(g, weft_reduce_max(g, a, NULL, 0, false), &a, 1, &d);
    op_expect_f32(g, d, dx, 4);
}

static void refuses_nothing(void **state)
{
    weft_graph *g = *state;
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(2, 0), NULL);
    op_expect_error(g, weft_reduce_max(g, empty, OP_AXES(1), false), WEFT_ERR_SHAPE,
                    "reduce_max: nothing to reduce, x is [2,0], expected sizes above 0");
}

static void takes_no_results(void **state)
{
    weft_graph *g = *state;
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(2, 0), NULL);
    op_expect_dims(g, weft_reduce_max(g, empty, OP_AXES(0), false), OP_DIMS(0));
}

const struct CMUnitTest wf_tests_reduce_max[] = {
    OP_TEST(takes_the_greatest), OP_TEST(has_its_gradient), OP_TEST(shares_the_gradient_of_ties),
    OP_TEST(refuses_nothing),    OP_TEST(takes_no_results),
};
const unsigned long wf_n_tests_reduce_max = WF_N_TESTS(wf_tests_reduce_max);
