// sub: values, wrapping, gradient, errors.
#include "op_run.h"

static void subtracts(void **state)
{
    static const float a[] = {1.5f, 0.0f, -0.0f, 0x1p-126f, INFINITY};
    static const float b[] = {2.0f, 0.0f, 0.0f, 0x1p-149f, INFINITY};
    static const float z[] = {-0.5f, 0.0f, -0.0f, 0x1.fffffcp-127f, NAN};
    op_binary_f32(*state, weft_sub, a, b, z, OP_COUNT(a));
}

static void wraps_integers(void **state)
{
    static const uint8_t a[] = {0, 5};
    static const uint8_t b[] = {1, 3};
    static const uint8_t z[] = {255, 2};
    op_binary_any(*state, weft_sub, WEFT_U8, a, b, WEFT_U8, z, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, -1.5f, 2.0f, 0.75f, -0.25f, 1.25f};
    static const float b[] = {1.5f, -0.5f};
    op_binary_gradient(*state, weft_sub, a, b, OP_COUNT(a));
}

static void refuses_bool(void **state)
{
    op_binary_refuses(*state, weft_sub, WEFT_BOOL, "sub: a is bool[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_sub[] = {
    OP_TEST(subtracts),
    OP_TEST(wraps_integers),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_sub = WF_N_TESTS(wf_tests_sub);
