// reduce_sum: the rule, the shapes of sums to the last bit, gradient, means, errors.
#include "op_run.h"

static void sums_axes(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
    static const float rows[] = {6.0f, 15.0f}, columns[] = {5.0f, 7.0f, 9.0f}, all[] = {21.0f};
    const weft_val a = op_f32(g, OP_DIMS(2, 3), x);
    op_expect_f32(g, weft_sum(g, a, OP_AXES(1), false), rows, 2);
    op_expect_f32(g, weft_sum(g, a, OP_AXES(-2), false), columns, 3);
    op_expect_f32(g, weft_sum(g, a, NULL, 0, false), all, 1);
    op_expect_dims(g, weft_sum(g, a, OP_AXES(1), true), OP_DIMS(2, 1));
    op_expect_dims(g, weft_sum(g, a, OP_AXES(0), false), OP_DIMS(3));
}

static void records_its_rule(void **state)
{
    weft_graph *g = *state;
    static const struct {
        int64_t dims[4];
        int32_t axes[3];
        size_t n_axes;
        const char *rule;
    } cases[] = {
        {{2, 3, 4, 5}, {3}, 1, "row"},          {{2, 3, 4, 5}, {2, 3}, 2, "row"},
        {{2, 3, 4, 5}, {0}, 1, "column"},       {{2, 3, 4, 5}, {0, 2, 3}, 3, "column"},
        {{2, 3, 1, 1}, {1}, 1, "row"},          {{1, 3, 4, 5}, {0, 2, 3}, 3, "row"},
        {{2, 1, 1, 5}, {0, 1, 2}, 3, "column"},
    };
    for (size_t i = 0; i < OP_COUNT(cases); i++) {
        const weft_val x = weft_fill(g, WEFT_F32, cases[i].dims, 4, 1.0);
        const weft_val y = weft_sum(g, x, cases[i].axes, cases[i].n_axes, true);
        assert_string_equal(wf_graph_producer(g, y.id)->attrs[1].u.text, cases[i].rule);
    }
}

static void follows_the_row_rule(void **state)
{
    weft_graph *g = *state;
    // Lane 0 of 32 adds elements 0, 32, ..: 2^24 + 1 + 1 loses both ones there, and keeps them when
    // they meet in another lane first.
    float x[2048] = {0};
    x[0] = 16777216.0f;
    x[32] = 1.0f;
    x[64] = 1.0f;
    static const float lost[] = {16777216.0f}, kept[] = {16777218.0f};
    op_expect_f32(g, weft_sum(g, op_f32(g, OP_DIMS(2048), x), NULL, 0, false), lost, 1);
    x[32] = x[64] = 0.0f;
    x[33] = x[65] = 1.0f;
    op_expect_f32(g, weft_sum(g, op_f32(g, OP_DIMS(2048), x), NULL, 0, false), kept, 1);
    x[33] = x[65] = 0.0f;
    x[1024] = x[1024 + 32] = 1.0f; // another chunk
    op_expect_f32(g, weft_sum(g, op_f32(g, OP_DIMS(2048), x), NULL, 0, false), kept, 1);
}

static void follows_the_column_rule(void **state)
{
    weft_graph *g = *state;
    // One lane in chunks of 64: 2^24 + 1 + 1 within a chunk loses the ones, two in the next do not.
    float x[2 * 128] = {0};
    x[0] = x[1] = 16777216.0f;
    x[2 * 10] = x[2 * 63] = 1.0f;
    x[2 * 64 + 1] = x[2 * 127 + 1] = 1.0f;
    static const float y[] = {16777216.0f, 16777218.0f};
    op_expect_f32(g, weft_sum(g, op_f32(g, OP_DIMS(128, 2), x), OP_AXES(0), false), y, 2);
}

static void sums_nothing_to_plus_zero(void **state)
{
    weft_graph *g = *state;
    static const float zeros[] = {0.0f, 0.0f}, minus[] = {-0.0f, -0.0f}, none[] = {0.0f};
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(2, 0), none);
    op_expect_f32(g, weft_sum(g, empty, OP_AXES(1), false), zeros, 2);
    op_expect_f32(g, weft_sum(g, empty, OP_AXES(0), false), NULL, 0);
    op_expect_f32(g, weft_sum(g, op_f32(g, OP_DIMS(2, 1), minus), OP_AXES(1), false), zeros, 2);
}

static void wraps_integers(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {INT32_MAX, 2}, y[] = {INT32_MIN + 1};
    op_expect_bytes(g, weft_sum(g, op_i32(g, OP_DIMS(2), x), NULL, 0, false), WEFT_I32, y, 1);
}

static void has_its_gradient(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3, 2));
    const weft_val cube = weft_mul(g, x, weft_mul(g, x, x));
    const weft_val loss = op_loss(g, weft_sum(g, cube, OP_AXES(0, 2), false));
    op_check_gradient(g, loss, x);
    op_check_second(g, loss, x);
}

static void divides_means_by_the_count(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1.0f, 2.0f, 4.0f, 3.0f, 5.0f, 9.0f};
    static const float y[] = {0x1.2aaaaap+1f, 0x1.6aaaaap+2f}, nothing[] = {NAN};
    op_expect_f32(g, weft_mean(g, op_f32(g, OP_DIMS(2, 3), x), OP_AXES(1), false), y, 2);
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(0), NULL);
    op_expect_f32(g, weft_mean(g, empty, NULL, 0, false), nothing, 1);
}

static void refuses_axes(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_sum(g, op_ramp(g, OP_DIMS(2, 3)), OP_AXES(2), false), WEFT_ERR_SHAPE,
                    "reduce_sum: axis 2 is out of range, x is [2,3]");
}

static void refuses_an_axis_twice(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_sum(g, op_ramp(g, OP_DIMS(2, 3)), OP_AXES(1, -1), false), WEFT_ERR_ATTR,
                    "reduce_sum: axis -1 is named twice");
}

static void refuses_bytes(void **state)
{
    weft_graph *g = *state;
    const weft_val x = weft_fill(g, WEFT_U8, OP_DIMS(3), 1.0);
    op_expect_error(g, weft_sum(g, x, NULL, 0, false), WEFT_ERR_DTYPE,
                    "reduce_sum: x is u8[3], expected f32 i32 i64");
}

const struct CMUnitTest wf_tests_reduce_sum[] = {
    OP_TEST(sums_axes),
    OP_TEST(records_its_rule),
    OP_TEST(follows_the_row_rule),
    OP_TEST(follows_the_column_rule),
    OP_TEST(sums_nothing_to_plus_zero),
    OP_TEST(wraps_integers),
    OP_TEST(has_its_gradient),
    OP_TEST(divides_means_by_the_count),
    OP_TEST(refuses_axes),
    OP_TEST(refuses_an_axis_twice),
    OP_TEST(refuses_bytes),
};
const unsigned long wf_n_tests_reduce_sum = WF_N_TESTS(wf_tests_reduce_sum);
