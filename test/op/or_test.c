// or: bits of integers and bool.
#include "op_run.h"

static void works_on_bits(void **state)
{
    static const int32_t a[] = {12, -8};
    static const int32_t b[] = {10, 7};
    static const int32_t z[] = {14, -1};
    op_binary_any(*state, weft_or, WEFT_I32, a, b, WEFT_I32, z, OP_COUNT(a));
}

static void works_on_bool(void **state)
{
    static const uint8_t a[] = {1, 0};
    static const uint8_t b[] = {0, 0};
    static const uint8_t z[] = {1, 0};
    op_binary_any(*state, weft_or, WEFT_BOOL, a, b, WEFT_BOOL, z, OP_COUNT(a));
}

static void refuses_floats(void **state)
{
    op_binary_refuses(*state, weft_or, WEFT_F32, "or: a is f32[2], expected i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_or[] = {
    OP_TEST(works_on_bits),
    OP_TEST(works_on_bool),
    OP_TEST(refuses_floats),
};
const unsigned long wf_n_tests_or = WF_N_TESTS(wf_tests_or);
