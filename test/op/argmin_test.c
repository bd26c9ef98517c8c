// argmin: the lowest index of equals, NaN, the least integers, as itself and as it is expanded, errors.
#include "op_run.h"

// By the op's own eval, and by the expansion that devices run.
static void expect_both(weft_graph *g, weft_val x, int32_t axis, const int32_t *expected, size_t n)
{
    weft_val expanded[1] = {WEFT_NONE};
    const weft_val y = weft_argmin(g, x, axis, true);
    const wf_node *node = wf_graph_producer(g, y.id);
    const weft_type in = weft_val_type(g, x), out = weft_val_type(g, y);
    const wf_node_info info = {node->op, 1, &in, 1, &out, node->attrs};
    op_expect_bytes(g, y, WEFT_I32, expected, n);
    node->op->expand(g, &info, &x, expanded);
    op_expect_bytes(g, expanded[0], WEFT_I32, expected, n);
}

static void finds_the_first_least(void **state)
{
    static const float x[] = {1.0f, -3.0f, -3.0f, NAN, -INFINITY, NAN, -0.0f, 0.0f, 1.0f};
    static const int32_t rows[] = {1, 0, 0}, columns[] = {1, 1, 1};
    const weft_val a = op_f32(*state, OP_DIMS(3, 3), x);
    expect_both(*state, a, 1, rows, 3);
    expect_both(*state, a, -2, columns, 3);
}

static void works_on_integers(void **state)
{
    weft_graph *g = *state;
    static const int64_t x[] = {INT64_MAX, INT64_MIN, INT64_MIN};
    static const uint8_t u[] = {0, 255, 0, 7, 3, 200};
    static const uint8_t b[] = {1, 1, 0};
    static const int32_t y[] = {1}, yu[] = {0, 1}, yb[] = {2};
    expect_both(g, weft_constant(g, WEFT_I64, OP_DIMS(3), x), 0, y, 1);
    expect_both(g, weft_constant(g, WEFT_U8, OP_DIMS(2, 3), u), 1, yu, 2);
    expect_both(g, weft_constant(g, WEFT_BOOL, OP_DIMS(3), b), 0, yb, 1);
}

static void drops_the_axis(void **state)
{
    weft_graph *g = *state;
    op_expect_dims(g, weft_argmin(g, op_ramp(g, OP_DIMS(2, 3, 4)), 1, false), OP_DIMS(2, 4));
}

static void refuses_nothing(void **state)
{
    weft_graph *g = *state;
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(2, 0), NULL);
    op_expect_error(g, weft_argmin(g, empty, 1, false), WEFT_ERR_SHAPE,
                    "argmin: nothing to reduce, x is [2,0], expected sizes above 0");
}

static void refuses_half(void **state)
{
    weft_graph *g = *state;
    const weft_val x = weft_cast(g, op_ramp(g, OP_DIMS(2)), WEFT_F16);
    op_expect_error(g, weft_argmin(g, x, 0, false), WEFT_ERR_DTYPE,
                    "argmin: x is f16[2], expected f32 i8 u8 i32 i64 bool");
}

const struct CMUnitTest wf_tests_argmin[] = {
    OP_TEST(finds_the_first_least), OP_TEST(works_on_integers), OP_TEST(drops_the_axis),
    OP_TEST(refuses_nothing),       OP_TEST(refuses_half),
};
const unsigned long wf_n_tests_argmin = WF_N_TESTS(wf_tests_argmin);
