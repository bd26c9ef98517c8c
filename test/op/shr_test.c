// shr: shifts keep the sign, also by the width and more.
#include "op_run.h"

static void shifts(void **state)
{
    static const int32_t a[] = {16, -16, -1, -1, 7, -7};
    static const int32_t b[] = {4, 2, 31, 32, 100, -1};
    static const int32_t z[] = {1, -4, -1, -1, 0, -1};
    op_binary_any(*state, weft_shr, WEFT_I32, a, b, WEFT_I32, z, OP_COUNT(a));
}

static void shifts_bytes(void **state)
{
    static const uint8_t a[] = {255, 255, 255};
    static const uint8_t b[] = {1, 7, 8};
    static const uint8_t z[] = {127, 1, 0};
    op_binary_any(*state, weft_shr, WEFT_U8, a, b, WEFT_U8, z, OP_COUNT(a));
}

static void shifts_long_ones(void **state)
{
    static const int64_t a[] = {INT64_MIN, INT64_MAX};
    static const int64_t b[] = {63, 64};
    static const int64_t z[] = {-1, 0};
    op_binary_any(*state, weft_shr, WEFT_I64, a, b, WEFT_I64, z, OP_COUNT(a));
}

static void refuses_floats(void **state)
{
    op_binary_refuses(*state, weft_shr, WEFT_F32, "shr: a is f32[2], expected i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_shr[] = {
    OP_TEST(shifts),
    OP_TEST(shifts_bytes),
    OP_TEST(shifts_long_ones),
    OP_TEST(refuses_floats),
};
const unsigned long wf_n_tests_shr = WF_N_TESTS(wf_tests_shr);
