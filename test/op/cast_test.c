// cast: every rule of doc/arithmetic.md on its edge cases, gradient, truth, errors.
#include "op_run.h"

static void truncates_and_saturates(void **state)
{
    weft_graph *g = *state;
    static const float a[] = {2.9f, -2.9f, 3e9f, -3e9f, NAN, INFINITY};
    static const int32_t i32[] = {2, -2, INT32_MAX, INT32_MIN, 0, INT32_MAX};
    static const int8_t i8[] = {2, -2, 127, -128, 0, 127};
    static const uint8_t u8[] = {2, 0, 255, 0, 0, 255};
    static const int64_t i64[] = {2, -2, 3000000000, -3000000000, 0, INT64_MAX};
    static const uint8_t logical[] = {1, 1, 1, 1, 1, 1};
    const weft_val x = op_f32(g, OP_DIMS(6), a);
    op_expect_bytes(g, weft_cast(g, x, WEFT_I32), WEFT_I32, i32, 6);
    op_expect_bytes(g, weft_cast(g, x, WEFT_I8), WEFT_I8, i8, 6);
    op_expect_bytes(g, weft_cast(g, x, WEFT_U8), WEFT_U8, u8, 6);
    op_expect_bytes(g, weft_cast(g, x, WEFT_I64), WEFT_I64, i64, 6);
    op_expect_bytes(g, weft_cast(g, x, WEFT_BOOL), WEFT_BOOL, logical, 6);
}

static void rounds_to_nearest_even(void **state)
{
    weft_graph *g = *state;
    static const int32_t a[] = {16777217, 16777219, -16777217, INT32_MAX};
    static const float f32[] = {16777216.0f, 16777220.0f, -16777216.0f, 2147483648.0f};
    static const float b[] = {1.00048828125f, 65520.0f, 0x1p-25f, 0x1.8p-24f, -0.0f};
    static const uint16_t f16[] = {0x3C00, 0x7C00, 0x0000, 0x0002, 0x8000};
    static const float c[] = {1.00390625f, 1.01171875f, 0x1p-149f};
    static const uint16_t bf16[] = {0x3F80, 0x3F82, 0x0000};
    op_expect_bytes(g, weft_cast(g, op_i32(g, OP_DIMS(4), a), WEFT_F32), WEFT_F32, f32, 4);
    op_expect_bytes(g, weft_cast(g, op_f32(g, OP_DIMS(5), b), WEFT_F16), WEFT_F16, f16, 5);
    op_expect_bytes(g, weft_cast(g, op_f32(g, OP_DIMS(3), c), WEFT_BF16), WEFT_BF16, bf16, 3);
}

static void wraps_between_integers(void **state)
{
    weft_graph *g = *state;
    static const int32_t a[] = {300, -1, 0, 256};
    static const int8_t i8[] = {44, -1, 0, 0};
    static const uint8_t u8[] = {44, 255, 0, 0}, logical[] = {1, 1, 0, 1};
    const weft_val x = op_i32(g, OP_DIMS(4), a);
    op_expect_bytes(g, weft_cast(g, x, WEFT_I8), WEFT_I8, i8, 4);
    op_expect_bytes(g, weft_cast(g, x, WEFT_U8), WEFT_U8, u8, 4);
    op_expect_bytes(g, weft_cast(g, x, WEFT_BOOL), WEFT_BOOL, logical, 4);
}

static void widens_exactly(void **state)
{
    weft_graph *g = *state;
    static const uint16_t halves[] = {0x0001, 0x3C00, 0xFC00, 0x7BFF};
    static const float f32[] = {0x1p-24f, 1.0f, -INFINITY, 65504.0f};
    const weft_val x = weft_constant(g, WEFT_F16, OP_DIMS(4), halves);
    op_expect_f32(g, weft_cast(g, x, WEFT_F32), f32, 4);
    op_expect_f32(g, weft_cast(g, weft_cast(g, x, WEFT_F64), WEFT_F32), f32, 4);
}

static void sends_the_gradient_back(void **state)
{
    weft_graph *g = *state;
    static const float ones[] = {1.0f, 1.0f, 1.0f};
    const weft_val x = op_ramp(g, OP_DIMS(3));
    const weft_val back = weft_cast(g, weft_cast(g, x, WEFT_BF16), WEFT_F32);
    weft_val dx;
    weft_grad(g, weft_sum(g, back, NULL, 0, false), &x, 1, &dx);
    op_expect_f32(g, dx, ones, 3);
}

static void keeps_the_same_dtype(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(3));
    assert_int_equal(weft_cast(g, x, WEFT_F32).id, x.id);
}

static void refuses_an_unknown_dtype(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_cast(g, op_ramp(g, OP_DIMS(3)), (weft_dtype)77), WEFT_ERR_DTYPE,
                    "cast: dtype 77 is unknown");
}

const struct CMUnitTest wf_tests_cast[] = {
    OP_TEST(truncates_and_saturates),  OP_TEST(rounds_to_nearest_even),
    OP_TEST(wraps_between_integers),   OP_TEST(widens_exactly),
    OP_TEST(sends_the_gradient_back),  OP_TEST(keeps_the_same_dtype),
    OP_TEST(refuses_an_unknown_dtype),
};
const unsigned long wf_n_tests_cast = WF_N_TESTS(wf_tests_cast);
