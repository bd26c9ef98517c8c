// The readers of tables and of FANN's files: types found, categories, missing values, what is learnt from the
// training split, the columns written and read again, every complaint with line and column.
#include "data/data_tools.h"

#include <math.h>

#include "base/text.h"
#include "data/readers.h"
#include "data/table_columns.h"

static wf_allocator heap;
static wf_text notes;

static void take_note(void *user, weft_log_level level, const char *text)
{
    (void)user;
    assert_int_equal(level == WEFT_LOG_WARNING, strstr(text, "left out") != NULL);
    wf_text_printf(&notes, "%s\n", text);
}

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    wf_text_init(&notes, &heap);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    wf_text_deinit(&notes);
    return 0;
}

#define PATH TEMP("t.csv")

static void put(const char *text)
{
    temp_write(PATH, text, strlen(text));
}

static wf_reader_options options(void)
{
    return (wf_reader_options){.path = PATH, .note = take_note};
}

static const float *row(const wf_dataset *set, int64_t i)
{
    return (const float *)set->field[0].data + i * set->field[0].dim[0];
}

static void types_and_values(void **state)
{
    (void)state;
    wf_dataset *set;
    wf_split train;
    int64_t label;
    put("age,sex,id,kind\n1,m,,b\n3,f,,a\n?,m,,a\n1e1,,,c\n");
    wf_reader_options o = options();
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->reader, "table");
    assert_string_equal(wf_text_str(&notes),
                        PATH ": 4 rows: age number with missing, sex category of 2 with missing, "
                             "id ignored, kind target of 3\n");
    assert_int_equal(set->field[0].dim[0], 4); // age, age missing, f, m
    assert_int_equal(set->n_classes, 3);
    assert_string_equal(set->class_names[2], "c");
    assert_memory_equal(row(set, 0), ((float[]){1, 0, 0, 1}), 16);
    assert_memory_equal(row(set, 2), ((float[]){0, 1, 0, 1}), 16);
    assert_memory_equal(row(set, 3), ((float[]){10, 0, 0, 0}), 16);
    assert_int_equal(wf_dataset_label(set, 0, &label, NULL), WEFT_OK);
    assert_int_equal(label, 1);
    // From the first two rows: mean 2, deviation 1.
    wf_split_init_first(&train, set, 2);
    assert_int_equal(wf_dataset_learn(set, &train, NULL), WEFT_OK);
    assert_memory_equal(row(set, 0), ((float[]){-1, 0, 0, 1}), 16);
    assert_memory_equal(row(set, 2), ((float[]){0, 1, 0, 1}), 16);
    assert_memory_equal(row(set, 3), ((float[]){8, 0, 0, 0}), 16);
    assert_int_equal(set->n_columns, 4);
    assert_string_equal(set->columns[0], "age: number, mean 2, std 1, missing");
    assert_string_equal(set->columns[1], "sex: category, f, m");
    assert_string_equal(set->columns[2], "id: ignored");
    assert_string_equal(set->columns[3], "kind: target, a, b, c");

    // The columns again, on other rows in another order, without a target: nothing is learnt from them.
    wf_dataset *other;
    temp_write_text(TEMP("other.csv"), "sex,more,age\nf,9,2\nx,9,\n");
    wf_reader_options p = {
        .path = TEMP("other.csv"), .columns = set->columns, .n_columns = set->n_columns};
    assert_int_equal(wf_readers_open("table", &p, &other, NULL), WEFT_OK);
    assert_int_equal(other->n_fields, 1);
    wf_split_init_all(&train, other);
    assert_int_equal(wf_dataset_learn(other, &train, NULL), WEFT_OK);
    assert_memory_equal(row(other, 0), ((float[]){0, 0, 1, 0}), 16);
    assert_memory_equal(row(other, 1), ((float[]){0, 1, 0, 0}), 16); // x is no category
    wf_dataset_destroy(other);
    temp_write_text(TEMP("other.csv"), "sex,more\nf,9\nm,1\n");
    assert_fails(wf_readers_open("table", &p, &other, err), WEFT_ERR_FORMAT,
                 TEMP("other.csv") ": no column 'age', the model was trained with it");
    wf_dataset_destroy(set);
}

