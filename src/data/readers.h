// The readers of data sets. Each is one file src/data/reader_NAME.c that exports
// `const wf_reader wf_reader_NAME`; the list is generated from the file names.
#ifndef WF_DATA_READERS_H
#define WF_DATA_READERS_H

#include "data/dataset.h"
#include "io/image.h"

// What a table's target is.
typedef enum wf_target_is {
    WF_TARGET_IS_AUTO = 0,
    WF_TARGET_IS_CLASS = 1,
    WF_TARGET_IS_VALUE = 2,
} wf_target_is;

typedef enum wf_header {
    WF_HEADER_AUTO = 0,
    WF_HEADER_YES = 1,
    WF_HEADER_NO = 2,
} wf_header;

// Of sounds, where the options do not say.
#define WF_SOUND_RATE 16000
#define WF_SOUND_SECONDS 1.0

typedef struct wf_reader_options {
    const wf_allocator *allocator; // NULL: the C library's
    const char *path;              // a file or directory
    const char *part;              // "train" or "test"; NULL: "train"
    const char *images;            // explicit files instead of path
    const char *labels;
    int64_t n_classes;              // 0: highest label + 1; otherwise labels are checked against it
    const char *const *class_names; // n_classes of them, copied; NULL: none
    // Told once for each thing that a person should know of: how columns were read (INFO), a bad file
    // (WARNING). NULL: silent.
    void (*note)(void *user, weft_log_level level, const char *text);
    void *note_user;
    bool is_skipping_bad; // a damaged file is left out and counted; else it is an error

    // ---- pictures
    int64_t image[3];         // [c,h,w] wanted; zeros: the files' own, where they agree
    wf_image_fitting fitting; // how they come to it

    // ---- sounds
    int32_t rate;   // samples a second; 0: WF_SOUND_RATE
    double seconds; // of a clip; 0: WF_SOUND_SECONDS

    // ---- text
    int64_t context;        // tokens of a sample
    int64_t stride;         // from one sample's first token to the next one's; 0: context
    bool is_bytes;          // tokens are bytes; else characters
    const char *vocabulary; // the characters that there are, ascending; NULL: found
    // ---- tables
    const char *target; // the column's name; NULL: the last one
    wf_target_is target_kind;
    wf_header header;
    const char *const *ignored; // columns that are left out
    size_t n_ignored;
    const char *const *columns; // as wf_dataset gives them; NULL: found
    size_t n_columns;
    bool is_raw; // numbers are not normalised
} wf_reader_options;

typedef struct wf_reader {
    const char *name;
    const char *summary;
    bool is_pathless; // makes its samples up: a recipe needs no dir and no file
    // Whether this looks like data of this kind: reads a few bytes at most.
    bool (*probe)(const char *path);
    weft_status (*open)(const wf_reader_options *options, wf_dataset **out_dataset,
                        weft_error *err);
} wf_reader;

// Passes a line to options->note, if any.
void wf_reader_note(const wf_reader_options *options, weft_log_level level, const char *format, ...)
    WF_PRINTF(3, 4);

size_t wf_readers_count(void);
const wf_reader *wf_readers_get(size_t idx);
// NULL when unknown.
const wf_reader *wf_readers_find(const char *name);
// The first whose probe accepts the path, or NULL.
const wf_reader *wf_readers_probe(const char *path);
// Opens with the named reader, or with the first whose probe accepts options->path when name is
// NULL. Errors: WEFT_ERR_NAME (unknown reader, with the nearest name), and the reader's own.
weft_status wf_readers_open(const char *name, const wf_reader_options *options,
                            wf_dataset **out_dataset, weft_error *err);

#endif
