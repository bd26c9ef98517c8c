// Tables as text: what people and programs write, and what
// is refused, with line and column.
#include "io/temp_file.h"

#include "io/csv.h"

static wf_allocator heap;

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    return 0;
}

static weft_status parse(const void *bytes, size_t n, wf_csv *csv, weft_error *err)
{
    char *copy = malloc(n + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    copy[n] = 0;
    return wf_csv_parse(&heap, "t.csv", copy, n, 0, csv, err);
}

// turicreate#227, miller#161, tensorflow#3851, ML.NET#544: one table in every guise.
static void variants(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "a,b\n1,x y\n,\"q \"\"r\"\"\"\n",
        ("\xEF\xBB\xBF"
         "a,b\n1,x y\n,\"q \"\"r\"\"\"\n"),
        "\xEF\xBB\xBF\"a\",b\n1,x y\n,\"q \"\"r\"\"\"\n",
        "a,b\r\n1,x y\r\n,\"q \"\"r\"\"\"\r\n",
        "a,b\n1,x y\n,\"q \"\"r\"\"\"",
        "a, b \n 1,x y \n\n,\"q \"\"r\"\"\" \n\n\n",
        "a;b\n1;x y\n;\"q \"\"r\"\"\"\n",
        "a\tb\n1\tx y\n\t\"q \"\"r\"\"\"\n",
    };
    for (size_t i = 0; i < WF_N_TESTS(texts); i++) {
        wf_csv csv;
        assert_int_equal(parse(texts[i], strlen(texts[i]), &csv, NULL), WEFT_OK);
        assert_int_equal(csv.n_rows, 3);
        assert_int_equal(csv.n_columns, 2);
        assert_string_equal(wf_csv_cell(&csv, 0, 0), "a");
        assert_string_equal(wf_csv_cell(&csv, 0, 1), "b");
        assert_string_equal(wf_csv_cell(&csv, 1, 0), "1");
        assert_string_equal(wf_csv_cell(&csv, 1, 1), "x y");
        assert_string_equal(wf_csv_cell(&csv, 2, 0), "");
        assert_string_equal(wf_csv_cell(&csv, 2, 1), "q \"r\"");
        wf_csv_deinit(&csv);
    }
    wf_csv csv;
    static const char lines[] = "a,b\n\"1\n2\",\"x,y\"\n3,4\n";
    assert_int_equal(parse(lines, sizeof lines - 1, &csv, NULL), WEFT_OK);
    assert_string_equal(wf_csv_cell(&csv, 1, 0), "1\n2");
    assert_string_equal(wf_csv_cell(&csv, 1, 1), "x,y");
    assert_int_equal(csv.line[1], 2);
    assert_int_equal(csv.line[2], 4);
    wf_csv_deinit(&csv);
    // One column: an empty line is a cell that is missing.
    assert_int_equal(parse("a\n\n3", 4, &csv, NULL), WEFT_OK);
    assert_int_equal(csv.n_rows, 3);
    wf_csv_deinit(&csv);
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *message;
    } rows[] = {
        {"", 0, "t.csv: no rows, expected a table"},
        {"\n\n", 2, NULL},
        {"a,b\n1,2,3\n", 10, "t.csv: line 2: 3 cells, the first row has 2"},
        {"a,b\n1\n", 6, "t.csv: line 2: 1 cells, the first row has 2"},
        {"a,b\n1,\"x\n2,3\n", 13, "t.csv: line 2, column 3: a quote that is never closed"},
        {"a,b\n1,\"x\"y\n", 11,
         "t.csv: line 2, column 6: text behind a closing quote, expected a separator"},
        {"a,\"b\nc\"d\n", 9,
         "t.csv: line 2, column 3: text behind a closing quote, expected a separator"},
        {"a,b\n1,\0\n", 8,
         "t.csv: line 2, column 3: byte 0x00 is no UTF-8 text there, expected UTF-8"},
        {"a,b\n1,\xE9t\n", 9,
         "t.csv: line 2, column 3: byte 0xe9 is no UTF-8 text there, expected UTF-8"},
        {"\xFF\xFE"
         "a\0,\0",
         6, "t.csv: begins as UTF-16 does, expected UTF-8"},
        {"\xFE\xFF\0a\0,", 6, "t.csv: begins as UTF-16 does, expected UTF-8"},
    };
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        wf_csv csv;
        weft_error err = {0};
        weft_status status = parse(rows[i].bytes, rows[i].n, &csv, &err);
        if (rows[i].message) {
            assert_int_equal(status, WEFT_ERR_FORMAT);
            assert_string_equal(err.message, rows[i].message);
        }
        wf_csv_deinit(&csv);
    }
    wf_csv csv;
    assert_fails(wf_csv_read(&heap, TEMP("none.csv"), 0, &csv, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("none.csv") ": No such file or directory");
}

// Whatever bytes come: a table or a message, and never a read behind the end.
static void cut_and_changed(void **state)
{
    (void)state;
    static const char text[] = "\xEF\xBB\xBF\"a\",b;c\r\n1,\"x\"\"\ny\"\n,\xC3\xA9\r\n\"\",2";
    for (size_t n = 0; n < sizeof text; n++) {
        for (size_t at = 0; at < n; at++) {
            for (int k = 0; k < 6; k++) {
                char bytes[sizeof text];
                wf_csv csv;
                weft_error err = {0};
                memcpy(bytes, text, n);
                bytes[at] = ",\"\n\r\t "[k];
                weft_status status = parse(bytes, n, &csv, &err);
                assert_true(status == WEFT_OK || status == WEFT_ERR_FORMAT);
                assert_int_equal(status == WEFT_OK, err.message[0] == 0);
                wf_csv_deinit(&csv);
            }
        }
    }
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_csv[] = {TEST(variants), TEST(messages), TEST(cut_and_changed)};
const unsigned long wf_n_tests_csv = WF_N_TESTS(wf_tests_csv);
