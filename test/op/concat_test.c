// concat: joins along axes, also empty ones, gradient, errors.
#include "op_run.h"

static void joins(void **state)
{
    weft_graph *g = *state;
    static const int32_t a[] = {1, 2, 3, 4}, b[] = {5, 6}, y[] = {1, 2, 5, 3, 4, 6};
    const weft_val xs[] = {op_i32(g, OP_DIMS(2, 2), a), op_i32(g, OP_DIMS(2, 0), NULL),
                           op_i32(g, OP_DIMS(2, 1), b)};
    const weft_val joined = weft_concat(g, xs, 3, -1);
    op_expect_dims(g, joined, OP_DIMS(2, 3));
    op_expect_bytes(g, joined, WEFT_I32, y, 6);
    op_expect_bytes(g, weft_concat(g, xs, 1, 0), WEFT_I32, a, 4);
}

static void places_its_operands(void **state)
{
    weft_graph *g = *state;
    const weft_val xs[] = {op_ramp(g, OP_DIMS(2, 3)), op_ramp(g, OP_DIMS(2, 1)),
                           op_ramp(g, OP_DIMS(2, 2))};
    const wf_node *node = wf_graph_producer(g, weft_concat(g, xs, 3, 1).id);
    const weft_type in[] = {*wf_graph_type(g, xs[0].id), *wf_graph_type(g, xs[1].id),
                            *wf_graph_type(g, xs[2].id)};
    const weft_type out = *wf_graph_type(g, node->first_output);
    const wf_node_info info = {node->op, 3, in, 1, &out, node->attrs};
    int64_t start[WEFT_MAX_DIM];
    node->op->place(&info, 2, start);
    assert_int_equal(start[0], 0);
    assert_int_equal(start[1], 4);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 2)), b = op_ramp(g, OP_DIMS(1, 2));
    const weft_val xs[] = {weft_mul(g, a, a), weft_mul(g, b, b), a};
    const weft_val loss = op_loss(g, weft_concat(g, xs, 3, 0));
    op_check_gradient(g, loss, a);
    op_check_gradient(g, loss, b);
}

static void refuses_other_shapes(void **state)
{
    weft_graph *g = *state;
    const weft_val xs[] = {op_ramp(g, OP_DIMS(2, 2)), op_ramp(g, OP_DIMS(3, 1))};
    op_expect_error(g, weft_concat(g, xs, 2, 1), WEFT_ERR_SHAPE,
                    "concat: operands differ, operand 0 is f32[2,2], operand 1 is f32[3,1]");
}

static void refuses_no_operands(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_concat(g, NULL, 0, 1), WEFT_ERR_USAGE,
                    "concat: no operands, expected 1 or more");
}

const struct CMUnitTest wf_tests_concat[] = {
    OP_TEST(joins),
    OP_TEST(places_its_operands),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_other_shapes),
    OP_TEST(refuses_no_operands),
};
const unsigned long wf_n_tests_concat = WF_N_TESTS(wf_tests_concat);
