// sort: order of every kind of value, ties, axes, gradient, errors.
#include "op_run.h"

static void expect(weft_graph *g, weft_val x, bool descending, const float *values,
                   const int32_t *indices, size_t n)
{
    weft_val y, idx;
    weft_sort(g, x, -1, descending, &y, &idx);
    op_expect_f32(g, y, values, n);
    op_expect_bytes(g, idx, WEFT_I32, indices, n);
}

static void orders_special_values(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {0.0f, NAN, -1.0f, INFINITY, -0.0f, 0x1p-149f, -INFINITY, -NAN};
    static const float up[] = {-INFINITY, -1.0f, -0.0f, 0.0f, 0x1p-149f, INFINITY, NAN, NAN};
    static const int32_t up_idx[] = {6, 2, 4, 0, 5, 3, 1, 7};
    static const float down[] = {INFINITY, 0x1p-149f, 0.0f, -0.0f, -1.0f, -INFINITY, NAN, NAN};
    static const int32_t down_idx[] = {3, 5, 0, 4, 2, 6, 1, 7};
    const weft_val v = op_f32(g, OP_DIMS(8), x);
    expect(g, v, false, up, up_idx, 8);
    expect(g, v, true, down, down_idx, 8);
}

static void keeps_the_order_of_ties(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {2, 1, 2, 1, 2};
    static const float up[] = {1, 1, 2, 2, 2}, down[] = {2, 2, 2, 1, 1};
    static const int32_t up_idx[] = {1, 3, 0, 2, 4}, down_idx[] = {0, 2, 4, 1, 3};
    const weft_val v = op_f32(g, OP_DIMS(5), x);
    expect(g, v, false, up, up_idx, 5);
    expect(g, v, true, down, down_idx, 5);
}

static void sorts_an_inner_axis_of_integers(void **state)
{
    weft_graph *g = *state;
    static const int64_t x[] = {3, INT64_MIN, INT64_MAX, 7, -1, 7};
    static const int64_t y[] = {-1, INT64_MIN, 3, 7, INT64_MAX, 7};
    static const int32_t at[] = {2, 0, 0, 1, 1, 2};
    weft_val values, indices;
    weft_sort(g, weft_constant(g, WEFT_I64, OP_DIMS(3, 2), x), 0, false, &values, &indices);
    op_expect_bytes(g, values, WEFT_I64, y, 6);
    op_expect_bytes(g, indices, WEFT_I32, at, 6);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 4, 3));
    weft_val y;
    weft_sort(g, x, 1, true, &y, NULL);
    op_check_gradient(g, op_loss(g, y), x);
    op_check_second(g, op_loss(g, weft_mul(g, y, y)), x);
}

static void refuses_halves(void **state)
{
    weft_graph *g = *state;
    weft_val y;
    weft_sort(g, weft_fill(g, WEFT_BF16, OP_DIMS(2), 1.0), 0, false, &y, NULL);
    op_expect_error(g, y, WEFT_ERR_DTYPE, "sort: x is bf16[2], expected f32 i8 u8 i32 i64 bool");
}

static void refuses_axes(void **state)
{
    weft_graph *g = *state;
    weft_val y, idx;
    weft_sort(g, op_ramp(g, OP_DIMS(2)), 1, false, &y, &idx);
    op_expect_error(g, y, WEFT_ERR_SHAPE, "sort: axis 1 is out of range, x is [2]");
    assert_int_equal(idx.id, 0);
}

const struct CMUnitTest wf_tests_sort[] = {
    OP_TEST(orders_special_values),
    OP_TEST(keeps_the_order_of_ties),
    OP_TEST(sorts_an_inner_axis_of_integers),
    OP_TEST(has_its_gradient),
    OP_TEST(refuses_halves),
    OP_TEST(refuses_axes),
};
const unsigned long wf_n_tests_sort = WF_N_TESTS(wf_tests_sort);