static void targets(void **state)
{
    (void)state;
    wf_dataset *set;
    put("y,x\n0,1\n1,2\n0,3.5\n");
    wf_reader_options o = options();
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 0); // 3.5 is no class
    assert_int_equal(wf_dataset_find(set, "label")->dtype, WEFT_F32);
    assert_true(((const float *)wf_dataset_find(set, "label")->data)[2] == 3.5f);
    assert_string_equal(set->columns[1], "x: target");
    wf_dataset_destroy(set);
    o.target = "y";
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 2);
    wf_dataset_destroy(set);
    o.target_kind = WF_TARGET_IS_VALUE;
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 0);
    wf_dataset_destroy(set);
    o.target = "yy";
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_NAME,
                 PATH ": no column 'yy', the nearest is 'y'");
    put("y,x\na,1\nb,2\n");
    o.target = "y";
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": target 'y' is no number in every row");
    // Without a header columns are c1, c2, ...; a table of texts with a first row of its own has one.
    put("1,2,a\n3,4,b\n");
    o = options();
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 2);
    assert_string_equal(set->columns[0], "c1: number, mean 0, std 1");
    wf_dataset_destroy(set);
    put("cap,stem\nx,y\nx,z\nw,y\n");
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 3);
    wf_dataset_destroy(set);
    put("x,y\nx,z\nw,y\n");
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 3);
    wf_dataset_destroy(set);
    o.header = WF_HEADER_YES;
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 2);
    wf_dataset_destroy(set);
}

static void wrong_tables(void **state)
{
    (void)state;
    wf_dataset *set;
    wf_reader_options o = options();
    put("age,sex,kg,sex,y\n1,m,2,f,p\n");
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": line 1: columns 2 and 4 are both named 'sex', expected a name for each, "
                      "or data.header: no");
    put("a,y\n1,p\n2,\n3,q\n");
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": line 3, column 2: no target 'y'");
    o.is_skipping_bad = true;
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 2);
    assert_int_equal(set->n_bad, 1);
    assert_non_null(strstr(wf_text_str(&notes), "left out: " PATH ": line 3, column 2: no target"));
    wf_dataset_destroy(set);
    o = options();
    put("a,y\n1,p\ninf,q\n");
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": line 3, column 1: 'inf' in 'a', expected a number");
    put("a,y\n1,p\n1e39,q\n");
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": line 3, column 1: '1e39' in 'a', expected a number");
    put("y\np\nq\n");
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": no column besides the target, expected some");
    put("a,y\n,\n,\n");
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": target 'y' has no different values, expected 1 to 10000 classes");
    put("a,y\n");
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_ERR_FORMAT);
    put("");
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": no rows, expected a table");
    o.part = "test";
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FILE,
                 PATH ": one table has no part 'test', expected another file, or a fraction");
    o = options();
    wf_text many;
    wf_text_init(&many, &heap);
    wf_text_append(&many, "name,y\n");
    for (int i = 0; i < 300; i++)
        wf_text_printf(&many, "n%d,%d\n", i, i % 2);
    put(wf_text_str(&many));
    wf_text_deinit(&many);
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH
                 ": column 'name' has more than 256 different texts, data.ignore: [name] leaves "
                 "it out");
    o.ignored = (const char *const[]){"name"};
    o.n_ignored = 1;
    assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT,
                 PATH ": no column besides the target, expected some");
}

static void column_lines(void **state)
{
    (void)state;
    static const char *const right[] = {
        "a: number, mean 0.1, std 2.5e-07",
        "a: number, mean -1, std 1, missing",
        "a\\: b\\, c\\\\: category, x\\,y, z",
        "é: target",
        "k: target, a, b",
        "i: ignored",
        ": ignored",
    };
    static const char *const wrong[] = {
        "a",
        "a: nonsense",
        "a: number, mean x, std 1",
        "a: number, mean nan, std 1",
        "a: number, mean 1, std 0",
        "a: number",
        "a: number, mean 1, std inf",
        "a: category",
        "a: category, b, a",
        "a: ignored, b",
        "a: number, mean 1, std 1, missing, more",
        "",
        "a: number, mean 1, std 1, what",
    };
    wf_arena arena;
    wf_text text;
    wf_table_column column;
    wf_arena_init(&arena, &heap);
    wf_text_init(&text, &heap);
    for (size_t i = 0; i < WF_N_TESTS(right); i++) {
        weft_error err = {0};
        wf_text_clear(&text);
        assert_int_equal(wf_table_column_parse(right[i], &arena, &column, &err), WEFT_OK);
        wf_table_column_print(&column, &text);
        assert_string_equal(wf_text_str(&text), right[i]);
    }
    for (size_t i = 0; i < WF_N_TESTS(wrong); i++) {
        weft_error err = {0};
        assert_int_equal(wf_table_column_parse(wrong[i], &arena, &column, &err), WEFT_ERR_FORMAT);
        assert_int_equal(strncmp(err.message, "data.columns: '", 15), 0);
    }
    wf_text_deinit(&text);
    wf_arena_deinit(&arena);
}

