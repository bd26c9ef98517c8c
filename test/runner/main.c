// weft-tests: runs the unit tests of every test/**/*_test.c, all of them or those named, and counts.
//
// In: stems of test files. Out: cmocka's lines, one line per skip with its reason, then
// "N passed, N failed, N skipped"; exit 1 when one failed. Each test file runs in a folder of its own in TMPDIR
// (the build's, when unset), so that several may run at once. With --tally DIR the counts of each stem also go
// to DIR/<stem>.tally, because CTest runs one process per stem.
#include "wf_test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct suite {
    const char *stem;
    const struct CMUnitTest *tests;
    const unsigned long *n_tests;
} suite;

// The names wf_tests_<stem> and wf_n_tests_<stem> are made here.
#define WF_TEST(stem)                                                                              \
    extern const struct CMUnitTest wf_tests_##stem[];                                              \
    extern const unsigned long wf_n_tests_##stem;
#include "weft_generated/test_list.inc"
#undef WF_TEST

#define WF_TEST(stem) {#stem, wf_tests_##stem, &wf_n_tests_##stem},
static const suite suites[] = {
#include "weft_generated/test_list.inc"
    {NULL, NULL, NULL},
};
#undef WF_TEST

typedef struct tally {
    unsigned long n_passed;
    unsigned long n_failed;
    unsigned long n_skipped;
} tally;

// cmocka tells how many tests failed, but not which were skipped: each test is wrapped, and the wrapper
// of the running one counts here. One process, one thread of tests.
static struct {
    const struct CMUnitTest *tests;
    unsigned long n_started;
    unsigned long n_skipped;
    unsigned long n_returned;
    bool is_full;
    FILE *file;
} running;

static const struct CMUnitTest *running_test(void)
{
    return &running.tests[running.n_started - 1];
}

static int wrapped_setup(void **state)
{
    running.n_started++;
    const struct CMUnitTest *test = running_test();
    return test->setup_func ? test->setup_func(state) : 0;
}

static void wrapped_test(void **state)
{
    running_test()->test_func(state);
    running.n_returned++;
}

bool wf_test_is_full(void)
{
    return running.is_full;
}

void wf_test_skip(const char *file, int line, const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    running.n_skipped++;
    (void)fprintf(stdout, "skipped: %s: %s\n", running_test()->name, reason);
    (void)fflush(stdout);
    if (running.file) {
        (void)fprintf(running.file, "skip %s: %s\n", running_test()->name, reason);
    }
    _skip(file, line);
    abort(); // cmocka jumps out of _skip
}

static void enter_folder(const char *stem)
{
    const char *root = getenv("TMPDIR");
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", root && *root ? root : WEFT_TEST_TMP_ROOT, stem);
    (void)mkdir(path, 0777); // it may be there from an earlier run
    if (chdir(path) != 0) {
        (void)fprintf(stderr, "weft-tests: cannot enter %s\n", path);
        exit(1);
    }
}

static tally run_suite(const suite *one, const char *tally_dir)
{
    const unsigned long n_tests = *one->n_tests;
    struct CMUnitTest *wrapped = calloc(n_tests ? n_tests : 1, sizeof *wrapped);
    char path[4096];
    if (!wrapped) {
        (void)fprintf(stderr, "weft-tests: out of memory\n");
        exit(1);
    }
    if (tally_dir) {
        (void)snprintf(path, sizeof path, "%s/%s.tally", tally_dir, one->stem);
        running.file = fopen(path, "w");
        if (!running.file) {
            (void)fprintf(stderr, "weft-tests: cannot write %s\n", path);
            exit(1);
        }
    }
    enter_folder(one->stem);
    for (unsigned long i = 0; i < n_tests; i++) {
        wrapped[i] = one->tests[i];
        wrapped[i].setup_func = wrapped_setup;
        wrapped[i].test_func = wrapped_test;
    }
    running.tests = one->tests;
    running.n_started = 0;
    running.n_skipped = 0;
    running.n_returned = 0;
    // What cmocka_run_group_tests_name expands to, with a count that is known only at run time.
    const int n_failed = _cmocka_run_group_tests(one->stem, wrapped, n_tests, NULL, NULL);
    tally sum = {0, n_failed > 0 ? (unsigned long)n_failed : 0, running.n_skipped};
    if (n_failed < 0 || n_tests == 0) {
        sum.n_failed = n_tests ? n_tests : 1; // an empty file is a mistake, not a pass
        sum.n_skipped = 0;
    }
    if (n_tests > sum.n_failed + sum.n_skipped) {
        sum.n_passed = n_tests - sum.n_failed - sum.n_skipped;
    }
    if (sum.n_passed > running.n_returned) {
        (void)printf("%s: %lu tests left by skip() without a reason, use WF_SKIP\n", one->stem,
                     sum.n_passed - running.n_returned);
        sum.n_failed += sum.n_passed - running.n_returned;
        sum.n_passed = running.n_returned;
    }
    if (running.file) {
        (void)fprintf(running.file, "passed %lu\nfailed %lu\nskipped %lu\n", sum.n_passed,
                      sum.n_failed, sum.n_skipped);
        (void)fclose(running.file);
        running.file = NULL;
    }
    free(wrapped);
    return sum;
}

static const suite *find_suite(const char *stem)
{
    for (const suite *one = suites; one->stem; one++) {
        if (strcmp(one->stem, stem) == 0) {
            return one;
        }
    }
    return NULL;
}

static void add_tally(tally *sum, tally one)
{
    sum->n_passed += one.n_passed;
    sum->n_failed += one.n_failed;
    sum->n_skipped += one.n_skipped;
}

static int print_usage(FILE *out, int code)
{
    (void)fprintf(out, "usage: weft-tests [--list] [--tally DIR] [STEM ...]\n");
    return code;
}

int main(int argc, char **argv)
{
    const char *tally_dir = NULL;
    tally sum = {0, 0, 0};
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        if (strcmp(argv[first], "--list") == 0) {
            for (const suite *one = suites; one->stem; one++) {
                (void)printf("%s %lu\n", one->stem, *one->n_tests);
            }
            return 0;
        }
        if (strcmp(argv[first], "--help") == 0) {
            return print_usage(stdout, 0);
        }
        if (strcmp(argv[first], "--tally") == 0 && first + 1 < argc) {
            tally_dir = argv[++first];
        } else {
            return print_usage(stderr, 2);
        }
    }
    // WEFT_TEST_LOCALE: the tests run as in a program that has set this locale, but for what the system
    // says, which tests compare in English.
    const char *locale = getenv("WEFT_TEST_LOCALE");
    if (locale && !setlocale(LC_ALL, locale)) {
        (void)fprintf(stderr, "weft-tests: no locale '%s'\n", locale);
        return 2;
    }
    (void)setlocale(LC_MESSAGES, "C");
    const char *full = getenv("WEFT_TEST_FULL");
    running.is_full = full && full[0] != '\0';
    // So that cmocka's lines, which go to stderr in part, keep their place among ours.
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = first; i < argc; i++) {
        const suite *one = find_suite(argv[i]);
        if (!one) {
            (void)fprintf(stderr, "weft-tests: no tests named '%s', see --list\n", argv[i]);
            return 2;
        }
        add_tally(&sum, run_suite(one, tally_dir));
    }
    for (const suite *one = suites; first == argc && one->stem; one++) {
        add_tally(&sum, run_suite(one, tally_dir));
    }
    (void)printf("%lu passed, %lu failed, %lu skipped\n", sum.n_passed, sum.n_failed,
                 sum.n_skipped);
    return sum.n_failed ? 1 : 0;
}
