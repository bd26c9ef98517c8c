// Files: messages, maps, text that people write, and writes that are whole or nothing.
#include "io/temp_file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static wf_allocator heap;

static int set_up(void **state)
{
    (void)state;
    heap = wf_allocator_default();
    return 0;
}

static void missing_and_directory(void **state)
{
    (void)state;
    wf_file_map map;
    uint8_t *data;
    size_t size;
    assert_fails(wf_file_map_open(TEMP("not-there"), &map, err), WEFT_ERR_FILE,
                 "cannot open " TEMP("not-there") ": No such file or directory");
    assert_fails(wf_file_read(&heap, WEFT_TEST_TMP, &data, &size, err), WEFT_ERR_FILE,
                 "cannot open " WEFT_TEST_TMP ": it is a directory, expected a file");
    assert_null(data);
    temp_write(TEMP("empty"), "", 0);
    assert_int_equal(wf_file_map_open(TEMP("empty"), &map, NULL), WEFT_OK);
    assert_null(map.data);
    wf_file_map_close(&map);
}

static void whole_file_and_map(void **state)
{
    (void)state;
    // Cyrillic, CJK, an emoji and a blank in the name.
    const char *path = TEMP("имя 名前 \xF0\x9F\x98\x80.bin");
    uint8_t *data;
    size_t size;
    wf_file_map map;
    assert_int_equal(wf_file_write(&heap, path, "abc\0d", 5, NULL), WEFT_OK);
    assert_int_equal(wf_file_read(&heap, path, &data, &size, NULL), WEFT_OK);
    assert_int_equal(size, 5);
    assert_memory_equal(data, "abc\0d", 6);
    wf_free(&heap, data);
    assert_int_equal(wf_file_map_open(path, &map, NULL), WEFT_OK);
    assert_int_equal(map.size_bytes, 5);
    assert_memory_equal(map.data, "abc\0d", 5);
    wf_file_map_close(&map);
}

static void text_variants(void **state)
{
    (void)state;
    static const char *const same[] = {"a\nb\n", "a\r\nb\r\n", "\xEF\xBB\xBF\x61\nb\n"};
    char *text;
    for (size_t i = 0; i < 3; i++) {
        temp_write(TEMP("list"), same[i], strlen(same[i]));
        assert_int_equal(wf_file_read_text(&heap, TEMP("list"), &text, NULL), WEFT_OK);
        assert_string_equal(text, "a\nb\n");
        wf_free(&heap, text);
    }
    temp_write(TEMP("list"), "a\nb", 3);
    assert_int_equal(wf_file_read_text(&heap, TEMP("list"), &text, NULL), WEFT_OK);
    assert_string_equal(text, "a\nb");
    wf_free(&heap, text);
    temp_write(TEMP("list"),
               "\xFF\xFE"
               "a\0",
               4);
    assert_fails(wf_file_read_text(&heap, TEMP("list"), &text, err), WEFT_ERR_FORMAT,
                 TEMP("list") ": text is UTF-16 or UTF-32, expected UTF-8");
    temp_write(TEMP("list"), "a\0b\0", 4);
    assert_fails(wf_file_read_text(&heap, TEMP("list"), &text, err), WEFT_ERR_FORMAT,
                 TEMP("list") ": text is UTF-16 without a byte order mark, expected UTF-8");
    temp_write(TEMP("list"), "abc\0", 4);
    assert_fails(wf_file_read_text(&heap, TEMP("list"), &text, err), WEFT_ERR_FORMAT,
                 TEMP("list") ": a zero byte at byte 3, expected UTF-8 text");
}

static void directories(void **state)
{
    (void)state;
    assert_int_equal(wf_directory_create(TEMP("d/e//f/"), NULL), WEFT_OK);
    assert_int_equal(wf_directory_create(TEMP("d/e/f"), NULL), WEFT_OK);
    assert_true(wf_file_is_directory(TEMP("d/e/f")));
    temp_write(TEMP("d/file"), "x", 1);
    assert_fails(wf_directory_create(TEMP("d/file/g"), err), WEFT_ERR_FILE,
                 "cannot create directory " TEMP("d/file") ": Not a directory");
    assert_int_equal(wf_file_remove(TEMP("d/file"), NULL), WEFT_OK);
    assert_int_equal(wf_file_remove(TEMP("d/file"), NULL), WEFT_OK);
    char *path;
    assert_int_equal(wf_path_join(&heap, "a/", "b", &path, NULL), WEFT_OK);
    assert_string_equal(path, "a/b");
    assert_string_equal(wf_path_base(path), "b");
    wf_free(&heap, path);
}

