// Which picture files make a data set, and of which class each is: a folder per class, or rows of
// path and label. Stage: data.
#ifndef WF_DATA_IMAGE_LIST_H
#define WF_DATA_IMAGE_LIST_H

#include "data/readers.h"

typedef struct wf_image_file {
    char *path;
    int32_t label;
    size_t line; // of the list it stands in; 0: of a folder
} wf_image_file;

typedef struct wf_image_list {
    wf_allocator allocator;
    wf_arena arena; // paths and names
    wf_image_file *v;
    size_t n;
    const char **class_names; // sorted, or as the options give them
    size_t n_classes;
    size_t n_others; // files that are no pictures by their names
} wf_image_list;

// Whether a file's name ends as that of a picture.
bool wf_image_list_is_picture(const char *name);
// A folder of folders: their names are the classes, every picture below is of its class. The same
// order everywhere. Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (no pictures, an unknown class).
weft_status wf_image_list_from_folder(wf_image_list *out_list, const wf_reader_options *options,
                                      const char *path, weft_error *err);
// Rows "path,label"; a first row whose first cell is path, file, filename or image is a header. Paths
// are relative to the list's folder. Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT.
weft_status wf_image_list_from_csv(wf_image_list *out_list, const wf_reader_options *options,
                                   const char *path, weft_error *err);
// Accepts a zeroed one.
void wf_image_list_deinit(wf_image_list *list);

#endif
