// The command itself: what it writes for programs, its exit codes, its help.
#include "train/train_tools.h"

#include <sys/wait.h>

#define DIR_A TEMP("command-run")
#define TRAIN "train " TEMP("tiny.yaml") " --out " DIR_A

// Runs "weft ARGUMENTS"; standard output in out, or both streams. Gives the exit code.
static int weft(const char *arguments, const char *redirection, char *out, size_t size)
{
    char command[4096];
    tiny_data();
    tiny_write(tiny_recipe);
    snprintf(command, sizeof command, "'%s' %s %s", WEFT_BINARY, arguments, redirection);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t n = fread(out, 1, size - 1, pipe);
    out[n] = 0;
    const int code = pclose(pipe);
    assert_true(WIFEXITED(code));
    return WEXITSTATUS(code);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        n++;
    }
    return n;
}

static void train_tells_programs(void **state)
{
    static char out[1 << 16];
    char again[1024];
    (void)state;
    tiny_remove(DIR_A);
    assert_int_equal(weft(TRAIN " --json", "2>&1", out, sizeof out), 0);
    assert_int_equal(count(out, "\n"), 18 + 3 + 1);
    assert_memory_equal(out, "{\"event\":\"step\",\"step\":1,\"loss\":", 32);
    assert_int_equal(count(out, "{\"event\":\"epoch\",\"epoch\":"), 3);
    const char *done =
        strstr(out, "{\"event\":\"done\",\"device\":\"cpu\",\"arithmetic\":\"exact\","
                    "\"storage\":\"f32\",\"isa\":\"");
    assert_non_null(done);
    static const char *const keys[] = {
        "\"threads\":",       "\"steps\":18,",   "\"seconds\":",         "\"samples_per_s\":",
        "\"planned_bytes\":", "\"peak_bytes\":", "\"weights_sha256\":\""};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_int_equal(count(done, keys[i]), 1);
    }
    assert_int_equal(weft("eval " DIR_A " --json", "2>&1", again, sizeof again), 0);
    assert_memory_equal(again, "{\"loss\":", 8);
    assert_int_equal(count(again, ",\"accuracy\":"), 1);
    assert_int_equal(count(again, ",\"samples\":37,"), 1);
    assert_int_equal(weft("verify " DIR_A " --device ref", "2>&1", again, sizeof again), 0);
    assert_int_equal(count(again, "ref: the same bits in 18 steps and in the final weights"), 1);
    assert_int_equal(weft("predict " DIR_A " --index 5", "2>&1", again, sizeof again), 0);
    assert_memory_equal(again, "test 5: class ", 14);
    assert_int_equal(weft("inspect " DIR_A, "2>&1", again, sizeof again), 0);
    assert_int_equal(count(again, "conv1"), 1);
}

// All lines end where the last column does, and the numbers of parameters stand under their title, however long the
// names are; names that are not ASCII count by characters.
static void inspect_has_room_for_names(void **state)
{
    static const char *const names[] = {"a", "слой_с_длинным_именем",
                                        "a_layer_with_a_name_of_forty-three_letters"};
    static char out[1 << 14];
    char arguments[256];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(arguments, sizeof arguments,
                 "inspect " TEMP("tiny.yaml") " --batch 1 'model=[flatten, linear: {out: 4, "
                                              "name: %s}]'",
                 names[i]);
        assert_int_equal(weft(arguments, "2>&1", out, sizeof out), 0);
        const char *line = strstr(out, "\nlayer ");
        const char *const end = strstr(out, "\n\n   batch");
        assert_non_null(line);
        assert_non_null(end);
        assert_non_null(strstr(line, names[i]));
        const char *title = strstr(line, "parameters");
        assert_non_null(title);
        const int parameters_end = (int)(title - line) + 9,
                  width = (int)(strchr(line + 1, '\n') - line) - 1;
        int n_lines = 0;
        for (; line < end; line = strchr(line + 1, '\n'), n_lines++) {
            int n = 0;
            bool is_number = false;
            for (const char *c = line + 1; *c != '\n'; c++) {
                n += (*c & 0xC0) != 0x80;
                if (n == parameters_end)
                    is_number = *c != ' ' && c[1] == ' ';
            }
            assert_int_equal(n, width);
            assert_true(is_number);
        }
        assert_int_equal(n_lines, 4);
    }
}

