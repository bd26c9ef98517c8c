// window_mean_grad: each window's share, overlaps in ascending order.
#include "op_run.h"

static void gives_each_cell_its_share(void **state)
{
    weft_graph *g = *state;
    static const float dy[] = {0x1p26f, 4.0f}, dx[] = {0x1p25f, 0x1p25f, 2.0f};
    static const int64_t two[] = {2}, one[] = {1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    weft_val grad;
    o.stride = one;
    const weft_val x = op_ramp(g, OP_DIMS(1, 1, 3));
    const weft_val y = weft_mean_pool(g, x, two, &o);
    const weft_val loss =
        weft_sum(g, weft_mul(g, y, op_f32(g, OP_DIMS(1, 1, 2), dy)), NULL, 0, false);
    weft_grad(g, loss, &x, 1, &grad);
    op_expect_f32(g, grad, dx, 3); // 2^25 + 2 rounds to 2^25
}

static void divides_by_each_windows_own_count(void **state)
{
    weft_graph *g = *state;
    static const float dy[] = {6, 6}, dx[] = {3, 6, 3};
    static const int64_t three[] = {3}, two[] = {2}, one[] = {1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    weft_val grad;
    o.stride = two;
    o.pad_before = one;
    const weft_val x = op_ramp(g, OP_DIMS(1, 1, 3));
    const weft_val y = weft_mean_pool(g, x, three, &o);
    const weft_val loss =
        weft_sum(g, weft_mul(g, y, op_f32(g, OP_DIMS(1, 1, 2), dy)), NULL, 0, false);
    weft_grad(g, loss, &x, 1, &grad);
    op_expect_f32(g, grad, dx, 3);
}

const struct CMUnitTest wf_tests_window_mean_grad[] = {
    OP_TEST(gives_each_cell_its_share),
    OP_TEST(divides_by_each_windows_own_count),
};
const unsigned long wf_n_tests_window_mean_grad = WF_N_TESTS(wf_tests_window_mean_grad);
