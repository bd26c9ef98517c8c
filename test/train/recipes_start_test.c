// Every recipe of the project is read, printed, and read again to the same text; it says in one line which data are
// not there; those that make their data up are planned.
// labels: sweep
#include "train/train_tools.h"

#include <glob.h>

#include "recipe/recipe.h"

static weft_recipe *read_recipe(weft_context *context, const char *path, const char *setting)
{
    weft_recipe *recipe;
    weft_error err = {0};
    if (weft_recipe_read(context, path, &setting, setting ? 1 : 0, &recipe, &err) != WEFT_OK)
        fail_msg("%s: %s", path, err.message);
    return recipe;
}

static char *print_recipe(const weft_recipe *recipe)
{
    wf_text text;
    wf_text_init(&text, &recipe->allocator);
    assert_int_equal(wf_recipe_print(recipe, &text, NULL), WEFT_OK);
    return text.data;
}

static void reads_what_it_prints(weft_context *context, const char *path)
{
    const wf_allocator a = wf_allocator_default();
    weft_recipe *first = read_recipe(context, path, NULL);
    char *text = print_recipe(first);
    weft_recipe *second = read_recipe(context, tiny_write(text), NULL);
    char *again = print_recipe(second);
    assert_string_equal(text, again);
    wf_free(&a, text);
    wf_free(&a, again);
    weft_recipe_destroy(first);
    weft_recipe_destroy(second);
}

static weft_status inspect(weft_context *context, const char *path, const char *setting,
                           weft_error *err)
{
    static const int64_t batch = 2;
    const weft_inspect_events events = WEFT_INSPECT_EVENTS_INIT;
    weft_device *device;
    weft_recipe *recipe = read_recipe(context, path, setting);
    assert_int_equal(weft_device_open(context, "cpu", NULL, &device, NULL), WEFT_OK);
    const weft_status status = weft_inspect_run(recipe, device, &batch, 1, &events, err);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    return status;
}

static void names_missing_data(weft_context *context, const char *path, const char *text)
{
    weft_error err = {0};
    static const char expected[] = "cannot open /no/such/data: No such file or directory";
    const char *setting =
        strstr(text, "file: ") ? "data.file=/no/such/data" : "data.dir=/no/such/data";
    assert_int_equal(inspect(context, path, setting, &err), WEFT_ERR_FILE);
    // A reader that is named may look for its own files there.
    if (strcmp(err.message, expected) != 0)
        assert_names_file(err.message, "/no/such/data");
}

static void every_recipe_starts(void **state)
{
    static const char *const patterns[] = {WEFT_SOURCE_DIR "/recipes/*.yaml",
                                           WEFT_SOURCE_DIR "/recipes/bench/*.yaml"};
    const wf_allocator a = wf_allocator_default();
    weft_context *context;
    glob_t found;
    (void)state;
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found), 0);
    }
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        weft_error err = {0};
        char *text;
        reads_what_it_prints(context, path);
        assert_int_equal(wf_file_read_text(&a, path, &text, NULL), WEFT_OK);
        if (!strstr(text, "reader: synthetic"))
            names_missing_data(context, path, text);
        else if (wf_test_is_full() && inspect(context, path, NULL, &err) != WEFT_OK)
            fail_msg("%s: %s", path, err.message);
        wf_free(&a, text);
    }
    assert_true(found.gl_pathc >= 31);
    globfree(&found);
    weft_context_destroy(context);
}

const struct CMUnitTest wf_tests_recipes_start[] = {cmocka_unit_test(every_recipe_starts)};
const unsigned long wf_n_tests_recipes_start = WF_N_TESTS(wf_tests_recipes_start);
