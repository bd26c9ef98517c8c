// variable: type of the first value, what that may depend on, names.
#include "op_run.h"

static void has_the_type_of_its_first_value(void **state)
{
    weft_graph *g = *state;
    const weft_val init =
        weft_mul(g, weft_iota(g, WEFT_F32, OP_DIMS(3), 0), weft_scalar(g, WEFT_F32, 2.0));
    const weft_val w = weft_variable(g, "w", init);
    op_expect_dims(g, w, OP_DIMS(3));
    assert_int_equal(wf_graph_producer(g, w.id)->attrs[1].u.i, init.id);
    assert_int_equal(wf_graph_producer(g, w.id)->n_inputs, 0);
}

static void refuses_an_input_behind_it(void **state)
{
    weft_graph *g = *state;
    const weft_val x = weft_input(g, "x", WEFT_F32, OP_DIMS(3));
    op_expect_error(g, weft_variable(g, "w", weft_exp(g, x)), WEFT_ERR_ATTR,
                    "variable: first value of w depends on input x, expected constants, iota and "
                    "random only");
}

static void refuses_a_variable_behind_it(void **state)
{
    weft_graph *g = *state;
    const weft_val v = weft_variable(g, "v", weft_scalar(g, WEFT_F32, 1.0));
    op_expect_error(
        g, weft_variable(g, "w", v), WEFT_ERR_ATTR,
        "variable: first value of w depends on variable v, expected constants, iota and "
        "random only");
}

static void refuses_a_taken_name(void **state)
{
    weft_graph *g = *state;
    const weft_val one = weft_scalar(g, WEFT_F32, 1.0);
    (void)weft_variable(g, "w", one);
    op_expect_error(g, weft_variable(g, "w", one), WEFT_ERR_NAME, "variable: name w is taken");
}

const struct CMUnitTest wf_tests_variable[] = {
    OP_TEST(has_the_type_of_its_first_value),
    OP_TEST(refuses_an_input_behind_it),
    OP_TEST(refuses_a_variable_behind_it),
    OP_TEST(refuses_a_taken_name),
};
const unsigned long wf_n_tests_variable = WF_N_TESTS(wf_tests_variable);
