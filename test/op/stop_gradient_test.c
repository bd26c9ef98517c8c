// stop_gradient: the value passes, the gradient does not.
#include "op_run.h"

static void stops(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {3.0f}, dx[] = {3.0f};
    const weft_val a = op_f32(g, OP_DIMS(1), x);
    const weft_val y = weft_mul(g, a, weft_stop_gradient(g, a));
    weft_val d;
    weft_grad(g, weft_sum(g, y, NULL, 0, false), &a, 1, &d);
    op_expect_f32(g, d, dx, 1);
}

const struct CMUnitTest wf_tests_stop_gradient[] = {
    OP_TEST(stops),
};
const unsigned long wf_n_tests_stop_gradient = WF_N_TESTS(wf_tests_stop_gradient);
