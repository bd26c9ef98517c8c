// A YAML file as a tree whose every node knows its line and column, so that a wrong recipe is named to
// the letter. Only what recipes need: mappings, lists, scalars; one document. Stage: recipe.
#ifndef WF_RECIPE_YAML_TREE_H
#define WF_RECIPE_YAML_TREE_H

#include "base/alloc.h"

typedef enum wf_yaml_kind {
    WF_YAML_SCALAR,
    WF_YAML_LIST,
    WF_YAML_MAP,
} wf_yaml_kind;

typedef struct wf_yaml wf_yaml;

typedef struct wf_yaml_entry {
    const char *key; // NULL in a list
    int32_t line;    // of the key
    int32_t column;
    wf_yaml *value;
} wf_yaml_entry;

struct wf_yaml {
    wf_yaml_kind kind;
    const char *source; // the file, or the word of the command line
    int32_t line;       // from 1; 0 on the command line
    int32_t column;
    const char *text; // of a scalar
    bool is_plain;    // a scalar without quotes: null, true and numbers are only these
    wf_yaml_entry *entries;
    size_t n;
    size_t capacity;
};

typedef struct wf_yaml_tree {
    wf_arena arena; // holds everything
    wf_yaml *root;  // a map
} wf_yaml_tree;

// Parses text; source is its name in messages. The root must be a map.
// Errors: WEFT_ERR_RECIPE, WEFT_ERR_UNSUPPORTED (built without libyaml), WEFT_ERR_MEMORY.
weft_status wf_yaml_parse(const wf_allocator *a, const char *source, const char *text,
                          wf_yaml_tree *out_tree, weft_error *err);
void wf_yaml_deinit(wf_yaml_tree *tree);

// Puts the value of "key.sub=value" into the tree; missing maps on the way are made. The value is
// YAML itself.
weft_status wf_yaml_override(wf_yaml_tree *tree, const char *word, weft_error *err);
// The entry of that key, or NULL.
wf_yaml_entry *wf_yaml_find(const wf_yaml *map, const char *key);
// Takes an entry away; one that is not there is fine.
void wf_yaml_remove(wf_yaml *map, const char *key);

// "a list", "a map", "'text'": what a node is, for messages. buf for the quoted text.
#define WF_YAML_WHAT 96
const char *wf_yaml_what(const wf_yaml *node, char buf[WF_YAML_WHAT]);
// Writes "file:line:column: message" and gives WEFT_ERR_RECIPE.
weft_status wf_yaml_fail(const wf_yaml *node, weft_error *err, const char *format, ...)
    WF_PRINTF(3, 4);
// The same at an entry's key.
weft_status wf_yaml_fail_key(const wf_yaml *map, const wf_yaml_entry *entry, weft_error *err,
                             const char *format, ...) WF_PRINTF(4, 5);

#endif