static void fann_files(void **state)
{
    (void)state;
    wf_dataset *set;
    int64_t label;
    wf_reader_options o = {.path = TEMP("set"), .part = "train"};
    temp_write_text(TEMP("set.train"), "3 2 3\n1 2\n0 1 0\n3 4.5\n1 0 0\n-1e1 0\n0 0 1\n");
    temp_write_text(TEMP("set.test"), "2 2 1\n1 2\n0\n3 4\n1\n");
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->reader, "fann");
    assert_int_equal(set->n_classes, 3);
    assert_memory_equal(row(set, 1), ((float[]){3, 4.5f}), 8);
    assert_int_equal(wf_dataset_label(set, 1, &label, NULL), WEFT_OK);
    assert_int_equal(label, 0);
    wf_dataset_destroy(set);
    o.part = "test";
    assert_int_equal(wf_readers_open("fann", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 2);
    wf_dataset_destroy(set);
    o.path = TEMP("set.train");
    assert_fails(
        wf_readers_open("fann", &o, &set, err), WEFT_ERR_FILE,
        TEMP("set.train") ": one file has no part 'test', expected NAME, for NAME.train and "
                          "NAME.test, or another file");
    o.path = TEMP("set");
    o.part = "train";
    temp_write_text(TEMP("set.train"), "1 1 2\n1\n0.5 0\n");
    assert_int_equal(wf_readers_open("fann", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_classes, 0);
    assert_int_equal(set->field[1].dim[0], 2);
    wf_dataset_destroy(set);
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"", ": ends at line 1, expected a number of samples"},
        {"3 2", ": ends at line 1, expected a number of outputs"},
        {"3 x 1", ": line 1: 'x', expected a number of inputs"},
        {"0 1 1", ": line 1: 0, expected a number of samples from 1 to 1000000"},
        {"1.5 1 1", ": line 1: 1.5, expected a number of samples from 1 to 1000000"},
        {"1000000 1000000 1\n1", ": line 1: 1000000 samples of 1000001 numbers in 19 bytes"},
        {"1 1 1\n1\n", ": ends at line 3, expected an output"},
        {"1 1 1\nnan\n1\n", ": line 2: 'nan', expected an input"},
        {"1 1 1\n1\n1\n2\n", ": line 4: more than 1 samples"},
        {"nan 1 1\n1\n1\n", ": line 1: 'nan', expected a number of samples"},
        {"1 inf 1\n1\n1\n", ": line 1: 'inf', expected a number of inputs"},
        {"1 1 1e39\n1\n1\n", ": line 1: '1e39', expected a number of outputs"},
    };
    for (size_t i = 0; i < WF_N_TESTS(rows); i++) {
        char whole[400];
        snprintf(whole, sizeof whole, "%s%s", TEMP("set.train"), rows[i].message);
        temp_write(TEMP("set.train"), rows[i].text, strlen(rows[i].text));
        assert_fails(wf_readers_open("fann", &o, &set, err), WEFT_ERR_FORMAT, whole);
    }
}

