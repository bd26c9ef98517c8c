// index_guard: good and bad indices, errors.
#include "op_run.h"

static void expect(weft_graph *g, const int32_t *idx, int64_t n, int64_t size, bool is_good,
                   int64_t elem)
{
    const weft_val v = weft_index_guard(g, weft_constant(g, WEFT_I32, &n, 1, idx), size);
    op_values r = op_run(g, v, false);
    assert_int_equal(*(const uint8_t *)r.data[v.id], is_good);
    assert_int_equal(r.is_bad, !is_good);
    if (!is_good) {
        assert_int_equal(r.bad_elem, elem);
    }
    op_values_free(&r);
}

static void lets_good_indices_pass(void **state)
{
    static const int32_t idx[] = {0, 2, 1};
    expect(*state, idx, 3, 3, true, 0);
    expect(*state, idx, 0, 0, true, 0);
}

static void marks_indices_too_large(void **state)
{
    static const int32_t idx[] = {0, 2, 3, 9};
    expect(*state, idx, 4, 3, false, 2);
}

static void marks_negative_indices(void **state)
{
    static const int32_t idx[] = {0, -1};
    expect(*state, idx, 2, 3, false, 1);
}

static void refuses_floats(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_index_guard(g, op_ramp(g, OP_DIMS(2)), 3), WEFT_ERR_DTYPE,
                    "index_guard: x is f32[2], expected i32 i64");
}

const struct CMUnitTest wf_tests_index_guard[] = {
    OP_TEST(lets_good_indices_pass),
    OP_TEST(marks_indices_too_large),
    OP_TEST(marks_negative_indices),
    OP_TEST(refuses_floats),
};
const unsigned long wf_n_tests_index_guard = WF_N_TESTS(wf_tests_index_guard);
