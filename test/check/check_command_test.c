// weft check, devices and bench as other programs call them: JSON, exit codes, messages.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "weft_config.h"
#include "wf_test.h"

// What the command says on standard output (or both, with 2>&1 in arguments), and its exit code.
static char *says(const char *arguments, int *out_code)
{
    static char text[1 << 20];
    char line[1024];
    (void)snprintf(line, sizeof line, "'%s' %s", WEFT_BINARY, arguments);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    const size_t n = fread(text, 1, sizeof text - 1, pipe);
    text[n] = '\0';
    const int code = pclose(pipe);
    assert_true(WIFEXITED(code));
    *out_code = WEXITSTATUS(code);
    return text;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

static void expect_part(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("'%s' is not in: %s", part, text);
    }
}

static void check_speaks_json(void **state)
{
    (void)state;
    int code;
    const char *text = says("check --device cpu --op abs --json", &code);
    assert_int_equal(code, 0);
    const size_t n = count(text, "{\"event\":\"op\",\"op\":\"abs\",\"case\":\"");
    assert_true(n > 20);
    assert_int_equal(count(text, "\"status\":\"equal\",\"reason\":\"\",\"ulp_from_truth\":"), n);
    assert_int_equal(count(text, "\n"), n + 1);
    char done[128];
    (void)snprintf(
        done, sizeof done,
        "\n{\"event\":\"done\",\"equal\":%zu,\"different\":0,\"skipped\":0,\"digest\":\"", n);
    expect_part(text, done);
}

// The digest is of what ref computes: it does not depend on the device.
static void every_device_prints_one_digest(void **state)
{
    (void)state;
    int code;
    char first[128] = "";
    static const char *const devices[] = {"ref", "cpu --isa scalar", "cpu --threads 3"};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        char arguments[256];
        (void)snprintf(arguments, sizeof arguments, "check --op softmax_cross_entropy --device %s",
                       devices[i]);
        const char *text = says(arguments, &code);
        assert_int_equal(code, 0);
        const char *digest = strstr(text, "digest ");
        assert_non_null(digest);
        if (first[0]) {
            assert_string_equal(digest, first);
        }
        (void)snprintf(first, sizeof first, "%s", digest);
    }
}

static void check_names_what_is_wrong(void **state)
{
    (void)state;
    int code;
    expect_part(says("check --op matmull 2>&1", &code),
                "check: op matmull is unknown, did you mean matmul");
    assert_int_equal(code, 1);
    expect_part(says("check everything 2>&1", &code), "takes no arguments, 'everything' is one");
    assert_int_equal(code, 2);
    (void)says("check --device opencl:31 2>&1", &code);
    assert_int_equal(code, 3);
}

static void devices_are_one_array(void **state)
{
    (void)state;
    int code;
    const char *text = says("devices --json", &code);
    assert_int_equal(code, 0);
    assert_int_equal(text[0], '[');
    assert_int_equal(count(text, "\n"), 1);
    expect_part(text, "{\"id\":\"cpu\",\"name\":\"");
    expect_part(text, "\"kind\":\"cpu\",\"usable\":true,\"exact\":\"native\",\"reason\":\"\",");
    const size_t n = count(text, "\"id\":");
    assert_int_equal(count(text, "\"memory_bytes\":"), n);
    assert_int_equal(count(text, "\"compute_units\":"), n);
    expect_part(says("devices", &code), "the definition of every op, in plain C");
}

static void bench_speaks_json(void **state)
{
    (void)state;
    static const char *const fields[] = {"\"name\":\"gemm\"",
                                         "\"shape\":[\"gemm\",33,35,37,0,1],",
                                         "\"direction\":\"forward\"",
                                         "\"device\":\"cpu\"",
                                         "\"arithmetic\":\"exact\"",
                                         "\"storage\":\"f32\"",
                                         "\"isa\":\"scalar\"",
                                         "\"threads\":1",
                                         "\"batch\":33",
                                         "\"median_ms\":",
                                         "\"spread\":",
                                         "\"samples_per_s\":",
                                         "\"gflops\":",
                                         "\"peak_fraction\":",
                                         "\"bytes\":14684",
                                         "\"planned_bytes\":",
                                         "\"peak_rss_bytes\":"};
    int code;
    const char *text =
        says("bench gemm --shape 33,35,37,0,1 --json --time 1 --isa scalar --threads 1", &code);
    assert_int_equal(code, 0);
    assert_int_equal(count(text, "\n"), 1);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        expect_part(text, fields[i]);
    }
    text = says("bench conv --shape 2,3,9,5,3,2,1 --json --time 1", &code);
    assert_int_equal(code, 0);
    assert_int_equal(count(text, "\n"), 3);
    expect_part(text, "\"shape\":[\"conv\",2,3,9,5,3,2,1,1],\"direction\":\"forward\"");
    expect_part(text, "\"direction\":\"dX\"");
    expect_part(text, "\"direction\":\"dW\"");
    text = says("bench conv --shape 1,1,5,2,3 --direction dX --json --time 1", &code);
    expect_part(text, "\"shape\":[\"conv\",1,1,5,2,3,1,0,1],\"direction\":\"dX\"");
    assert_int_equal(count(text, "\n"), 1);
}

