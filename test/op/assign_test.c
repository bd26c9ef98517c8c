// assign: its value, and who may be assigned.
#include "op_run.h"

static void gives_the_value(void **state)
{
    weft_graph *g = *state;
    const weft_val v = weft_variable(g, "v", weft_scalar(g, WEFT_F32, 1.0));
    const weft_val set = weft_assign(g, v, weft_scalar(g, WEFT_F32, 3.0));
    op_expect_dims(g, set, NULL, 0);
    assert_true(wf_graph_producer(g, set.id)->op->flags & WF_OP_EFFECT);
}

static void refuses_another_type(void **state)
{
    weft_graph *g = *state;
    const weft_val v = weft_variable(g, "v", weft_scalar(g, WEFT_F32, 1.0));
    op_expect_error(g, weft_assign(g, v, op_ramp(g, OP_DIMS(2))), WEFT_ERR_SHAPE,
                    "assign: types differ, variable is f32[], value is f32[2]");
}

static void refuses_what_is_no_variable(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2));
    op_expect_error(g, weft_assign(g, weft_exp(g, x), x), WEFT_ERR_USAGE,
                    "assign: first operand is made by exp, expected variable");
}

static void refuses_twice(void **state)
{
    weft_graph *g = *state;
    const weft_val one = weft_scalar(g, WEFT_F32, 1.0), v = weft_variable(g, "v", one);
    (void)weft_assign(g, v, one);
    op_expect_error(g, weft_assign(g, v, one), WEFT_ERR_USAGE,
                    "assign: variable v is assigned twice");
}

const struct CMUnitTest wf_tests_assign[] = {
    OP_TEST(gives_the_value),
    OP_TEST(refuses_another_type),
    OP_TEST(refuses_what_is_no_variable),
    OP_TEST(refuses_twice),
};
const unsigned long wf_n_tests_assign = WF_N_TESTS(wf_tests_assign);
