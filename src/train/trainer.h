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
typedef struct wf_train_data {
    wf_allocator allocator;
    wf_dataset *train;
    wf_dataset *test; // NULL where there is none and validation takes a fraction
    wf_split train_split, validation_split, test_split;
    wf_normalisation normalisation;
    int64_t image[3]; // [c,h,w]
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

// ---- programs
typedef enum wf_program_kind {
    WF_PROGRAM_TRAIN, // image, label -> loss, lr, correct; changes the variables
    WF_PROGRAM_EVAL,  // image, label -> loss (a sum), correct, probabilities
} wf_program_kind;

// A whole and a last short batch, of each kind.
#define WF_PROGRAM_SLOTS 4

typedef struct wf_program_slot {
    wf_program_kind kind;
    int64_t batch;
    weft_program *program; // NULL: free
    uint64_t used_at;
} wf_program_slot;

// A variable that the model itself has: weights and running statistics, not the optimiser's.
typedef struct wf_model_variable {
    const char *name;
    weft_type type;
    size_t size_bytes;
} wf_model_variable;

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
} wf_program_cache;

// The graph of a kind; the caller destroys it.
weft_status wf_program_graph(wf_program_cache *cache, wf_program_kind kind, int64_t batch,
                             weft_graph **out_graph, weft_error *err);
// Borrowed until the next call.
weft_status wf_program_get(wf_program_cache *cache, wf_program_kind kind, int64_t batch,
                           weft_program **out_program, weft_error *err);
void wf_program_cache_init(wf_program_cache *cache, const weft_recipe *recipe,
                           const wf_train_data *data, weft_state *state, int64_t total_steps);
// The model's variables, sorted by name. Borrowed.
weft_status wf_program_variables(wf_program_cache *cache, const wf_model_variable **out_variables,
                                 size_t *out_n, weft_error *err);
void wf_program_cache_deinit(wf_program_cache *cache);

// Which programs a training needs, as batch sizes; 0: none.
typedef struct wf_program_needs {
    int64_t batch[WF_PROGRAM_SLOTS]; // train, train short, eval, eval short
} wf_program_needs;
wf_program_needs wf_program_needs_of(int64_t batch, int64_t n_train, int64_t n_validation,
                                     int64_t total_steps);
wf_program_kind wf_program_needs_kind(size_t slot);
// Planned bytes of all of them at once, without taking any memory on the device.
weft_status wf_program_measure(wf_program_cache *cache, const wf_program_needs *needs,
                               uint64_t *out_bytes, uint64_t *out_step_flops, weft_error *err);

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
    // Of the evaluations so far.
    double val_loss, val_accuracy; // NaN before the first
    double best_accuracy;          // -1 before the first
    int64_t best_epoch;            // from 1
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
