// What a folder holds, sorted by name: the same order on every file system.
#ifndef WF_IO_DIRECTORY_H
#define WF_IO_DIRECTORY_H

#include "base/alloc.h"

typedef struct wf_entry {
    char *name;
    bool is_directory; // else a regular file; links are followed, other kinds left out
} wf_entry;

typedef struct wf_directory {
    wf_allocator allocator;
    wf_entry *v; // [n] by the bytes of their names
    size_t n;
} wf_directory;

// Names that begin with a dot are left out. Errors: WEFT_ERR_FILE.
weft_status wf_directory_read(const wf_allocator *a, const char *path, wf_directory *out_directory,
                              weft_error *err);
// Accepts a zeroed one.
void wf_directory_deinit(wf_directory *directory);

#endif
