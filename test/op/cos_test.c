// cos: exact values, first and second gradient, dtypes.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-40f};
    static const float y[] = {1.0f, 1.0f, NAN, NAN, NAN, 1.0f};
    op_unary_f32(*state, weft_cos, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f};
    op_unary_gradient(*state, weft_cos, a, OP_COUNT(a));
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_cos, WEFT_I32, "cos: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_cos[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_cos = WF_N_TESTS(wf_tests_cos);
