// Building graphs: the sticky first error with op, shapes and place; scopes; outputs.
#include "graph_kit.h"

static void keeps_the_first_error_with_place(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val a = weft_input(g, "a", WEFT_F32, KIT_DIMS(8, 64));
    const weft_val b = weft_input(g, "b", WEFT_F32, KIT_DIMS(32, 16));
    weft_graph_at(g, "net.yaml", 12, 5);
    const weft_val c = (weft_matmul)(g, a, b, false, false);
    assert_int_equal(c.id, 0);
    // What follows does nothing and changes nothing.
    assert_int_equal(weft_add(g, c, a).id, 0);
    assert_int_equal(weft_relu(g, a).id, 0);
    graph_kit_expect_error(g, WEFT_ERR_SHAPE,
                           "net.yaml:12:5: matmul: inner sizes differ, a is [8,64], b is [32,16]");
}

static void names_the_callers_line(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val a = weft_input(g, "a", WEFT_F32, KIT_DIMS(2));
    weft_scope_push(g, "head");
    weft_and(g, a, a);
    weft_error err = {0};
    assert_int_equal(weft_graph_status(g, &err), WEFT_ERR_DTYPE);
    assert_non_null(strstr(err.message, "graph_build_test.c:"));
    assert_non_null(strstr(err.message, ": head/and: "));
}

static void refuses_values_of_another_graph(void **state)
{
    graph_kit *kit = *state;
    weft_graph *other;
    assert_int_equal(weft_graph_create(kit->ctx, &other, NULL), WEFT_OK);
    weft_val v = weft_scalar(other, WEFT_F32, 1.0);
    v.id += 7;
    weft_graph_at(kit->g, NULL, 0, 0);
    (weft_guard)(kit->g, v);
    assert_int_equal(weft_graph_status(kit->g, NULL), WEFT_ERR_USAGE);
    weft_graph_destroy(other);
}

static void scopes_name_nodes(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    weft_scope_push(g, "encoder");
    weft_scope_push(g, "conv1");
    const weft_val v = weft_scalar(g, WEFT_F32, 1.0);
    assert_string_equal(wf_graph_producer(g, v.id)->scope, "encoder/conv1");
    weft_scope_pop(g);
    weft_scope_pop(g);
    weft_scope_pop(g);
    assert_int_equal(weft_graph_status(g, NULL), WEFT_ERR_USAGE);
}

static void refuses_scope_names_with_slashes(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    weft_scope_push(g, "a/b");
    graph_kit_expect_error(
        g, WEFT_ERR_NAME,
        "scope: name \"a/b\" is not valid, expected a word without '/' or spaces");
}

static void output_names_are_unique(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val v = weft_scalar(g, WEFT_F32, 1.0);
    weft_graph_at(g, NULL, 0, 0);
    weft_output(g, "y", v);
    weft_output(g, "y", v);
    graph_kit_expect_error(g, WEFT_ERR_NAME, "output: name y is taken");
}

static void counts_that_overflow_are_refused(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const int64_t big[] = {INT64_MAX / 4, 1000};
    assert_int_equal(weft_input(g, "x", WEFT_F32, big, 2).id, 0);
    assert_int_equal(weft_graph_status(g, NULL), WEFT_ERR_SHAPE);
}

const struct CMUnitTest wf_tests_graph_build[] = {
    KIT_TEST(keeps_the_first_error_with_place), KIT_TEST(names_the_callers_line),
    KIT_TEST(refuses_values_of_another_graph),  KIT_TEST(scopes_name_nodes),
    KIT_TEST(refuses_scope_names_with_slashes), KIT_TEST(output_names_are_unique),
    KIT_TEST(counts_that_overflow_are_refused),
};
const unsigned long wf_n_tests_graph_build = WF_N_TESTS(wf_tests_graph_build);