// Cut at every byte. The format has no end: a cut within the last number is another number.
static void cut_fann_files(void **state)
{
    (void)state;
    static const char text[] = "2 2 1\n1 -2.5\n0\n3 4e1\n1\n";
    wf_dataset *set;
    const wf_reader_options o = {.path = TEMP("cut.train")};
    for (size_t n = 0; n < sizeof text - 1; n++) {
        weft_error err = {0};
        temp_write(o.path, text, n);
        const weft_status status = wf_readers_open("fann", &o, &set, &err);
        wf_dataset_destroy(set);
        if (n == sizeof text - 2) { // without the last line's end
            assert_int_equal(status, WEFT_OK);
            continue;
        }
        assert_int_equal(status, WEFT_ERR_FORMAT);
        assert_names_file(err.message, o.path);
        assert_non_null(strstr(err.message, " line "));
    }
    temp_write(o.path, "1 1 1\n1\n1\n\0 9", 14);
    assert_fails(wf_readers_open("fann", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("cut.train") ": byte 10 is 0, expected text");
}

// Cut at every byte: the rows that are whole, or a message. A cut between rows is a shorter table.
static void cut_tables(void **state)
{
    (void)state;
    static const char text[] = "age,kind\n1.5,b\n3,\"a \"\"x\n\"\n-4e-1,c\n";
    wf_dataset *set;
    const wf_reader_options o = {.path = TEMP("cut.csv")};
    int n_whole = 0;
    for (size_t n = 0; n < sizeof text; n++) {
        weft_error err = {0};
        temp_write(o.path, text, n);
        const weft_status status = wf_readers_open("table", &o, &set, &err);
        if (status != WEFT_OK) {
            assert_int_equal(status, WEFT_ERR_FORMAT);
            assert_names_file(err.message, o.path);
            continue;
        }
        // Line ends behind the header that stand in no quotes.
        int64_t n_rows = 0;
        bool is_quoted = false;
        for (size_t i = strlen("age,kind\n"); i < n; i++) {
            is_quoted ^= text[i] == '"';
            n_rows += !is_quoted && text[i] == '\n';
        }
        assert_false(is_quoted);
        n_rows += text[n - 1] != '\n';
        assert_int_equal(set->n_samples, n_rows);
        wf_dataset_destroy(set);
        n_whole++;
    }
    assert_true(n_whole >= 7);
}

// turicreate#227, miller#161, tensorflow#3851, ML.NET#544: numbers as they are written.
static void numbers_of_a_table(void **state)
{
    (void)state;
    wf_dataset *set;
    wf_reader_options o = options();
    put("\xEF\xBB\xBF\"a\",y\r\n1e-3,p\r\nnan,q\r\n-0.5,p\r\n,q");
    assert_int_equal(wf_readers_open("table", &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 4);
    assert_string_equal(set->columns[0], "a: number, mean 0, std 1, missing");
    assert_memory_equal(row(set, 0), ((float[]){1e-3f, 0}), 8);
    assert_memory_equal(row(set, 1), ((float[]){0, 1}), 8); // nan is a value that is missing
    assert_memory_equal(row(set, 2), ((float[]){-0.5f, 0}), 8);
    assert_memory_equal(row(set, 3), ((float[]){0, 1}), 8);
    wf_dataset_destroy(set);
    static const char *const infinities[] = {"inf", "-inf", "1e999"};
    for (size_t i = 0; i < WF_N_TESTS(infinities); i++) {
        char text[64], whole[400];
        snprintf(text, sizeof text, "y,a\np,1\nq,%s\n", infinities[i]);
        snprintf(whole, sizeof whole, "%s: line 3, column 2: '%s' in 'a', expected a number", PATH,
                 infinities[i]);
        put(text);
        o.target = "y";
        assert_fails(wf_readers_open("table", &o, &set, err), WEFT_ERR_FORMAT, whole);
    }
}

static void allocation_n_fails(void **state)
{
    (void)state;
    put("age,sex,kind\n1,m,b\n3,f,a\n?,m,a\n");
    for (long n = 0;; n++) {
        failing_heap counts = {n, 0};
        wf_allocator a = {reallocate_failing, &counts};
        wf_dataset *set;
        wf_reader_options o = options();
        o.allocator = &a;
        const weft_status status = wf_readers_open("table", &o, &set, NULL);
        assert_true(status == WEFT_OK || status == WEFT_ERR_MEMORY);
        wf_dataset_destroy(set);
        assert_int_equal(counts.held, 0);
        if (status == WEFT_OK)
            break;
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
const struct CMUnitTest wf_tests_table_reader[] = {
    TEST(types_and_values),   TEST(targets),    TEST(wrong_tables),
    TEST(numbers_of_a_table), TEST(cut_tables), TEST(cut_fann_files),
    TEST(column_lines),       TEST(fann_files), TEST(allocation_n_fails),
};
const unsigned long wf_n_tests_table_reader = WF_N_TESTS(wf_tests_table_reader);
