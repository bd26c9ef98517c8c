// add: values, wrapping, broadcast, gradient, errors.
#include "op_run.h"

static void adds(void **state)
{
    static const float a[] = {1.5f, -0.0f, 0.0f, 0x1p-149f, FLT_MAX, INFINITY};
    static const float b[] = {2.0f, -0.0f, -0.0f, 0x1p-149f, FLT_MAX, -INFINITY};
    static const float z[] = {3.5f, -0.0f, 0.0f, 0x1p-148f, INFINITY, NAN};
    op_binary_f32(*state, weft_add, a, b, z, OP_COUNT(a));
}

static void wraps_integers(void **state)
{
    static const int8_t a[] = {127, -128};
    static const int8_t b[] = {1, -1};
    static const int8_t z[] = {-128, 127};
    op_binary_any(*state, weft_add, WEFT_I8, a, b, WEFT_I8, z, OP_COUNT(a));
}

static void stretches_size_one(void **state)
{
    weft_graph *g = *state;
    static const float a[] = {1.0f, 2.0f, 3.0f}, b[] = {10.0f, 20.0f};
    static const float z[] = {11.0f, 12.0f, 13.0f, 21.0f, 22.0f, 23.0f};
    const weft_val sum = weft_add(g, op_f32(g, OP_DIMS(3), a), op_f32(g, OP_DIMS(2, 1), b));
    op_expect_dims(g, sum, OP_DIMS(2, 3));
    op_expect_f32(g, sum, z, OP_COUNT(z));
}

static void has_its_gradient(void **state)
{
    static const float a[] = {0.5f, -1.5f, 2.0f, 0.75f, -0.25f, 1.25f};
    static const float b[] = {1.5f, -0.5f};
    op_binary_gradient(*state, weft_add, a, b, OP_COUNT(a));
}

static void refuses_shapes(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 3)), b = op_ramp(g, OP_DIMS(4));
    op_expect_error(g, weft_add(g, a, b), WEFT_ERR_SHAPE,
                    "add: shapes do not broadcast, a is [2,3], b is [4]");
}

static void refuses_two_dtypes(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 3)), b = weft_scalar(g, WEFT_I32, 3.0);
    op_expect_error(g, weft_add(g, a, b), WEFT_ERR_DTYPE,
                    "add: dtypes differ, a is f32[2,3], b is i32[]");
}

static void refuses_bool(void **state)
{
    op_binary_refuses(*state, weft_add, WEFT_BOOL, "add: a is bool[2], expected f32 i8 u8 i32 i64");
}

const struct CMUnitTest wf_tests_add[] = {
    OP_TEST(adds),
    OP_TEST(wraps_integers),
    OP_TEST(stretches_size_one),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_shapes),
    OP_TEST(refuses_two_dtypes),
    OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_add = WF_N_TESTS(wf_tests_add);
