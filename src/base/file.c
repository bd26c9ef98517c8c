// Reading files whole or through a map, and directories. See file_write.c for writing.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Opens a regular file for reading and gives its size.
static weft_status open_regular(const char *path, int *out_fd, size_t *out_size, weft_error *err)
{
    struct stat info;
    *out_fd = -1;
    *out_size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
    if (fstat(fd, &info)) {
        int code = errno;
        close(fd);
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot open %s: %s", path, strerror(code));
    }
    if (!S_ISREG(info.st_mode)) {
        close(fd);
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot open %s: %s, expected a file", path,
                  S_ISDIR(info.st_mode) ? "it is a directory" : "it is a device or pipe");
    }
    *out_fd = fd;
    *out_size = (size_t)info.st_size;
    return WEFT_OK;
}

weft_status wf_file_map_open(const char *path, wf_file_map *out_map, weft_error *err)
{
    int fd;
    size_t size;
    out_map->data = NULL;
    out_map->size_bytes = 0;
    WEFT_TRY(open_regular(path, &fd, &size, err));
    if (size == 0) {
        close(fd);
        return WEFT_OK;
    }
    void *data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    int code = errno;
    close(fd);
    if (data == MAP_FAILED)
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot map %s: %s", path, strerror(code));
    out_map->data = data;
    out_map->size_bytes = size;
    return WEFT_OK;
}

void wf_file_map_close(wf_file_map *map)
{
    // munmap takes a plain pointer; the pages are ours although we promise not to write them.
    if (map->data)
        munmap((void *)(uintptr_t)map->data, map->size_bytes);
    map->data = NULL;
    map->size_bytes = 0;
}

weft_status wf_file_read(const wf_allocator *a, const char *path, uint8_t **out_data,
                         size_t *out_size_bytes, weft_error *err)
{
    int fd;
    size_t size, done = 0, with_zero;
    uint8_t *data = NULL;
    *out_data = NULL;
    *out_size_bytes = 0;
    WEFT_TRY(open_regular(path, &fd, &size, err));
    weft_status status = WEFT_ERR_MEMORY;
    if (!wf_add_size(size, 1, &with_zero))
        wf_error_set(err, status, "memory: %s is too large", path);
    else
        status = wf_alloc(a, with_zero, 1, &data, err);
    while (status == WEFT_OK && done < size) {
        ssize_t got = read(fd, data + done, size - done);
        if (got > 0) {
            done += (size_t)got;
        } else if (got == 0) {
            break; // the file became shorter meanwhile: what there is counts
        } else if (errno != EINTR) {
            status = wf_error_set(err, WEFT_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
        }
    }
    close(fd);
    if (status != WEFT_OK) {
        wf_free(a, data);
        return status;
    }
    *out_data = data;
    *out_size_bytes = done;
    return WEFT_OK;
}

// What the first bytes say about the encoding, NULL for none of these.
static const char *wide_encoding_name(const uint8_t *data, size_t size)
{
    if (size >= 2 && ((data[0] == 0xFF && data[1] == 0xFE) || (data[0] == 0xFE && data[1] == 0xFF)))
        return "UTF-16 or UTF-32";
    if (size >= 2 && (data[0] == 0) != (data[1] == 0))
        return "UTF-16 without a byte order mark";
    return NULL;
}

weft_status wf_file_read_text(const wf_allocator *a, const char *path, char **out_text,
                              weft_error *err)
{
    uint8_t *data;
    size_t size, dst = 0;
    *out_text = NULL;
    WEFT_TRY(wf_file_read(a, path, &data, &size, err));
    const char *wide = wide_encoding_name(data, size);
    const uint8_t *zero = wide ? NULL : memchr(data, 0, size);
    if (wide || zero) {
        if (wide) {
            wf_error_set(err, WEFT_ERR_FORMAT, "%s: text is %s, expected UTF-8", path, wide);
        } else {
            wf_error_set(err, WEFT_ERR_FORMAT, "%s: a zero byte at byte %zu, expected UTF-8 text",
                         path, (size_t)(zero - data));
        }
        wf_free(a, data);
        return WEFT_ERR_FORMAT;
    }
    size_t src = size >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF ? 3 : 0;
    for (; src < size; src++) {
        if (data[src] == '\r' && data[src + 1] == '\n') // the byte behind the end is 0
            continue;
        data[dst++] = data[src];
    }
    data[dst] = 0;
    *out_text = (char *)data;
    return WEFT_OK;
}

bool wf_file_is_regular(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISREG(info.st_mode);
}

bool wf_file_is_directory(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

weft_status wf_directory_create(const char *path, weft_error *err)
{
    char part[4096]; // PATH_MAX of Linux
    size_t len = strlen(path);
    WEFT_REQUIRE(err, len > 0 && len < sizeof part, "directory: a path of %zu bytes", len);
    memcpy(part, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (part[i] != '/' && part[i] != 0)
            continue;
        char kept = part[i];
        part[i] = 0;
        int code = mkdir(part, 0777) ? errno : 0;
        if (code && !wf_file_is_directory(part)) {
            WEFT_FAIL(err, WEFT_ERR_FILE, "cannot create directory %s: %s", part,
                      strerror(code == EEXIST ? ENOTDIR : code));
        }
        part[i] = kept;
    }
    return WEFT_OK;
}

weft_status wf_file_remove(const char *path, weft_error *err)
{
    if (unlink(path) && errno != ENOENT)
        WEFT_FAIL(err, WEFT_ERR_FILE, "cannot remove %s: %s", path, strerror(errno));
    return WEFT_OK;
}

weft_status wf_path_join(const wf_allocator *a, const char *dir, const char *name, char **out_path,
                         weft_error *err)
{
    size_t n_dir = strlen(dir), n_name = strlen(name);
    char *path;
    *out_path = NULL;
    while (n_dir > 1 && dir[n_dir - 1] == '/')
        n_dir--;
    WEFT_TRY(wf_alloc(a, n_dir + n_name + 2, 1, &path, err));
    memcpy(path, dir, n_dir);
    if (n_dir && path[n_dir - 1] != '/')
        path[n_dir++] = '/';
    memcpy(path + n_dir, name, n_name + 1);
    *out_path = path;
    return WEFT_OK;
}

const char *wf_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
