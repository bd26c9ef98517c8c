// Training from recipes: read one, train it into a run folder, evaluate, predict, verify, inspect.
//
// A run folder holds
//   recipe.yaml              the recipe as it was resolved; reads back to the same
//   log.jsonl                one JSON line a step and an epoch; the same bytes for the same run
//   checkpoint.safetensors   all that is needed to go on: weights, optimiser, step, positions
//   weights.safetensors      the last weights and running statistics, by name
//   best.safetensors         those of the best validation accuracy
//   receipt.json             what was computed, on what, with a digest for each step
//   predictions.png          some test samples with what the network says
//   events.out.tfevents.*    curves for TensorBoard, with train.tensorboard; these have times in them
//   confusion.png            labels against predictions, of the last evaluation, where there are classes
// Every file is written beside its place, synced and renamed: a killed run, or a full disk, leaves the
// files of before.
//
// Recipes are described in doc/recipes.md.
#ifndef WEFT_TRAIN_H
#define WEFT_TRAIN_H

#include <weft/device.h>
#include <weft/script.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- recipes
typedef struct weft_recipe weft_recipe;

// Reads a recipe file and then applies n_settings words "key.sub=value" to it.
// Errors: WEFT_ERR_RECIPE ("file:line:column: what", with the nearest valid word), WEFT_ERR_FILE,
// WEFT_ERR_UNSUPPORTED (built without libyaml). Ownership: destroy it before its context.
WEFT_API weft_status weft_recipe_read(weft_context *context, const char *path,
                                      const char *const *settings, size_t n_settings,
                                      weft_recipe **out_recipe, weft_error *err);
// A recipe for data (a file or a folder that a reader knows by its looks) and a family of networks by name,
// with settings that usually do for such data; words set keys as above.
// Errors: also WEFT_ERR_FORMAT (no reader knows the data).
WEFT_API weft_status weft_recipe_make(weft_context *context, const char *data, const char *model,
                                      const char *const *settings, size_t n_settings,
                                      weft_recipe **out_recipe, weft_error *err);
// The recipe that a run folder was trained from.
WEFT_API weft_status weft_recipe_read_run(weft_context *context, const char *run_dir,
                                          const char *const *settings, size_t n_settings,
                                          weft_recipe **out_recipe, weft_error *err);
// Accepts NULL.
WEFT_API void weft_recipe_destroy(weft_recipe *recipe);
WEFT_API const char *weft_recipe_name(const weft_recipe *recipe);
WEFT_API weft_arithmetic weft_recipe_arithmetic(const weft_recipe *recipe);

// ---- training
typedef struct weft_start_event {
    const char *run_dir;
    const char *device; // id
    const char *device_name;
    const char *arithmetic; // "exact", "fast"
    const char *storage;    // "f32"
    const char *isa;        // "" where the device has none
    uint32_t n_threads;
    int64_t n_parameters; // elements
    int64_t n_train;      // samples
    int64_t n_validation;
    int64_t first_step; // done already, by the run that is resumed
    int64_t total_steps;
    int64_t steps_per_epoch;
    uint64_t planned_bytes;
} weft_start_event;

typedef struct weft_step_event {
    int64_t step; // done so far: the first is 1
    int64_t total_steps;
    int64_t epoch; // of this step, from 1
    int64_t n_epochs;
    float loss;
    float lr;
    double samples_per_s; // over the last second or so
    double seconds_left;
} weft_step_event;

typedef struct weft_epoch_event {
    int64_t epoch;       // from 1
    float train_loss;    // mean over the steps of the epoch
    double val_loss;     // mean cross-entropy over the whole validation part, without smoothing
    double val_accuracy; // 0 to 1
    bool is_best;
} weft_epoch_event;

typedef struct weft_done_event {
    const char *run_dir;
    const char *device;
    const char *arithmetic;
    const char *storage;
    const char *isa;
    uint32_t n_threads;
    int64_t steps;
    double seconds; // of this process
    double samples_per_s;
    uint64_t planned_bytes;
    uint64_t peak_bytes;
    char weights_sha256[65]; // of weights.safetensors
    double val_loss;         // of the last evaluation; NaN when there was none
    double val_accuracy;
    double best_accuracy;
    int64_t best_epoch;
    bool is_stopped_early; // train.patience was lost
} weft_done_event;

// What a program hears of a training. Any of them may be NULL.
typedef struct weft_train_events {
    size_t struct_size;
    void *user;
    void (*start)(void *user, const weft_start_event *event);
    // Called behind every train.log_every-th step and the last.
    void (*step)(void *user, const weft_step_event *event);
    void (*epoch)(void *user, const weft_epoch_event *event);
    void (*done)(void *user, const weft_done_event *event);
    // Asked behind every step: true saves a checkpoint and ends with WEFT_ERR_INTERRUPTED.
    bool (*wants_stop)(void *user);
} weft_train_events;
#define WEFT_TRAIN_EVENTS_INIT                                                                     \
    {                                                                                              \
        sizeof(weft_train_events), NULL, NULL, NULL, NULL, NULL, NULL                              \
    }

