// Writing a file so that it is there whole or not at all: written beside its place, synced, renamed
// over it, and the directory synced, in this order (a rename that reaches the disk before the data
// would leave an empty file after a crash).
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

// One system call per this many bytes of small pieces.
#define BUFFER_BYTES ((size_t)64 * 1024)

struct wf_file_writer {
    wf_allocator allocator;
    char *path;     // the final place, links followed
    char *tmp_path; // NULL when the target is no regular file and is written directly
    uint8_t *buffer;
    size_t used;
    int fd;
    bool has_failed;
};

static weft_status fail_write(wf_file_writer *w, int code, weft_error *err)
{
    w->has_failed = true;
    WEFT_FAIL(err, WEFT_ERR_FILE, "cannot write %s: %s, %s", w->path, strerror(code),
              w->tmp_path ? "what was there before is unchanged" : "part of it may be written");
}

static weft_status write_all(wf_file_writer *w, const uint8_t *data, size_t size, weft_error *err)
{
    while (size) {
        // One call writes at most 2 GiB on Linux: the loop goes on with the rest.
        ssize_t wrote = write(w->fd, data, size);
        if (wrote < 0) {
            if (errno == EINTR)
                continue;
            return fail_write(w, errno, err);
        }
        data += wrote;
        size -= (size_t)wrote;
    }
    return WEFT_OK;
}

// Room for ".tmp-99" and the final 0.
#define TMP_SUFFIX_BYTES 8

// A new file beside the target. Its name is the same each time, so that the next save takes over
// what a killed one left; a lock, which dies with its process, tells that from a save in progress.
static int open_beside(wf_file_writer *w)
{
    struct stat mine, named, old;
    size_t n = strlen(w->path) + TMP_SUFFIX_BYTES;
    for (int attempt = 0; attempt < 100; attempt++) {
        snprintf(w->tmp_path, n, attempt ? "%s.tmp-%d" : "%s.tmp", w->path, attempt);
        int fd = open(w->tmp_path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0)
            return -1;
        // A file system without locks is used without them.
        bool is_taken = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
        // Whoever held it may have renamed it since we opened it: then it is a finished file.
        bool is_same = !is_taken && !fstat(fd, &mine) && !stat(w->tmp_path, &named) &&
                       mine.st_ino == named.st_ino && mine.st_dev == named.st_dev;
        if (is_same && !ftruncate(fd, 0)) {
            // The rights of the file that it replaces; a refusal leaves those of a new file.
            if (!stat(w->path, &old))
                (void)!fchmod(fd, old.st_mode & 0777);
            return fd;
        }
        close(fd);
    }
    errno = EBUSY;
    return -1;
}

weft_status wf_file_writer_create(const wf_allocator *a, const char *path,
                                  wf_file_writer **out_writer, weft_error *err)
{
    wf_file_writer *w;
    struct stat info;
    *out_writer = NULL;
    WEFT_TRY(wf_alloc(a, 1, sizeof *w, &w, err));
    w->allocator = *a;
    w->fd = -1;
    // A link is followed, so that it stays and its target is replaced.
    char real[PATH_MAX];
    weft_status status = wf_strdup(a, realpath(path, real) ? real : path, &w->path, err);
    if (status == WEFT_OK)
        status = wf_alloc(a, BUFFER_BYTES, 1, &w->buffer, err);
    bool exists = status == WEFT_OK && !stat(w->path, &info);
    if (exists && S_ISDIR(info.st_mode)) {
        status = wf_error_set(err, WEFT_ERR_FILE, "cannot write %s: it is a directory", path);
    }
    bool is_direct = exists && !S_ISREG(info.st_mode); // a pipe or device cannot be renamed over
    if (status == WEFT_OK && !is_direct)
        status = wf_alloc(a, strlen(w->path) + TMP_SUFFIX_BYTES, 1, &w->tmp_path, err);
    if (status == WEFT_OK) {
        w->fd = is_direct ? open(w->path, O_WRONLY | O_CLOEXEC) : open_beside(w);
        if (w->fd < 0) {
            if (w->tmp_path)
                w->tmp_path[0] = 0; // not ours to remove
            status = wf_error_set(err, WEFT_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
        }
    }
    if (status != WEFT_OK) {
        wf_file_writer_destroy(w);
        return status;
    }
    *out_writer = w;
    return WEFT_OK;
}

weft_status wf_file_writer_append(wf_file_writer *w, const void *data, size_t size_bytes,
                                  weft_error *err)
{
    WEFT_REQUIRE(err, w->fd >= 0 && !w->has_failed, "file: %s takes no more bytes", w->path);
    if (size_bytes == 0)
        return WEFT_OK;
    if (w->used + size_bytes > BUFFER_BYTES) {
        WEFT_TRY(write_all(w, w->buffer, w->used, err));
        w->used = 0;
        if (size_bytes > BUFFER_BYTES / 2)
            return write_all(w, data, size_bytes, err);
    }
    memcpy(w->buffer + w->used, data, size_bytes);
    w->used += size_bytes;
    return WEFT_OK;
}

// The new name is on the disk only when its directory is. File systems that cannot sync a directory
// say EINVAL, which no caller can mend.
static int sync_directory(const char *path)
{
    char dir[4096];
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    if (n >= sizeof dir)
        return ENAMETOOLONG;
    memcpy(dir, path, n);
    dir[n] = 0;
    int fd = open(!slash ? "." : n ? dir : "/", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES ? 0 : errno; // a directory may be writable and not readable
    int code = fsync(fd) && errno != EINVAL ? errno : 0;
    close(fd);
    return code;
}

weft_status wf_file_writer_commit(wf_file_writer *w, weft_error *err)
{
    WEFT_REQUIRE(err, w->fd >= 0 && !w->has_failed, "file: %s cannot be completed", w->path);
    WEFT_TRY(write_all(w, w->buffer, w->used, err));
    w->used = 0;
    if (w->tmp_path && fsync(w->fd))
        return fail_write(w, errno, err);
    // Closed after the rename: the lock guards the name until then.
    if (w->tmp_path && rename(w->tmp_path, w->path))
        return fail_write(w, errno, err);
    int fd = w->fd;
    bool is_direct = !w->tmp_path;
    w->fd = -1;
    close(fd);
    if (is_direct)
        return WEFT_OK;
    wf_free(&w->allocator, w->tmp_path);
    w->tmp_path = NULL;
    int code = sync_directory(w->path);
    if (code) {
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot sync the directory of %s: %s, the file is in place",
                  w->path, strerror(code));
    }
    return WEFT_OK;
}

void wf_file_writer_destroy(wf_file_writer *w)
{
    if (!w)
        return;
    // Still here after a failure or without commit. Removed before the lock ends with close.
    if (w->fd >= 0 && w->tmp_path && w->tmp_path[0])
        unlink(w->tmp_path);
    if (w->fd >= 0)
        close(w->fd);
    wf_free(&w->allocator, w->tmp_path);
    wf_free(&w->allocator, w->buffer);
    wf_free(&w->allocator, w->path);
    wf_free(&w->allocator, w);
}

weft_status wf_file_write(const wf_allocator *a, const char *path, const void *data,
                          size_t size_bytes, weft_error *err)
{
    wf_file_writer *w;
    WEFT_TRY(wf_file_writer_create(a, path, &w, err));
    weft_status status = wf_file_writer_append(w, data, size_bytes, err);
    if (status == WEFT_OK)
        status = wf_file_writer_commit(w, err);
    wf_file_writer_destroy(w);
    return status;
}
