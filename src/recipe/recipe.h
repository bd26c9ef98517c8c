// A recipe: what to train, on what data, how. Read from YAML, resolved (names and sizes that the data
// gives are written in), printed so that reading gives the same. Stage: recipe.
#ifndef WF_RECIPE_RECIPE_H
#define WF_RECIPE_RECIPE_H

#include "recipe/recipe_keys.h"
#include "weft/nn.h"
#include "weft/train.h"

typedef struct wf_layer_kind wf_layer_kind;

// One layer. Members that its kind does not have stay at their defaults.
typedef struct wf_layer {
    const wf_layer_kind *kind;
    const char *name; // "conv1": scope and parameters
    const char *source;
    int32_t line; // of the recipe
    int32_t column;
    int64_t out;
    wf_sizes kernel, stride, pad, dilation;
    int64_t groups;
    bool has_bias;
    int32_t init; // index into the kinds of initialisers
    double p, slope, epsilon, momentum;
    int64_t n_axes;
    bool ceil_mode;
} wf_layer;

// Layers are a table: name, keys, the key that a bare scalar stands for, and the call that builds it.
struct wf_layer_kind {
    const char *name;
    const wf_key *keys;    // NULL: none but name
    const char *short_key; // NULL: a bare scalar is wrong
    weft_val (*build)(weft_nn *nn, const wf_layer *layer, weft_val x);
    bool is_scoped; // the call pushes the layer's name itself; else the builder does
};
#define WF_N_LAYER_KINDS 19
extern const wf_layer_kind wf_layer_kinds[WF_N_LAYER_KINDS + 1]; // ends with a name of NULL

typedef struct wf_layers {
    wf_layer *v;
    size_t n;
} wf_layers;

typedef struct wf_recipe_data {
    const char *reader;
    const char *dir; // absolute once resolved
    wf_words classes;
    wf_sizes image;    // [c,h,w]; not given: what the data says
    int64_t n_classes; // WF_KEY_UNSET: likewise
    struct wf_normalise {
        bool is_on;
        wf_numbers mean, std; // not given: computed from the training part
    } normalise;
    struct {
        int64_t crop;
        bool is_flipped;
    } augment;
    // The part of the training data that validation takes; 0: the test part is used.
    double validation;
} wf_recipe_data;

// Choices, in the order of their lists in recipe_table.c; optimiser and schedule follow weft/nn.h.
enum { WF_OPTIMIZER_IS_SGD = 1 << 0, WF_OPTIMIZER_IS_ADAM = 1 << 1 | 1 << 2 };

typedef struct wf_recipe_optimizer {
    int32_t kind; // weft_optimizer_kind
    double lr, momentum;
    bool is_nesterov;
    double beta1, beta2, epsilon, weight_decay;
    bool decay_all;
} wf_recipe_optimizer;

typedef struct wf_recipe_schedule {
    int32_t kind; // weft_schedule_kind
    int64_t warmup;
    double final_fraction;
    int64_t step_size;
    double gamma, warmup_share, initial_divisor, final_divisor;
} wf_recipe_schedule;

typedef struct wf_recipe_train {
    int64_t batch;
    int64_t epochs; // one of these two is WF_KEY_UNSET
    int64_t steps;
    int64_t checkpoint_every; // 0: at the end of each epoch
    int64_t log_every;
    double clip_norm, clip_value; // 0: off
    int64_t loader_threads;
} wf_recipe_train;

// The struct that the table of recipe_table.c describes.
typedef struct wf_recipe_values {
    const char *name;
    int64_t seed;
    int32_t arithmetic; // weft_arithmetic
    int32_t storage;    // 0: f32
    wf_recipe_data data;
    wf_layers model;
    struct {
        int32_t kind; // 0: cross_entropy
        double label_smoothing;
    } loss;
    wf_recipe_optimizer optimizer;
    wf_recipe_schedule schedule;
    wf_recipe_train train;
} wf_recipe_values;

struct weft_recipe {
    wf_allocator allocator;
    wf_arena arena;
    wf_yaml_tree tree; // place names of layers live in it
    const char *path;
    wf_recipe_values v;
};

extern const wf_key wf_recipe_keys[];
void wf_recipe_defaults(wf_recipe_values *v);

// A layer's list in the recipe, both ways: members of wf_recipe_keys.
weft_status wf_layers_read(const wf_key_reader *r, const wf_key *key, const char *path,
                           const wf_yaml *node, void *member);
void wf_layers_print(const wf_key *key, const void *member, wf_text *out);

// Builds the layers onto x [b,..]. Errors are recorded in the graph at the layer's line.
weft_val wf_recipe_build(const weft_recipe *recipe, weft_nn *nn, weft_val x);
weft_val wf_recipe_build_layer(const wf_layer *layer, weft_nn *nn, weft_val x);
weft_optimizer_options wf_recipe_optimizer_options(const weft_recipe *recipe);
weft_schedule_options wf_recipe_schedule_options(const weft_recipe *recipe, int64_t total_steps);

// The resolved recipe as text, in out.
weft_status wf_recipe_print(const weft_recipe *recipe, wf_text *out, weft_error *err);

#endif
