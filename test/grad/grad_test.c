// The gradient walk: order of contributions, zeros, second order, errors. The rules of the ops are
// tested with the ops and by weft check.
#include "../graph/graph_kit.h"

static void adds_contributions_in_node_order(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, NULL, 0);
    // loss = exp(x) + sin(x) + tanh(x), consumers of x in this order
    const weft_val a = weft_exp(g, x), b = weft_sin(g, x), c = weft_tanh(g, x);
    const weft_val loss = weft_add(g, weft_add(g, a, b), c);
    weft_val dx;
    weft_grad(g, loss, &x, 1, &dx);
    assert_int_equal(weft_graph_status(g, NULL), WEFT_OK);
    // ((d exp + d sin) + d tanh): the outer add's left side is the inner add, whose left side is exp's
    const wf_node *outer = wf_graph_producer(g, dx.id);
    const wf_node *inner = wf_graph_producer(g, outer->inputs[0]);
    assert_string_equal(outer->op->name, "add");
    assert_string_equal(inner->op->name, "add");
    const wf_node *first = wf_graph_producer(g, inner->inputs[0]);
    assert_true(first->inputs[0] == a.id || first->inputs[1] == a.id);
}

static void gives_zeros_where_nothing_flows(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(3)),
                   y = weft_input(g, "y", WEFT_F32, KIT_DIMS(2, 2));
    weft_val grads[2];
    const weft_val wrt[] = {x, y};
    weft_grad(g, weft_sum(g, weft_stop_gradient(g, x), NULL, 0, false), wrt, 2, grads);
    const weft_type t = weft_val_type(g, grads[1]);
    assert_int_equal(t.ndim, 2);
    assert_int_equal(weft_val_count(g, grads[0]), 3);
}

static void differentiates_twice(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(3));
    weft_val dx, ddx;
    weft_grad(g, weft_sum(g, weft_mul(g, x, weft_mul(g, x, x)), NULL, 0, false), &x, 1, &dx);
    weft_grad(g, weft_sum(g, dx, NULL, 0, false), &x, 1, &ddx);
    assert_int_equal(weft_graph_status(g, NULL), WEFT_OK);
    assert_int_equal(weft_val_count(g, ddx), 3);
}

static void refuses_what_is_no_scalar(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(3));
    weft_val dx;
    weft_graph_at(g, NULL, 0, 0);
    weft_grad(g, x, &x, 1, &dx);
    graph_kit_expect_error(g, WEFT_ERR_SHAPE, "gradient: loss is f32[3], expected a scalar f32[]");
    assert_int_equal(dx.id, 0);
}

static void refuses_integers(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_I32, KIT_DIMS(3));
    const weft_val loss = weft_scalar(g, WEFT_F32, 1.0);
    weft_val dx;
    weft_graph_at(g, NULL, 0, 0);
    weft_grad(g, loss, &x, 1, &dx);
    graph_kit_expect_error(g, WEFT_ERR_DTYPE, "gradient: wrt 0 is i32[3], expected floats");
}

const struct CMUnitTest wf_tests_grad[] = {
    KIT_TEST(adds_contributions_in_node_order),
    KIT_TEST(gives_zeros_where_nothing_flows),
    KIT_TEST(differentiates_twice),
    KIT_TEST(refuses_what_is_no_scalar),
    KIT_TEST(refuses_integers),
};
const unsigned long wf_n_tests_grad = WF_N_TESTS(wf_tests_grad);
