// gather: values, negative and bad indices, every axis, gradient, errors.
#include "op_run.h"

static void reads_rows_from_both_ends(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                       y[] = {1, 2, 3, 4, 9, 10, 11, 12};
    static const int32_t idx[] = {0, -1};
    const weft_val v = weft_gather(g, op_f32(g, OP_DIMS(3, 4), x), op_i32(g, OP_DIMS(2), idx), 0);
    op_expect_f32(g, v, y, OP_COUNT(y));
}

static void replaces_the_axis_by_the_indices_shape(void **state)
{
    weft_graph *g = *state;
    static const uint8_t x[] = {1, 2, 3, 4, 5, 6}, y[] = {3, 1, 2, 2, 6, 4, 5, 5};
    static const int64_t idx[] = {2, 0, 1, -2};
    const weft_val v = weft_gather(g, weft_constant(g, WEFT_U8, OP_DIMS(2, 3), x),
                                   weft_constant(g, WEFT_I64, OP_DIMS(2, 2), idx), -1);
    op_expect_dims(g, v, OP_DIMS(2, 2, 2));
    op_expect_bytes(g, v, WEFT_U8, y, OP_COUNT(y));
    const weft_val one =
        weft_gather(g, op_ramp(g, OP_DIMS(2, 3)), weft_scalar(g, WEFT_I32, 1.0), 0);
    op_expect_dims(g, one, OP_DIMS(3));
}

static void marks_an_index_out_of_range(void **state)
{
    weft_graph *g = *state;
    static const int32_t idx[] = {4, -5, 5, -6};
    const weft_val v = weft_gather(g, op_ramp(g, OP_DIMS(5)), op_i32(g, OP_DIMS(4), idx), 0);
    op_values r = op_run(g, v, false);
    assert_true(r.is_bad);
    assert_int_equal(r.bad_elem, 2);
    assert_true(((const float *)r.data[v.id])[2] == 0.0f &&
                ((const float *)r.data[v.id])[3] == 0.0f);
    op_values_free(&r);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    static const int32_t idx[] = {2, 0, 2, -1, 1};
    const weft_val x = op_ramp(g, OP_DIMS(2, 3, 2));
    const weft_val loss = op_loss(g, weft_gather(g, x, op_i32(g, OP_DIMS(5), idx), 1));
    op_check_gradient(g, loss, x);
    op_check_second(g, weft_mul(g, loss, loss), x);
}

static void refuses_dtypes(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3));
    op_expect_error(g, weft_gather(g, x, x, 0), WEFT_ERR_DTYPE,
                    "gather: idx is f32[2,3], expected i32 i64");
}

static void refuses_axes(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3));
    op_expect_error(g, weft_gather(g, x, weft_scalar(g, WEFT_I32, 0), 2), WEFT_ERR_SHAPE,
                    "gather: axis 2 is out of range, x is [2,3]");
}

const struct CMUnitTest wf_tests_gather[] = {
    OP_TEST(reads_rows_from_both_ends),
    OP_TEST(replaces_the_axis_by_the_indices_shape),
    OP_TEST(marks_an_index_out_of_range),
    OP_TEST(has_its_gradients),
    OP_TEST(refuses_dtypes),
    OP_TEST(refuses_axes),
};
const unsigned long wf_n_tests_gather = WF_N_TESTS(wf_tests_gather);
