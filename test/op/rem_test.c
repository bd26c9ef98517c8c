// rem: integer corners, errors.
#include "op_run.h"

static void leaves_the_sign_of_a(void **state)
{
    static const int32_t a[] = {7, -7, 7, 7, INT32_MIN};
    static const int32_t b[] = {2, 2, -2, 0, -1};
    static const int32_t z[] = {1, -1, 1, 0, 0};
    op_binary_any(*state, weft_rem, WEFT_I32, a, b, WEFT_I32, z, OP_COUNT(a));
}

static void works_on_long_ones(void **state)
{
    static const int64_t a[] = {INT64_MIN, INT64_MIN};
    static const int64_t b[] = {-1, 3};
    static const int64_t z[] = {0, -2};
    op_binary_any(*state, weft_rem, WEFT_I64, a, b, WEFT_I64, z, OP_COUNT(a));
}

static void works_on_unsigned(void **state)
{
    static const uint8_t a[] = {200, 255};
    static const uint8_t b[] = {255, 2};
    static const uint8_t z[] = {200, 1};
    op_binary_any(*state, weft_rem, WEFT_U8, a, b, WEFT_U8, z, OP_COUNT(a));
}

static void refuses_floats(void **state)
{
    op_binary_refuses(*state, weft_rem, WEFT_F32, "rem: a is f32[2], expected i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_rem[] = {
    OP_TEST(leaves_the_sign_of_a),
    OP_TEST(works_on_long_ones),
    OP_TEST(works_on_unsigned),
    OP_TEST(refuses_floats),
};
const unsigned long wf_n_tests_rem = WF_N_TESTS(wf_tests_rem);
