// slice: ranges, steps, the gradient of steps, errors.
#include "op_run.h"

static void cuts(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {0, 1, 2, 3, 4, 10, 11, 12, 13, 14};
    static const int32_t y[] = {11, 13}, tail[] = {3, 4, 13, 14};
    const weft_val a = op_i32(g, OP_DIMS(2, 5), x);
    static const int64_t start[] = {1, 1}, stop[] = {99, -1}, step[] = {1, 2};
    static const int64_t tail_start[] = {0, -2}, tail_stop[] = {2, INT64_MAX};
    op_expect_bytes(g, weft_slice(g, a, start, stop, step), WEFT_I32, y, 2);
    op_expect_bytes(g, weft_slice(g, a, tail_start, tail_stop, NULL), WEFT_I32, tail, 4);
    static const int64_t none_stop[] = {1, 2};
    op_expect_dims(g, weft_slice(g, a, start, none_stop, NULL), OP_DIMS(0, 1));
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(4, 7));
    static const int64_t start[] = {1, 0}, stop[] = {3, 7};
    static const int64_t steps[][2] = {{1, 1}, {1, 2}, {2, 3}, {1, 4}, {3, 5}};
    for (size_t i = 0; i < OP_COUNT(steps); i++) {
        const weft_val y = weft_slice(g, weft_mul(g, x, x), start, stop, steps[i]);
        op_check_gradient(g, op_loss(g, y), x);
    }
}

static void refuses_ranges_outside(void **state)
{
    weft_graph *g = *state;
    static const int64_t start[] = {3}, stop[] = {2};
    op_expect_error(g, weft_slice(g, op_ramp(g, OP_DIMS(5)), start, stop, NULL), WEFT_ERR_SHAPE,
                    "slice: range 3..2 of axis 0 is outside, x is [5]");
}

static void refuses_a_step_back(void **state)
{
    weft_graph *g = *state;
    static const int64_t start[] = {0}, stop[] = {2}, step[] = {-1};
    op_expect_error(g, weft_slice(g, op_ramp(g, OP_DIMS(5)), start, stop, step), WEFT_ERR_ATTR,
                    "slice: step of axis 0 is -1, expected 1 or more");
}

const struct CMUnitTest wf_tests_slice[] = {
    OP_TEST(cuts),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_ranges_outside),
    OP_TEST(refuses_a_step_back),
};
const unsigned long wf_n_tests_slice = WF_N_TESTS(wf_tests_slice);
