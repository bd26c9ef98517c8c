// cumsum: the four ways, chunks of 1024, signed zeros, integers that wrap, gradients, errors.
#include "op_run.h"

static void sums_up(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {1, 2, 3, 10, 20, 30};
    static const float y[] = {1, 3, 6, 10, 30, 60}, exclusive[] = {0, 1, 3, 0, 10, 30},
                       reverse[] = {6, 5, 3, 60, 50, 30}, both[] = {5, 3, 0, 50, 30, 0},
                       down[] = {1, 2, 3, 11, 22, 33};
    const weft_val a = op_f32(g, OP_DIMS(2, 3), x);
    op_expect_f32(g, weft_cumsum(g, a, 1, false, false), y, 6);
    op_expect_f32(g, weft_cumsum(g, a, -1, true, false), exclusive, 6);
    op_expect_f32(g, weft_cumsum(g, a, 1, false, true), reverse, 6);
    op_expect_f32(g, weft_cumsum(g, a, 1, true, true), both, 6);
    op_expect_f32(g, weft_cumsum(g, a, 0, false, false), down, 6);
}

static void starts_from_plus_zero(void **state)
{
    weft_graph *g = *state;
    static const float x[] = {-0.0f, -0.0f, NAN, 1.0f}, y[] = {0.0f, 0.0f, NAN, NAN};
    op_expect_f32(g, weft_cumsum(g, op_f32(g, OP_DIMS(4), x), 0, false, false), y, 4);
}

// 2^24 and then ones: in the first chunk each one is lost, in the second they add up first.
static void cuts_into_chunks_of_1024(void **state)
{
    weft_graph *g = *state;
    float x[1030];
    for (int i = 0; i < 1030; i++)
        x[i] = 1.0f;
    x[0] = 16777216.0f;
    const weft_val y = weft_cumsum(g, op_f32(g, OP_DIMS(1030), x), 0, false, false);
    op_values v = op_run(g, y, false);
    const float *got = v.data[y.id];
    assert_true(got[1023] == 16777216.0f);
    assert_true(got[1024] == 16777216.0f); // 2^24 + 1 rounds to even
    assert_true(got[1025] == 16777218.0f);
    assert_true(got[1029] == 16777222.0f);
    op_values_free(&v);
}

static void wraps_integers(void **state)
{
    weft_graph *g = *state;
    static const int32_t x[] = {INT32_MAX, 1, 1}, y[] = {INT32_MAX, INT32_MIN, INT32_MIN + 1};
    static const int64_t w[] = {INT64_MIN, -1}, z[] = {INT64_MIN, INT64_MAX};
    op_expect_bytes(g, weft_cumsum(g, op_i32(g, OP_DIMS(3), x), 0, false, false), WEFT_I32, y, 3);
    op_expect_bytes(g, weft_cumsum(g, weft_constant(g, WEFT_I64, OP_DIMS(2), w), 0, false, false),
                    WEFT_I64, z, 2);
}

static void takes_nothing(void **state)
{
    weft_graph *g = *state;
    const weft_val empty = weft_constant(g, WEFT_F32, OP_DIMS(3, 0), NULL);
    op_expect_f32(g, weft_cumsum(g, empty, 1, false, false), NULL, 0);
    op_expect_f32(g, weft_cumsum(g, empty, 0, true, true), NULL, 0);
}

static void has_its_gradients(void **state)
{
    weft_graph *g = *state;
    const weft_val x = op_ramp(g, OP_DIMS(2, 3, 2));
    for (int way = 0; way < 4; way++) {
        const weft_val y = weft_cumsum(g, weft_mul(g, x, x), 1, way & 1, way & 2);
        const weft_val loss = op_loss(g, y);
        op_check_gradient(g, loss, x);
        op_check_second(g, weft_mul(g, loss, loss), x);
    }
}

static void refuses_an_axis(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_cumsum(g, op_ramp(g, OP_DIMS(2, 3)), 2, false, false), WEFT_ERR_SHAPE,
                    "cumsum: axis 2 is out of range, x is [2,3]");
}

static void refuses_bool(void **state)
{
    weft_graph *g = *state;
    static const uint8_t x[] = {1, 0};
    const weft_val a = weft_constant(g, WEFT_BOOL, OP_DIMS(2), x);
    op_expect_error(g, weft_cumsum(g, a, 0, false, false), WEFT_ERR_DTYPE,
                    "cumsum: x is bool[2], expected f32 i32 i64");
}

const struct CMUnitTest wf_tests_cumsum[] = {
    OP_TEST(sums_up),         OP_TEST(starts_from_plus_zero), OP_TEST(cuts_into_chunks_of_1024),
    OP_TEST(wraps_integers),  OP_TEST(takes_nothing),         OP_TEST(has_its_gradients),
    OP_TEST(refuses_an_axis), OP_TEST(refuses_bool),
};
const unsigned long wf_n_tests_cumsum = WF_N_TESTS(wf_tests_cumsum);
