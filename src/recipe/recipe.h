// A recipe: what to train, on what data, how. Read from YAML, resolved (names and sizes that the data
// gives are written in), printed so that reading gives the same. Stage: recipe.
//
// A model is a list of layers, in which `residual` and `branch` hold lists of their own, or a family by
// name with its options:
//
//     model: {family: resnet18, stem: cifar}
//
// To add a family: one file src/nn/family_NAME.c, see nn/family.h; nothing here names one. To add a layer:
// a row in recipe_layer_kinds.c. To add a loss or a target: a row in recipe_task.c, which makes of the
// model's result, the batch and `loss:`, `target:` what a step trains on and what is counted.
#ifndef WF_RECIPE_RECIPE_H
#define WF_RECIPE_RECIPE_H

#include "nn/family.h"
#include "recipe/recipe_keys.h"
#include "weft/nn.h"
#include "weft/train.h"

typedef struct wf_layer_kind wf_layer_kind;

typedef struct wf_layers {
    struct wf_layer *v;
    size_t n;
} wf_layers;

// The paths of a branch.
typedef struct wf_layer_paths {
    wf_layers *v;
    size_t n;
} wf_layer_paths;

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
    wf_sizes shape;           // of reshape, one sample's
    wf_layers body, shortcut; // of residual; an empty shortcut passes x on
    wf_layer_paths paths;     // of branch
    int32_t join;             // of branch: 0 concat, 1 add
    wf_sizes size;            // of resize and adaptive pooling
    int32_t mode;             // of resize: 0 nearest, 1 linear
    bool has_aligned_corners; // of resize
} wf_layer;

// Layers are a table: name, keys, the key that a bare scalar stands for, and the call that builds it.
struct wf_layer_kind {
    const char *name;
    const wf_key *keys;    // NULL: none but name
    const char *short_key; // NULL: a bare scalar is wrong
    weft_val (*build)(weft_nn *nn, const wf_layer *layer, weft_val x);
    bool is_scoped; // the call pushes the layer's name itself; else the builder does
};
#define WF_N_LAYER_KINDS 28
extern const wf_layer_kind wf_layer_kinds[WF_N_LAYER_KINDS + 1]; // ends with a name of NULL

// Layers, or a family.
typedef struct wf_model {
    wf_layers layers;
    const wf_family *family; // NULL: layers
    void *options;           // the family's struct
    const wf_key *keys;      // its table, made of the family's options
    const char *source;
    int32_t line, column;
} wf_model;

typedef struct wf_recipe_data {
    const char *reader; // NULL: the one that knows the data; its name once resolved
    const char *dir;    // a folder or a file, absolute once resolved
    const char *file;   // another name for dir, NULL once resolved
    const char *test;   // the test part, where it lies elsewhere
    wf_words classes;
    wf_sizes image;    // [c,h,w]; not given: what the data says
    int64_t n_classes; // WF_KEY_UNSET: likewise
    int32_t on_bad;    // a damaged file: 0 stops, 1 is skipped
    struct wf_normalise {
        bool is_on;
        wf_numbers mean, std; // not given: computed from the training part
    } normalise;
    struct wf_recipe_augment {
        int64_t crop, cutout;
        bool is_flipped;
        double rotate, scale, translate, colour, mixup, shift, noise; // as wf_augmentation
    } augment;
    // The part of the training data that validation takes; 0: the test part is used.
    double validation;
    int64_t take; // only so many samples of the training part are trained on; WF_KEY_UNSET: all
    bool is_stratified;
    int32_t fit; // of pictures: wf_image_fitting
    // Sounds.
    int64_t rate;   // samples a second
    double seconds; // of a clip; 0: the reader's
    // Tables.
    const char *target;        // a column; NULL: the last
    int32_t target_is, header; // as in data/readers.h
    wf_words ignore;
    wf_words columns; // written by the run
    // Text.
    int32_t unit; // 0: characters, 1: bytes
    int64_t context, stride;
    const char *vocabulary; // written by the run
} wf_recipe_data;

// Choices, in the order of their lists in recipe_training.c; optimiser and schedule follow weft/nn.h.
typedef struct wf_recipe_optimizer {
    int32_t kind; // weft_optimizer_kind
    double lr, momentum;
    bool is_nesterov;
    double beta1, beta2, alpha, epsilon;
    bool is_centered;
    double lr_decay, initial_sum;
    double weight_decay;
    bool decay_all;
} wf_recipe_optimizer;

typedef struct wf_recipe_schedule {
    int32_t kind; // weft_schedule_kind
    int64_t warmup;
    double final_fraction;
    int64_t step_size;
    double gamma, warmup_share, initial_divisor, final_divisor, decay_share;
    bool is_sqrt_decay;
} wf_recipe_schedule;

