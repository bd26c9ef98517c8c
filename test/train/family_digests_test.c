// Three steps of every family, small, end with the bits that test/family_digests.txt holds: on every machine, also
// under an emulator of another one (tools/check-arm). A line there is: SHA-256 of weights.safetensors, name.
// WEFT_DIGESTS=write renews the file, as for test/digests.txt.
#include "train/family_small.h"

#include "weft_config.h"

#define FILE_NAME WEFT_SOURCE_DIR "/test/family_digests.txt"
#define STEPS 3

static void read_digests(char (*sha)[65])
{
    FILE *f = fopen(FILE_NAME, "r");
    char line[256], name[128], digest[65];
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%64[0-9a-f] %127[^\n]", digest, name) == 2)
            memcpy(sha[family_small_find(name) - families_small], digest, sizeof digest);
    }
    (void)fclose(f);
}

static void write_digests(char (*sha)[65])
{
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    fprintf(f, "# SHA-256 of weights.safetensors after %d steps, name; arithmetic version %d\n",
            STEPS, WEFT_ARITHMETIC_VERSION);
    for (size_t i = 0; i < n_families_small; i++)
        fprintf(f, "%s %s\n", sha[i], families_small[i].name);
    assert_int_equal(fclose(f), 0);
}

static void three_steps_of_each(void **state)
{
    static char expected[64][65], sha[64][65];
    const char *wish = getenv("WEFT_DIGESTS");
    const bool is_written = wish && !strcmp(wish, "write");
    int n_different = 0;
    (void)state;
    if (!WEFT_HAVE_YAML || !WEFT_HAVE_CJSON)
        WF_SKIP("built without libyaml or libcjson");
    assert_true(n_families_small <= 64);
    if (!is_written)
        read_digests(expected);
    for (size_t i = 0; i < n_families_small; i++) {
        family_small_train(&families_small[i], STEPS,
                           (tiny_how){.dir = TEMP("family-digests"), .n_threads = 1}, sha[i]);
        if (is_written || !strcmp(sha[i], expected[i]))
            continue;
        print_message("%s: %s, expected %s\n", families_small[i].name, sha[i], expected[i]);
        n_different++;
    }
    if (is_written)
        write_digests(sha);
    assert_int_equal(n_different, 0);
}

const struct CMUnitTest wf_tests_family_digests[] = {cmocka_unit_test(three_steps_of_each)};
const unsigned long wf_n_tests_family_digests = WF_N_TESTS(wf_tests_family_digests);
