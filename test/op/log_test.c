// log: exact values, first and second gradient, dtypes.
#include "op_run.h"

static void takes_special_values(void **state)
{
    static const float a[] = {1.0f, 0.0f, -0.0f, -1.0f, INFINITY, NAN};
    static const float y[] = {0.0f, -INFINITY, -INFINITY, NAN, INFINITY, NAN};
    op_unary_f32(*state, weft_log, a, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, 0.75f, 0.9f, 1.0f, 2.5f, 7.0f};
    op_unary_gradient(*state, weft_log, a, OP_COUNT(a));
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_log, WEFT_I32, "log: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_log[] = {
    OP_TEST(takes_special_values),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_log = WF_N_TESTS(wf_tests_log);