// A network has no shape; one of tokens says how many it takes, the others how many samples.
static void bench_speaks_of_networks(void **state)
{
    (void)state;
    int code;
    if (!WEFT_HAVE_YAML)
        WF_SKIP("built without libyaml");
    const char *text = says("bench lenet lenet-infer --json --time 1 --threads 1", &code);
    assert_int_equal(code, 0);
    assert_int_equal(count(text, "\n"), 2);
    expect_part(text, "\"name\":\"lenet\",\"shape\":null,\"direction\":\"step\"");
    expect_part(text, "\"batch\":64,");
    expect_part(text, "\"name\":\"lenet-infer\",\"shape\":null,\"direction\":\"infer\"");
    assert_int_equal(count(text, "\"samples_per_s\":"), 2);
    text = says("bench lstm-infer --json --time 1 --storage bf16", &code);
    assert_int_equal(code, 0);
    expect_part(text, "\"storage\":\"bf16\"");
    expect_part(text, "\"tokens_per_s\":");
    assert_int_equal(count(text, "\"samples_per_s\":"), 0);
}

static void bench_reads_shapes(void **state)
{
    (void)state;
    int code;
    char path[512], arguments[1024];
    (void)snprintf(path, sizeof path, "%s/bench_shapes.json", WEFT_TEST_TMP);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file,
                  "{\"gemm\": {\"columns\": [\"name\"], \"rows\": [[\"one\", 4, 5, 6, 0, 0],\n"
                  "[\"two\", 7, 8, 9, 1, 0]]}, \"conv\": {\"rows\": [[\"three\"]]}}");
    (void)fclose(file);
    (void)snprintf(arguments, sizeof arguments, "bench gemm --shapes '%s' --json --time 1", path);
    const char *text = says(arguments, &code);
    assert_int_equal(code, 0);
    expect_part(text, "\"name\":\"gemm\",\"shape\":[\"one\",4,5,6,0,0]");
    expect_part(text, "\"name\":\"gemm\",\"shape\":[\"two\",7,8,9,1,0]");
    (void)snprintf(arguments, sizeof arguments, "bench conv --shapes '%s' 2>&1", path);
    expect_part(says(arguments, &code), "a size of the convolution is 0, expected 1 or more");
    assert_int_equal(code, 1);
    expect_part(says("bench gemm --shapes /nonexistent/x.json 2>&1", &code), "cannot be opened");
    assert_int_equal(code, 2);
}

static void bench_names_what_is_wrong(void **state)
{
    (void)state;
    int code;
    expect_part(
        says("bench gem 2>&1", &code),
        "'gem' is no benchmark, expected gemm, conv, or a network with or without -infer: chargpt");
    assert_int_equal(code, 2);
    expect_part(says("bench gemm --shape 3,4 2>&1", &code),
                "--shape '3,4' is no list of 3 numbers or more");
    assert_int_equal(code, 2);
    expect_part(says("bench conv --direction up 2>&1", &code),
                "--direction is 'up', expected forward, dX or dW");
    assert_int_equal(code, 2);
    expect_part(says("bench mlp --storage i8 2>&1", &code),
                "--storage is 'i8', expected f32, bf16 or f16");
    assert_int_equal(code, 2);
    expect_part(says("bench gemm --storage bf16 2>&1", &code),
                "--storage is of networks, gemm is measured in f32");
    assert_int_equal(code, 2);
    expect_part(says("bench conv --shape 1,3,5,4,7 2>&1", &code),
                "bench: window 7 is larger than the padded input, 5 + 2 * 0");
    assert_int_equal(code, 1);
}

const struct CMUnitTest wf_tests_check_command[] = {
    cmocka_unit_test(check_speaks_json),         cmocka_unit_test(every_device_prints_one_digest),
    cmocka_unit_test(check_names_what_is_wrong), cmocka_unit_test(devices_are_one_array),
    cmocka_unit_test(bench_speaks_json),         cmocka_unit_test(bench_reads_shapes),
    cmocka_unit_test(bench_speaks_of_networks),  cmocka_unit_test(bench_names_what_is_wrong),
};
const unsigned long wf_n_tests_check_command = WF_N_TESTS(wf_tests_check_command);
