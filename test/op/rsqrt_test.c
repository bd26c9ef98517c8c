// rsqrt: exact values, first and second gradient, dtypes.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {4.0f, 0x1p-100f, 0.0f, -0.0f, -1.0f, INFINITY, NAN};
    static const float y[] = {0.5f, 0x1p50f, INFINITY, -INFINITY, NAN, 0.0f, NAN};
    op_unary_f32(*state, weft_rsqrt, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.75f, 0.9f, 1.0f, 2.5f, 7.0f};
    op_unary_gradient(*state, weft_rsqrt, a, OP_COUNT(a));
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_rsqrt, WEFT_I32, "rsqrt: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_rsqrt[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_rsqrt = WF_N_TESTS(wf_tests_rsqrt);
