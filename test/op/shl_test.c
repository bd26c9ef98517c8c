// shl: shifts, also by the width and more.
#include "op_run.h"

static void shifts(void **state)
{
    static const int32_t a[] = {1, 1, 1, 1, 1, -3};
    static const int32_t b[] = {4, 31, 32, 100, -1, 1};
    static const int32_t z[] = {16, INT32_MIN, 0, 0, 0, -6};
    op_binary_any(*state, weft_shl, WEFT_I32, a, b, WEFT_I32, z, OP_COUNT(a));
}

static void shifts_bytes(void **state)
{
    static const uint8_t a[] = {255, 255, 255};
    static const uint8_t b[] = {1, 7, 8};
    static const uint8_t z[] = {254, 128, 0};
    op_binary_any(*state, weft_shl, WEFT_U8, a, b, WEFT_U8, z, OP_COUNT(a));
}

static void shifts_long_ones(void **state)
{
    static const int64_t a[] = {1, 1};
    static const int64_t b[] = {40, 64};
    static const int64_t z[] = {1099511627776, 0};
    op_binary_any(*state, weft_shl, WEFT_I64, a, b, WEFT_I64, z, OP_COUNT(a));
}

static void refuses_floats(void **state)
{
    op_binary_refuses(*state, weft_shl, WEFT_F32, "shl: a is f32[2], expected i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_shl[] = {
    OP_TEST(shifts),
    OP_TEST(shifts_bytes),
    OP_TEST(shifts_long_ones),
    OP_TEST(refuses_floats),
};
const unsigned long wf_n_tests_shl = WF_N_TESTS(wf_tests_shl);
