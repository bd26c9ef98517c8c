// The text reader: characters and bytes, windows and what follows them, vocabularies both ways, wrong
// UTF-8 named by byte and line, splits of a sequence.
#include "data/data_tools.h"

#include "data/loader.h"
#include "data/readers.h"
#include "data/vocabulary.h"

static wf_allocator heap;

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    return 0;
}

static wf_reader_options options(const char *path, int64_t context)
{
    return (wf_reader_options){.path = path, .context = context};
}

static void windows(void **state)
{
    (void)state;
    wf_dataset *set;
    int32_t window[4];
    temp_write_text(TEMP("t.txt"), "abcabd\xC3\xA9\n"); // 8 characters: a b c d newline é
    wf_reader_options o = options(TEMP("t.txt"), 3);
    assert_int_equal(wf_readers_open("text", &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->vocabulary, "\nabcd\xC3\xA9");
    assert_int_equal(set->n_classes, 6);
    assert_int_equal(set->n_samples, 2); // 0-2 and 3-5; the last two characters are too few
    assert_string_equal(set->field[0].name, "token");
    assert_int_equal(wf_field_read(&set->field[0], 1, window, NULL), WEFT_OK);
    assert_memory_equal(window, ((int32_t[]){1, 2, 4}), 12);
    assert_int_equal(wf_field_read(wf_dataset_find(set, "label"), 1, window, NULL), WEFT_OK);
    assert_memory_equal(window, ((int32_t[]){2, 4, 5}), 12);
    assert_int_equal(set->n_shared, 0);
    wf_dataset_destroy(set);

    o.stride = 1;
    assert_int_equal(wf_readers_open("text", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 5); // the last one's label ends at the last character
    assert_int_equal(set->n_shared, 2);
    assert_int_equal(wf_field_read(&set->field[1], 4, window, NULL), WEFT_OK);
    assert_memory_equal(window, ((int32_t[]){4, 5, 0}), 12);
    wf_dataset_destroy(set);

    o = options(TEMP("t.txt"), 8);
    o.is_bytes = true; // 9 bytes
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 256);
    assert_int_equal(set->n_samples, 1);
    assert_null(set->vocabulary);
    wf_dataset_destroy(set);
}

// What the recipe of a run holds is used again, and what it lacks is named.
static void given_vocabulary(void **state)
{
    (void)state;
    wf_dataset *set;
    int32_t window[2];
    wf_reader_options o = options(TEMP("v.txt"), 2);
    temp_write(TEMP("v.txt"),
               "\xEF\xBB\xBF"
               "cab\ncab",
               10);
    o.vocabulary = "\nabcxyz";
    assert_int_equal(wf_readers_open("text", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 7);
    assert_int_equal(wf_field_read(&set->field[0], 0, window, NULL), WEFT_OK);
    assert_memory_equal(window, ((int32_t[]){3, 1}), 8); // no byte order mark
    wf_dataset_destroy(set);
    o.vocabulary = "abc";
    assert_fails(
        wf_readers_open("text", &o, &set, err), WEFT_ERR_INDEX,
        TEMP("v.txt") ": character U+000A at byte 3 (line 1) is not in the vocabulary of 3 "
                      "characters");
    o.vocabulary = "bca";
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT,
                 "vocabulary: U+0061 behind U+0063, expected characters in ascending order");
    o.vocabulary = "";
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT,
                 "vocabulary: empty, expected characters");
}

