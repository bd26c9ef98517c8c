// conv_grad_input: values (a transposed convolution), cells that no window reaches, errors. Its gradients are
// tested with conv's second order and here.
#include "op_run.h"

static void spreads_each_output(void **state)
{
    weft_graph *g = *state;
    static const float dy[] = {1, 2}, w[] = {1, 10, 100};
    static const float dx[] = {1, 10, 102, 20, 200, 0};
    static const int64_t two[] = {2}, size[] = {6};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = two;
    const weft_val v = weft_conv_grad_input(g, op_f32(g, OP_DIMS(1, 1, 2), dy),
                                            op_f32(g, OP_DIMS(1, 1, 3), w), size, &o);
    op_expect_dims(g, v, OP_DIMS(1, 1, 6)); // 5 and 6 cells give the same two outputs
    op_expect_f32(g, v, dx, OP_COUNT(dx));
}

// A hole of the stride is a term with dy = +0: an infinite weight over it shows.
static void counts_holes_as_padding(void **state)
{
    weft_graph *g = *state;
    static const float dy[] = {1, 2}, w[] = {1, INFINITY};
    static const float dx[] = {NAN, INFINITY, NAN, INFINITY};
    static const int64_t two[] = {2}, size[] = {4};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = two;
    op_expect_f32(g,
                  weft_conv_grad_input(g, op_f32(g, OP_DIMS(1, 1, 2), dy),
                                       op_f32(g, OP_DIMS(1, 1, 2), w), size, &o),
                  dx, OP_COUNT(dx));
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    static const int64_t two[] = {2, 2}, size[] = {5, 6};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = two;
    const weft_val dy = op_ramp(g, OP_DIMS(2, 2, 2, 2)), w = op_ramp(g, OP_DIMS(2, 1, 2, 3));
    const weft_val loss = op_loss(g, weft_conv_grad_input(g, dy, w, size, &o));
    op_check_gradient(g, loss, dy);
    op_check_gradient(g, loss, w);
    op_check_second(g, weft_mul(g, loss, loss), w);
}

static void refuses_other_sizes(void **state)
{
    weft_graph *g = *state;
    static const int64_t size[] = {9};
    const weft_val dy = op_ramp(g, OP_DIMS(1, 1, 2)), w = op_ramp(g, OP_DIMS(1, 1, 3));
    op_expect_error(
        g, weft_conv_grad_input(g, dy, w, size, NULL), WEFT_ERR_SHAPE,
        "conv_grad_input: dy is f32[1,1,2], expected f32[1,1,7], the shape of the convolution");
}

const struct CMUnitTest wf_tests_conv_grad_input[] = {
    OP_TEST(spreads_each_output),
    OP_TEST(counts_holes_as_padding),
    OP_TEST(has_its_gradients),
    OP_TEST(refuses_other_sizes),
};
const unsigned long wf_n_tests_conv_grad_input = WF_N_TESTS(wf_tests_conv_grad_input);
