// Where two computations of one recipe part: the first step and the first op whose bits differ.
//
// A side is a device, which trains, or a trace: the values of every op in the first steps of a training, as a
// safetensors file whose tensors are named "STEP/NODE.RESULT SCOPE/OP".
#ifndef WEFT_DIFF_H
#define WEFT_DIFF_H

#include <weft/graph.h>
#include <weft/train.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_diff_side {
    weft_device *device;    // or
    const char *trace_path; // a file that weft_trace_write made
} weft_diff_side;

typedef enum weft_diff_kind {
    WEFT_DIFF_NONE,     // equal in all steps compared
    WEFT_DIFF_OP,       // a result of an op
    WEFT_DIFF_VARIABLE, // a variable, though every op agrees once its result is stored: see variable
} weft_diff_kind;

typedef struct weft_diff_result {
    weft_diff_kind kind;
    int64_t n_steps;    // compared
    int64_t step;       // the first that differs, from 1; 0: first values of variables
    char op[64];        // the op's name
    char scope[256];    // where it stands: "model/fc1"
    char place[320];    // "file:line" or ""
    char variable[256]; // VARIABLE: its name, or "loss"
    weft_type type;     // of what differs
    int64_t element;    // its first element that differs, row-major
    uint64_t a_bits, b_bits;
    double a_value, b_value;
} weft_diff_result;

// Trains the first n_steps of a recipe on both sides, in memory, until the loss or a variable differs behind a
// step; then takes that step apart. Against a trace every result of every step is compared. A NaN equals any
// NaN. wants_stop and step of events are called. A difference is a result, not an error.
//   recipe   NULL where both sides are traces
// Errors: as weft_train_run; WEFT_ERR_FORMAT (a trace of another recipe, of other data, or of a graph with
// other values), WEFT_ERR_UNSUPPORTED (a recipe with micro-batches or phases).
WEFT_API weft_status weft_diff_run(weft_recipe *recipe, const weft_diff_side *a,
                                   const weft_diff_side *b, int64_t n_steps,
                                   const weft_train_events *events, weft_diff_result *out_result,
                                   weft_error *err);

// Writes the trace of the first n_steps on a device: every op's result, so a large file for a large model.
WEFT_API weft_status weft_trace_write(weft_recipe *recipe, weft_device *device, int64_t n_steps,
                                      const char *path, const weft_train_events *events,
                                      weft_error *err);

#ifdef __cplusplus
}
#endif
#endif
