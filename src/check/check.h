// The check engine inside: cases of ops as trials, a trial run on a device, results compared bit for
// bit and with float64. Drives `weft check` and the op tests. Stage: beside the pipeline; it builds
// graphs as a user would and looks at what comes out.
//
//   check_list.c    the cases of an op: its own, or what follows from arity and dtypes
//   check_fill.c    the inputs' numbers, from the case's name
//   check_trial.c   a case as a graph: forward, gradient, operands through strided views
//   check_run.c     a trial on a device: the bits of every output and variable
//   check_truth.c   the same graph in float64, node by node, and its finite differences
//   check_compare.c bits against bits, values against truth
//   check_op.c      all of that for one op
//   check_random.c  random graphs        check_train.c  short training runs
//   check.c         weft_check_run
#ifndef WF_CHECK_CHECK_H
#define WF_CHECK_CHECK_H

#include "base/sha256.h"
#include "base/text.h"
#include "op/check_case.h"
#include "weft/check.h"

struct wf_check_list {
    wf_arena memory;
    wf_check_case *items;
    size_t n, capacity;
    bool is_out_of_memory;
};

// The cases of an op; deinit also after a failure.
weft_status wf_check_list_init(wf_check_list *list, weft_context *ctx, const wf_op *op,
                               weft_error *err);
void wf_check_list_deinit(wf_check_list *list);

// ---- numbers
// Dense elements of type, drawn by Philox from the hash of `name` and idx: every machine makes the
// same. `out` holds wf_type_count elements as a host stores them.
void wf_check_fill_data(const weft_type *type, wf_check_fill fill, int64_t limit, const char *name,
                        uint32_t idx, void *out);

// ---- trials
#define WF_CHECK_MAX_TENSORS 64

typedef struct wf_check_tensor {
    const char *name;
    weft_type type;
    void *data; // as a host stores it
    bool is_special;
} wf_check_tensor;

// A graph with its inputs' data, ready to run anywhere.
typedef struct wf_check_trial {
    weft_context *ctx;
    wf_arena memory;
    weft_graph *g;
    size_t n_inputs;
    wf_check_tensor inputs[WF_CHECK_MAX_INPUTS];
    size_t n_forward; // outputs of the op, "out0" ..; then "loss", then gradients "grad0" ..
    bool has_gradient;
    int32_t n_runs; // of the program, one after the other on one state
} wf_check_trial;

typedef enum wf_check_layout {
    WF_CHECK_DENSE,   // operands as they are
    WF_CHECK_STRIDED, // operands are permuted or sliced out of larger inputs
    WF_CHECK_N_LAYOUTS,
} wf_check_layout;

// Errors: what building recorded in the graph. deinit also after a failure.
weft_status wf_check_trial_init(wf_check_trial *trial, weft_context *ctx, const char *op_name,
                                const wf_check_case *one, wf_check_layout layout, weft_error *err);
void wf_check_trial_deinit(wf_check_trial *trial);

// ---- results
// Everything that can be read after a run: outputs, then variables, and how it ended.
typedef struct wf_check_result {
    wf_arena memory;
    size_t n;
    wf_check_tensor tensors[WF_CHECK_MAX_TENSORS];
    weft_status ended; // WEFT_OK, or what weft_program_check said
} wf_check_result;

weft_status wf_check_trial_run(const wf_check_trial *trial, weft_device *device,
                               wf_check_result *out, weft_error *err);
void wf_check_result_deinit(wf_check_result *result);
void wf_check_digest(wf_sha256 *sha, const wf_check_result *result);

// ---- float64
// Values of the outputs in float64 (or as integers), by the output's place in the graph.
typedef struct wf_check_truth wf_check_truth;
// absolute: float inputs lose their sign, which gives the size that a sum's terms had.
weft_status wf_check_truth_run(const wf_check_trial *trial, bool absolute, wf_check_truth **out,
                               weft_error *err);
void wf_check_truth_destroy(wf_check_truth *truth);
// The output's elements: double for floats, else as the host stores them. NULL: no such output.
const void *wf_check_truth_get(const wf_check_truth *truth, const char *output);

// Central differences of "loss" by some elements of each float input, against the outputs "grad<i>"
// of float64. false, with the reason, when one is wrong.
weft_status wf_check_differences(const wf_check_trial *trial, const wf_check_truth *truth,
                                 bool *out_ok, char reason[256], weft_error *err);

// ---- comparing
// NaN equals any NaN. false, with the first difference named in reason.
bool wf_check_equal(const wf_check_result *expected, const wf_check_result *got, char reason[256]);
// For WEFT_FAST: within tolerance of expected, relative to the greatest magnitude of the tensor.
bool wf_check_close(const wf_check_result *expected, const wf_check_result *got, double tolerance,
                    char reason[256]);

typedef struct wf_check_bound {
    bool is_per_element; // unit is the ulp of the true value; else 2^-24 of the scale
    double limit;
} wf_check_bound;
// The bound that holds for a case of an op.
wf_check_bound wf_check_bound_of(const wf_op *op, const wf_check_case *one,
                                 const wf_check_trial *trial);
// Greatest distance of the op's outputs from truth, in the bound's unit; false, with the reason, when
// beyond the bound. magnitude may be NULL.
bool wf_check_near(const wf_check_result *got, const wf_check_truth *truth,
                   const wf_check_truth *magnitude, size_t n_forward, wf_check_bound bound,
                   double *out_worst, char reason[256]);
// Gradients: values of "grad<i>" near those of float64. is_narrow: f16 or bf16 is on the way.
bool wf_check_gradients_near(const wf_check_result *got, const wf_check_truth *truth,
                             bool is_narrow, char reason[256]);

// ---- the run
typedef struct wf_check_session {
    weft_context *ctx;
    weft_device *device, *ref;
    const weft_check_options *options;
    wf_sha256 digest;
    weft_check_result *result;
    void (*found)(void *user, const weft_check_event *event);
    void *user;
} wf_check_session;

// Runs a trial on ref and on the device, adds ref's bits to the digest, compares. SKIPPED: the device
// says that it cannot run it, and reason why. ref must be deinit'ed whatever comes out.
weft_check_status wf_check_both(wf_check_session *s, const wf_check_trial *trial,
                                wf_check_result *ref, char reason[256]);
void wf_check_tell(wf_check_session *s, const weft_check_event *event);
// One op: every case, forward and backward.
weft_status wf_check_op(wf_check_session *s, const wf_op *op, weft_error *err);
// Random graphs out of many ops, by seed.
weft_status wf_check_random(wf_check_session *s, weft_error *err);
// A short training run of each model family.
weft_status wf_check_train(wf_check_session *s, weft_error *err);

#endif
