// fma: one rounding, gradient, errors.
#include "op_run.h"

static void rounds_once(void **state)
{
    weft_graph *g = *state;
    // a * a is 1 + 2^-11 + 2^-24: the last bit is lost when the product is rounded first.
    static const float a[] = {1.000244140625f, 0x1p-100f}, c[] = {-1.00048828125f, 0x1p-126f};
    static const float y[] = {0x1p-24f, 0x1p-126f};
    const weft_val x = op_f32(g, OP_DIMS(2), a);
    op_expect_f32(g, weft_fma(g, x, x, op_f32(g, OP_DIMS(2), c)), y, 2);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2, 3)), b = op_ramp(g, OP_DIMS(3));
    const weft_val c = op_ramp(g, OP_DIMS(2, 1));
    const weft_val y = weft_fma(g, a, b, c);
    const weft_val loss = op_loss(g, weft_mul(g, y, y));
    op_check_gradient(g, loss, a);
    op_check_gradient(g, loss, b);
    op_check_gradient(g, loss, c);
    op_check_second(g, loss, b);
}

static void refuses_shapes(void **state)
{
    weft_graph *g = *state;
    const weft_val a = op_ramp(g, OP_DIMS(2)), b = op_ramp(g, OP_DIMS(3));
    op_expect_error(g, weft_fma(g, a, a, b), WEFT_ERR_SHAPE,
                    "fma: shapes do not broadcast, operands are [2], [2], [3]");
}

const struct CMUnitTest wf_tests_fma[] = {
    OP_TEST(rounds_once),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_shapes),
};
const unsigned long wf_n_tests_fma = WF_N_TESTS(wf_tests_fma);
