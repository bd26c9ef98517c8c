// max: NaN wins, zeros are ordered, gradient goes to the winner.
#include "op_run.h"

static void takes_the_greater(void **state)
{
    static const float a[] = {1.0f, -0.0f, 0.0f, NAN, 1.0f, -INFINITY};
    static const float b[] = {2.0f, 0.0f, -0.0f, 1.0f, NAN, 3.0f};
    static const float z[] = {2.0f, 0.0f, 0.0f, NAN, NAN, 3.0f};
    op_binary_f32(*state, weft_max, a, b, z, OP_COUNT(a));
}

static void takes_the_greater_integer(void **state)
{
    static const int8_t a[] = {-128, 5};
    static const int8_t b[] = {127, -5};
    static const int8_t z[] = {127, 5};
    op_binary_any(*state, weft_max, WEFT_I8, a, b, WEFT_I8, z, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, -1.5f, 2.0f, 0.75f, -0.25f, 1.25f};
    static const float b[] = {0.4f, -0.6f};
    op_binary_gradient(*state, weft_max, a, b, OP_COUNT(a));
}

static void gives_ties_to_a(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {2.0f}, one[] = {1.0f}, none[] = {0.0f};
    const weft_val ab[] = {op_f32(g, OP_DIMS(1), x), op_f32(g, OP_DIMS(1), x)};
    weft_val d[2];
    weft_grad(g, weft_sum(g, weft_max(g, ab[0], ab[1]), NULL, 0, false), ab, 2, d);
    op_expect_f32(g, d[0], one, 1);
    op_expect_f32(g, d[1], none, 1);
}

static void refuses_bool(void **state)
{
    op_binary_refuses(*state, weft_max, WEFT_BOOL, "max: a is bool[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_max[] = {
    OP_TEST(takes_the_greater), OP_TEST(takes_the_greater_integer),
    OP_TEST(has_its_gradient),  OP_TEST(gives_ties_to_a),
    OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_max = WF_N_TESTS(wf_tests_max);
