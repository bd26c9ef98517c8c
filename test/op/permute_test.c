// permute: axes, transpose, gradient, errors.
#include "op_run.h"

static void moves_axes(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 4, 2, 5, 3, 6};
    static const int32_t order[] = {1, -3, 2};
    const weft_val a = op_i32(g, OP_DIMS(2, 3, 1), x);
    op_expect_dims(g, weft_permute(g, a, order), OP_DIMS(3, 2, 1));
    op_expect_bytes(g, weft_permute(g, a, order), WEFT_I32, y, 6);
    op_expect_bytes(g, weft_transpose(g, op_i32(g, OP_DIMS(2, 3), x)), WEFT_I32, y, 6);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    static const int32_t order[] = {2, 0, 1};
    const weft_val x = op_ramp(g, OP_DIMS(2, 3, 2));
    op_check_gradient(g, op_loss(g, weft_permute(g, weft_mul(g, x, x), order)), x);
}

static void refuses_an_axis_twice(void **state)
{
    weft_graph *g = *state;
    static const int32_t order[] = {0, 0};
    op_expect_error(g, weft_permute(g, op_ramp(g, OP_DIMS(2, 3)), order), WEFT_ERR_ATTR,
                    "permute: order is [0,0], expected each axis of [2,3] once");
}

static void refuses_to_transpose_a_vector(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_transpose(g, op_ramp(g, OP_DIMS(3))), WEFT_ERR_SHAPE,
                    "permute: transpose of [3], expected 2 axes or more");
}

const struct CMUnitTest wf_tests_permute[] = {
    OP_TEST(moves_axes),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_an_axis_twice),
    OP_TEST(refuses_to_transpose_a_vector),
};
const unsigned long wf_n_tests_permute = WF_N_TESTS(wf_tests_permute);
