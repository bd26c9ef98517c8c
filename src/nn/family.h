// Families of networks by name: "resnet18", "gpt". A family is one file src/nn/family_NAME.c that exports
//
//     const wf_family wf_family_NAME = {.name = "NAME", .summary = "..", .options = options,
//                                       .options_bytes = sizeof defaults, .defaults = &defaults,
//                                       .build = build};
//
// and nothing else: the list is made from the file names. A recipe names it (`model: {family: NAME,
// width: 64}`, src/recipe/recipe_model.c) and so does a program (weft_family, weft/nn.h); both read the
// options by the one table below, into a struct of the family's own that starts as a copy of `defaults`.
// Stage: nn.
//
//     typedef struct { int64_t classes, depth; double dropout; int32_t stem; wf_integers widths; } values;
//     static const values defaults = {.depth = 3, .widths = {{64, 32}, 2}};
//     static const wf_option options[] = {
//         {"classes", WF_OPTION_INTEGER, offsetof(values, classes), 0, 1e6, NULL},
//         {"stem", WF_OPTION_CHOICE, offsetof(values, stem), 0, 0, stems},
//         {NULL, WF_OPTION_INTEGER, 0, 0, 0, NULL},
//     };
//     static weft_val build(wf_family_build *b) { const values *o = b->options; ... }
//
// build adds nodes by graph and layer calls only, pushes scopes for its blocks (parameters are named
// after them: scope layer1/0, layer conv1 -> "layer1.0.conv1.weight"), records what is wrong in the
// graph, and returns the network's result:
//   classes          logits f32 [b,classes]
//   each pixel       logits f32 [b,classes,h,w]
//   each position    logits f32 [b,t,classes]   (three axes: the classes are the last)
//   an image         f32 of x's shape (for the loss bce: before the sigmoid)
// The task (src/recipe/recipe_task.c) makes loss and metrics of it.
#ifndef WF_NN_FAMILY_H
#define WF_NN_FAMILY_H

#include "nn/nn_builder.h"

// Hidden layers, stages: more than any network here has.
#define WF_INTEGERS_MAX 32

typedef struct wf_integers {
    int64_t v[WF_INTEGERS_MAX];
    int32_t n;
} wf_integers;

typedef enum wf_option_kind {
    WF_OPTION_INTEGER,  // int64_t
    WF_OPTION_NUMBER,   // double
    WF_OPTION_BOOL,     // bool
    WF_OPTION_CHOICE,   // int32_t, index into choices
    WF_OPTION_INTEGERS, // wf_integers; a single one may stand for the list
} wf_option_kind;

typedef struct wf_option {
    const char *name;
    wf_option_kind kind;
    size_t offset;              // of the member in the family's struct
    double least, most;         // of each number
    const char *const *choices; // of CHOICE; ends with NULL
} wf_option;

// What a family is given, and what it gives besides its result.
typedef struct wf_family_build {
    weft_nn *nn;
    const void *options; // the family's struct
    weft_val x;          // f32 [b,c,h,w] images, f32 [b,n] rows, i32 [b,t] tokens
    int64_t n_classes;   // of the data (of text: its vocabulary); 0: not known
    bool is_decoding;    // the next tokens of sequences, with a cache: only families that say so
    int64_t context;     // decoding: the most tokens of a sequence
    weft_val penalty;    // out: f32 [b], added to each sample's loss; none unless set
    weft_val code;       // out: f32 [b,k], where the network has a narrowest place; none unless set
} wf_family_build;

typedef struct wf_family {
    const char *name;
    const char *summary;
    const wf_option *options; // ends with a name of NULL
    size_t options_bytes;
    const void *defaults;
    weft_val (*build)(wf_family_build *b);
    bool can_decode; // build looks at is_decoding
} wf_family;

// Families that a message can list.
#define WF_FAMILIES_MAX 64
size_t wf_families_count(void);
const wf_family *wf_families_get(size_t idx);
// NULL when unknown.
const wf_family *wf_families_find(const char *name);
// The option `classes` where it is given (not 0), else the data's; records an error where both are 0.
int64_t wf_family_classes(const wf_family_build *b, int64_t given);

#endif