static void wrong_files(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *what;
    } rows[] = {
        {"ab\ncd\xFF"
         "ef",
         8, "byte 5 (line 2) is 0xff, which is no UTF-8 there"},
        {"abc\xC3", 4, "byte 3 (line 1) is 0xc3, which is no UTF-8 there"},
        {"ab\xC0\x80"
         "c",
         5, "byte 2 (line 1) is 0xc0, which is no UTF-8 there"},
        {"a\xE0\x80\x80"
         "bc",
         6, "byte 1 (line 1) is 0xe0, which is no UTF-8 there"},
        {"a\xED\xA0\x80"
         "bc",
         6, "byte 1 (line 1) is 0xed, which is no UTF-8 there"},
        {"a\xF4\x90\x80\x80", 5, "byte 1 (line 1) is 0xf4, which is no UTF-8 there"},
        {"a\xF8\x90\x80\x80", 5, "byte 1 (line 1) is 0xf8, which is no UTF-8 there"},
        {"a\x80"
         "bc",
         4, "byte 1 (line 1) is 0x80, which is no UTF-8 there"},
    };
    wf_dataset *set;
    wf_reader_options o = options(TEMP("w.txt"), 2);
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        char text[400];
        snprintf(text, sizeof text, "%s: %s, expected UTF-8, or tokens that are bytes",
                 TEMP("w.txt"), rows[i].what);
        temp_write(TEMP("w.txt"), rows[i].bytes, rows[i].n);
        assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT, text);
        assert_null(set);
    }
    temp_write(TEMP("w.txt"), "ab\0cd", sizeof "ab\0cd" - 1);
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("w.txt") ": byte 2 (line 1) is 0, expected text, or tokens that are bytes");
    temp_write(TEMP("w.txt"),
               "\xFF\xFE"
               "a\0b\0",
               6);
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("w.txt") ": begins as UTF-16 does, expected UTF-8");
    temp_write_text(TEMP("w.txt"), "");
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("w.txt") ": 0 characters, expected more than the context of 2");
    temp_write_text(TEMP("w.txt"), "ab");
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("w.txt") ": 2 characters, expected more than the context of 2");
    o.context = 0;
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_ATTR,
                 "data: context 0 and stride 0, expected 1 or more");
    o.part = "test";
    assert_fails(
        wf_readers_open("text", &o, &set, err), WEFT_ERR_FILE,
        TEMP("w.txt") ": one text has no part 'test', expected another file, or a fraction");
    o = options(TEMP("none.txt"), 2);
    assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("none.txt") ": No such file or directory");
}

// Cut at every byte: a whole number of characters is a shorter text, a part of one is named.
static void cut_at_every_byte(void **state)
{
    (void)state;
    static const char text[] = "ab\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
    static const size_t first[] = {0, 1, 2,  3,
                                   5, 8, 12, 13}; // bytes where characters begin, the end
    wf_dataset *set;
    const wf_reader_options o = options(TEMP("cut.txt"), 1);
    for (size_t n = 0, i = 0; n < sizeof text; n++) {
        char whole[400];
        temp_write(TEMP("cut.txt"), text, n);
        while (first[i + 1] <= n && i + 2 < WF_N_TESTS(first))
            i++;
        if (n < 2) {
            snprintf(whole, sizeof whole, "%s: %zu characters, expected more than the context of 1",
                     o.path, n);
            assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT, whole);
        } else if (first[i] == n || n == sizeof text - 1) {
            assert_int_equal(wf_readers_open("text", &o, &set, NULL), WEFT_OK);
            assert_int_equal(set->n_samples, n == sizeof text - 1 ? 6 : i - 1);
            wf_dataset_destroy(set);
        } else {
            snprintf(whole, sizeof whole,
                     "%s: byte %zu (line 2) is 0x%02x, which is no UTF-8 there, expected UTF-8, or "
                     "tokens that are bytes",
                     o.path, first[i], (unsigned char)text[first[i]]);
            assert_fails(wf_readers_open("text", &o, &set, err), WEFT_ERR_FORMAT, whole);
        }
    }
}

static void every_character(void **state)
{
    (void)state;
    for (uint32_t code = 1; code < 0x110000; code++) {
        char bytes[WF_UTF8_BYTES];
        uint32_t back;
        if (code >= 0xD800 && code < 0xE000)
            continue;
        size_t n = wf_utf8_write(code, bytes);
        assert_int_equal(wf_utf8_read((const uint8_t *)bytes, n, 0, &back), n);
        assert_int_equal(back, code);
        assert_int_equal(wf_utf8_read((const uint8_t *)bytes, n - 1 ? n - 1 : 1, 0, &back) == 0,
                         n > 1);
    }
}

