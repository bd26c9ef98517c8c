// pad: values around any dtype, gradient, errors.
#include "op_run.h"

static void surrounds(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, 2.0f}, y[] = {0.1f, 0.1f, 1.0f, 0.1f, 2.0f, 0.1f};
    static const int64_t before[] = {1, 0}, after[] = {0, 1}, byte_before[] = {2},
                         byte_after[] = {1};
    static const uint8_t b[] = {7}, z[] = {255, 255, 7, 255};
    const weft_val a = op_f32(g, OP_DIMS(2, 1), x);
    const weft_val wide = weft_pad(g, a, before, after, 0.1);
    op_expect_dims(g, wide, OP_DIMS(3, 2));
    op_expect_f32(g, wide, y, 6);
    const weft_val byte = weft_constant(g, WEFT_U8, OP_DIMS(1), b);
    op_expect_bytes(g, weft_pad(g, byte, byte_before, byte_after, 255.0), WEFT_U8, z, 4);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    static const int64_t before[] = {1, 0}, after[] = {2, 3};
    const weft_val x = op_ramp(g, OP_DIMS(2, 2));
    op_check_gradient(g, op_loss(g, weft_pad(g, weft_mul(g, x, x), before, after, 3.0)), x);
}

static void refuses_negative_sizes(void **state)
{
    weft_graph *g = *state;
    static const int64_t before[] = {-1}, after[] = {0};
    op_expect_error(g, weft_pad(g, op_ramp(g, OP_DIMS(3)), before, after, 0.0), WEFT_ERR_ATTR,
                    "pad: before is [-1], expected sizes of 0 or more");
}

static void refuses_a_value_that_does_not_fit(void **state)
{
    weft_graph *g = *state;
    static const int64_t one[] = {1};
    const weft_val x = weft_fill(g, WEFT_U8, OP_DIMS(3), 1.0);
    op_expect_error(g, weft_pad(g, x, one, one, -1.0), WEFT_ERR_ATTR, "pad: value -1 is no u8");
}

const struct CMUnitTest wf_tests_pad[] = {
    OP_TEST(surrounds),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_negative_sizes),
    OP_TEST(refuses_a_value_that_does_not_fit),
};
const unsigned long wf_n_tests_pad = WF_N_TESTS(wf_tests_pad);
