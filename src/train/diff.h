// Taking a step of a training apart: the values of its ops, on a device or out of a trace. Stage: train.
#ifndef WF_TRAIN_DIFF_H
#define WF_TRAIN_DIFF_H

#include "io/safetensors.h"
#include "train/trainer.h"
#include "weft/diff.h"

// Named tensors on the host: variables before a step, or a batch.
typedef struct wf_tensor_set {
    wf_arena memory;
    size_t n;
    struct wf_named_tensor {
        const char *name;
        weft_type type;
        void *data;
        size_t size_bytes;
    } * items;
} wf_tensor_set;

weft_status wf_tensor_set_of_state(const weft_state *state, wf_tensor_set *out, weft_error *err);
// The inputs that a program was given last.
weft_status wf_tensor_set_of_inputs(const weft_program *program, wf_tensor_set *out,
                                    weft_error *err);
// Accepts a zeroed one.
void wf_tensor_set_deinit(wf_tensor_set *set);

// A result of a node.
typedef struct wf_step_value {
    const wf_node *node;
    weft_type type;
    void *data;
    size_t size_bytes;
    char *name; // of the trace: "STEP/NODE.RESULT SCOPE/OP"
} wf_step_value;

// Some nodes' results, as many as fit into a bound, in node order.
typedef struct wf_step_part {
    wf_arena memory;
    weft_graph *graph; // of the nodes
    size_t n;
    wf_step_value *values;
    uint32_t next_node; // where the next part begins
    bool is_last;
} wf_step_part;

// Runs a step from its variables and batch, and reads the results of nodes from first_node on. The state is
// then as behind the step. Deinit also after a failure; accepts a zeroed one.
weft_status wf_step_part_run(wf_trainer *t, int64_t step, int64_t batch,
                             const wf_tensor_set *before, const wf_tensor_set *inputs,
                             uint32_t first_node, wf_step_part *out, weft_error *err);
void wf_step_part_deinit(wf_step_part *part);

// Takes the training's next step, and then gives the results of all its nodes to visit, part by part, until
// it says that it has seen enough.
typedef weft_status wf_step_visit(void *user, const wf_step_part *part, bool *out_is_enough,
                                  weft_error *err);
weft_status wf_step_walk(wf_trainer *t, wf_step_visit *visit, void *user, weft_error *err);

// Index of the first element whose bits differ, a NaN being equal to any NaN; -1: none.
int64_t wf_find_difference(const weft_type *type, const void *a, const void *b);
// Element i: its bits, and its value.
void wf_read_element(const weft_type *type, const void *data, int64_t i, uint64_t *out_bits,
                     double *out_value);

// Starts the loader and makes the first program, so that variables have their first values.
weft_status wf_diff_start(wf_trainer *t, weft_error *err);
// Tells of the step done last, and asks whether to stop.
weft_status wf_diff_tell(const wf_trainer *t, int64_t n_steps, const weft_train_events *events,
                         weft_error *err);

// ---- traces
typedef struct wf_trace {
    wf_safetensors *file;
    const char *path;
    int64_t n_steps;
} wf_trace;

weft_status wf_trace_open(const wf_allocator *a, const char *path, wf_trace *out, weft_error *err);
// The trace is of this recipe and this data, by this version of the arithmetic.
weft_status wf_trace_check(const wf_trace *trace, const wf_trainer *t, weft_error *err);
void wf_trace_close(wf_trace *trace);

#endif
