// window_max_grad: ties, overlapping windows in ascending order, no second order.
#include "op_run.h"

static void gives_to_the_lowest_of_equals(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {3, 3, 1, 1};
    static const int64_t two[] = {2};
    weft_val grad;
    const weft_val v = op_f32(g, OP_DIMS(1, 1, 4), x);
    weft_grad(g, op_loss(g, weft_max_pool(g, v, two, NULL)), &v, 1, &grad);
    // op_loss weighs outputs by (3 - 5) / 4 + 1/8 and (10 - 5) / 4 + 1/8.
    static const float expected[] = {-0.375f, 0, 1.375f, 0};
    op_expect_f32(g, grad, expected, 4);
}

static void adds_windows_in_order(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {0, 9, 0}, dy[] = {0x1p24f, 1.0f}, dx[] = {0, 0x1p24f, 0};
    static const int64_t two[] = {2}, one[] = {1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    weft_val grad;
    o.stride = one;
    const weft_val v = op_f32(g, OP_DIMS(1, 1, 3), x);
    const weft_val y = weft_max_pool(g, v, two, &o);
    const weft_val loss =
        weft_sum(g, weft_mul(g, y, op_f32(g, OP_DIMS(1, 1, 2), dy)), NULL, 0, false);
    weft_grad(g, loss, &v, 1, &grad);
    op_expect_f32(g, grad, dx, 3);
}

static void has_no_second_order(void **state)
{
    weft_graph *g = *state;
    static const int64_t two[] = {2};
    weft_val dx, second;
    const weft_val x = op_ramp(g, OP_DIMS(1, 1, 4)), y = weft_max_pool(g, x, two, NULL);
    weft_grad(g, weft_sum(g, weft_mul(g, y, y), NULL, 0, false), &x, 1, &dx);
    weft_grad(g, weft_sum(g, dx, NULL, 0, false), &x, 1, &second);
    assert_int_equal(weft_graph_status(g, NULL), WEFT_ERR_GRADIENT);
}

const struct CMUnitTest wf_tests_window_max_grad[] = {
    OP_TEST(gives_to_the_lowest_of_equals),
    OP_TEST(adds_windows_in_order),
    OP_TEST(has_no_second_order),
};
const unsigned long wf_n_tests_window_max_grad = WF_N_TESTS(wf_tests_window_max_grad);
