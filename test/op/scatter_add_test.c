// scatter_add: values, the order of a run's sum, untouched places, bad indices, gradient, errors.
#include "op_run.h"

static void adds_at_each_index(void **state)
{
    weft_graph *g = *state;
    static const float base[] = {1, 2, -0.0f, 4, 5, 6}, updates[] = {10, 20, 30, 40, 50, 60};
    static const float y[] = {61, 82, -0.0f, 4, 35, 46};
    static const int32_t idx[] = {0, -1, 0};
    const weft_val v =
        weft_scatter_add(g, op_f32(g, OP_DIMS(3, 2), base), op_i32(g, OP_DIMS(3), idx),
                         op_f32(g, OP_DIMS(3, 2), updates), 0);
    op_expect_f32(g, v, y, OP_COUNT(y)); // the -0 without updates stays
}

// 130 updates of one place: chunks of 64 from +0, ascending, then the chunks, then base. The first
// chunk holds 2^24 and 63 ones that vanish beside it, the second -2^24 behind 63 ones.
static void sums_a_run_by_the_column_rule(void **state)
{
    weft_graph *g = *state;
    float updates[130];
    int32_t idx[130] = {0};
    for (int i = 0; i < 130; i++) {
        updates[i] = 1.0f;
    }
    updates[0] = 0x1p24f;
    updates[127] = -0x1p24f;
    static const float base[] = {0.5f};
    static const float y[] = {65.5f}; // 2^24 + (63 - 2^24) + 2 + 0.5
    const weft_val v =
        weft_scatter_add(g, op_f32(g, OP_DIMS(1), base), op_i32(g, OP_DIMS(130), idx),
                         op_f32(g, OP_DIMS(130), updates), 0);
    op_expect_f32(g, v, y, 1);
}

static void wraps_integers(void **state)
{
    weft_graph *g = *state;
    static const int32_t base[] = {INT32_MAX, 1}, updates[] = {1, 5}, idx[] = {0, 1};
    static const int32_t y[] = {INT32_MIN, 6};
    const weft_val v = weft_scatter_add(g, op_i32(g, OP_DIMS(2), base), op_i32(g, OP_DIMS(2), idx),
                                        op_i32(g, OP_DIMS(2), updates), 0);
    op_expect_bytes(g, v, WEFT_I32, y, 2);
}

static void leaves_out_bad_indices(void **state)
{
    weft_graph *g = *state;
    static const float base[] = {1, 2}, updates[] = {10, 20, 30};
    static const int32_t idx[] = {1, 2, -3};
    const weft_val v = weft_scatter_add(g, op_f32(g, OP_DIMS(2), base), op_i32(g, OP_DIMS(3), idx),
                                        op_f32(g, OP_DIMS(3), updates), 0);
    op_values r = op_run(g, v, false);
    assert_true(r.is_bad);
    assert_int_equal(r.bad_elem, 1);
    assert_true(((const float *)r.data[v.id])[0] == 1.0f &&
                ((const float *)r.data[v.id])[1] == 12.0f);
    op_values_free(&r);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    static const int32_t idx[] = {2, 0, 2, -1};
    const weft_val base = op_ramp(g, OP_DIMS(2, 3, 2)), updates = op_ramp(g, OP_DIMS(2, 4, 2));
    const weft_val loss =
        op_loss(g, weft_scatter_add(g, base, op_i32(g, OP_DIMS(4), idx), updates, 1));
    op_check_gradient(g, loss, base);
    op_check_gradient(g, loss, updates);
    op_check_second(g, weft_mul(g, loss, loss), updates);
}

static void refuses_shapes(void **state)
{
    weft_graph *g = *state;
    const weft_val base = op_ramp(g, OP_DIMS(3, 2)), idx = weft_fill(g, WEFT_I32, OP_DIMS(4), 0.0);
    op_expect_error(
        g, weft_scatter_add(g, base, idx, base, 0), WEFT_ERR_SHAPE,
        "scatter_add: updates is f32[3,2], expected base, f32[3,2], with axis 0 replaced by the "
        "shape of idx, i32[4]");
}

static void refuses_dtypes(void **state)
{
    weft_graph *g = *state;
    const weft_val base = weft_fill(g, WEFT_U8, OP_DIMS(3), 0.0);
    const weft_val idx = weft_fill(g, WEFT_I32, OP_DIMS(3), 0.0);
    op_expect_error(g, weft_scatter_add(g, base, idx, base, 0), WEFT_ERR_DTYPE,
                    "scatter_add: base is u8[3], updates is u8[3], expected both f32, i32 or i64");
}

const struct CMUnitTest wf_tests_scatter_add[] = {
    OP_TEST(adds_at_each_index), OP_TEST(sums_a_run_by_the_column_rule),
    OP_TEST(wraps_integers),     OP_TEST(leaves_out_bad_indices),
    OP_TEST(has_its_gradients),  OP_TEST(refuses_shapes),
    OP_TEST(refuses_dtypes),
};
const unsigned long wf_n_tests_scatter_add = WF_N_TESTS(wf_tests_scatter_add);
