// random: the words of src/math/philox.h, ranges, moments, streams by scope and ordinal, errors.
#include "op_run.h"

#include "math/philox.h"

static weft_val i64(weft_graph *g, int64_t value)
{
    return weft_constant(g, WEFT_I64, NULL, 0, &value);
}

static void draws_from_philox(void **state)
{
    weft_graph *g = *state;
    const weft_val v = weft_random_bits(g, i64(g, -7), i64(g, 5), OP_DIMS(3, 3));
    const uint32_t stream = (uint32_t)wf_graph_producer(g, v.id)->attrs[2].u.i;
    uint32_t expected[9];
    for (uint32_t i = 0; i < 9; i++) {
        expected[i] = wf_random_word((uint64_t)-7, 5, stream, i);
    }
    op_expect_bytes(g, v, WEFT_I32, expected, 9);
}

static void stays_in_its_range(void **state)
{
    weft_graph *g = *state;
    const weft_val v = weft_random_uniform(g, i64(g, 1), i64(g, 0), OP_DIMS(4096));
    op_values r = op_run(g, v, false);
    double sum = 0.0;
    for (int i = 0; i < 4096; i++) {
        const float u = ((const float *)r.data[v.id])[i];
        assert_true(u >= 0.0f && u < 1.0f);
        sum += (double)u;
    }
    assert_true(fabs(sum / 4096 - 0.5) < 0.02);
    op_values_free(&r);
}

static void has_the_normal_moments(void **state)
{
    weft_graph *g = *state;
    const weft_val v = weft_random_normal(g, i64(g, 1), i64(g, 0), OP_DIMS(16384));
    op_values r = op_run(g, v, false);
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < 16384; i++) {
        const double z = (double)((const float *)r.data[v.id])[i];
        sum += z;
        squares += z * z;
    }
    assert_true(fabs(sum / 16384) < 0.03);
    assert_true(fabs(squares / 16384 - 1.0) < 0.05);
    op_values_free(&r);
}

static int64_t stream_of(const weft_graph *g, weft_val v)
{
    return wf_graph_producer(g, v.id)->attrs[2].u.i;
}

static void has_a_stream_per_scope_and_ordinal(void **state)
{
    weft_graph *g = *state;
    const weft_val seed = i64(g, 1), step = i64(g, 0);
    int64_t streams[3];
    for (int i = 0; i < 3; i++) {
        if (i == 2) {
            weft_scope_push(g, "b");
        }
        streams[i] = stream_of(g, weft_random_uniform(g, seed, step, OP_DIMS(2)));
    }
    weft_scope_pop(g);
    assert_true(streams[0] != streams[1] && streams[0] != streams[2] && streams[1] != streams[2]);
    // What other scopes hold does not move a stream.
    weft_graph *other;
    assert_int_equal(weft_graph_create(g->context, &other, NULL), WEFT_OK);
    weft_scope_push(other, "b");
    const weft_val v = weft_random_uniform(other, i64(other, 1), i64(other, 0), OP_DIMS(2));
    assert_int_equal(stream_of(other, v), streams[2]);
    weft_graph_destroy(other);
}

static void gives_more_rows_the_same_first_rows(void **state)
{
    weft_graph *g = *state;
    weft_graph *other;
    const weft_val few = weft_random_normal(g, i64(g, 3), i64(g, 9), OP_DIMS(3, 5));
    assert_int_equal(weft_graph_create(g->context, &other, NULL), WEFT_OK);
    const weft_val many = weft_random_normal(other, i64(other, 3), i64(other, 9), OP_DIMS(7, 5));
    op_values a = op_run(g, few, false), b = op_run(other, many, false);
    assert_memory_equal(a.data[few.id], b.data[many.id], 15 * sizeof(float));
    op_values_free(&a);
    op_values_free(&b);
    weft_graph_destroy(other);
}

static void refuses_seeds(void **state)
{
    weft_graph *g = *state;
    op_expect_error(g, weft_random_bits(g, weft_scalar(g, WEFT_I32, 1.0), i64(g, 0), OP_DIMS(2)),
                    WEFT_ERR_DTYPE, "random: seed is i32[], expected i64[]");
}

const struct CMUnitTest wf_tests_random[] = {
    OP_TEST(draws_from_philox),
    OP_TEST(stays_in_its_range),
    OP_TEST(has_the_normal_moments),
    OP_TEST(has_a_stream_per_scope_and_ordinal),
    OP_TEST(gives_more_rows_the_same_first_rows),
    OP_TEST(refuses_seeds),
};
const unsigned long wf_n_tests_random = WF_N_TESTS(wf_tests_random);
