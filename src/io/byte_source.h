// Bytes of a file in order, unpacked when the file is gzipped (told by content, not by name).
#ifndef WF_IO_BYTE_SOURCE_H
#define WF_IO_BYTE_SOURCE_H

#include "base/file.h"

typedef struct wf_byte_source {
    const char *path;
    wf_file_map map; // the file as it is
    bool is_packed;
    size_t at;         // unpacked bytes given so far
    size_t most_bytes; // no more than this many can come in all
    wf_allocator allocator;
    void *inflate; // the state of zlib
} wf_byte_source;

weft_status wf_byte_source_open(const wf_allocator *a, const char *path, wf_byte_source *out_source,
                                weft_error *err);
// Reads up to n bytes; *out_n is less than n only at the end. Errors: WEFT_ERR_FORMAT (damaged gzip).
weft_status wf_byte_source_read(wf_byte_source *source, void *dst, size_t n, size_t *out_n,
                                weft_error *err);
// All of a file, unpacked, with a 0 byte behind it that *out_size does not count. Free with wf_free.
// Errors: also WEFT_ERR_FORMAT (more than most_bytes come out).
weft_status wf_byte_source_read_all(const wf_allocator *a, const char *path, size_t most_bytes,
                                    uint8_t **out_data, size_t *out_size, weft_error *err);
void wf_byte_source_close(wf_byte_source *source);

#endif
