// gelu_tanh: exact values, first and second gradient, dtypes.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {0.0f, -0.0f, 10.0f, INFINITY, NAN};
    static const float y[] = {0.0f, -0.0f, 10.0f, INFINITY, NAN};
    op_unary_f32(*state, weft_gelu_tanh, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f, 0.0f};
    op_unary_gradient(*state, weft_gelu_tanh, a, OP_COUNT(a));
}

static void keeps_the_bits_of_its_slope(void **state)
{
    static const float a[] = {-4.0f, -3.0f, 0.0f, 1.0f, 6.0f, 1e30f, -3e20f};
    op_gradient_accuracy(*state, weft_gelu_tanh, a, OP_COUNT(a), 80.0);
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_gelu_tanh, WEFT_I32, "gelu_tanh: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_gelu_tanh[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(keeps_the_bits_of_its_slope),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_gelu_tanh = WF_N_TESTS(wf_tests_gelu_tanh);
