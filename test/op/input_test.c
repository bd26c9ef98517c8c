// input: types and names.
#include "op_run.h"

static void has_its_type(void **state)
{
    weft_graph *g = *state;
    const weft_type t = weft_val_type(g, weft_input(g, "x", WEFT_U8, OP_DIMS(2, 3)));
    assert_int_equal(t.dtype, WEFT_U8);
    assert_int_equal(t.dims[1], 3);
}

static void refuses_a_taken_name(void **state)
{
    weft_graph *g = *state;
    (void)weft_input(g, "x", WEFT_F32, NULL, 0);
    op_expect_error(g, weft_input(g, "x", WEFT_F32, NULL, 0), WEFT_ERR_NAME,
                    "input: name x is taken");
}

static void refuses_a_name_with_spaces(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_input(g, "a b", WEFT_F32, NULL, 0), WEFT_ERR_NAME,
                    "input: name \"a b\" is not valid, expected a word without spaces or quotes");
}

static void refuses_negative_dims(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_input(g, "x", WEFT_F32, OP_DIMS(2, -3)), WEFT_ERR_SHAPE,
                    "input: dims are [2,-3], expected none below 0");
}

static void refuses_too_many_dims(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_input(g, "x", WEFT_F32, OP_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1)),
                    WEFT_ERR_SHAPE, "input: 9 dims, expected 0 to 8");
}

const struct CMUnitTest wf_tests_input[] = {
    OP_TEST(has_its_type),
    OP_TEST(refuses_a_taken_name),
    OP_TEST(refuses_a_name_with_spaces),
    OP_TEST(refuses_negative_dims),
    OP_TEST(refuses_too_many_dims),
};
const unsigned long wf_n_tests_input = WF_N_TESTS(wf_tests_input);
