// window_max_grad: ties, overlapping windows in ascending order, second order.
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

// One to three axes, overlapping windows, padding, dilation.
static void has_a_second_order(void **state)
{
    weft_graph *g = *state;
    static const int64_t window[] = {2, 3, 2}, stride[] = {1, 2, 1}, pad[] = {1, 1, 0},
                         dilation[] = {2, 1, 1};
    const weft_val xs[] = {op_ramp(g, OP_DIMS(2, 3, 5)), op_ramp(g, OP_DIMS(1, 2, 4, 5)),
                           op_ramp(g, OP_DIMS(1, 2, 3, 3, 2))};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.dilation = dilation;
    for (size_t i = 0; i < OP_COUNT(xs); i++) {
        const weft_val y = weft_max_pool(g, weft_tanh(g, xs[i]), window, &o);
        const weft_val loss = op_loss(g, y);
        op_check_gradient(g, loss, xs[i]);
        op_check_second(g, weft_mul(g, loss, loss), xs[i]);
    }
}

const struct CMUnitTest wf_tests_window_max_grad[] = {
    OP_TEST(gives_to_the_lowest_of_equals),
    OP_TEST(adds_windows_in_order),
    OP_TEST(has_a_second_order),
};
const unsigned long wf_n_tests_window_max_grad = WF_N_TESTS(wf_tests_window_max_grad);
