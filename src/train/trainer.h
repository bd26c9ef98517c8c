// The inside of training: data, programs by batch size, the state of a run, its files. Stage: train.
#ifndef WF_TRAIN_TRAINER_H
#define WF_TRAIN_TRAINER_H

#include "base/file.h"
#include "base/sha256.h"
#include "data/loader.h"
#include "graph/graph.h"
#include "recipe/recipe.h"
#include "run/run_internal.h"

// ---- data
// One sample of a field, as a batch holds it: f32 or i32.
typedef struct wf_data_field {
    const char *name; // NULL: there is none
    weft_dtype dtype;
    int32_t ndim;
    int64_t dim[WEFT_MAX_DIM];
} wf_data_field;

typedef struct wf_train_data {
    wf_allocator allocator;
    wf_dataset *train;
    wf_dataset *test; // NULL where there is none and validation takes a fraction
    wf_split train_split, validation_split, test_split;
    wf_normalisation normalisation;
    wf_data_field input; // field 0: what the model takes
    wf_data_field label;
    int64_t image[3]; // [c,h,w] where the input is images, else zeros
    int64_t n_classes;
} wf_train_data;

// Opens what the recipe names, and writes what it finds (sizes, normalisation) into the recipe.
weft_status wf_train_data_open(weft_recipe *recipe, wf_train_data *out_data, weft_error *err);
// Accepts a zeroed one.
void wf_train_data_close(wf_train_data *data);
// Digest of every byte of both parts.
weft_status wf_train_data_digest(const wf_train_data *data, char out_hex[WF_SHA256_HEX_BYTES],
                                 weft_error *err);
// The name of a class, or NULL.
const char *wf_train_class_name(const weft_recipe *recipe, int64_t class_idx);
// A normalised image from u8 [c,h,w].
void wf_train_normalise(const wf_train_data *data, const uint8_t *pixels, float *out);
// The recipe's normalisation and sizes, for work without the data; false when it is not resolved.
bool wf_train_data_from_recipe(const weft_recipe *recipe, wf_train_data *out_data);

// The input [batch,..] of a graph for a field; none where there is no field.
weft_val wf_train_input(weft_graph *g, const wf_data_field *field, int64_t batch);

// ---- programs
typedef enum wf_program_kind {
    WF_PROGRAM_TRAIN,      // input, label -> loss, lr; changes the variables
    WF_PROGRAM_STATISTICS, // the same, and what it did to each parameter
    WF_PROGRAM_ACCUMULATE, // input, label: adds a micro-batch to the step
    WF_PROGRAM_UPDATE,     // -> loss, lr: ends a step of micro-batches
    WF_PROGRAM_EVAL,       // input, label -> loss (a sum), correct, probabilities
} wf_program_kind;

// Whole and short batches of each kind that one training needs.
#define WF_PROGRAM_SLOTS 8

typedef struct wf_program_slot {
    wf_program_kind kind;
    int64_t batch;
    weft_program *program; // NULL: free
    uint64_t used_at;
} wf_program_slot;

// A variable that the model itself has: weights and running statistics, not the optimiser's.
typedef struct wf_model_variable {
    const char *name;
    const char *stored; // in the state: another one where averages stand for the weights
    weft_type type;
    size_t size_bytes;
} wf_model_variable;

// Elements of what an evaluating program gives for a sample.
typedef struct wf_result_sizes {
    int64_t prediction; // of "probabilities"
    int64_t target;     // of "target" and, with classes, "predicted"; 0: there is none
    int64_t classes;    // 0: numbers
    int64_t inner;      // places behind the classes: [rows,classes,inner]
} wf_result_sizes;