// Parameters with settings of their own.
typedef struct wf_recipe_group {
    const char *match; // "*" and "?" over whole names
    double lr_factor;
    double weight_decay; // below 0: the optimiser's
    bool is_frozen, is_left_to_adamw;
} wf_recipe_group;

typedef struct wf_recipe_groups {
    wf_recipe_group *v;
    size_t n;
} wf_recipe_groups;

typedef struct wf_recipe_train {
    // Weights to begin with: a file, rules "from -> to" over its names, variables that begin anew.
    struct wf_recipe_init {
        const char *file; // NULL: none
        wf_words map;
        wf_words fresh;
    } init_from;
    int64_t batch;
    int64_t epochs; // one of these two is WF_KEY_UNSET
    int64_t steps;
    int64_t checkpoint_every; // 0: at the end of each epoch
    int64_t log_every;
    double clip_norm, clip_value; // 0: off
    int64_t loader_threads;
    int64_t micro_batch; // samples of one pass; 0: the whole batch
    double ema;          // decay of the moving average of the weights; 0: off
    int64_t patience;    // epochs without a better one before the run ends; 0: it goes on
    double min_delta;    // what is better by no more than this does not count
    int64_t stats_every; // steps between lines of statistics; 0: none
    bool has_tensorboard;
} wf_recipe_train;

// What the model's result is compared with, and how: rows of recipe_task.c, by ordinal.
typedef enum wf_loss_kind {
    WF_LOSS_CROSS_ENTROPY = 0, // of each sample, pixel or position
    WF_LOSS_BCE = 1,           // of each element, the result before the sigmoid
    WF_LOSS_MSE = 2,
    WF_LOSS_HUBER = 3,
    WF_LOSS_OWN = 4, // what the model itself gives (wf_family_build.penalty), and no other
} wf_loss_kind;
extern const char *const wf_loss_names[]; // ends with NULL

typedef struct wf_recipe_loss {
    int32_t kind;
    double label_smoothing; // of cross_entropy
    double delta;           // of huber
    int32_t reduction;      // 0: mean over a sample's elements, 1: their sum; mean over samples
} wf_recipe_loss;

typedef enum wf_target_kind {
    WF_TARGET_LABEL = 0,  // the data's label: a class, a class of each position (of text the next
                          // token), or numbers
    WF_TARGET_IMAGE = 1,  // what went in: autoencoders
    WF_TARGET_MASK = 2,   // a class of each pixel: 0 where it is dark, else 1 + label
    WF_TARGET_MASKED = 3, // tokens that the model is not shown; it is given class n_classes instead
} wf_target_kind;
extern const char *const wf_target_names[]; // ends with NULL

typedef struct wf_recipe_target {
    int32_t kind;
    double threshold; // of mask: dark is a pixel at or below, as 0 to 1 before normalisation
    double share;     // of masked: of the tokens
} wf_recipe_target;

// The struct that the table of recipe_table.c describes.
typedef struct wf_recipe_values {
    const char *name;
    int64_t seed;
    int32_t arithmetic; // weft_arithmetic
    int32_t storage;    // 0: f32, 1: bf16, 2: f16
    wf_recipe_data data;
    wf_model model;
    wf_recipe_loss loss;
    wf_recipe_target target;
    wf_recipe_optimizer optimizer;
    wf_recipe_groups groups;
    wf_recipe_schedule schedule;
    wf_recipe_train train;
} wf_recipe_values;

// A training of a recipe's `phases:`, each with what the whole recipe says and its own; behind the first they
// begin with the weights of the one before.
typedef struct wf_recipe_phase {
    const char *name; // and that of its folder
    wf_recipe_values v;
} wf_recipe_phase;

struct weft_recipe {
    weft_context *context; // for its log
    wf_allocator allocator;
    wf_arena arena;
    wf_yaml_tree tree; // place names of layers live in it
    const char *path;
    wf_recipe_values v; // of a recipe with phases: of the last
    wf_recipe_phase *phases;
    size_t n_phases;     // 0: none
    int64_t step_budget; // at most so many steps, with phases; 0: no limit
};

// Reads the list under `phases` against the recipe's other keys, which are in the tree.
weft_status wf_phases_read(weft_recipe *recipe, const wf_yaml *node, weft_error *err);
// The values of a tree: read, defaults filled in, checked, paths made whole. As for a whole recipe.
weft_status wf_recipe_read_values(weft_recipe *recipe, weft_error *err);

// A recipe from its text; path is its name in messages, and relative paths are looked for beside it, too.
weft_status wf_recipe_read_text(weft_context *context, const char *path, const char *text,
                                const char *const *settings, size_t n_settings,
                                weft_recipe **out_recipe, weft_error *err);

