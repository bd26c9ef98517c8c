// Text: numbers that read back, any locale, JSON strings, the nearest word.
#include "wf_test.h"

#include <locale.h>
#include <string.h>

#include "base/text.h"

static void round_trip(void **state)
{
    (void)state;
    char out[WF_TEXT_NUMBER_BYTES];
    uint32_t bits = 12345;
    for (int i = 0; i < 20000; i++) {
        float value, back;
        bits = bits * 1664525u + 1013904223u;
        memcpy(&value, &bits, 4);
        if (value != value)
            continue;
        wf_text_format_f32(value, out);
        assert_true(wf_text_parse_f32(out, &back));
        assert_memory_equal(&back, &value, 4);
    }
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0.1, "0.1"},      {1.0 / 3, "0.3333333333333333"},
                {-0.0, "-0"},      {5e-324, "5e-324"},
                {1e300, "1e+300"}, {1.7976931348623157e308, "1.7976931348623157e+308"}};
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        double back;
        wf_text_format_f64(rows[i].value, out);
        assert_string_equal(out, rows[i].text);
        assert_true(wf_text_parse_f64(out, &back));
        assert_memory_equal(&back, &rows[i].value, 8);
    }
    wf_text_format_f32(0.1f, out);
    assert_string_equal(out, "0.1");
    wf_text_format_f32(3.4028235e38f, out);
    assert_string_equal(out, "3.4028235e+38");
}

// Rounds once: 1 + 2^-24 + a little is above the tie, by way of f64 it would fall on it.
static void rounds_once(void **state)
{
    (void)state;
    float value;
    assert_true(wf_text_parse_f32("1.00000005960464477539062500000000001", &value));
    assert_true(value == 1.00000011920928955078125f);
}

static void strict_syntax(void **state)
{
    (void)state;
    static const char *const bad[] = {"",   " 1", "1 ",  "1,5",      "0x10",   "1e",
                                      "e5", ".",  "+-1", "infinity", "nan(1)", "1.5.2"};
    double value;
    int64_t i;
    uint64_t u;
    for (size_t k = 0; k < WF_N_TESTS(bad); k++)
        assert_false(wf_text_parse_f64(bad[k], &value));
    assert_true(wf_text_parse_f64("-.5e+1", &value) && value == -5.0);
    assert_true(wf_text_parse_f64("inf", &value) && value > 1e308);
    assert_true(wf_text_parse_i64("-9223372036854775808", &i) && i == INT64_MIN);
    assert_true(wf_text_parse_i64("9223372036854775807", &i) && i == INT64_MAX);
    assert_false(wf_text_parse_i64("9223372036854775808", &i));
    assert_true(wf_text_parse_u64("18446744073709551615", &u) && u == UINT64_MAX);
    assert_false(wf_text_parse_u64("18446744073709551616", &u));
    assert_false(wf_text_parse_u64("-1", &u));
}

static void german_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8",
                                        "ru_RU.UTF-8"};
    const char *found = NULL;
    for (size_t i = 0; i < WF_N_TESTS(names) && !found; i++)
        found = setlocale(LC_ALL, names[i]);
    if (!found)
        WF_SKIP("no locale with a decimal comma is installed");
    wf_allocator heap = wf_allocator_default();
    wf_text text;
    float value;
    wf_text_init(&text, &heap);
    wf_text_printf(&text, "%.2f ", 1.5);
    wf_text_append_f32(&text, 0.25f);
    bool is_read = wf_text_parse_f32("1.5", &value);
    bool is_comma_read = wf_text_parse_f32("1,5", &(float){0});
    setlocale(LC_ALL, "C");
    assert_string_equal(wf_text_str(&text), "1.50 0.25");
    assert_true(is_read && value == 1.5f);
    assert_false(is_comma_read);
    wf_text_deinit(&text);
}

static void json_strings(void **state)
{
    (void)state;
    wf_allocator heap = wf_allocator_default();
    wf_text text;
    wf_text_init(&text, &heap);
    assert_string_equal(wf_text_str(&text), "");
    wf_text_append_json_string(
        &text, "a\"\\\n\t\x01\x7F \xC3\xA9 \xF0\x9F\x98\x80 \xFF\xC0\x80 \xED\xA0\x80 \xC3");
    assert_string_equal(
        wf_text_str(&text),
        "\"a\\\"\\\\\\n\\t\\u0001\\u007f \xC3\xA9 \xF0\x9F\x98\x80 \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD "
        "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD\"");
    wf_text_clear(&text);
    wf_text_append_json_f64(&text, 1.0 / 0.0);
    wf_text_append_json_f32(&text, 2.5f);
    assert_string_equal(wf_text_str(&text), "null2.5");
    assert_int_equal(wf_text_status(&text, NULL), WEFT_OK);
    wf_text_deinit(&text);
}

static void *fail_always(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)ptr;
    (void)size;
    return NULL;
}

static void out_of_memory(void **state)
{
    (void)state;
    wf_allocator none = {fail_always, NULL};
    wf_text text;
    weft_error err = {0};
    wf_text_init(&text, &none);
    wf_text_append(&text, "lost");
    assert_string_equal(wf_text_str(&text), "");
    assert_int_equal(wf_text_status(&text, &err), WEFT_ERR_MEMORY);
    assert_string_equal(err.message, "memory: a text of 0 bytes cannot grow");
}

static void nearest_word(void **state)
{
    (void)state;
    static const char *const words[] = {"cosine", "constant", "step", "one-cycle", "lr"};
    assert_string_equal(wf_text_nearest("cosin", words, 5), "cosine");
    assert_string_equal(wf_text_nearest("csoine", words, 5), "cosine");
    assert_string_equal(wf_text_nearest("onecycle", words, 5), "one-cycle");
    assert_string_equal(wf_text_nearest("rl", words, 5), "lr");
    assert_null(wf_text_nearest("momentum", words, 5));
    assert_null(wf_text_nearest("", words, 5));
    assert_null(wf_text_nearest("x", words, 0));
}

const struct CMUnitTest wf_tests_text[] = {
    cmocka_unit_test(round_trip),    cmocka_unit_test(rounds_once),
    cmocka_unit_test(strict_syntax), cmocka_unit_test(german_locale),
    cmocka_unit_test(json_strings),  cmocka_unit_test(out_of_memory),
    cmocka_unit_test(nearest_word),
};
const unsigned long wf_n_tests_text = WF_N_TESTS(wf_tests_text);