typedef struct weft_train_options {
    size_t struct_size;
    const char *run_dir; // NULL: runs/<name>-<n>, the first n that is free
    bool is_resumed;     // go on with run_dir; from the beginning when it has no checkpoint yet
    uint64_t memory_limit_bytes; // 0: none; a plan above it is refused before the first step
    int32_t n_loader_threads;    // 0: the recipe's; no bit depends on it
} weft_train_options;
#define WEFT_TRAIN_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(weft_train_options), NULL, false, 0, 0                                              \
    }

// Trains a recipe on a device, which must have been opened with the recipe's arithmetic. Resolves the
// recipe (sizes and normalisation that the data gives are written into it).
// Errors: WEFT_ERR_FILE (data, run folder, disk full: the last checkpoint stays), WEFT_ERR_FORMAT,
// WEFT_ERR_SHAPE and the like from the model (with the recipe's line), WEFT_ERR_MEMORY (with the
// smallest limit and the batch that would fit), WEFT_ERR_NONFINITE and WEFT_ERR_INDEX (with the step,
// the op and its scope; the last good checkpoint stays), WEFT_ERR_INTERRUPTED (saved).
WEFT_API weft_status weft_train_run(weft_recipe *recipe, weft_device *device,
                                    const weft_train_options *options,
                                    const weft_train_events *events, weft_error *err);

// ---- learning rates
typedef struct weft_lr_point {
    int64_t step; // from 1
    float lr;
    float loss;
    double smoothed; // of the losses so far, see weft_lr_find_run
} weft_lr_point;

typedef struct weft_lr_find_options {
    size_t struct_size;
    double least, most; // 0: 1e-7 and 10
    int64_t n_steps;    // 0: 100
    const char *dir;    // NULL: runs/<name>-lr-find
    void (*point)(void *user, const weft_lr_point *point);
    bool (*wants_stop)(void *user);
    void *user;
} weft_lr_find_options;
#define WEFT_LR_FIND_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(weft_lr_find_options), 0, 0, 0, NULL, NULL, NULL, NULL                              \
    }

typedef struct weft_lr_find_result {
    int64_t n_steps; // that were taken
    bool
        is_diverged; // it ended early: the loss went beyond four times the least, or was not finite
    double lr_at_least; // where the smoothed loss is least
    double lr_steepest; // where it falls fastest over log(lr)
    double suggested;   // a tenth of lr_at_least
} weft_lr_find_result;

// The range test of L. Smith, "Cyclical Learning Rates for Training Neural Networks", 2017, with a rate that
// rises exponentially (S. Gugger, 2018): n_steps of the recipe's training, whose rate goes from least to
// most, whatever its schedule says. Smoothed losses are averages that keep 0.9 a step, over 1 - 0.9^step.
// Leaves <dir>/lr-find.png and <dir>/lr-find.jsonl, and the recipe as it was but resolved.
// Errors: as weft_train_run; WEFT_ERR_USAGE (least not below most, fewer than 10 steps),
// WEFT_ERR_NONFINITE (before the tenth step), WEFT_ERR_INTERRUPTED.
WEFT_API weft_status weft_lr_find_run(weft_recipe *recipe, weft_device *device,
                                      const weft_lr_find_options *options,
                                      weft_lr_find_result *out_result, weft_error *err);

// ---- evaluation
// What is counted by class; all of n_classes, NaN where a class has no such value.
typedef struct weft_class_report {
    int64_t n_classes;
    const char *const *class_names; // NULL: the classes have no names
    const int64_t *confusion;       // [n_classes,n_classes]: label, predicted
    const double *precision;        // of what is said to be the class, the share that is
    const double *recall;           // of what is the class, the share that is said to be
    const double *f1;               // 2 precision recall / (precision + recall)
    const double *iou;              // both over either
    const double *auroc;            // of the class against the others; NaN beyond 2^26 scores
} weft_class_report;

typedef struct weft_eval_options {
    size_t struct_size;
    bool is_best;     // best.safetensors instead of the last weights
    const char *part; // "test" (NULL), "train", "validation"
    // Called once where there are 2 to 1024 classes; the report is borrowed. NULL: not called.
    void (*classes)(void *user, const weft_class_report *report);
    void *user;
} weft_eval_options;
#define WEFT_EVAL_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(weft_eval_options), false, NULL, NULL, NULL                                         \
    }

