// cumprod: the four ways, one chain from 1, integers that wrap, errors.
#include "op_run.h"

static void multiplies_up(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {2, 3, 4, -1, 0, 5};
    static const float y[] = {2, 6, 24, -1, -0.0f, -0.0f}, exclusive[] = {1, 2, 6, 1, -1, -0.0f},
                       reverse[] = {24, 12, 4, -0.0f, 0, 5}, both[] = {12, 4, 1, 0, 5, 1};
    const weft_val a = op_f32(g, OP_DIMS(2, 3), x);
    op_expect_f32(g, weft_cumprod(g, a, 1, false, false), y, 6);
    op_expect_f32(g, weft_cumprod(g, a, -1, true, false), exclusive, 6);
    op_expect_f32(g, weft_cumprod(g, a, 1, false, true), reverse, 6);
    op_expect_f32(g, weft_cumprod(g, a, 1, true, true), both, 6);
}

static void rounds_after_each_factor(void **state)
{
    weft_graph *g = *state;
    float x[3000], y[3000], product = 1.0f;
    for (int i = 0; i < 3000; i++) {
        x[i] = 1.0f + (float)(i % 7 - 3) / 512.0f;
        product *= x[i];
        y[i] = product;
    }
    op_expect_f32(g, weft_cumprod(g, op_f32(g, OP_DIMS(3000), x), 0, false, false), y, 3000);
}

static void wraps_integers(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {1 << 20, 1 << 11, 3}, y[] = {1 << 20, INT32_MIN, INT32_MIN};
    op_expect_bytes(g, weft_cumprod(g, op_i32(g, OP_DIMS(3), x), 0, false, false), WEFT_I32, y, 3);
}

static void has_no_gradient(void **state)
{
    weft_graph *g = *state;
    weft_val dx;
    const weft_val x = op_ramp(g, OP_DIMS(3));
    weft_grad(g, op_loss(g, weft_cumprod(g, x, 0, false, false)), &x, 1, &dx);
    op_expect_error(g, WEFT_NONE, WEFT_ERR_GRADIENT,
                    "cumprod: has no gradient; put weft_stop_gradient before it or leave it out");
}

const struct CMUnitTest wf_tests_cumprod[] = {
    OP_TEST(multiplies_up),
    OP_TEST(rounds_after_each_factor),
    OP_TEST(wraps_integers),
    OP_TEST(has_no_gradient),
};
const unsigned long wf_n_tests_cumprod = WF_N_TESTS(wf_tests_cumprod);
