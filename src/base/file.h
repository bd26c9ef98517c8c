// Files: whole reads, maps, and writes that either replace a file completely or leave it alone.
// Messages name the path and say what the system said ("cannot open x: No such file or directory").
#ifndef WF_BASE_FILE_H
#define WF_BASE_FILE_H

#include "base/alloc.h"

// A file mapped read-only. data is NULL when size_bytes is 0.
typedef struct wf_file_map {
    const uint8_t *data;
    size_t size_bytes;
} wf_file_map;

// Maps a regular file. An empty file is valid here; callers say what they expected instead.
// Errors: WEFT_ERR_FILE (missing, a directory, no right to read).
weft_status wf_file_map_open(const char *path, wf_file_map *out_map, weft_error *err);
// Accepts a zeroed map.
void wf_file_map_close(wf_file_map *map);

// The whole file in memory, with a 0 byte behind it that size does not count. Free with wf_free.
weft_status wf_file_read(const wf_allocator *a, const char *path, uint8_t **out_data,
                         size_t *out_size_bytes, weft_error *err);
// As wf_file_read for text that people write: a UTF-8 byte order mark is dropped, CRLF becomes LF.
// Errors: also WEFT_ERR_FORMAT (UTF-16 or UTF-32, a 0 byte).
weft_status wf_file_read_text(const wf_allocator *a, const char *path, char **out_text,
                              weft_error *err);

bool wf_file_is_regular(const char *path);
bool wf_file_is_directory(const char *path);
// Creates the directory and its missing parents; one that exists is fine.
weft_status wf_directory_create(const char *path, weft_error *err);
// Removes a file; a missing one is fine.
weft_status wf_file_remove(const char *path, weft_error *err);
// "dir" + "/" + "name". Free with wf_free.
weft_status wf_path_join(const wf_allocator *a, const char *dir, const char *name, char **out_path,
                         weft_error *err);
// The part behind the last slash. Borrowed from path.
const char *wf_path_base(const char *path);

// A file being written beside its final place. Nothing is seen at `path` before commit, which syncs,
// renames over the old file and syncs the directory. Destroy without commit removes what was
// written. After any failure (disk full) the old file is whole and the message says so.
typedef struct wf_file_writer wf_file_writer;

weft_status wf_file_writer_create(const wf_allocator *a, const char *path,
                                  wf_file_writer **out_writer, weft_error *err);
// Buffered; a large piece goes to the system without a copy.
weft_status wf_file_writer_append(wf_file_writer *writer, const void *data, size_t size_bytes,
                                  weft_error *err);
weft_status wf_file_writer_commit(wf_file_writer *writer, weft_error *err);
// Accepts NULL. Also needed after commit.
void wf_file_writer_destroy(wf_file_writer *writer);

// The three calls above at once.
weft_status wf_file_write(const wf_allocator *a, const char *path, const void *data,
                          size_t size_bytes, weft_error *err);

#endif