// NaN is what the task has not. Counts are integers and sums are f64, over samples in order, so that every
// device gives the same.
typedef struct weft_eval_result {
    double loss; // mean over samples
    double accuracy;
    int64_t n_samples;
    int64_t n_classes;    // 0: the task is numbers
    double top5_accuracy; // the label is among the five most probable; more than 5 classes
    double precision;     // these five are means over the classes that have one
    double recall;
    double f1;
    double auroc;
    double iou;                // of masks
    double perplexity;         // of next tokens: exp(loss)
    double bits_per_character; // of next tokens: loss / log(2)
    double mae;                // of numbers: mean |y - t|
    double rmse;               // root of mean (y - t)^2
    double squared_error;      // sum (y - t)^2 of a sample, mean over samples
    double r2;                 // 1 - sum (y - t)^2 / sum (t - mean t)^2, over all elements
} weft_eval_result;

// Loss and metrics of a run's weights on one part of its data.
// Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (weights that are not the model's), WEFT_ERR_NAME (part).
WEFT_API weft_status weft_eval_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                                   const weft_eval_options *options, weft_eval_result *out_result,
                                   weft_error *err);

// ---- prediction
typedef struct weft_prediction {
    const char *source; // the file, or "test 17"
    int64_t n_classes;
    const char *const *class_names; // NULL: the classes have no names
    const float *probabilities;     // n_classes of them
    int64_t predicted;              // the most probable, the lowest of equals
    int64_t label;                  // what the data says; -1: unknown
} weft_prediction;

typedef struct weft_predict_options {
    size_t struct_size;
    bool is_best;
    const char *const *files; // PNG or JPEG, resized to what the model takes
    size_t n_files;
    const int64_t *indices; // samples of the test part
    size_t n_indices;
} weft_predict_options;
#define WEFT_PREDICT_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(weft_predict_options), false, NULL, 0, NULL, 0                                      \
    }

// Calls found for each file, then each index, in order.
// Errors: as weft_eval_run; WEFT_ERR_INDEX.
WEFT_API weft_status weft_predict_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                                      const weft_predict_options *options,
                                      void (*found)(void *user, const weft_prediction *prediction),
                                      void *user, weft_error *err);

// ---- verification
typedef struct weft_verify_result {
    int64_t n_steps;           // compared
    int64_t first_different;   // step, from 1; 0: none
    bool are_weights_compared; // the run was repeated to its end
    bool are_weights_equal;
    char digest[65]; // of the steps that were repeated here
} weft_verify_result;

// Repeats the first n_steps (0: all) of a run from its receipt, without writing, and compares the
// digest of every step. wants_stop and step of events are called. A difference is a result, not an
// error.
// Errors: WEFT_ERR_FILE, WEFT_ERR_FORMAT (no receipt, other data or arithmetic version).
WEFT_API weft_status weft_verify_run(weft_recipe *recipe, weft_device *device, const char *run_dir,
                                     int64_t n_steps, const weft_train_events *events,
                                     weft_verify_result *out_result, weft_error *err);

// ---- inspection
typedef struct weft_layer_info {
    const char *name;
    const char *kind;
    int32_t ndim; // of the result, for one sample
    int64_t dims[WEFT_MAX_DIM];
    int64_t n_parameters;
    uint64_t flops; // forward, for one sample
} weft_layer_info;

typedef struct weft_memory_info {
    int64_t batch;
    uint64_t planned_bytes; // of a training with that batch: weights, optimiser, all programs
    uint64_t step_flops;
} weft_memory_info;

typedef struct weft_inspect_events {
    size_t struct_size;
    void *user;
    void (*layer)(void *user, const weft_layer_info *info);
    void (*memory)(void *user, const weft_memory_info *info);
    void (*script)(void *user, const weft_script_node *node); // of what weft sample runs
} weft_inspect_events;
#define WEFT_INSPECT_EVENTS_INIT                                                                   \
    {                                                                                              \
        sizeof(weft_inspect_events), NULL, NULL, NULL, NULL                                        \
    }

// Layers of a recipe, then the memory that training it takes on a device for each batch size; of a language
// model also the script that samples from it, with the nodes that run on the host. Nothing runs.
// Errors: as weft_train_run up to the plan.
WEFT_API weft_status weft_inspect_run(weft_recipe *recipe, weft_device *device,
                                      const int64_t *batches, size_t n_batches,
                                      const weft_inspect_events *events, weft_error *err);

// A task of a training step, and its passes over memory: each operand is read once, each result written once;
// of a broadcast what it reaches. Scratch (packed weights, partial sums) is not counted.
typedef struct weft_task_info {
    const char *kind; // "map", "contract"
    const char *name; // of the node, or the last of them, with its scope: "fc1/matmul"
    bool has_epilogue;
    uint32_t n_reads, n_writes; // tensors
    uint64_t bytes_read, bytes_written;
} weft_task_info;

// Calls found() for every task of a step with a batch of that size (0: the recipe's), in order. Strings are
// valid during the call. Nothing runs.
// Errors: as weft_train_run up to the plan.
WEFT_API weft_status weft_inspect_passes(weft_recipe *recipe, weft_device *device, int64_t batch,
                                         void (*found)(void *user, const weft_task_info *info),
                                         void *user, weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
