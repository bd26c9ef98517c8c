// The text form: a graph printed and read back prints equally; wrong texts give one line with place.
#include <stdlib.h>

#include "graph_kit.h"

static void round_trip(weft_context *ctx, const weft_graph *g)
{
    char *text, *again;
    weft_graph *copy;
    weft_error err = {0};
    assert_int_equal(weft_graph_print(g, &text, &err), WEFT_OK);
    if (weft_graph_parse(ctx, text, &copy, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(wf_graph_verify(copy, &err), WEFT_OK);
    assert_int_equal(weft_graph_print(copy, &again, &err), WEFT_OK);
    assert_string_equal(text, again);
    weft_text_free(ctx, text);
    weft_text_free(ctx, again);
    weft_graph_destroy(copy);
}

static void prints_and_parses_a_training_step(void **state)
{
    graph_kit *kit = *state;
    graph_kit_build_step(kit->g, 3);
    assert_int_equal(weft_graph_status(kit->g, NULL), WEFT_OK);
    round_trip(kit->ctx, kit->g);
}

static void prints_and_parses_random_graphs(void **state)
{
    graph_kit *kit = *state;
    for (uint32_t seed = 0; seed < 50; seed++) {
        weft_graph *g;
        assert_int_equal(weft_graph_create(kit->ctx, &g, NULL), WEFT_OK);
        graph_kit_build_random(g, seed);
        if (weft_graph_status(g, NULL) != WEFT_OK)
            fail_msg("seed %u", seed);
        round_trip(kit->ctx, g);
        weft_graph_destroy(g);
    }
}

static void keeps_names_with_quotes(void **state)
{
    graph_kit *kit = *state;
    weft_val v = weft_scalar(kit->g, WEFT_F64, -0.0);
    weft_output(kit->g, "a \"quoted\\\" name\n", v);
    round_trip(kit->ctx, kit->g);
}

static void expect_fault(weft_context *ctx, const char *text, const char *message)
{
    weft_graph *g = NULL;
    weft_error err = {0};
    assert_int_equal(weft_graph_parse(ctx, text, &g, &err), WEFT_ERR_FORMAT);
    assert_null(g);
    assert_string_equal(err.message, message);
}

static void names_line_and_column_of_faults(void **state)
{
    weft_context *ctx = ((graph_kit *)*state)->ctx;
    expect_fault(ctx, "weft graf 1\n", "graph text line 1 column 1: expected 'weft graph 1'");
    expect_fault(ctx, "weft graph 1\n%1 = rellu(%1)\n",
                 "graph text line 2 column 11: op rellu is unknown");
    expect_fault(ctx, "weft graph 1\n%3 = relu(%1)\n",
                 "graph text line 2 column 3: value %3 is out of order, expected %1");
    expect_fault(ctx, "weft graph 1\noutput \"y\" = %1\n",
                 "graph text line 2 column 16: value %1 is unknown");
}

// Cut anywhere, a text is an error or a shorter graph, never a crash.
static void survives_truncation(void **state)
{
    graph_kit *kit = *state;
    char *text;
    graph_kit_build_random(kit->g, 7);
    assert_int_equal(weft_graph_print(kit->g, &text, NULL), WEFT_OK);
    const size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut += length / 200 + 1) {
        char *part = malloc(cut + 1);
        weft_graph *g = NULL;
        assert_non_null(part);
        memcpy(part, text, cut);
        part[cut] = 0;
        if (weft_graph_parse(kit->ctx, part, &g, NULL) == WEFT_OK) {
            assert_int_equal(wf_graph_verify(g, NULL), WEFT_OK);
            weft_graph_destroy(g);
        }
        free(part);
    }
    weft_text_free(kit->ctx, text);
}

// The verifier sees damage that constructors cannot do.
static void verifier_finds_damage(void **state)
{
    weft_graph *g = ((graph_kit *)*state)->g;
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(4));
    const weft_val y = weft_relu(g, x);
    weft_error err = {0};
    g->values[y.id].type.dims[0] = 5;
    assert_int_equal(wf_graph_verify(g, &err), WEFT_ERR_INTERNAL);
    assert_string_equal(err.message,
                        "graph is broken; node 1 relu: type is f32[5], infer says f32[4]");
    g->values[y.id].type.dims[0] = 4;
    g->values[y.id].node = 0;
    assert_int_equal(wf_graph_verify(g, &err), WEFT_ERR_INTERNAL);
    g->values[y.id].node = 1;
    assert_int_equal(wf_graph_verify(g, &err), WEFT_OK);
}

const struct CMUnitTest wf_tests_graph_text[] = {
    KIT_TEST(prints_and_parses_a_training_step),
    KIT_TEST(prints_and_parses_random_graphs),
    KIT_TEST(keeps_names_with_quotes),
    KIT_TEST(names_line_and_column_of_faults),
    KIT_TEST(survives_truncation),
    KIT_TEST(verifier_finds_damage),
};
const unsigned long wf_n_tests_graph_text = WF_N_TESTS(wf_tests_graph_text);
