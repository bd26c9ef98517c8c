// div: values, integer corners, gradient, errors.
#include "op_run.h"

static void divides(void **state)
{
    static const float a[] = {1.0f, 1.0f, -1.0f, 0.0f, 0x1p-149f, 0x1.8p-148f};
    static const float b[] = {3.0f, 0.0f, 0.0f, 0.0f, 2.0f, 2.0f};
    static const float z[] = {0x1.555556p-2f, INFINITY, -INFINITY, NAN, 0.0f, 0x1p-148f};
    op_binary_f32(*state, weft_div, a, b, z, OP_COUNT(a));
}

static void divides_integers_toward_zero(void **state)
{
    static const int32_t a[] = {7, -7, 7, INT32_MIN, 0};
    static const int32_t b[] = {2, 2, 0, -1, 0};
    static const int32_t z[] = {3, -3, 0, INT32_MIN, 0};
    op_binary_any(*state, weft_div, WEFT_I32, a, b, WEFT_I32, z, OP_COUNT(a));
}

static void divides_bytes(void **state)
{
    static const int8_t a[] = {-128, 100};
    static const int8_t b[] = {-1, -3};
    static const int8_t z[] = {-128, -33};
    op_binary_any(*state, weft_div, WEFT_I8, a, b, WEFT_I8, z, OP_COUNT(a));
}

static void divides_unsigned(void **state)
{
    static const uint8_t a[] = {200, 255, 9};
    static const uint8_t b[] = {255, 255, 0};
    static const uint8_t z[] = {0, 1, 0};
    op_binary_any(*state, weft_div, WEFT_U8, a, b, WEFT_U8, z, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, -1.5f, 2.0f, 0.75f, -0.25f, 1.25f};
    static const float b[] = {1.5f, -0.5f};
    op_binary_gradient(*state, weft_div, a, b, OP_COUNT(a));
}

static void refuses_bool(void **state)
{
    op_binary_refuses(*state, weft_div, WEFT_BOOL, "div: a is bool[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_div[] = {
    OP_TEST(divides),          OP_TEST(divides_integers_toward_zero),
    OP_TEST(divides_bytes),    OP_TEST(divides_unsigned),
    OP_TEST(has_its_gradient), OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_div = WF_N_TESTS(wf_tests_div);
