// softplus: exact values, first and second gradient, dtypes.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {-INFINITY, 60.0f, INFINITY, NAN};
    static const float y[] = {0.0f, 60.0f, INFINITY, NAN};
    op_unary_f32(*state, weft_softplus, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f};
    op_unary_gradient(*state, weft_softplus, a, OP_COUNT(a));
}

static void keeps_the_bits_of_its_slope(void **state)
{
    static const float a[] = {-60.0f, -10.0f, 0.0f, 20.0f};
    op_gradient_accuracy(*state, weft_softplus, a, OP_COUNT(a), 4.0);
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_softplus, WEFT_I32, "softplus: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_softplus[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(keeps_the_bits_of_its_slope),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_softplus = WF_N_TESTS(wf_tests_softplus);
