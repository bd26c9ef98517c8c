// The recipes' short runs end with the bits that test/digests.txt holds: on every machine, compiler and
// release of one arithmetic version. A line there is: recipe, steps, SHA-256 of weights.safetensors.
// After a change of doc/arithmetic.md's version, or of a recipe, WEFT_DIGESTS=write renews the file.
// labels: notsan long (minutes under TSan; train_run trains there)

#include "train/train_tools.h"

#define DATA "/usr/share/datasets/fashion-mnist"
#define FILE_NAME WEFT_SOURCE_DIR "/test/digests.txt"
#define MAX_LINES 32

typedef struct line {
    char recipe[64], sha[80];
    int steps;
} line;

static size_t read_lines(line *lines)
{
    FILE *f = fopen(FILE_NAME, "r");
    char text[256];
    size_t n = 0;
    assert_non_null(f);
    while (fgets(text, sizeof text, f) && n < MAX_LINES) {
        if (sscanf(text, "%63s %d %79s", lines[n].recipe, &lines[n].steps, lines[n].sha) == 3 &&
            text[0] != '#')
            n++;
    }
    fclose(f);
    return n;
}

static void compute(const line *l, tiny_run *run)
{
    char path[1024], steps[32];
    const char *settings[] = {steps};
    snprintf(path, sizeof path, "%s/recipes/%s.yaml", WEFT_SOURCE_DIR, l->recipe);
    snprintf(steps, sizeof steps, "train.steps=%d", l->steps);
    tiny_remove(TEMP("digest-run"));
    const tiny_how how = {
        .path = path, .dir = TEMP("digest-run"), .settings = settings, .n_settings = 1};
    tiny_train(&how, run);
    if (run->status != WEFT_OK)
        fail_msg("%s: %s", l->recipe, run->err.message);
    assert_true(run->done.peak_bytes <= run->done.planned_bytes);
}

static void rewrite(line *lines, size_t n)
{
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    fprintf(f, "# recipe, steps, SHA-256 of weights.safetensors; arithmetic version %d\n",
            WEFT_ARITHMETIC_VERSION);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%s %d %s\n", lines[i].recipe, lines[i].steps, lines[i].sha);
    }
    assert_int_equal(fclose(f), 0);
}

static void short_runs(void **state)
{
    static line lines[MAX_LINES];
    const char *wish = getenv("WEFT_DIGESTS");
    const size_t n = read_lines(lines);
    int n_different = 0;
    (void)state;
    assert_true(n >= 5);
    if (!wf_file_is_directory(DATA))
        WF_SKIP("no data at " DATA ", install dataset-fashion-mnist");
    for (size_t i = 0; i < n; i++) {
        tiny_run run = {0};
        compute(&lines[i], &run);
        if (!strcmp(run.done.weights_sha256, lines[i].sha))
            continue;
        print_message("%s, %d steps: %s, expected %s\n", lines[i].recipe, lines[i].steps,
                      run.done.weights_sha256, lines[i].sha);
        memcpy(lines[i].sha, run.done.weights_sha256, sizeof run.done.weights_sha256);
        n_different++;
    }
    if (wish && !strcmp(wish, "write"))
        rewrite(lines, n);
    else
        assert_int_equal(n_different, 0);
}

const struct CMUnitTest wf_tests_digests[] = {cmocka_unit_test(short_runs)};
const unsigned long wf_n_tests_digests = WF_N_TESTS(wf_tests_digests);
