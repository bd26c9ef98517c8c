// sign: values of f32 and integers, dtypes; the gradient stops.
#include "op_run.h"

static void says_the_sign(void **state)
{
    static const float a[] = {-1.5f, -0.0f, 0.0f, 0x1p-149f, -INFINITY, NAN};
    static const float y[] = {-1.0f, -0.0f, 0.0f, 1.0f, -1.0f, NAN};
    op_unary_f32(*state, weft_sign, a, y, OP_COUNT(a));
}

static void says_the_sign_of_integers(void **state)
{
    static const int64_t a[] = {-5, 0, INT64_MAX};
    static const int64_t y[] = {-1, 0, 1};
    op_unary_any(*state, weft_sign, WEFT_I64, a, WEFT_I64, y, OP_COUNT(a));
}

static void says_the_sign_of_unsigned(void **state)
{
    static const uint8_t a[] = {200, 0};
    static const uint8_t y[] = {1, 0};
    op_unary_any(*state, weft_sign, WEFT_U8, a, WEFT_U8, y, OP_COUNT(a));
}

static void refuses_halves(void **state)
{
    op_unary_refuses(*state, weft_sign, WEFT_F16, "sign: a is f16[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_sign[] = {
    OP_TEST(says_the_sign),
    OP_TEST(says_the_sign_of_integers),
    OP_TEST(says_the_sign_of_unsigned),
    OP_TEST(refuses_halves),
};
const unsigned long wf_n_tests_sign = WF_N_TESTS(wf_tests_sign);
