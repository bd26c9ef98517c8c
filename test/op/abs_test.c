// abs: values of f32 and integers, gradient, dtypes.
#include "op_run.h"

static void drops_signs(void **state)
{
    static const float a[] = {-1.5f, -0.0f, -INFINITY, -0x1p-149f, NAN};
    static const float y[] = {1.5f, 0.0f, INFINITY, 0x1p-149f, NAN};
    op_unary_f32(*state, weft_abs, a, y, OP_COUNT(a));
}

static void keeps_the_least_integer(void **state)
{
    static const int32_t a[] = {-5, INT32_MIN, 7};
    static const int32_t y[] = {5, INT32_MIN, 7};
    op_unary_any(*state, weft_abs, WEFT_I32, a, WEFT_I32, y, OP_COUNT(a));
}

static void keeps_unsigned(void **state)
{
    static const uint8_t a[] = {200, 0};
    static const uint8_t y[] = {200, 0};
    op_unary_any(*state, weft_abs, WEFT_U8, a, WEFT_U8, y, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {-3.0f, -1.25f, -0.4f, 0.3f, 0.9f, 2.5f};
    op_unary_gradient(*state, weft_abs, a, OP_COUNT(a));
}

static void refuses_halves(void **state)
{
    op_unary_refuses(*state, weft_abs, WEFT_F16, "abs: a is f16[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_abs[] = {
    OP_TEST(drops_signs),      OP_TEST(keeps_the_least_integer), OP_TEST(keeps_unsigned),
    OP_TEST(has_its_gradient), OP_TEST(refuses_halves),
};
const unsigned long wf_n_tests_abs = WF_N_TESTS(wf_tests_abs);
