// The picture reader: folders by class, lists in the variants that people write, sizes, parts, files that
// are damaged, named and counted.
#include "data/data_tools.h"

#include <sys/stat.h>

#include "base/text.h"
#include "data/loader.h"
#include "data/readers.h"
#include "io/image.h"
#include "weft_config.h"

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

static void need_png(void)
{
    if (!WEFT_HAVE_PNG || !WEFT_HAVE_ZLIB)
        WF_SKIP("built without libpng");
}

static void write_grey(const char *path, int32_t height, int32_t width, uint8_t value)
{
    wf_image image;
    assert_int_equal(wf_image_init(&image, &heap, height, width, 1, NULL), WEFT_OK);
    memset(image.pixels, value, (size_t)(height * width));
    image.pixels[0] = 0;
    assert_int_equal(wf_png_write(&heap, path, &image, NULL), WEFT_OK);
    wf_image_deinit(&image);
}

// Two classes, three pictures, a folder inside a class, a text between them.
static void make_folders(void)
{
    assert_int_equal(wf_directory_create(TEMP("pics/b cat/more"), NULL), WEFT_OK);
    assert_int_equal(wf_directory_create(TEMP("pics/a"), NULL), WEFT_OK);
    write_grey(TEMP("pics/b cat/2.png"), 4, 4, 20);
    write_grey(TEMP("pics/b cat/more/1.PNG"), 4, 4, 30);
    write_grey(TEMP("pics/a/x.png"), 4, 4, 10);
    temp_write_text(TEMP("pics/a/notes.txt"), "hello");
}

static wf_reader_options options(const char *path)
{
    return (wf_reader_options){.path = path, .note = take_note};
}

static void folders(void **state)
{
    (void)state;
    need_png();
    wf_dataset *set;
    make_folders();
    wf_reader_options o = options(TEMP("pics"));
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_string_equal(set->reader, "images");
    assert_int_equal(set->n_samples, 3);
    assert_int_equal(set->n_classes, 2);
    assert_string_equal(set->class_names[0], "a");
    assert_string_equal(set->class_names[1], "b cat");
    assert_int_equal(set->field[0].dim[0], 1); // all are grey
    assert_int_equal(set->field[0].dim[2], 4);
    for (int i = 0; i < 3; i++) {
        uint8_t pixels[16];
        int64_t label;
        assert_int_equal(wf_field_read(&set->field[0], i, pixels, NULL), WEFT_OK);
        assert_int_equal(pixels[5], 10 + 10 * i);
        assert_int_equal(wf_dataset_label(set, i, &label, NULL), WEFT_OK);
        assert_int_equal(label, i > 0);
    }
    assert_string_equal(wf_text_str(&notes),
                        TEMP("pics") ": 1 files are no pictures by their names\n");
    wf_dataset_destroy(set);
    // Asked for: three channels, half the size.
    o.image[0] = 3;
    o.image[1] = o.image[2] = 2;
    assert_int_equal(wf_readers_open("images", &o, &set, NULL), WEFT_OK);
    uint8_t pixels[12];
    assert_int_equal(wf_field_read(&set->field[0], 1, pixels, NULL), WEFT_OK);
    assert_int_equal(pixels[0], 15); // three of 20 and a 0
    assert_int_equal(pixels[11], 20);
    wf_dataset_destroy(set);
    o.image[0] = 2;
    assert_fails(wf_readers_open("images", &o, &set, err), WEFT_ERR_SHAPE,
                 "data: images of [2,2,2], expected 1 or 3 channels and sides from 1 to 16384");
}

