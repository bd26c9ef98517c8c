// The networks of recipes/bench have as many parameters as PyTorch's (test/golden/parameter_counts.txt).
#include "train/train_tools.h"

static void add_layer(void *user, const weft_layer_info *info)
{
    *(int64_t *)user += info->n_parameters;
}

static int64_t count(weft_context *context, const char *name)
{
    char path[1024];
    weft_recipe *recipe;
    weft_device *device;
    weft_error err = {0};
    int64_t n = 0;
    weft_inspect_events events = WEFT_INSPECT_EVENTS_INIT;
    events.user = &n;
    events.layer = add_layer;
    snprintf(path, sizeof path, "%s/recipes/bench/%s.yaml", WEFT_SOURCE_DIR, name);
    if (weft_recipe_read(context, path, NULL, 0, &recipe, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(weft_device_open(context, "null", NULL, &device, NULL), WEFT_OK);
    if (weft_inspect_run(recipe, device, NULL, 0, &events, &err) != WEFT_OK)
        fail_msg("%s: %s", name, err.message);
    weft_device_close(device);
    weft_recipe_destroy(recipe);
    return n;
}

static void as_many_as_pytorch(void **state)
{
    FILE *f = fopen(WEFT_SOURCE_DIR "/test/golden/parameter_counts.txt", "r");
    weft_context *context;
    char line[256], name[64];
    long long expected;
    int n = 0;
    (void)state;
    assert_non_null(f);
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || sscanf(line, "%63s %lld", name, &expected) != 2)
            continue;
        const int64_t found = count(context, name);
        if (found != expected)
            fail_msg("%s: %lld parameters, expected %lld", name, (long long)found, expected);
        n++;
    }
    assert_int_equal(n, 11);
    fclose(f);
    weft_context_destroy(context);
}

const struct CMUnitTest wf_tests_family_counts[] = {
    cmocka_unit_test(as_many_as_pytorch),
};
const unsigned long wf_n_tests_family_counts = WF_N_TESTS(wf_tests_family_counts);