static void both_ways(void **state)
{
    (void)state;
    static const char text[] = "Ünïcode \xF0\x9F\x98\x80 text\n";
    wf_vocabulary v;
    wf_text out;
    int32_t token[sizeof text];
    size_t n;
    wf_text_init(&out, &heap);
    for (int is_bytes = 0; is_bytes < 2; is_bytes++) {
        if (is_bytes)
            wf_vocabulary_init_bytes(&v, &heap);
        else
            assert_int_equal(wf_vocabulary_init_find(&v, &heap, "x", (const uint8_t *)text,
                                                     sizeof text - 1, NULL),
                             WEFT_OK);
        assert_int_equal(
            wf_vocabulary_encode(&v, "x", (const uint8_t *)text, sizeof text - 1, token, &n, NULL),
            WEFT_OK);
        assert_int_equal(n, is_bytes ? sizeof text - 1 : 15);
        wf_text_clear(&out);
        for (size_t i = 0; i < n; i++) {
            char c[WF_UTF8_BYTES];
            wf_text_append_n(&out, c, wf_vocabulary_decode(&v, token[i], c));
        }
        assert_string_equal(wf_text_str(&out), text);
        char none[WF_UTF8_BYTES];
        assert_int_equal(wf_vocabulary_decode(&v, v.n, none), 0);
        assert_int_equal(wf_vocabulary_decode(&v, -1, none), 0);
        wf_vocabulary_deinit(&v);
    }
    wf_text_deinit(&out);
}

// The last windows validate, and nothing of them is in the others.
static void split_at_the_end(void **state)
{
    (void)state;
    wf_dataset *set;
    wf_split rest, part;
    char text[101];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 7);
    temp_write(TEMP("s.txt"), text, sizeof text);
    wf_reader_options o = options(TEMP("s.txt"), 10);
    o.stride = 5;
    assert_int_equal(wf_readers_open("text", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 19);
    assert_int_equal(wf_split_init_fraction(&rest, &part, set, 0.2, 1, NULL), WEFT_OK);
    assert_int_equal(part.n, 4);
    assert_int_equal(wf_split_sample(&part, 0), 15);
    assert_int_equal(rest.n, 14); // window 14 shares characters with window 15
    assert_int_equal(wf_split_sample(&rest, 13), 13);
    wf_split_deinit(&rest);
    wf_split_deinit(&part);
    assert_fails(wf_split_init_stratified(&rest, &part, set, 0.2, 1, err), WEFT_ERR_FORMAT,
                 TEMP("s.txt") ": a sequence, expected classes to keep the shares of");
    wf_loader *l;
    wf_batch b;
    wf_split all;
    wf_split_init_all(&all, set);
    wf_loader_options lo = {.batch_size = 4};
    assert_int_equal(wf_loader_create(&all, &lo, &l, NULL), WEFT_OK);
    assert_int_equal(wf_loader_next(l, &b, NULL), WEFT_OK);
    assert_int_equal(b.field[0].dtype, WEFT_I32);
    assert_int_equal(((const int32_t *)b.field[0].data)[10], 5); // sample 1, token 5
    wf_loader_destroy(l);
    wf_dataset_destroy(set);
}

static void allocation_n_fails(void **state)
{
    (void)state;
    temp_write_text(TEMP("a.txt"), "some characters");
    for (long n = 0;; n++) {
        failing_heap counts = {n, 0};
        wf_allocator a = {reallocate_failing, &counts};
        wf_dataset *set;
        wf_reader_options o = options(TEMP("a.txt"), 3);
        o.allocator = &a;
        weft_status status = wf_readers_open("text", &o, &set, NULL);
        assert_true(status == WEFT_OK || status == WEFT_ERR_MEMORY);
        wf_dataset_destroy(set);
        assert_int_equal(counts.held, 0);
        if (status == WEFT_OK)
            break;
    }
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_text_reader[] = {
    TEST(windows),         TEST(given_vocabulary), TEST(wrong_files),      TEST(cut_at_every_byte),
    TEST(every_character), TEST(both_ways),        TEST(split_at_the_end), TEST(allocation_n_fails),
};
const unsigned long wf_n_tests_text_reader = WF_N_TESTS(wf_tests_text_reader);
