// floor: values and dtypes; the gradient stops.
#include "op_run.h"

static void gives_whole_numbers(void **state)
{
    static const float a[] = {2.5f, -2.5f, -0.0f, 0x1p60f, -INFINITY, NAN};
    static const float y[] = {2.0f, -3.0f, -0.0f, 0x1p60f, -INFINITY, NAN};
    op_unary_f32(*state, weft_floor, a, y, OP_COUNT(a));
}

static void refuses_integers(void **state)
{
    op_unary_refuses(*state, weft_floor, WEFT_I32, "floor: a is i32[2], expected f32");
}

const struct CMUnitTest wf_tests_floor[] = {
    OP_TEST(gives_whole_numbers),
    OP_TEST(refuses_integers),
};
const unsigned long wf_n_tests_floor = WF_N_TESTS(wf_tests_floor);
