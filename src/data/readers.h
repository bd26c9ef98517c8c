// The readers of data sets. Each is one file src/data/reader_NAME.c that exports
// `const wf_reader wf_reader_NAME`; the list is generated from the file names.
#ifndef WF_DATA_READERS_H
#define WF_DATA_READERS_H

#include "data/dataset.h"

typedef struct wf_reader_options {
    const wf_allocator *allocator; // NULL: the C library's
    const char *path;              // a file or directory
    const char *part;              // "train" or "test"; NULL: "train"
    const char *images;            // explicit files instead of path
    const char *labels;
    int64_t n_classes;              // 0: highest label + 1; otherwise labels are checked against it
    const char *const *class_names; // n_classes of them, copied; NULL: none
} wf_reader_options;

typedef struct wf_reader {
    const char *name;
    const char *summary;
    // Whether this looks like data of this kind: reads a few bytes at most.
    bool (*probe)(const char *path);
    weft_status (*open)(const wf_reader_options *options, wf_dataset **out_dataset,
                        weft_error *err);
} wf_reader;

size_t wf_readers_count(void);
const wf_reader *wf_readers_get(size_t idx);
// NULL when unknown.
const wf_reader *wf_readers_find(const char *name);
// Opens with the named reader, or with the first whose probe accepts options->path when name is
// NULL. Errors: WEFT_ERR_NAME (unknown reader, with the nearest name), and the reader's own.
weft_status wf_readers_open(const char *name, const wf_reader_options *options,
                            wf_dataset **out_dataset, weft_error *err);

#endif
