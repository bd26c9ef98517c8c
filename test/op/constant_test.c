// constant: tensors, scalars rounded once, fills, errors.
#include "op_run.h"

static void copies_its_data(void **state)
{
    weft_graph *g = *state;
    int32_t x[] = {1, 2, 3, 4};
    static const int32_t y[] = {1, 2, 3, 4};
    const weft_val a = op_i32(g, OP_DIMS(2, 2), x);
    x[0] = 99;
    op_expect_bytes(g, a, WEFT_I32, y, 4);
}

static void rounds_scalars_once(void **state)
{
    weft_graph *g = *state;
    // Just above the midpoint of 1 and the next half: by way of f32 it would fall on the midpoint and
    // then to even.
    static const uint16_t f16[] = {0x3C01}, bf16[] = {0x3F81};
    static const float f32[] = {0.1f, 0.1f, 0.1f};
    static const int64_t i64[] = {-4503599627370496};
    const weft_val half = weft_scalar(g, WEFT_F16, 1.0 + 0x1p-11 + 0x1p-40);
    op_expect_bytes(g, half, WEFT_F16, f16, 1);
    const weft_val brain = weft_scalar(g, WEFT_BF16, 1.0 + 0x1p-8 + 0x1p-40);
    op_expect_bytes(g, brain, WEFT_BF16, bf16, 1);
    op_expect_f32(g, weft_fill(g, WEFT_F32, OP_DIMS(3), 0.1), f32, 3);
    op_expect_bytes(g, weft_scalar(g, WEFT_I64, -0x1p52), WEFT_I64, i64, 1);
}

static void is_double_in_truth(void **state)
{
    weft_graph *g = *state;
    const weft_val half = weft_scalar(g, WEFT_F16, 1.5);
    op_values v = op_run(g, half, true);
    assert_true(*(const double *)v.data[half.id] == 1.5);
    op_values_free(&v);
}

static void refuses_what_an_integer_cannot_hold(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_scalar(g, WEFT_I8, 128.0), WEFT_ERR_ATTR,
                    "constant: value 128 is no i8");
}

static void refuses_no_data(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_constant(g, WEFT_F32, OP_DIMS(2), NULL), WEFT_ERR_USAGE,
                    "constant: data is NULL, expected 8 bytes");
}

static void refuses_an_unknown_dtype(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_scalar(g, (weft_dtype)44, 1.0), WEFT_ERR_DTYPE,
                    "constant: dtype 44 is unknown");
}

const struct CMUnitTest wf_tests_constant[] = {
    OP_TEST(copies_its_data),    OP_TEST(rounds_scalars_once),
    OP_TEST(is_double_in_truth), OP_TEST(refuses_what_an_integer_cannot_hold),
    OP_TEST(refuses_no_data),    OP_TEST(refuses_an_unknown_dtype),
};
const unsigned long wf_n_tests_constant = WF_N_TESTS(wf_tests_constant);