extern const wf_key wf_recipe_keys[];
extern const wf_key wf_recipe_data_keys[]; // of data:
void wf_recipe_defaults(wf_recipe_values *v);
extern const wf_key wf_recipe_optimizer_keys[], wf_recipe_schedule_keys[], wf_recipe_train_keys[];
void wf_recipe_training_defaults(wf_recipe_values *v);
// What the optimiser's kind says where the recipe says nothing.
void wf_recipe_training_resolve(wf_recipe_values *v);
weft_status wf_groups_read(const wf_key_reader *r, const wf_key *key, const char *path,
                           const wf_yaml *node, void *member);
void wf_groups_print(const wf_key *key, const void *member, wf_text *out);
// Gives the parameters made so far the settings of the recipe's groups.
void wf_recipe_group_parameters(const weft_recipe *recipe, weft_nn *nn);

// Lists of layers in a recipe, both ways: members of the tables (wf_layers, wf_layer_paths). Printed as
// they stand inside a map; wf_layers_print_block prints a line for each.
weft_status wf_layers_read(const wf_key_reader *r, const wf_key *key, const char *path,
                           const wf_yaml *node, void *member);
void wf_layers_print(const wf_key *key, const void *member, wf_text *out);
void wf_layers_print_block(const wf_layers *layers, wf_text *out);
weft_status wf_layer_paths_read(const wf_key_reader *r, const wf_key *key, const char *path,
                                const wf_yaml *node, void *member);
void wf_layer_paths_print(const wf_key *key, const void *member, wf_text *out);
// Likewise wf_model.
weft_status wf_model_read(const wf_key_reader *r, const wf_key *key, const char *path,
                          const wf_yaml *node, void *member);
void wf_model_print(const wf_key *key, const void *member, wf_text *out);

// Builds the model onto x [b,..]; n_classes as in wf_family_build, whose results out_family holds (may be
// NULL). Errors are recorded in the graph at the layer's line.
weft_val wf_recipe_build(const weft_recipe *recipe, weft_nn *nn, weft_val x, int64_t n_classes,
                         wf_family_build *out_family);
weft_val wf_layer_build(const wf_layer *layer, weft_nn *nn, weft_val x);
weft_val wf_layers_build(const wf_layers *layers, weft_nn *nn, weft_val x);

// ---- the step's ends: what goes into the model, what comes out is held against
typedef struct wf_task_input {
    weft_val x;        // [b,..] as the data gives it, normalised
    weft_val label;    // i32 [b] or [b,..], f32 [b,..]; none where there is none
    int64_t n_classes; // of the data; 0: none
    const float *mean; // of the normalisation, for target mask; NULL: none
    const float *std;
} wf_task_input;

typedef struct wf_task_result {
    weft_val out;    // the model's result
    weft_val target; // what the loss compared it with
    weft_val code;   // see wf_family_build
    weft_val loss;   // [] f32: the mean over samples in training, their sum in evaluation
    weft_val
        correct; // [] i64: samples, pixels or positions whose class is right; none without classes
    int64_t n_judged; // of them in a sample
    // f32 of out's shape, as people read it: probabilities over the classes, pictures; else out itself.
    weft_val prediction;
} wf_task_result;

// Is the data's label looked at? Not where the target is made of what goes in.
bool wf_recipe_wants_label(const weft_recipe *recipe);
// Classes that the target has, of data with n_classes; 0: none.
int64_t wf_recipe_n_classes(const weft_recipe *recipe, int64_t n_classes);
// Hides a share of the tokens x i32 [b,t], as many of each text: *out_x is what the model is given, *out_rows
// i32 [b*k] the hidden places of x seen as one row. Returns the tokens that stood there.
weft_val wf_task_masked(weft_nn *nn, weft_val x, int64_t n_classes, double share, bool is_training,
                        weft_val *out_x, weft_val *out_rows);
// Builds model, loss and counts. Evaluation is without label smoothing. Errors are recorded in the graph.
void wf_recipe_task(const weft_recipe *recipe, weft_nn *nn, const wf_task_input *in,
                    bool is_training, wf_task_result *out);
weft_optimizer_options wf_recipe_optimizer_options(const weft_recipe *recipe);
weft_schedule_options wf_recipe_schedule_options(const weft_recipe *recipe, int64_t total_steps);

// The resolved recipe as text, in out.
weft_status wf_recipe_print(const weft_recipe *recipe, wf_text *out, weft_error *err);

// How values between layers are held, and its name: "f32", "bf16", "f16".
weft_dtype wf_recipe_storage(const weft_recipe *recipe);
const char *wf_recipe_storage_name(const weft_recipe *recipe);

#endif
