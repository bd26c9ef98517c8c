// less_equal: values, NaN, zeros, integers, dtypes.
#include "op_run.h"

static void compares(void **state)
{
    static const float a[] = {1.0f, -0.0f, NAN, -2.0f};
    static const float b[] = {1.0f, 0.0f, NAN, 3.0f};
    static const uint8_t z[] = {1, 1, 0, 1};
    op_binary_to_bool(*state, weft_less_equal, a, b, z, OP_COUNT(a));
}

static void compares_integers(void **state)
{
    static const int64_t a[] = {5, INT64_MIN, 3};
    static const int64_t b[] = {5, INT64_MAX, -3};
    static const uint8_t z[] = {1, 1, 0};
    op_binary_any(*state, weft_less_equal, WEFT_I64, a, b, WEFT_BOOL, z, OP_COUNT(a));
}

static void refuses_halves(void **state)
{
    op_binary_refuses(*state, weft_less_equal, WEFT_F16,
                      "less_equal: a is f16[2], expected f32 i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_less_equal[] = {
    OP_TEST(compares),
    OP_TEST(compares_integers),
    OP_TEST(refuses_halves),
};
const unsigned long wf_n_tests_less_equal = WF_N_TESTS(wf_tests_less_equal);
