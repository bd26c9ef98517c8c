// Files of tests: places in the test folder, and bytes put into them; a heap that fails on demand.
#ifndef WF_TEST_TEMP_FILE_H
#define WF_TEST_TEMP_FILE_H

#include "wf_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define TEMP(name) WEFT_TEST_TMP "/" name

static inline void temp_write(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline void temp_write_text(const char *path, const char *text)
{
    temp_write(path, text, strlen(text));
}

// Leaves the first size bytes of a file. From the end on this is cheaper than files anew.
static inline void temp_cut(const char *path, size_t size)
{
    assert_int_equal(truncate(path, (off_t)size), 0);
}

// One line, which begins with the file that it is about.
static inline void assert_names_file(const char *message, const char *path)
{
    const size_t n = strlen(path);
    if (strncmp(message, path, n) != 0 || message[n] != ':' || strchr(message, '\n'))
        fail_msg("'%s', expected a line that begins with '%s:'", message, path);
}

// Fails the n-th allocation and counts what is still held.
typedef struct {
    long left;
    long held;
} failing_heap;

static inline void *reallocate_failing(void *user, void *ptr, size_t size)
{
    failing_heap *h = user;
    if (size == 0) {
        free(ptr);
        h->held--;
        return NULL;
    }
    if (h->left-- <= 0)
        return NULL;
    h->held += ptr == NULL;
    return realloc(ptr, size);
}

// Compares status and the whole message.
#define assert_fails(expr, status, text)                                                           \
    do {                                                                                           \
        weft_error fails_err = {0};                                                                \
        weft_error *err = &fails_err;                                                              \
        assert_int_equal(expr, status);                                                            \
        assert_string_equal(fails_err.message, text);                                              \
    } while (0)

#endif
