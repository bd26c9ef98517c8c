// dynamic_slice: values, a start out of range, gradient, errors.
#include "op_run.h"

static weft_val at(weft_graph *g, int32_t start)
{
    return weft_constant(g, WEFT_I32, NULL, 0, &start);
}

static void reads_from_its_start(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {3, 4, 7, 8}, z[] = {5, 6, 7, 8};
    static const int64_t one[] = {1};
    const weft_val v = op_f32(g, OP_DIMS(2, 4), x);
    op_expect_f32(g, weft_dynamic_slice(g, v, at(g, 2), 1, 2), y, OP_COUNT(y));
    op_expect_f32(g, weft_dynamic_slice(g, v, weft_constant(g, WEFT_I64, one, 1, one), -2, 1), z,
                  OP_COUNT(z));
    op_expect_dims(g, weft_dynamic_slice(g, v, at(g, 4), 1, 0), OP_DIMS(2, 0));
}

static void marks_a_start_out_of_range(void **state)
{
    weft_graph *g = *state;
    static const int32_t starts[] = {3, -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < OP_COUNT(starts); i++) {
        const weft_val v = weft_dynamic_slice(g, op_ramp(g, OP_DIMS(4, 2)), at(g, starts[i]), 0, 2);
        op_values r = op_run(g, v, false);
        assert_true(r.is_bad);
        assert_true(((const float *)r.data[v.id])[0] == 0.0f);
        op_values_free(&r);
    }
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 5, 2));
    const weft_val y = weft_dynamic_slice(g, x, at(g, 1), 1, 3);
    op_check_gradient(g, op_loss(g, y), x);
    op_check_second(g, op_loss(g, weft_mul(g, y, y)), x);
}

static void refuses_sizes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_dynamic_slice(g, op_ramp(g, OP_DIMS(2, 3)), at(g, 0), 1, 4),
                    WEFT_ERR_SHAPE, "dynamic_slice: size is 4, x is f32[2,3], expected 0 to 3");
}

static void refuses_starts(void **state)
{
    weft_graph *g = *state;
    static const int32_t two[] = {0, 1};
    op_expect_error(g,
                    weft_dynamic_slice(g, op_ramp(g, OP_DIMS(3)), op_i32(g, OP_DIMS(2), two), 0, 1),
                    WEFT_ERR_DTYPE, "dynamic_slice: start is i32[2], expected one i32 or i64");
}

const struct CMUnitTest wf_tests_dynamic_slice[] = {
    OP_TEST(reads_from_its_start), OP_TEST(marks_a_start_out_of_range),
    OP_TEST(has_its_gradient),     OP_TEST(refuses_sizes),
    OP_TEST(refuses_starts),
};
const unsigned long wf_n_tests_dynamic_slice = WF_N_TESTS(wf_tests_dynamic_slice);
