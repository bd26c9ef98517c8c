// conv: values, padding, groups, dilation, the order of terms, gradients of both orders, errors.
#include "op_run.h"

static void adds_products_in_windows(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, w[] = {1, 10, 100, 1000};
    static const float y[] = {5421, 6532, 8754, 9865};
    const weft_val v =
        weft_conv(g, op_f32(g, OP_DIMS(1, 1, 3, 3), x), op_f32(g, OP_DIMS(1, 1, 2, 2), w), NULL);
    op_expect_dims(g, v, OP_DIMS(1, 1, 2, 2));
    op_expect_f32(g, v, y, OP_COUNT(y));
}

// SAME padding of an even total: 1..6 with [1 1 1], stride 2, pads (0,1) and (1,0).
static void pads_unevenly(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4, 5, 6}, w[] = {1, 1, 1};
    static const float upper[] = {6, 12, 11}, lower[] = {3, 9, 15};
    static const int64_t zero[] = {0}, one[] = {1}, two[] = {2};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    const weft_val a = op_f32(g, OP_DIMS(1, 1, 6), x), b = op_f32(g, OP_DIMS(1, 1, 3), w);
    o.stride = two;
    o.pad_before = zero;
    o.pad_after = one;
    op_expect_f32(g, weft_conv(g, a, b, &o), upper, 3);
    o.pad_before = one;
    o.pad_after = zero;
    op_expect_f32(g, weft_conv(g, a, b, &o), lower, 3);
}

static void keeps_groups_apart(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 10, 20}, w[] = {1, 1, 2, 3, 1, 1, 1, 2};
    static const float y[] = {3, 8, 30, 50};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.groups = 2;
    const weft_val v =
        weft_conv(g, op_f32(g, OP_DIMS(1, 2, 2), x), op_f32(g, OP_DIMS(4, 1, 2), w), &o);
    op_expect_f32(g, v, y, OP_COUNT(y));
}

static void spreads_the_window_by_dilation(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4, 5, 6, 7}, w[] = {1, 10, 100};
    static const float y[] = {741};
    static const int64_t three[] = {3};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.dilation = three;
    op_expect_f32(
        g, weft_conv(g, op_f32(g, OP_DIMS(1, 1, 7), x), op_f32(g, OP_DIMS(1, 1, 3), w), &o), y, 1);
}

// 2^24 + 1 + 1 - 2^24 tells where a term stands: cells of the window first, channels last.
static void adds_cells_before_channels(void **state)
{
    weft_graph *g = *state;
    // Terms in order (r0,c0) (r0,c1) (r1,c0) (r1,c1).
    static const float x[] = {0x1p24f, -0x1p24f, 1.0f, 1.0f}, ones[] = {1, 1, 1, 1};
    static const float y[] = {1.0f}; // 2^24 + 1 = 2^24; - 2^24 = 0; + 1
    op_expect_f32(
        g, weft_conv(g, op_f32(g, OP_DIMS(1, 2, 2), x), op_f32(g, OP_DIMS(1, 2, 2), ones), NULL), y,
        1);
}

static void lets_padding_meet_infinite_weights(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2}, w[] = {INFINITY, 1, 1};
    static const float y[] = {NAN, INFINITY};
    static const int64_t one[] = {1};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.pad_before = one;
    op_expect_f32(
        g, weft_conv(g, op_f32(g, OP_DIMS(1, 1, 2), x), op_f32(g, OP_DIMS(1, 1, 3), w), &o), y, 2);
}

static void gives_plus_zero_without_channels(void **state)
{
    weft_graph *g = *state;
    static const float y[] = {0, 0, 0, 0};
    const weft_val v =
        weft_conv(g, op_ramp(g, OP_DIMS(1, 0, 3)), op_ramp(g, OP_DIMS(2, 0, 2)), NULL);
    op_expect_f32(g, v, y, OP_COUNT(y));
}

// The gradient by a of the square of the gradient by b: second order. The op is bilinear, so each first
// gradient depends on the other operand.
static void check_mixed(weft_graph *g, weft_val loss, weft_val a, weft_val b)
{
    weft_val db;
    weft_grad(g, loss, &b, 1, &db);
    op_check_gradient(g, weft_sum(g, weft_mul(g, db, db), NULL, 0, false), a);
}

