// sqrt: exact values, first and second gradient, dtypes.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {4.0f, 2.0f, 0.0f, -0.0f, -1.0f, INFINITY, 0x1p-148f, NAN};
    static const float y[] = {2.0f, 0x1.6a09e6p+0f, 0.0f, -0.0f, NAN, INFINITY, 0x1p-74f, NAN};
    op_unary_f32(*state, weft_sqrt, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, 0.75f, 0.9f, 1.0f, 2.5f, 7.0f};
    op_unary_gradient(*state, weft_sqrt, a, OP_COUNT(a));
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_sqrt, WEFT_I32, "sqrt: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_sqrt[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_sqrt = WF_N_TESTS(wf_tests_sqrt);
