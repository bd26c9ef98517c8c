// relu: values of f32 and integers, gradient, dtypes.
#include "op_run.h"

static void cuts_at_zero(void **state)
{
    static const float a[] = {-1.5f, -0.0f, 2.5f, INFINITY, -INFINITY, NAN};
    static const float y[] = {0.0f, 0.0f, 2.5f, INFINITY, 0.0f, NAN};
    op_unary_f32(*state, weft_relu, a, y, OP_COUNT(a));
}

static void cuts_integers(void **state)
{
    static const int8_t a[] = {-5, 0, 127};
    static const int8_t y[] = {0, 0, 127};
    op_unary_any(*state, weft_relu, WEFT_I8, a, WEFT_I8, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f};
    op_unary_gradient(*state, weft_relu, a, OP_COUNT(a));
}

static void refuses_halves(void **state)
{
    op_unary_refuses(*state, weft_relu, WEFT_F16, "relu: a is f16[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_relu[] = {
    OP_TEST(cuts_at_zero),
    OP_TEST(cuts_integers),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_halves),
};
const unsigned long wf_n_tests_relu = WF_N_TESTS(wf_tests_relu);
