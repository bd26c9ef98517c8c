// is_finite: NaN and infinities of f32; integers are finite.
#include "op_run.h"

static void finds_what_is_not(void **state)
{
    static const float a[] = {1.0f, NAN, INFINITY, -INFINITY, FLT_MAX};
    static const uint8_t y[] = {1, 0, 0, 0, 1};
    op_unary_any(*state, weft_is_finite, WEFT_F32, a, WEFT_BOOL, y, OP_COUNT(a));
}

static void holds_for_integers(void **state)
{
    static const int32_t a[] = {INT32_MIN, 0};
    static const uint8_t y[] = {1, 1};
    op_unary_any(*state, weft_is_finite, WEFT_I32, a, WEFT_BOOL, y, OP_COUNT(a));
}

static void refuses_halves(void **state)
{
    op_unary_refuses(*state, weft_is_finite, WEFT_BF16,
                     "is_finite: a is bf16[2], expected f32 i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_is_finite[] = {
    OP_TEST(finds_what_is_not),
    OP_TEST(holds_for_integers),
    OP_TEST(refuses_halves),
};
const unsigned long wf_n_tests_is_finite = WF_N_TESTS(wf_tests_is_finite);