typedef struct wrong {
    const char *arguments;
    int code;
    const char *says;
} wrong;

// cases.md 66: never another device than the one asked for.
static const wrong table[] = {
    {"", 2, "usage: weft VERB [ARGUMENTS] [FLAGS]"},
    {"trian", 2, "weft: no verb 'trian', did you mean 'train'?\n(weft --help lists the verbs)\n"},
    {"train", 2,
     "weft train: no recipe, expected a file, or --data and --model\n(weft train --help says what it takes)\n"},
    {"train x.yaml --speed 9", 2,
     "weft train: no flag '--speed'\n(weft train --help says what it takes)\n"},
    {"train x.yaml --steps many", 2,
     "weft train: --steps: 'many' is no number, expected 0 or more\n"
     "(weft train --help says what it takes)\n"},
    {"train x.yaml --memory 3X", 2,
     "weft train: --memory: '3X' is no size, expected bytes like 512M or 2G\n"
     "(weft train --help says what it takes)\n"},
    {"train x.yaml --out", 2,
     "weft train: --out: no value, expected DIR\n(weft train --help says what it takes)\n"},
    {"train x.yaml --resume", 2,
     "weft train: --resume without --out, expected the folder of the run\n"
     "(weft train --help says what it takes)\n"},
    {"train x.yaml y.yaml", 2,
     "weft train: 'y.yaml' beside the recipe, expected key=value\n"
     "(weft train --help says what it takes)\n"},
    {"train no-such.yaml", 1, "weft: error: cannot open no-such.yaml: No such file or directory\n"},
    {TRAIN " schedule.kind=cosin", 1,
     "weft: error: schedule.kind=cosin: schedule.kind: 'cosin', expected constant, linear, cosine, "
     "step, one_cycle or wsd, did you mean 'cosine'\n"},
    {TRAIN " --device opencl:99", 3, "weft: error: "},
    {TRAIN " --device abacus", 3, "weft: error: "},
    {TRAIN " --isa mmx", 3, "weft: error: "},
    {TRAIN " data.dir=/no/such/folder", 1, "weft: error: "},
    {"eval " WEFT_TEST_TMP, 1,
     "weft: error: " WEFT_TEST_TMP ": no recipe.yaml in it, expected the folder of a run\n"},
    {"predict " WEFT_TEST_TMP, 2,
     "weft predict: nothing to predict, expected files or --index N\n"
     "(weft predict --help says what it takes)\n"},
};

static void wrong_use_has_its_code(void **state)
{
    static char out[1 << 16];
    (void)state;
    tiny_remove(DIR_A);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const int code = weft(table[i].arguments, "2>&1", out, sizeof out);
        const size_t len = strlen(table[i].says);
        // A message that ends its line here is the whole of it.
        const bool is_whole = table[i].says[len - 1] == '\n';
        if (code != table[i].code || strncmp(out, table[i].says, len) != 0 ||
            (is_whole && out[len] != 0))
            fail_msg("weft %s: exit code %d, expected %d; says:\n%s", table[i].arguments, code,
                     table[i].code, out);
        assert_false(wf_file_is_directory(DIR_A));
    }
}

static void every_verb_has_help(void **state)
{
    static char out[1 << 16];
    char arguments[64], usage[64];
    static const char *const verbs[] = {"train",   "eval",  "predict", "verify",
                                        "inspect", "check", "devices", "bench"};
    (void)state;
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        snprintf(arguments, sizeof arguments, "%s --help", verbs[i]);
        snprintf(usage, sizeof usage, "usage: weft %s", verbs[i]);
        assert_int_equal(weft(arguments, "2>&1", out, sizeof out), 0);
        assert_memory_equal(out, usage, strlen(usage));
        assert_int_equal(count(out, "--json"), 1);
    }
}

const struct CMUnitTest wf_tests_train_command[] = {
    cmocka_unit_test(train_tells_programs),
    cmocka_unit_test(inspect_has_room_for_names),
    cmocka_unit_test(wrong_use_has_its_code),
    cmocka_unit_test(every_verb_has_help),
};
const unsigned long wf_n_tests_train_command = WF_N_TESTS(wf_tests_train_command);
