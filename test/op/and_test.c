// and: bits of integers and bool.
#include "op_run.h"

static void works_on_bits(void **state)
{
    static const int32_t a[] = {12, -1};
    static const int32_t b[] = {10, 7};
    static const int32_t z[] = {8, 7};
    op_binary_any(*state, weft_and, WEFT_I32, a, b, WEFT_I32, z, OP_COUNT(a));
}

static void works_on_bool(void **state)
{
    static const uint8_t a[] = {1, 1};
    static const uint8_t b[] = {0, 1};
    static const uint8_t z[] = {0, 1};
    op_binary_any(*state, weft_and, WEFT_BOOL, a, b, WEFT_BOOL, z, OP_COUNT(a));
}

static void refuses_floats(void **state)
{
    op_binary_refuses(*state, weft_and, WEFT_F32, "and: a is f32[2], expected i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_and[] = {
    OP_TEST(works_on_bits),
    OP_TEST(works_on_bool),
    OP_TEST(refuses_floats),
};
const unsigned long wf_n_tests_and = WF_N_TESTS(wf_tests_and);