// Programs by kind and batch size, the longest unused one making room.
typedef struct wf_program_cache {
    const weft_recipe *recipe;
    const wf_train_data *data;
    weft_state *state;
    int64_t total_steps;
    wf_program_slot slots[WF_PROGRAM_SLOTS];
    uint64_t clock;
    int64_t n_parameters;         // elements, of the last graph built
    wf_arena arena;               // of the list below
    wf_model_variable *variables; // sorted by name; NULL until asked for
    size_t n_variables;
    uint64_t planned_bytes; // at most so far: variables and every program held
    bool uses_averages;     // evaluation and files take the moving averages of the weights
    bool has_classes;       // of the last graph built: something is counted as right or wrong
    int64_t n_judged;       // and how many of these a sample has
    wf_result_sizes sizes;  // of the last evaluating graph built
    struct wf_statistic_names *statistic_names; // NULL until a program with statistics was built
} wf_program_cache;

// The graph of a kind; the caller destroys it.
weft_status wf_program_graph(wf_program_cache *cache, wf_program_kind kind, int64_t batch,
                             weft_graph **out_graph, weft_error *err);
// Borrowed until the next call.
weft_status wf_program_get(wf_program_cache *cache, wf_program_kind kind, int64_t batch,
                           weft_program **out_program, weft_error *err);
// Writes samples first to first + n of a batch's field into the input of its name; NULL: there is no such field.
weft_status wf_program_write_field(weft_program *program, const wf_batch *batch, const char *name,
                                   int64_t first, int64_t n, weft_error *err);
// Input and label.
weft_status wf_program_write_samples(const wf_program_cache *cache, weft_program *program,
                                     const wf_batch *batch, int64_t first, int64_t n,
                                     weft_error *err);
void wf_program_cache_init(wf_program_cache *cache, const weft_recipe *recipe,
                           const wf_train_data *data, weft_state *state, int64_t total_steps);
// The model's variables, sorted by name. Borrowed.
weft_status wf_program_variables(wf_program_cache *cache, const wf_model_variable **out_variables,
                                 size_t *out_n, weft_error *err);
void wf_program_cache_deinit(wf_program_cache *cache);

// Which programs a training needs, the most important one first.
typedef struct wf_program_needs {
    wf_program_kind kind[WF_PROGRAM_SLOTS];
    int64_t batch[WF_PROGRAM_SLOTS];
    size_t n;
} wf_program_needs;
// Samples that an evaluating program takes at once: as many as a training one.
int64_t wf_program_eval_batch(const wf_recipe_train *train, int64_t batch);
wf_program_needs wf_program_needs_of(const wf_recipe_train *train, int64_t batch, int64_t n_train,
                                     int64_t n_validation, int64_t total_steps);
// Planned bytes of all of them at once, without taking any memory on the device.
weft_status wf_program_measure(wf_program_cache *cache, const wf_program_needs *needs,
                               uint64_t *out_bytes, uint64_t *out_step_flops, weft_error *err);

// ---- what a step did: sampled every train.stats_every steps
typedef struct wf_statistic_names {
    const char **parameters; // trained ones, in order
    size_t n_parameters;
    const char **units; // relu and relu6, by scope
    size_t n_units;
} wf_statistic_names;

typedef struct wf_statistics {
    const wf_statistic_names *names;
    float
        *steps; // [n_parameters,2]: norm of the gradient, size of the step by that of the parameter
    float *dead; // [n_units]: share of channels without a gradient for the whole batch
} wf_statistics;

// Adds the outputs to a graph behind its training step; n_forward nodes came before its gradient.
weft_status wf_statistics_build(wf_program_cache *cache, weft_nn *nn, size_t n_forward,
                                weft_error *err);
// Reads them, into memory of the first call. Deinit accepts a zeroed one.
weft_status wf_statistics_read(const wf_allocator *a, const wf_program_cache *cache,
                               weft_program *program, wf_statistics *out, weft_error *err);
void wf_statistics_deinit(const wf_allocator *a, wf_statistics *statistics);

// ---- a run
typedef struct wf_history {
    float *loss; // [n] of every step so far
    size_t n, capacity;
    uint8_t chain[WF_SHA256_BYTES]; // digest over them
} wf_history;

// Digest k is SHA-256 of digest k-1 and the loss's four bytes: equal prefixes of runs have equal digests.
weft_status wf_history_push(const wf_allocator *a, wf_history *history, float loss,
                            weft_error *err);
void wf_history_chain(uint8_t chain[WF_SHA256_BYTES], float loss);

