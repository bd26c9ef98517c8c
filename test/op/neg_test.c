// neg: values of f32 and integers, gradient, dtypes.
#include "op_run.h"

static void turns_signs(void **state)
{
    static const float a[] = {1.5f, 0.0f, -0.0f, INFINITY, NAN};
    static const float y[] = {-1.5f, -0.0f, 0.0f, -INFINITY, NAN};
    op_unary_f32(*state, weft_neg, a, y, OP_COUNT(a));
}

static void wraps_integers(void **state)
{
    static const int8_t a[] = {5, -128, 0};
    static const int8_t y[] = {-5, -128, 0};
    op_unary_any(*state, weft_neg, WEFT_I8, a, WEFT_I8, y, OP_COUNT(a));
}

static void wraps_unsigned(void **state)
{
    static const uint8_t a[] = {1, 0};
    static const uint8_t y[] = {255, 0};
    op_unary_any(*state, weft_neg, WEFT_U8, a, WEFT_U8, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f};
    op_unary_gradient(*state, weft_neg, a, OP_COUNT(a));
}

static void refuses_halves(void **state)
{
    op_unary_refuses(*state, weft_neg, WEFT_F16, "neg: a is f16[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_neg[] = {
    OP_TEST(turns_signs),      OP_TEST(wraps_integers), OP_TEST(wraps_unsigned),
    OP_TEST(has_its_gradient), OP_TEST(refuses_halves),
};
const unsigned long wf_n_tests_neg = WF_N_TESTS(wf_tests_neg);
