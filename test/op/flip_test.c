// flip: axes, every axis, twice, gradient, errors.
#include "op_run.h"

static void reverses_axes(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {1, 2, 3, 4, 5, 6};
    static const int32_t rows[] = {4, 5, 6, 1, 2, 3}, columns[] = {3, 2, 1, 6, 5, 4},
                         both[] = {6, 5, 4, 3, 2, 1};
    const weft_val a = op_i32(g, OP_DIMS(2, 3), x);
    op_expect_bytes(g, weft_flip(g, a, OP_AXES(0)), WEFT_I32, rows, 6);
    op_expect_bytes(g, weft_flip(g, a, OP_AXES(-1)), WEFT_I32, columns, 6);
    op_expect_bytes(g, weft_flip(g, a, OP_AXES(1, 0)), WEFT_I32, both, 6);
    op_expect_bytes(g, weft_flip(g, a, NULL, 0), WEFT_I32, both, 6);
}

static void twice_is_nothing(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, -0.0f, NAN, 4.0f};
    const weft_val a = op_f32(g, OP_DIMS(4), x);
    op_expect_f32(g, weft_flip(g, weft_flip(g, a, OP_AXES(0)), OP_AXES(0)), x, 4);
}

static void takes_empty_and_small_axes(void **state)
{
    weft_graph *g = *state;
    static const float one[] = {2.0f};
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(3, 0), NULL);
    op_expect_f32(g, weft_flip(g, empty, NULL, 0), one, 0);
    op_expect_f32(g, weft_flip(g, op_f32(g, OP_DIMS(1, 1), one), NULL, 0), one, 1);
    op_expect_f32(g, weft_flip(g, op_f32(g, NULL, 0, one), NULL, 0), one, 1);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3, 2));
    const weft_val loss = op_loss(g, weft_flip(g, weft_mul(g, x, x), OP_AXES(0, 2)));
    op_check_gradient(g, loss, x);
    op_check_second(g, weft_mul(g, loss, loss), x);
}

static void refuses_axes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_flip(g, op_ramp(g, OP_DIMS(2, 3)), OP_AXES(2)), WEFT_ERR_SHAPE,
                    "flip: axis 2 is out of range, x is [2,3]");
}

static void refuses_an_axis_twice(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_flip(g, op_ramp(g, OP_DIMS(2, 3)), OP_AXES(1, -1)), WEFT_ERR_ATTR,
                    "flip: axis -1 is named twice");
}

const struct CMUnitTest wf_tests_flip[] = {
    OP_TEST(reverses_axes),     OP_TEST(twice_is_nothing), OP_TEST(takes_empty_and_small_axes),
    OP_TEST(has_its_gradients), OP_TEST(refuses_axes),     OP_TEST(refuses_an_axis_twice),
};
const unsigned long wf_n_tests_flip = WF_N_TESTS(wf_tests_flip);
