// Tables of keys: what a map of a recipe may hold, where each value goes, what it may be. Reading, printing
// and the lists of valid words in messages all come from the one table. Stage: recipe.
#ifndef WF_RECIPE_RECIPE_KEYS_H
#define WF_RECIPE_RECIPE_KEYS_H

#include "base/text.h"
#include "nn/family.h"
#include "recipe/yaml_tree.h"

// An integer that was not given and has no default.
#define WF_KEY_UNSET INT64_MIN
// Spatial axes: what a list of sizes can hold.
#define WF_SIZES_MAX 3
// Channels of a normalised image; as the data stage has it.
#define WF_NUMBERS_MAX 16

typedef struct wf_sizes {
    int64_t v[WF_SIZES_MAX];
    int32_t n; // 0: not given; 1 may stand for all axes
} wf_sizes;

typedef struct wf_numbers {
    float v[WF_NUMBERS_MAX];
    int32_t n;
} wf_numbers;

typedef struct wf_words {
    const char **v;
    size_t n;
} wf_words;

typedef enum wf_key_kind {
    WF_KEY_TEXT,     // const char *
    WF_KEY_INTEGER,  // int64_t
    WF_KEY_NUMBER,   // double
    WF_KEY_BOOL,     // bool
    WF_KEY_CHOICE,   // int32_t, index into choices
    WF_KEY_SIZES,    // wf_sizes: a whole number or a list of them
    WF_KEY_NUMBERS,  // wf_numbers: a list of numbers
    WF_KEY_INTEGERS, // wf_integers: a whole number or a long list of them
    WF_KEY_WORDS,    // wf_words: a list of texts
    WF_KEY_MAP,      // a table of its own
    WF_KEY_CUSTOM,   // read and print do it
} wf_key_kind;

enum {
    WF_KEY_REQUIRED = 1 << 0,
    WF_KEY_ABOVE = 1 << 1, // least itself is not allowed
    WF_KEY_BELOW = 1 << 2, // most itself is not allowed
    WF_KEY_OPTIONAL =
        1 << 3, // not printed while unset (WF_KEY_UNSET, NULL, n = 0, the first choice, false, 0)
    WF_KEY_LISTED = 1 << 4, // of MAP: a list stands for the short key, too
    // Known, so that it is among the expected ones, but read elsewhere and never printed.
    WF_KEY_ELSEWHERE = 1 << 5,
};

// What reading needs besides the tree.
typedef struct wf_key_reader {
    wf_arena *arena;
    weft_error *err;
} wf_key_reader;

typedef struct wf_key {
    const char *name;
    wf_key_kind kind;
    uint32_t flags;
    size_t
        offset; // of the member in the struct that the table describes; of MAP: of the sub-struct
    double least, most;
    const char *const *choices; // ends with NULL
    const struct wf_key *keys;  // of MAP; ends with a name of NULL
    const char *short_key;      // of MAP: the key that a bare scalar stands for
    // Bit i: the key belongs to choice i of the table's first key; 0: to all.
    uint32_t only_for;
    weft_status (*read)(const wf_key_reader *r, const struct wf_key *key, const char *path,
                        const wf_yaml *node, void *member);
    void (*print)(const struct wf_key *key, const void *member, wf_text *out);
} wf_key;

// Reads a map into target, which holds the defaults. path is "train" or "".
// Errors: WEFT_ERR_RECIPE: unknown key (with the nearest), missing, wrong type, out of range.
weft_status wf_keys_read(const wf_key_reader *r, const wf_key *keys, const wf_yaml *map,
                         const char *path, void *target);
// Prints as "key: value" lines, indented.
void wf_keys_print(const wf_key *keys, const void *target, int indent, wf_text *out);
// Prints as "{key: value, key: value}".
void wf_keys_print_flow(const wf_key *keys, const void *target, wf_text *out);

// A scalar of one kind; path is its full name in messages.
weft_status wf_key_read_integer(const wf_key_reader *r, const char *path, const wf_yaml *node,
                                double least, double most, int64_t *out);
weft_status wf_key_read_number(const wf_key_reader *r, const wf_key *key, const char *path,
                               const wf_yaml *node, double *out);
weft_status wf_key_read_bool(const wf_key_reader *r, const char *path, const wf_yaml *node,
                             bool *out);
weft_status wf_key_read_choice(const wf_key_reader *r, const char *path, const wf_yaml *node,
                               const char *const *choices, int32_t *out);
// Plain where YAML reads it back as the same text, else quoted.
void wf_key_print_text(const char *text, wf_text *out);
// ", did you mean 'x'" or "" for the nearest of a list that ends with NULL.
#define WF_KEY_HINT 96
const char *wf_key_hint(const char *word, const char *const *list, char buf[WF_KEY_HINT]);
// "a, b or c" in buf.
#define WF_KEY_LIST 512
const char *wf_key_list(const char *const *list, char buf[WF_KEY_LIST]);

#endif
