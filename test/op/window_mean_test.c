// window_mean: what a window is divided by, gradients, errors.
#include "op_run.h"

static void expect_near(weft_graph *g, weft_val v, const float *expected, size_t n)
{
    op_values r = op_run(g, v, false);
    assert_int_equal(weft_val_count(g, v), n);
    for (size_t i = 0; i < n; i++) {
        const float got = ((const float *)r.data[v.id])[i];
        if (!(fabsf(got - expected[i]) <= 1e-6f * fmaxf(1.0f, fabsf(expected[i])))) {
            fail_msg("element %zu is %.9g, expected %.9g", i, (double)got, (double)expected[i]);
        }
    }
    op_values_free(&r);
}

// A last window that ceil_mode cuts is divided by its cells within the padded input (ONNX Runtime divided
// by the window).
static void divides_a_cut_window_by_its_cells(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {2.0903f, 4.6493f,  1.6320f,  -3.2051f, 4.6975f,  4.7296f,
                              3.3653f, -1.5815f, -2.3832f, 0.9628f,  -1.5899f, -2.6820f,
                              5.7529f, 7.7346f,  -0.8910f, -2.0151f, 0.1313f,  -0.5374f};
    static const float y[] = {0.7380714f, 2.5655571f, 0.8032286f, -0.0999f};
    static const int64_t window[] = {7}, stride[] = {3}, pad[] = {3};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.ceil_mode = true;
    o.count_include_pad = true;
    const weft_val v = weft_mean_pool(g, op_f32(g, OP_DIMS(1, 2, 9), x), window, &o);
    op_expect_dims(g, v, OP_DIMS(1, 2, 4));
    static const int64_t from[] = {0, 0, 0}, to[] = {1, 1, 4};
    expect_near(g, weft_slice(g, v, from, to, NULL), y, 4);
    static const int64_t from2[] = {0, 1, 2}, to2[] = {1, 2, 4};
    static const float y2[] = {1.4536143f, -0.4035333f};
    expect_near(g, weft_slice(g, v, from2, to2, NULL), y2, 2);
}

static void counts_pads_or_not(void **state)
{
    weft_graph *g = *state;
    float x[16];
    for (int i = 0; i < 16; i++) {
        x[i] = (float)(i + 1);
    }
    static const float counted[] = {1.5555556f, 3.3333333f, 2, 6.3333333f, 11, 6, 4.5f, 7.5f, 4};
    static const float plain[] = {3.5f, 5, 6, 9.5f, 11, 12, 13.5f, 15, 16};
    static const int64_t window[] = {3, 3}, stride[] = {2, 2}, pad[] = {1, 1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.ceil_mode = true;
    const weft_val v = op_f32(g, OP_DIMS(1, 1, 4, 4), x);
    expect_near(g, weft_mean_pool(g, v, window, &o), plain, 9);
    o.count_include_pad = true;
    expect_near(g, weft_mean_pool(g, v, window, &o), counted, 9);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    static const int64_t window[] = {3, 2}, stride[] = {2, 1}, pad[] = {1, 1};
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    o.ceil_mode = true;
    for (int i = 0; i < 2; i++) {
        o.count_include_pad = i == 1;
        const weft_val x = op_ramp(g, OP_DIMS(1, 2, 4, 5));
        const weft_val loss = op_loss(g, weft_mean_pool(g, x, window, &o));
        op_check_gradient(g, loss, x);
        op_check_second(g, weft_mul(g, loss, loss), x);
    }
}

static void refuses_windows_above_the_input(void **state)
{
    weft_graph *g = *state;
    static const int64_t window[] = {5};
    op_expect_error(
        g, weft_mean_pool(g, op_ramp(g, OP_DIMS(1, 1, 4)), window, NULL), WEFT_ERR_SHAPE,
        "window_mean: the window spans 5 on spatial axis 0, expected at most the input with its "
        "padding, 4 + 0 + 0");
}

const struct CMUnitTest wf_tests_window_mean[] = {
    OP_TEST(divides_a_cut_window_by_its_cells),
    OP_TEST(counts_pads_or_not),
    OP_TEST(has_its_gradients),
    OP_TEST(refuses_windows_above_the_input),
};
const unsigned long wf_n_tests_window_mean = WF_N_TESTS(wf_tests_window_mean);
