// broadcast: stretching, gradient, errors.
#include "op_run.h"

static void repeats(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {1, 2}, y[] = {1, 1, 1, 2, 2, 2}, z[] = {1, 2, 1, 2};
    op_expect_bytes(g, weft_broadcast(g, op_i32(g, OP_DIMS(2, 1), x), OP_DIMS(2, 3)), WEFT_I32, y,
                    6);
    op_expect_bytes(g, weft_broadcast(g, op_i32(g, OP_DIMS(2), x), OP_DIMS(2, 2)), WEFT_I32, z, 4);
    op_expect_dims(g, weft_broadcast(g, op_i32(g, OP_DIMS(1), x), OP_DIMS(3, 0)), OP_DIMS(3, 0));
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 1, 2));
    const weft_val y = weft_broadcast(g, weft_mul(g, x, x), OP_DIMS(3, 2, 4, 2));
    op_check_gradient(g, op_loss(g, y), x);
    op_check_second(g, op_loss(g, y), x);
}

static void refuses_other_sizes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_broadcast(g, op_ramp(g, OP_DIMS(2, 3)), OP_DIMS(2, 6)), WEFT_ERR_SHAPE,
                    "broadcast: x does not stretch, x is [2,3], dims are [2,6]");
}

static void refuses_fewer_axes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_broadcast(g, op_ramp(g, OP_DIMS(1, 3)), OP_DIMS(3)), WEFT_ERR_SHAPE,
                    "broadcast: x does not stretch, x is [1,3], dims are [3]");
}

static void refuses_overflow(void **state)
{
    weft_graph *g = *state;
    op_expect_error(
        g, weft_broadcast(g, op_ramp(g, OP_DIMS(1)), OP_DIMS(INT64_MAX, 4)), WEFT_ERR_SHAPE,
        "broadcast: dims are [9223372036854775807,4], expected fewer elements than 2^59");
}

const struct CMUnitTest wf_tests_broadcast[] = {
    OP_TEST(repeats),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_other_sizes),
    OP_TEST(refuses_fewer_axes),
    OP_TEST(refuses_overflow),
};
const unsigned long wf_n_tests_broadcast = WF_N_TESTS(wf_tests_broadcast);