typedef struct wf_trainer {
    wf_allocator allocator;
    weft_context *context;
    weft_recipe *recipe;
    weft_device *device;
    wf_train_data data;
    weft_state *state;
    wf_program_cache programs;
    wf_loader *loader;
    int32_t n_loader_threads;
    int64_t step; // done
    int64_t total_steps;
    int64_t steps_per_epoch;
    wf_history history;
    // Of the step done last.
    float loss, lr;
    int64_t n_samples;
    int64_t epoch; // from 0
    bool is_epoch_end;
    bool has_statistics;
    wf_statistics statistics;
    // Of the evaluations so far.
    double val_loss, val_accuracy; // NaN before the first
    double best_accuracy;          // of best_epoch; NaN without classes, -1 before the first
    double best_loss;              // of best_epoch
    int64_t best_epoch;            // from 1; 0 before the first
    double patience_score;         // the last one that was better by more than min_delta
    int64_t patience_epoch;        // and its epoch, from 1; 0 before the first
    bool is_stopped;               // early: the run is at its end
    int64_t log_bytes;             // of log.jsonl, at the last checkpoint
} wf_trainer;

weft_status wf_trainer_init(wf_trainer *trainer, weft_recipe *recipe, weft_device *device,
                            int32_t n_loader_threads, weft_error *err);
// Starts the loader at a place of the data; programs are made on first use.
weft_status wf_trainer_start(wf_trainer *trainer, int64_t epoch, int64_t batch, weft_error *err);
// One step. A bad one gives WEFT_ERR_NONFINITE or WEFT_ERR_INDEX with step, scope and op; nothing
// has changed then.
weft_status wf_trainer_step(wf_trainer *trainer, weft_error *err);
void wf_trainer_deinit(wf_trainer *trainer);

// Loss (mean) and accuracy of a split.
weft_status wf_evaluate(wf_program_cache *programs, const wf_split *split, int64_t batch,
                        int32_t n_threads, double *out_loss, double *out_accuracy, weft_error *err);

// ---- files of a run
// Everything that is needed to go on, to <dir>/checkpoint.safetensors.
weft_status wf_checkpoint_save(wf_trainer *trainer, const char *dir, weft_error *err);
// *out_found false, and nothing done, when there is none. Warns through the log where the recipe is
// another one.
weft_status wf_checkpoint_load(wf_trainer *trainer, const char *dir, bool *out_found,
                               weft_error *err);
// The model's variables, sorted by name, to <dir>/<name>.
weft_status wf_weights_save(wf_program_cache *programs, const char *dir, const char *name,
                            weft_error *err);
// What train.init_from names, into the state, before the first step.
weft_status wf_weights_init_from(wf_trainer *trainer, weft_error *err);
// Into the state, before the program is made; every variable of the model must be there and no other.
weft_status wf_weights_load(wf_program_cache *programs, const char *dir, const char *name,
                            weft_error *err);
// Digest of names, shapes and bytes of the model's variables.
weft_status wf_weights_digest(wf_program_cache *programs, char out_hex[WF_SHA256_HEX_BYTES],
                              weft_error *err);
// The recipe's text without what changes no bit (threads, how often to log and save).
weft_status wf_recipe_digest(const weft_recipe *recipe, char out_hex[WF_SHA256_HEX_BYTES],
                             weft_error *err);

typedef struct wf_receipt {
    wf_arena arena;
    int64_t arithmetic_version;
    int64_t n_steps;
    const char *recipe_sha256, *data_sha256, *weights_digest;
    const char **step_digests; // [n_steps]
} wf_receipt;

#define WF_STEP_DIGEST_CHARS 16
weft_status wf_receipt_save(wf_trainer *trainer, const char *dir, const char *weights_sha256,
                            weft_error *err);
weft_status wf_receipt_load(const wf_allocator *a, const char *dir, wf_receipt *out_receipt,
                            weft_error *err);
void wf_receipt_deinit(wf_receipt *receipt);

// <dir>/predictions.png: some samples with what the network says.
weft_status wf_predictions_draw(wf_program_cache *programs, const char *dir, weft_error *err);

#endif
