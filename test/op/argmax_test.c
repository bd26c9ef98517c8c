// argmax: the lowest index of equals, NaN, errors.
#include "op_run.h"

static void finds_the_first_greatest(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, 3.0f, 3.0f, NAN, INFINITY, NAN, -0.0f, 0.0f, -1.0f};
    static const int32_t rows[] = {1, 0, 0}, columns[] = {1, 1, 1};
    const weft_val a = op_f32(g, OP_DIMS(3, 3), x);
    op_expect_bytes(g, weft_argmax(g, a, 1, false), WEFT_I32, rows, 3);
    const weft_val y = weft_argmax(g, a, -2, true);
    op_expect_dims(g, y, OP_DIMS(1, 3));
    op_expect_bytes(g, y, WEFT_I32, columns, 3);
}

static void works_on_integers(void **state)
{
    weft_graph *g = *state;
    static const int64_t x[] = {INT64_MIN, INT64_MAX, INT64_MAX};
    static const int32_t y[] = {1};
    const weft_val a = weft_constant(g, WEFT_I64, OP_DIMS(3), x);
    op_expect_bytes(g, weft_argmax(g, a, 0, false), WEFT_I32, y, 1);
}

static void refuses_nothing(void **state)
{
    weft_graph *g = *state;
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(2, 0), NULL);
    op_expect_error(g, weft_argmax(g, empty, 1, false), WEFT_ERR_SHAPE,
                    "argmax: nothing to reduce, x is [2,0], expected sizes above 0");
}

static void refuses_an_axis(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_argmax(g, op_ramp(g, OP_DIMS(2, 3)), -3, false), WEFT_ERR_SHAPE,
                    "argmax: axis -3 is out of range, x is [2,3]");
}

const struct CMUnitTest wf_tests_argmax[] = {
    OP_TEST(finds_the_first_greatest),
    OP_TEST(works_on_integers),
    OP_TEST(refuses_nothing),
    OP_TEST(refuses_an_axis),
};
const unsigned long wf_n_tests_argmax = WF_N_TESTS(wf_tests_argmax);
