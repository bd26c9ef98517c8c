// window_max: values, ties, NaN, padding, ceil_mode, gradient, errors.
#include "op_run.h"

static void takes_the_greatest(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 5, 2, 4, 3, 0, 8, 7, 6, 9, -1, -2, 0, 1, 2, 3}, y[] = {5, 8, 9, 3};
    static const uint8_t where[] = {1, 2, 1, 3};
    static const int64_t two[] = {2, 2};
    const weft_val v = weft_max_pool(g, op_f32(g, OP_DIMS(1, 1, 4, 4), x), two, NULL);
    op_expect_f32(g, v, y, OP_COUNT(y));
    op_expect_bytes(g, wf_val_output(v, 1), WEFT_U8, where, OP_COUNT(where));
}

static void orders_equals_zeros_and_nans(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {2, 2, -0.0f, 0, NAN, 9, 9, NAN, NAN, NAN, -INFINITY, -INFINITY};
    static const float y[] = {2, 0, NAN, NAN, NAN, -INFINITY};
    static const uint8_t where[] = {0, 1, 0, 1, 0, 0};
    static const int64_t two[] = {2};
    const weft_val v = weft_max_pool(g, op_f32(g, OP_DIMS(1, 1, 12), x), two, NULL);
    op_expect_f32(g, v, y, OP_COUNT(y));
    op_expect_bytes(g, wf_val_output(v, 1), WEFT_U8, where, OP_COUNT(where));
}

static void ignores_padding(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {-3, -2, -5}, y[] = {-2, -2};
    static const int64_t three[] = {3}, two[] = {2}, one[] = {1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = two;
    o.pad_before = one;
    op_expect_f32(g, weft_max_pool(g, op_f32(g, OP_DIMS(1, 1, 3), x), three, &o), y, 2);
}

// Windows that would start in the right padding are dropped.
static void drops_windows_in_ceil_mode(void **state)
{
    weft_graph *g = *state;
    static const int64_t table[][5] = {
        // n, window, stride, pad, outputs
        {2, 1, 2, 0, 1}, {5, 1, 3, 0, 2}, {2, 2, 3, 1, 1},
        {3, 2, 2, 1, 2}, {5, 2, 2, 0, 3}, {1, 2, 2, 0, 1},
    };
    for (size_t i = 0; i < OP_COUNT(table); i++) {
        weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
        o.stride = &table[i][2];
        o.pad_before = &table[i][3];
        o.ceil_mode = true;
        const weft_val x = op_ramp(g, OP_DIMS(1, 1, table[i][0]));
        const weft_val most = weft_max_pool(g, x, &table[i][1], &o);
        const weft_val mean = weft_mean_pool(g, x, &table[i][1], &o);
        op_expect_dims(g, most, OP_DIMS(1, 1, table[i][4]));
        op_expect_dims(g, mean, OP_DIMS(1, 1, table[i][4]));
        op_values v = op_run(g, mean, false);
        for (int64_t k = 0; k < table[i][4]; k++) {
            assert_true(isfinite(((const float *)v.data[most.id])[k]));
            assert_true(isfinite(((const float *)v.data[mean.id])[k]));
        }
        op_values_free(&v);
    }
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    static const int64_t three[] = {3, 2}, stride[] = {1, 2}, pad[] = {1, 1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    const weft_val x = op_ramp(g, OP_DIMS(2, 1, 4, 5));
    op_check_gradient(g, op_loss(g, weft_max_pool(g, x, three, &o)), x);
}

static void refuses_large_windows(void **state)
{
    weft_graph *g = *state;
    static const int64_t window[] = {257};
    const weft_val x = weft_fill(g, WEFT_F32, OP_DIMS(1, 1, 300), 0.0);
    op_expect_error(
        g, weft_max_pool(g, x, window, NULL), WEFT_ERR_UNSUPPORTED,
        "window_max: the window has 257 cells, expected at most 256, reduce_max has no limit");
}

static void refuses_windows_in_padding(void **state)
{
    weft_graph *g = *state;
    static const int64_t one[] = {1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.pad_before = one;
    op_expect_error(
        g, weft_max_pool(g, op_ramp(g, OP_DIMS(1, 1, 3)), one, &o), WEFT_ERR_SHAPE,
        "window_max: window 4 of spatial axis 0 starts behind the input, expected fewer "
        "windows over 3 + 1");
}

static void refuses_holes_over_the_input(void **state)
{
    weft_graph *g = *state;
    static const int64_t one[] = {1}, two[] = {2};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.pad_before = one;
    o.dilation = two;
    o.stride = one;
    op_expect_error(
        g, weft_max_pool(g, op_ramp(g, OP_DIMS(1, 1, 1)), two, &o), WEFT_ERR_SHAPE,
        "window_max: window 0 of spatial axis 0 lies in the padding only, pad_before is 1, the "
        "window spans 3, the input is 1");
}

const struct CMUnitTest wf_tests_window_max[] = {
    OP_TEST(takes_the_greatest),
    OP_TEST(orders_equals_zeros_and_nans),
    OP_TEST(ignores_padding),
    OP_TEST(drops_windows_in_ceil_mode),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_large_windows),
    OP_TEST(refuses_windows_in_padding),
    OP_TEST(refuses_holes_over_the_input),
};
const unsigned long wf_n_tests_window_max = WF_N_TESTS(wf_tests_window_max);
