// tanh: exact values, first and second gradient, dtypes.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {0.0f, -0.0f, 20.0f, -20.0f, INFINITY, -INFINITY, NAN};
    static const float y[] = {0.0f, -0.0f, 1.0f, -1.0f, 1.0f, -1.0f, NAN};
    op_unary_f32(*state, weft_tanh, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f};
    op_unary_gradient(*state, weft_tanh, a, OP_COUNT(a));
}

static void keeps_the_bits_of_its_slope(void **state)
{
    static const float a[] = {-30.0f, -8.0f, -1.0f, 0.25f, 5.0f, 12.0f, 40.0f};
    op_gradient_accuracy(*state, weft_tanh, a, OP_COUNT(a), 16.0);
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_tanh, WEFT_I32, "tanh: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_tanh[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(keeps_the_bits_of_its_slope),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_tanh = WF_N_TESTS(wf_tests_tanh);
