// select: chooses elements of any dtype, routes the gradient, errors.
#include "op_run.h"

static void chooses(void **state)
{
    weft_graph *g = *state;
    static const uint8_t cond[] = {1, 0, 1};
    static const float a[] = {1.0f, NAN, -0.0f}, b[] = {INFINITY, 2.0f, NAN};
    static const float y[] = {1.0f, 2.0f, -0.0f};
    static const int64_t c[] = {INT64_MIN, 5, 7}, zero[] = {0}, z[] = {INT64_MIN, 0, 7};
    const weft_val k = weft_constant(g, WEFT_BOOL, OP_DIMS(3), cond);
    op_expect_f32(g, weft_select(g, k, op_f32(g, OP_DIMS(3), a), op_f32(g, OP_DIMS(3), b)), y, 3);
    const weft_val other = weft_constant(g, WEFT_I64, NULL, 0, zero);
    const weft_val chosen = weft_select(g, k, weft_constant(g, WEFT_I64, OP_DIMS(3), c), other);
    op_expect_bytes(g, chosen, WEFT_I64, z, 3);
}

static void routes_the_gradient(void **state)
{
    weft_graph *g = *state;
    static const uint8_t cond[] = {1, 0, 0, 1};
    const weft_val k = weft_constant(g, WEFT_BOOL, OP_DIMS(2, 2), cond);
    const weft_val a = op_ramp(g, OP_DIMS(2, 2)), b = op_ramp(g, OP_DIMS(2));
    const weft_val loss = op_loss(g, weft_select(g, k, weft_mul(g, a, a), weft_mul(g, b, b)));
    op_check_gradient(g, loss, a);
    op_check_gradient(g, loss, b);
}

static void sends_zero_to_the_other_side(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {0.0f, 4.0f}, dx[] = {0.0f, 0.25f};
    const weft_val a = op_f32(g, OP_DIMS(2), x);
    const weft_val zero = weft_scalar(g, WEFT_F32, 0.0);
    const weft_val root = weft_select(g, weft_less(g, zero, a), weft_sqrt(g, a), zero);
    weft_val d;
    // sqrt's own slope at 0 is infinite: times the 0 that select sends there it is NaN, which is why
    // users guard the argument as well.
    weft_grad(g, weft_sum(g, root, NULL, 0, false), &a, 1, &d);
    op_values v = op_run(g, d, false);
    assert_true(((const float *)v.data[d.id])[1] == dx[1]);
    op_values_free(&v);
}

static void refuses_a_float_condition(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2));
    op_expect_error(g, weft_select(g, a, a, a), WEFT_ERR_DTYPE,
                    "select: cond is f32[2], expected bool");
}

static void refuses_two_dtypes(void **state)
{
    weft_graph *g = *state;
    const weft_val k = weft_fill(g, WEFT_BOOL, OP_DIMS(2), 1.0);
    const weft_val a = op_ramp(g, OP_DIMS(2));
    op_expect_error(g, weft_select(g, k, a, k), WEFT_ERR_DTYPE,
                    "select: dtypes differ, a is f32[2], b is bool[2]");
}

const struct CMUnitTest wf_tests_select[] = {
    OP_TEST(chooses),
    OP_TEST(routes_the_gradient),
    OP_TEST(sends_zero_to_the_other_side),
    OP_TEST(refuses_a_float_condition),
    OP_TEST(refuses_two_dtypes),
};
const unsigned long wf_n_tests_select = WF_N_TESTS(wf_tests_select);
