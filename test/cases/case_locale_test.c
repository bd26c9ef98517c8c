// Case 86 (JSBSim#795, compton#143, rcheevos PR#142): under a locale with a decimal comma "1.5" is still
// read as 1.5 and written with a point, in the library of a program that has set it, and in the command.
// labels: sweep
#include "case_command.h"

#include <locale.h>

#include "weft/weft.h"

#define GERMAN "de_DE.UTF-8"

static bool has_german(void)
{
    const bool is_there = setlocale(LC_ALL, GERMAN) != NULL;
    setlocale(LC_ALL, "C");
    return is_there;
}

static void the_suite_again(void **state)
{
    // What reads and writes numbers: graphs as text, recipes, receipts, messages.
    static const char quick[] =
        "graph_text graph_build constant nn_schedules nn_optimizers recipe_fail text";
    static const char full[] =
        "random idx safetensors pass plan run nn_layers nn_losses nn_model train_run csv table_reader npy "
        "arrays_reader text_reader image sound recipe metrics event_file diff lr_find run_verbs";
    char line[1024];
    (void)state;
    if (!has_german())
        WF_SKIP("no locale " GERMAN ", install locales-all");
    // In folders of its own: the same tests may be running elsewhere.
    snprintf(line, sizeof line,
             "TMPDIR=$PWD WEFT_TEST_LOCALE=" GERMAN " LC_ALL=" GERMAN " %s/weft-tests %s %s",
             WEFT_BUILD_DIR, quick, wf_test_is_full() ? full : "");
    case_says(line, 0, " 0 failed");
}

static void messages_have_points(void **state)
{
    weft_context *ctx;
    weft_graph *g;
    weft_error err = {0};
    (void)state;
    if (!has_german())
        WF_SKIP("no locale " GERMAN ", install locales-all");
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
    setlocale(LC_ALL, GERMAN);
    weft_scalar(g, WEFT_I32, 1.5);
    const weft_status status = weft_graph_status(g, &err);
    setlocale(LC_ALL, "C");
    assert_int_equal(status, WEFT_ERR_ATTR);
    assert_non_null(strstr(err.message, "1.5"));
    weft_graph_destroy(g);
    weft_context_destroy(ctx);
}

static void the_command(void **state)
{
    static case_said plain, german;
    (void)state;
    if (!has_german())
        WF_SKIP("no locale " GERMAN ", install locales-all");
    case_command(&plain, "LC_ALL=C $WEFT check --op exp --every 3 --json");
    case_command(&german, "LC_ALL=" GERMAN " $WEFT check --op exp --every 3 --json");
    assert_int_equal(german.code, 0);
    assert_string_equal(german.text, plain.text);
}

const struct CMUnitTest wf_tests_case_locale[] = {
    cmocka_unit_test(the_suite_again),
    cmocka_unit_test(messages_have_points),
    cmocka_unit_test(the_command),
};
const unsigned long wf_n_tests_case_locale = WF_N_TESTS(wf_tests_case_locale);