static void replaced_only_by_commit(void **state)
{
    (void)state;
    wf_file_writer *w;
    uint8_t *data;
    size_t size;
    char big[100000];
    memset(big, 'x', sizeof big);
    assert_int_equal(wf_file_write(&heap, TEMP("kept"), "old", 3, NULL), WEFT_OK);
    assert_int_equal(wf_file_writer_create(&heap, TEMP("kept"), &w, NULL), WEFT_OK);
    assert_int_equal(wf_file_writer_append(w, big, sizeof big, NULL), WEFT_OK);
    assert_true(wf_file_is_regular(TEMP("kept.tmp")));
    wf_file_writer_destroy(w);
    assert_false(wf_file_is_regular(TEMP("kept.tmp")));
    assert_int_equal(wf_file_read(&heap, TEMP("kept"), &data, &size, NULL), WEFT_OK);
    assert_string_equal((char *)data, "old");
    wf_free(&heap, data);
    assert_int_equal(wf_file_writer_create(&heap, TEMP("kept"), &w, NULL), WEFT_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(wf_file_writer_append(w, big, sizeof big / 3, NULL), WEFT_OK);
    assert_int_equal(wf_file_writer_append(w, "end", 3, NULL), WEFT_OK);
    assert_int_equal(wf_file_writer_commit(w, NULL), WEFT_OK);
    assert_int_equal(wf_file_writer_append(w, "more", 4, NULL), WEFT_ERR_USAGE);
    wf_file_writer_destroy(w);
    assert_int_equal(wf_file_read(&heap, TEMP("kept"), &data, &size, NULL), WEFT_OK);
    assert_int_equal(size, sizeof big / 3 * 3 + 3);
    assert_memory_equal(data + size - 4, "xend", 4);
    wf_free(&heap, data);
    assert_fails(wf_file_write(&heap, TEMP("nowhere/file"), "x", 1, err), WEFT_ERR_FILE,
                 "cannot write " TEMP("nowhere/file") ": No such file or directory");
    assert_fails(wf_file_write(&heap, WEFT_TEST_TMP, "x", 1, err), WEFT_ERR_FILE,
                 "cannot write " WEFT_TEST_TMP ": it is a directory");
}

// Two writers of one file at once: the last commit wins, both files are whole.
static void two_writers(void **state)
{
    (void)state;
    wf_file_writer *w[2];
    uint8_t *data;
    size_t size;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wf_file_writer_create(&heap, TEMP("both"), &w[i], NULL), WEFT_OK);
        assert_int_equal(wf_file_writer_append(w[i], i ? "second" : "first", i ? 6 : 5, NULL),
                         WEFT_OK);
    }
    for (int i = 1; i >= 0; i--) {
        assert_int_equal(wf_file_writer_commit(w[i], NULL), WEFT_OK);
        wf_file_writer_destroy(w[i]);
        assert_int_equal(wf_file_read(&heap, TEMP("both"), &data, &size, NULL), WEFT_OK);
        assert_string_equal((char *)data, i ? "second" : "first");
        wf_free(&heap, data);
    }
    assert_false(wf_file_is_regular(TEMP("both.tmp")));
    assert_false(wf_file_is_regular(TEMP("both.tmp-1")));
}

static void killed_while_writing(void **state)
{
    (void)state;
    static char letters[300000];
    const size_t size_each = sizeof letters;
    // Each version of the file is one letter repeated: anything else would be a mixture.
    for (int round = 0; round < 10; round++) {
        assert_int_equal(wf_file_write(&heap, TEMP("killed"), "start", 5, NULL), WEFT_OK);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            for (int i = 0;; i++) {
                memset(letters, 'a' + i % 26, size_each);
                wf_file_write(&heap, TEMP("killed"), letters, size_each, NULL);
            }
        }
        usleep((useconds_t)(500 + 1700 * round));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        uint8_t *data;
        size_t size;
        assert_int_equal(wf_file_read(&heap, TEMP("killed"), &data, &size, NULL), WEFT_OK);
        if (size != 5) {
            assert_int_equal(size, size_each);
            for (size_t i = 1; i < size; i++)
                assert_int_equal(data[i], data[0]);
        }
        wf_free(&heap, data);
    }
    // What a killed save left is taken over by the next one.
    assert_int_equal(wf_file_write(&heap, TEMP("killed"), "done", 4, NULL), WEFT_OK);
    assert_false(wf_file_is_regular(TEMP("killed.tmp")));
}

static void full_device(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK))
        WF_SKIP("no /dev/full on this machine");
    assert_fails(wf_file_write(&heap, "/dev/full", "x", 1, err), WEFT_ERR_FILE,
                 "cannot write /dev/full: No space left on device, part of it may be written");
}

static void full_disk(void **state)
{
    (void)state;
    const char *dir = TEMP("small");
    char path[512];
    static char big[512 * 1024];
    assert_int_equal(wf_directory_create(dir, NULL), WEFT_OK);
    if (mount("none", dir, "tmpfs", 0, "size=256k"))
        WF_SKIP("a small tmpfs cannot be mounted here: %s", strerror(errno));
    snprintf(path, sizeof path, "%s/checkpoint", dir);
    weft_error err = {0};
    weft_status first = wf_file_write(&heap, path, "old", 3, NULL);
    weft_status second = wf_file_write(&heap, path, big, sizeof big, &err);
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status third = wf_file_read(&heap, path, &data, &size, NULL);
    char tmp_path[520];
    snprintf(tmp_path, sizeof tmp_path, "%s.tmp", path);
    bool is_left = wf_file_is_regular(tmp_path);
    umount(dir);
    assert_int_equal(first, WEFT_OK);
    assert_int_equal(second, WEFT_ERR_FILE);
    assert_non_null(strstr( // the folder is told whole
        err.message,
        "/small/checkpoint: No space left on device, what was there before is unchanged"));
    assert_memory_equal(err.message, "cannot write /", 14);
    assert_int_equal(third, WEFT_OK);
    assert_string_equal((char *)data, "old");
    assert_false(is_left);
    wf_free(&heap, data);
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)
const struct CMUnitTest wf_tests_file[] = {
    TEST(missing_and_directory),
    TEST(whole_file_and_map),
    TEST(text_variants),
    TEST(directories),
    TEST(replaced_only_by_commit),
    TEST(two_writers),
    TEST(killed_while_writing),
    TEST(full_device),
    TEST(full_disk),
};
const unsigned long wf_n_tests_file = WF_N_TESTS(wf_tests_file);