static void check_gradients(weft_graph *g, weft_val x, weft_val w, const weft_conv_options *o)
{
    const weft_val loss = op_loss(g, weft_conv(g, x, w, o));
    op_check_gradient(g, loss, x);
    op_check_gradient(g, loss, w);
    check_mixed(g, loss, w, x);
    check_mixed(g, loss, x, w);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    static const int64_t stride[] = {2, 1}, before[] = {1, 0}, after[] = {0, 2},
                         dilation[] = {1, 2};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = before;
    o.pad_after = after;
    o.dilation = dilation;
    o.groups = 2;
    check_gradients(g, op_ramp(g, OP_DIMS(1, 2, 4, 4)), op_ramp(g, OP_DIMS(4, 1, 2, 2)), &o);
}

static void has_its_gradients_in_3d(void **state)
{
    weft_graph *g = *state;
    static const int64_t stride[] = {1, 2, 1}, pad[] = {1, 0, 1};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = stride;
    o.pad_before = pad;
    check_gradients(g, op_ramp(g, OP_DIMS(1, 1, 2, 4, 3)), op_ramp(g, OP_DIMS(2, 1, 2, 2, 2)), &o);
}

static void refuses_channels(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(1, 3, 4, 4)), w = op_ramp(g, OP_DIMS(2, 2, 1, 1));
    op_expect_error(
        g, weft_conv(g, x, w, NULL), WEFT_ERR_SHAPE,
        "conv: channels do not fit, x is f32[1,3,4,4], w is f32[2,2,1,1], groups 1, expected "
        "x [n,c,..], w [k,c/groups,..], y [n,k,..] and groups dividing c and k");
}

static void refuses_large_windows(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(1, 1, 4, 2)), w = op_ramp(g, OP_DIMS(1, 1, 3, 3));
    op_expect_error(
        g, weft_conv(g, x, w, NULL), WEFT_ERR_SHAPE,
        "conv: the window spans 3 on spatial axis 1, expected at most the input with its "
        "padding, 2 + 0 + 0");
}

static void refuses_ranks(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(4, 2));
    op_expect_error(
        g, weft_conv(g, x, x, NULL), WEFT_ERR_SHAPE,
        "conv: x is f32[4,2], w is f32[4,2], expected both with 1 to 3 spatial axes behind "
        "two others");
}

static void refuses_attributes(void **state)
{
    weft_graph *g = *state;
    static const int64_t zero[] = {1, 0};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = zero;
    const weft_val x = op_ramp(g, OP_DIMS(1, 1, 4, 2)), w = op_ramp(g, OP_DIMS(1, 1, 1, 1));
    op_expect_error(g, weft_conv(g, x, w, &o), WEFT_ERR_ATTR,
                    "conv: stride[1] is 0, expected 1 to 2147483647");
}

static void refuses_dtypes(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(1, 1, 4));
    op_expect_error(g, weft_conv(g, x, weft_cast(g, x, WEFT_I32), NULL), WEFT_ERR_DTYPE,
                    "conv: x is f32[1,1,4], w is i32[1,1,4], expected f32");
}

const struct CMUnitTest wf_tests_conv[] = {
    OP_TEST(adds_products_in_windows),
    OP_TEST(pads_unevenly),
    OP_TEST(keeps_groups_apart),
    OP_TEST(spreads_the_window_by_dilation),
    OP_TEST(adds_cells_before_channels),
    OP_TEST(lets_padding_meet_infinite_weights),
    OP_TEST(gives_plus_zero_without_channels),
    OP_TEST(has_its_gradients),
    OP_TEST(has_its_gradients_in_3d),
    OP_TEST(refuses_channels),
    OP_TEST(refuses_large_windows),
    OP_TEST(refuses_ranks),
    OP_TEST(refuses_attributes),
    OP_TEST(refuses_dtypes),
};
const unsigned long wf_n_tests_conv = WF_N_TESTS(wf_tests_conv);