static void parts(void **state)
{
    (void)state;
    need_png();
    wf_dataset *set, *test;
    assert_int_equal(wf_directory_create(TEMP("pics-split/train/x"), NULL), WEFT_OK);
    assert_int_equal(wf_directory_create(TEMP("pics-split/train/y"), NULL), WEFT_OK);
    assert_int_equal(wf_directory_create(TEMP("pics-split/val/y"), NULL), WEFT_OK);
    write_grey(TEMP("pics-split/train/x/1.png"), 3, 5, 1);
    write_grey(TEMP("pics-split/train/y/1.png"), 5, 3, 2);
    write_grey(TEMP("pics-split/val/y/1.png"), 5, 5, 3);
    wf_reader_options o = options(TEMP("pics-split"));
    o.part = "train";
    assert_int_equal(wf_readers_open(NULL, &o, &set, NULL), WEFT_OK);
    assert_int_equal(set->n_samples, 2);
    assert_int_equal(set->field[0].dim[1], 64);
    assert_string_equal(wf_text_str(&notes),
                        TEMP("pics-split/train") ": pictures of several sizes become 64 x 64, "
                                                 "data.image: [c, h, w] chooses\n");
    o.part = "test";
    o.class_names = set->class_names;
    o.n_classes = set->n_classes;
    memcpy(o.image, set->field[0].dim, sizeof o.image);
    int64_t label;
    assert_int_equal(wf_readers_open("images", &o, &test, NULL), WEFT_OK);
    assert_int_equal(wf_dataset_label(test, 0, &label, NULL), WEFT_OK);
    assert_int_equal(label, 1); // y, although it is the only one there
    wf_dataset_destroy(test);
    o.n_classes = 1;
    assert_fails(wf_readers_open("images", &o, &test, err), WEFT_ERR_FORMAT,
                 TEMP("pics-split/val") ": folder 'y' is none of the 1 classes");
    wf_dataset_destroy(set);
    make_folders();
    o = options(TEMP("pics"));
    o.part = "test";
    assert_fails(wf_readers_open("images", &o, &test, err), WEFT_ERR_FILE,
                 TEMP("pics") ": no folder test, val, valid or validation in it");
}

// darknet#147, #2391, #611; AlexeyAB#1186: one list in six guises.
static void lists(void **state)
{
    (void)state;
    need_png();
    static const char *const texts[] = {
        "pics/a/x.png,one\npics/b cat/2.png,two\n",
        "pics/a/x.png,one\r\npics/b cat/2.png,two\r\n",
        "pics/a/x.png , one \npics/b cat/2.png,  two\n\n\n",
        "\xEF\xBB\xBFpath,label\npics/a/x.png,one\npics/b cat/2.png,two",
        "pics/a/x.png\tone\npics/b cat/2.png\ttwo",
        "File;Class\n\"pics/a/x.png\";\"one\"\n\"pics/b cat/2.png\";two\n",
    };
    wf_dataset *set;
    make_folders();
    wf_reader_options o = options(TEMP("pics-list.csv"));
    for (size_t i = 0; i < WF_N_TESTS(texts); i++) {
        temp_write(o.path, texts[i], strlen(texts[i]));
        assert_int_equal(wf_readers_open("images", &o, &set, NULL), WEFT_OK);
        assert_int_equal(set->n_samples, 2);
        assert_string_equal(set->class_names[0], "one");
        assert_string_equal(set->class_names[1], "two");
        wf_dataset_destroy(set);
    }
    static const struct {
        const char *text;
        const char *message;
    } wrong[] = {
        {"\xFF\xFE"
         "a",
         ": begins as UTF-16 does, expected UTF-8"},
        {"pics/a/x.png\n", ": 1 columns, expected two: path and label"},
        {"pics/a/x.png,\n", ": line 1: no label, expected path and label"},
        {"path,label\n", ": no rows behind its header"},
        {"pics/a/x.png,one\npics/none.png,two\n",
         ": line 2: cannot open " TEMP("pics/none.png") ": No such file or directory (1 of 2 files "
                                                        "are bad, on_bad: skip leaves them out)"},
    };
    for (size_t i = 0; i < WF_N_TESTS(wrong); i++) {
        char whole[1200];
        snprintf(whole, sizeof whole, "%s%s", o.path, wrong[i].message);
        temp_write(o.path, wrong[i].text, strlen(wrong[i].text));
        assert_fails(wf_readers_open("images", &o, &set, err), WEFT_ERR_FORMAT, whole);
    }
    assert_fails(
        wf_readers_open("images", &(wf_reader_options){.path = TEMP("pics/none.csv")}, &set, err),
        WEFT_ERR_FILE, "cannot open " TEMP("pics/none.csv") ": No such file or directory");
}

// Cut at every byte: rows that are whole, or a line that says which row is not.
static void cut_lists(void **state)
{
    (void)state;
    need_png();
    static const char text[] = "pics/a/x.png,one\n\"pics/b cat/2.png\",two\n";
    wf_dataset *set;
    make_folders();
    const wf_reader_options o = options(TEMP("cut-list.csv"));
    for (size_t n = 0; n < sizeof text; n++) {
        weft_error err = {0};
        const size_t first = strlen("pics/a/x.png,"), second = strlen("pics/a/x.png,one\n");
        const size_t last = sizeof text - 1 - strlen("two\n");
        temp_write(o.path, text, n);
        const weft_status status = wf_readers_open("images", &o, &set, &err);
        // A label that is cut is another label: nothing tells it from one.
        const bool is_whole = (n > first && n <= second) || n > last;
        if (is_whole != (status == WEFT_OK))
            fail_msg("%zu bytes: '%s'", n, err.message);
        if (is_whole)
            assert_int_equal(set->n_samples, n > last ? 2 : 1);
        else
            assert_names_file(err.message, o.path);
        wf_dataset_destroy(set);
    }
}

