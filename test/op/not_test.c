// not: bits of integers, bool logically.
#include "op_run.h"

static void inverts_bits(void **state)
{
    static const int32_t a[] = {0, -1, 5};
    static const int32_t y[] = {-1, 0, -6};
    op_unary_any(*state, weft_not, WEFT_I32, a, WEFT_I32, y, OP_COUNT(a));
}

static void inverts_bool(void **state)
{
    static const uint8_t a[] = {0, 1};
    static const uint8_t y[] = {1, 0};
    op_unary_any(*state, weft_not, WEFT_BOOL, a, WEFT_BOOL, y, OP_COUNT(a));
}

static void refuses_floats(void **state)
{
    op_unary_refuses(*state, weft_not, WEFT_F32, "not: a is f32[2], expected i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_not[] = {
    OP_TEST(inverts_bits),
    OP_TEST(inverts_bool),
    OP_TEST(refuses_floats),
};
const unsigned long wf_n_tests_not = WF_N_TESTS(wf_tests_not);
