// mul: values, wrapping, gradient, errors.
#include "op_run.h"

static void multiplies(void **state)
{
    static const float a[] = {1.5f, -1.0f, 0x1p-100f, 0x1p100f, 0.0f};
    static const float b[] = {2.0f, 0.0f, 0x1p-49f, 0x1p100f, INFINITY};
    static const float z[] = {3.0f, -0.0f, 0x1p-149f, INFINITY, NAN};
    op_binary_f32(*state, weft_mul, a, b, z, OP_COUNT(a));
}

static void wraps_integers(void **state)
{
    static const int32_t a[] = {65536, INT32_MIN, 3};
    static const int32_t b[] = {65536, -1, -7};
    static const int32_t z[] = {0, INT32_MIN, -21};
    op_binary_any(*state, weft_mul, WEFT_I32, a, b, WEFT_I32, z, OP_COUNT(a));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, -1.5f, 2.0f, 0.75f, -0.25f, 1.25f};
    static const float b[] = {1.5f, -0.5f};
    op_binary_gradient(*state, weft_mul, a, b, OP_COUNT(a));
}

static void refuses_bool(void **state)
{
    op_binary_refuses(*state, weft_mul, WEFT_BOOL, "mul: a is bool[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_mul[] = {
    OP_TEST(multiplies),
    OP_TEST(wraps_integers),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_mul = WF_N_TESTS(wf_tests_mul);
