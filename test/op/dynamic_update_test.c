// dynamic_update: values, a start out of range, gradients, errors.
#include "op_run.h"

static weft_val at(weft_graph *g, int64_t start)
{
    return weft_constant(g, WEFT_I64, NULL, 0, &start);
}

static void writes_at_its_start(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8}, part[] = {-1, -2, -3, -4},
                       y[] = {1, 2, -1, -2, 5, 6, -3, -4};
    op_expect_f32(g,
                  weft_dynamic_update(g, op_f32(g, OP_DIMS(2, 4), x), at(g, 2),
                                      op_f32(g, OP_DIMS(2, 2), part), -1),
                  y, OP_COUNT(y));
}

static void changes_nothing_out_of_range(void **state)
{
    weft_graph *g = *state;
    static const uint8_t x[] = {1, 2, 3, 4}, part[] = {8, 9};
    static const int64_t starts[] = {3, -1, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < OP_COUNT(starts); i++) {
        const weft_val v =
            weft_dynamic_update(g, weft_constant(g, WEFT_U8, OP_DIMS(4), x), at(g, starts[i]),
                                weft_constant(g, WEFT_U8, OP_DIMS(2), part), 0);
        op_values r = op_run(g, v, false);
        assert_true(r.is_bad);
        assert_memory_equal(r.data[v.id], x, sizeof x);
        op_values_free(&r);
    }
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(3, 4)), part = op_ramp(g, OP_DIMS(2, 4));
    const weft_val y = weft_dynamic_update(g, x, at(g, 1), part, 0);
    const weft_val loss = op_loss(g, weft_mul(g, y, y));
    op_check_gradient(g, loss, x);
    op_check_gradient(g, loss, part);
    op_check_second(g, loss, part);
}

static void refuses_shapes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(
        g,
        weft_dynamic_update(g, op_ramp(g, OP_DIMS(2, 3)), at(g, 0), op_ramp(g, OP_DIMS(1, 2)), 1),
        WEFT_ERR_SHAPE,
        "dynamic_update: part is f32[1,2], expected x, f32[2,3], with axis 1 of at "
        "most that size");
}

static void refuses_dtypes(void **state)
{
    weft_graph *g = *state;
    static const int32_t part[] = {1};
    op_expect_error(
        g, weft_dynamic_update(g, op_ramp(g, OP_DIMS(3)), at(g, 0), op_i32(g, OP_DIMS(1), part), 0),
        WEFT_ERR_DTYPE,
        "dynamic_update: part is i32[1], expected x, f32[3], with axis 0 of at most "
        "that size");
}

const struct CMUnitTest wf_tests_dynamic_update[] = {
    OP_TEST(writes_at_its_start), OP_TEST(changes_nothing_out_of_range),
    OP_TEST(has_its_gradients),   OP_TEST(refuses_shapes),
    OP_TEST(refuses_dtypes),
};
const unsigned long wf_n_tests_dynamic_update = WF_N_TESTS(wf_tests_dynamic_update);
