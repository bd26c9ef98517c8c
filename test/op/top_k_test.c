// top_k: values, ties, both ends, gradient, errors.
#include "op_run.h"

static void finds_both_ends(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {3, 9, -2, 9, NAN, 1, 8, -2};
    static const float top[] = {9, 9, 8}, bottom[] = {-2, -2, 1};
    static const int32_t top_idx[] = {1, 3, 6}, bottom_idx[] = {2, 7, 5};
    const weft_val v = op_f32(g, OP_DIMS(8), x);
    weft_val y, idx;
    weft_top_k(g, v, 3, 0, true, &y, &idx);
    op_expect_f32(g, y, top, 3);
    op_expect_bytes(g, idx, WEFT_I32, top_idx, 3);
    weft_top_k(g, v, 3, 0, false, &y, &idx);
    op_expect_f32(g, y, bottom, 3);
    op_expect_bytes(g, idx, WEFT_I32, bottom_idx, 3);
}

static void takes_none_and_all(void **state)
{
    weft_graph *g = *state;
    weft_val none, all;
    weft_top_k(g, op_ramp(g, OP_DIMS(2, 3)), 0, 1, true, &none, NULL);
    weft_top_k(g, op_ramp(g, OP_DIMS(2, 3)), 2, 0, true, &all, NULL);
    op_expect_dims(g, none, OP_DIMS(2, 0));
    op_expect_dims(g, all, OP_DIMS(2, 3));
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(3, 8));
    weft_val y;
    weft_top_k(g, x, 3, 1, true, &y, NULL);
    op_check_gradient(g, op_loss(g, y), x);
    op_check_second(g, op_loss(g, weft_mul(g, y, y)), x);
}

static void refuses_a_negative_k(void **state)
{
    weft_graph *g = *state;
    weft_val y;
    weft_top_k(g, op_ramp(g, OP_DIMS(2, 3)), -1, 1, true, &y, NULL);
    op_expect_error(g, y, WEFT_ERR_SHAPE, "top_k: k is -1, axis 1 of x, f32[2,3], has 3 elements");
}

static void refuses_a_k_too_large(void **state)
{
    weft_graph *g = *state;
    weft_val y;
    weft_top_k(g, op_ramp(g, OP_DIMS(2, 3)), 4, 1, true, &y, NULL);
    op_expect_error(g, y, WEFT_ERR_SHAPE, "top_k: k is 4, axis 1 of x, f32[2,3], has 3 elements");
}

const struct CMUnitTest wf_tests_top_k[] = {
    OP_TEST(finds_both_ends),      OP_TEST(takes_none_and_all),    OP_TEST(has_its_gradient),
    OP_TEST(refuses_a_negative_k), OP_TEST(refuses_a_k_too_large),
};
const unsigned long wf_n_tests_top_k = WF_N_TESTS(wf_tests_top_k);
