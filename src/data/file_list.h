// Which files make a data set, and of which class each is: a folder per class, or rows of path and
// label. Pictures and sounds are read so. Stage: data.
#ifndef WF_DATA_FILE_LIST_H
#define WF_DATA_FILE_LIST_H

#include "data/readers.h"

// What is looked for.
typedef struct wf_file_kind {
    const char *what;       // "pictures"
    const char *expected;   // ".png, .jpg or .webp files"
    const char *endings[8]; // of names, without the dot; NULL behind the last
} wf_file_kind;

typedef struct wf_listed_file {
    char *path;
    int32_t label;
    size_t line;      // of the list it stands in; 0: of a folder
    int32_t found[3]; // what its reader keeps of the first look
    bool is_bad;
} wf_listed_file;

typedef struct wf_file_list {
    wf_allocator allocator;
    wf_arena arena; // paths and names
    char *path;     // the folder or the list
    wf_listed_file *v;
    size_t n;
    const char **class_names; // sorted, or as the options give them
    size_t n_classes;
    size_t n_others; // files that are none of the kind by their names
} wf_file_list;

// Whether a folder of folders, or DIR/train, holds such files.
bool wf_file_list_probe(const wf_file_kind *kind, const char *path);
// A folder of folders: their names are the classes, every file of the kind below is of its class, in the
// same order everywhere. Where it holds "train", that is the training part; "test", "val", "valid" or
// "validation" is the other one. Or a file of rows "path,label": a first row whose first cell is path,
// file, filename, image or sound is a header; paths are relative to the list's folder.
// Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (no files, an unknown class; with file and line).
weft_status wf_file_list_open(wf_file_list *out_list, const wf_file_kind *kind,
                              const wf_reader_options *options, weft_error *err);

// The set's samples and classes are the list's; *out_label [n] becomes its last field, "label". Free it.
weft_status wf_file_list_label(const wf_file_list *list, wf_dataset *set, int32_t **out_label,
                               weft_error *err);

// One look at every file, by several threads at once: read brings file i to dst, sample_bytes of it, or
// only looks where dst is NULL. Bad files (WEFT_ERR_FORMAT, FILE, UNSUPPORTED, SHAPE) are an error that
// names the first in the list, or are told of and taken out of the list; then what was kept of the others
// is moved together. kept: [n, sample_bytes] or NULL. *out_n_bad counts them.
typedef struct wf_file_pass {
    wf_file_list *list;
    weft_status (*read)(void *user, size_t i, void *dst, weft_error *err);
    void *user;
    uint8_t *kept;
    size_t sample_bytes;
} wf_file_pass;
// Room in pass->kept for all files, to be freed; up to 1 GiB, above that none, and no error.
weft_status wf_file_pass_keep(wf_file_pass *pass, const wf_allocator *a, weft_error *err);
weft_status wf_file_pass_run(const wf_file_pass *pass, const wf_reader_options *options,
                             int64_t *inout_n_bad, weft_error *err);
// Accepts a zeroed one.
void wf_file_list_deinit(wf_file_list *list);

#endif