static void bad_files(void **state)
{
    (void)state;
    need_png();
    wf_dataset *set;
    char *cut;
    size_t size;
    assert_int_equal(wf_directory_create(TEMP("pics-bad/k"), NULL), WEFT_OK);
    write_grey(TEMP("pics-bad/k/1.png"), 4, 4, 1);
    write_grey(TEMP("pics-bad/k/3.png"), 4, 4, 3);
    assert_int_equal(wf_file_read(&heap, TEMP("pics-bad/k/1.png"), (uint8_t **)&cut, &size, NULL),
                     WEFT_OK);
    temp_write(TEMP("pics-bad/k/2.png"), cut, size - 20);
    wf_free(&heap, cut);
    temp_write_text(TEMP("pics-bad/k/4.jpg"), "");
    for (int is_given = 0; is_given < 2; is_given++) {
        wf_reader_options o = options(TEMP("pics-bad"));
        if (is_given)
            o.image[0] = o.image[1] = o.image[2] = 3;
        wf_text_clear(&notes);
        assert_fails(
            wf_readers_open("images", &o, &set, err), WEFT_ERR_FORMAT,
            TEMP("pics-bad/k/2.png") ": damaged PNG (the file ends too early) (2 of 4 files are "
                                     "bad, on_bad: skip leaves them out)");
        o.is_skipping_bad = true;
        assert_fails(wf_readers_open("images", &o, &set, err), WEFT_OK, "");
        assert_int_equal(set->n_samples, 2);
        assert_int_equal(set->n_bad, 2);
        uint8_t pixels[27];
        assert_int_equal(wf_field_read(&set->field[0], 1, pixels, NULL), WEFT_OK);
        assert_int_equal(pixels[8], 3);
        assert_string_equal(
            wf_text_str(&notes),
            "left out: " TEMP(
                "pics-bad/k/2.png") ": damaged PNG (the file ends too "
                                    "early)\n"
                                    "left out: " TEMP("pics-bad/k/4.jpg") ": the file is empty, expected an image\n" TEMP(
                                        "pics-bad") ": 2 of 4 files are bad and left out\n");
        wf_dataset_destroy(set);
    }
    assert_int_equal(wf_directory_create(TEMP("pics-empty/k"), NULL), WEFT_OK);
    wf_reader_options o = options(TEMP("pics-empty"));
    assert_fails(
        wf_readers_open("images", &o, &set, err), WEFT_ERR_FORMAT,
        TEMP("pics-empty") ": no pictures in its folders, expected .png, .jpg or .webp files in "
                           "a folder for each class");
    temp_write_text(TEMP("pics-empty/k/1.png"), "");
    o.is_skipping_bad = true;
    assert_fails(wf_readers_open("images", &o, &set, err), WEFT_ERR_FORMAT,
                 TEMP("pics-empty") ": every file is bad, the first: " TEMP(
                     "pics-empty/k/1.png") ": the file "
                                           "is empty, expected an image");
    assert_int_equal(wf_file_remove(TEMP("pics-empty/k/1.png"), NULL), WEFT_OK);
}

static void allocation_n_fails(void **state)
{
    (void)state;
    need_png();
    make_folders();
    for (long n = 0;; n++) {
        failing_heap counts = {n, 0};
        wf_allocator a = {reallocate_failing, &counts};
        wf_dataset *set;
        wf_reader_options o = options(TEMP("pics"));
        o.allocator = &a;
        weft_status status = wf_readers_open("images", &o, &set, NULL);
        assert_true(status == WEFT_OK || status == WEFT_ERR_MEMORY);
        wf_dataset_destroy(set);
        if (status == WEFT_OK)
            break;
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
const struct CMUnitTest wf_tests_images_reader[] = {
    TEST(folders),   TEST(parts),     TEST(lists),
    TEST(cut_lists), TEST(bad_files), TEST(allocation_n_fails),
};
const unsigned long wf_n_tests_images_reader = WF_N_TESTS(wf_tests_images_reader);
