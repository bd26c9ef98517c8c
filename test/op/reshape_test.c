// reshape: dims, -1, views over strides, gradient, errors.
#include "op_run.h"

static void keeps_the_elements(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {1, 2, 3, 4, 5, 6};
    const weft_val a = op_i32(g, OP_DIMS(2, 3), x);
    const weft_val y = weft_reshape(g, a, OP_DIMS(3, -1, 1));
    op_expect_dims(g, y, OP_DIMS(3, 2, 1));
    op_expect_bytes(g, y, WEFT_I32, x, 6);
    op_expect_dims(g, weft_flatten(g, y, 0), OP_DIMS(6));
    op_expect_dims(g, weft_flatten(g, y, -2), OP_DIMS(3, 2));
    op_expect_dims(g, weft_flatten(g, weft_scalar(g, WEFT_F32, 1.0), 0), OP_DIMS(1));
}

static void works_on_nothing(void **state)
{
    weft_graph *g = *state;
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(4, 0), NULL);
    op_expect_dims(g, weft_reshape(g, empty, OP_DIMS(0, 7)), OP_DIMS(0, 7));
    op_expect_f32(g, weft_reshape(g, empty, OP_DIMS(0, 7)), NULL, 0);
    op_expect_dims(g, weft_reshape(g, empty, OP_DIMS(-1, 2)), OP_DIMS(0, 2));
}

static void is_a_view_where_strides_can_say_it(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(4, 6));
    const weft_val y = weft_reshape(g, x, OP_DIMS(2, 2, 3, 1, 2));
    const wf_node *node = wf_graph_producer(g, y.id);
    const weft_type in_type = *wf_graph_type(g, x.id), out_type = *wf_graph_type(g, y.id);
    const wf_node_info info = {node->op, 1, &in_type, 1, &out_type, node->attrs};
    const wf_strided rows = {2, {4, 6}, {10, 1}, 3}, columns = {2, {4, 6}, {1, 4}, 0};
    const wf_strided repeated = {2, {4, 6}, {0, 0}, 5};
    wf_strided out = {.ndim = 5, .dims = {2, 2, 3, 1, 2}};
    assert_true(node->op->view(&info, &rows, &out));
    static const int64_t strides[] = {20, 10, 2, 2, 1};
    assert_memory_equal(out.strides, strides, sizeof strides);
    assert_int_equal(out.offset, 3);
    assert_true(node->op->view(&info, &columns, &out));
    static const int64_t turned[] = {2, 1, 8, 8, 4};
    assert_memory_equal(out.strides, turned, sizeof turned);
    assert_true(node->op->view(&info, &repeated, &out));
    const weft_val flat = weft_reshape(g, x, OP_DIMS(24));
    const weft_type flat_type = *wf_graph_type(g, flat.id);
    const wf_node_info flat_info = {node->op, 1, &in_type, 1, &flat_type, node->attrs};
    wf_strided line = {.ndim = 1, .dims = {24}};
    assert_false(node->op->view(&flat_info, &rows, &line));
    assert_false(node->op->view(&flat_info, &columns, &line));
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3));
    const weft_val y = weft_reshape(g, weft_mul(g, x, x), OP_DIMS(3, 2));
    op_check_gradient(g, op_loss(g, y), x);
}

static void refuses_counts(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_reshape(g, op_ramp(g, OP_DIMS(2, 3)), OP_DIMS(4, 2)), WEFT_ERR_SHAPE,
                    "reshape: counts differ, x is [2,3], dims are [4,2]");
}

static void refuses_what_does_not_divide(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_reshape(g, op_ramp(g, OP_DIMS(2, 3)), OP_DIMS(4, -1)), WEFT_ERR_SHAPE,
                    "reshape: nothing fits for -1, x is [2,3], dims are [4,-1]");
}

static void refuses_two_open_sizes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_reshape(g, op_ramp(g, OP_DIMS(2, 3)), OP_DIMS(-1, -1)), WEFT_ERR_SHAPE,
                    "reshape: nothing fits for -1, x is [2,3], dims are [-1,-1]");
}

const struct CMUnitTest wf_tests_reshape[] = {
    OP_TEST(keeps_the_elements),
    OP_TEST(works_on_nothing),
    OP_TEST(is_a_view_where_strides_can_say_it),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_counts),
    OP_TEST(refuses_what_does_not_divide),
    OP_TEST(refuses_two_open_sizes),
};
const unsigned long wf_n_tests_reshape = WF_N_TESTS(wf_tests_reshape);
