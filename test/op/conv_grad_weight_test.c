// conv_grad_weight: values, the order of terms, gradients, errors.
#include "op_run.h"

static void correlates_input_and_gradient(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4}, dy[] = {1, 10, 100}, dw[] = {321, 432};
    static const int64_t window[] = {2};
    const weft_val v = weft_conv_grad_weight(g, op_f32(g, OP_DIMS(1, 1, 4), x),
                                             op_f32(g, OP_DIMS(1, 1, 3), dy), window, NULL);
    op_expect_dims(g, v, OP_DIMS(1, 1, 2));
    op_expect_f32(g, v, dw, OP_COUNT(dw));
}

// Samples first, then cells: 2^24 + 1 - 2^24 + 1.
static void adds_samples_in_order(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {0x1p24f, 1.0f, -0x1p24f, 1.0f}, ones[] = {1, 1, 1, 1}, dw[] = {1.0f};
    static const int64_t window[] = {1};
    op_expect_f32(g,
                  weft_conv_grad_weight(g, op_f32(g, OP_DIMS(2, 1, 2), x),
                                        op_f32(g, OP_DIMS(2, 1, 2), ones), window, NULL),
                  dw, 1);
}

static void gives_plus_zero_for_no_samples(void **state)
{
    weft_graph *g = *state;
    static const float dw[] = {0, 0};
    static const int64_t window[] = {2};
    op_expect_f32(g,
                  weft_conv_grad_weight(g, op_ramp(g, OP_DIMS(0, 1, 4)),
                                        op_ramp(g, OP_DIMS(0, 1, 3)), window, NULL),
                  dw, 2);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    static const int64_t window[] = {2, 3}, pad[] = {1, 1};
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.pad_before = pad;
    const weft_val x = op_ramp(g, OP_DIMS(2, 1, 2, 3)), dy = op_ramp(g, OP_DIMS(2, 2, 3, 3));
    const weft_val loss = op_loss(g, weft_conv_grad_weight(g, x, dy, window, &o));
    op_check_gradient(g, loss, x);
    op_check_gradient(g, loss, dy);
    op_check_second(g, weft_mul(g, loss, loss), dy);
}

static void refuses_batches(void **state)
{
    weft_graph *g = *state;
    static const int64_t window[] = {2};
    const weft_val x = op_ramp(g, OP_DIMS(2, 1, 4)), dy = op_ramp(g, OP_DIMS(1, 1, 3));
    op_expect_error(
        g, weft_conv_grad_weight(g, x, dy, window, NULL), WEFT_ERR_SHAPE,
        "conv_grad_weight: channels do not fit, x is f32[2,1,4], dy is f32[1,1,3], groups 1, "
        "expected x [n,c,..], w [k,c/groups,..], y [n,k,..] and groups dividing c and k");
}

const struct CMUnitTest wf_tests_conv_grad_weight[] = {
    OP_TEST(correlates_input_and_gradient),
    OP_TEST(adds_samples_in_order),
    OP_TEST(gives_plus_zero_for_no_samples),
    OP_TEST(has_its_gradients),
    OP_TEST(refuses_batches),
};
const unsigned long wf_n_tests_conv_grad_weight = WF_N_TESTS(wf_tests_conv_grad_weight);
