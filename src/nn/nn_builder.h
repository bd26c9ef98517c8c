// The model under construction, and what the files of nn/ share.
#ifndef WF_NN_NN_BUILDER_H
#define WF_NN_NN_BUILDER_H

#include "graph/graph.h"
#include "op/build.h"
#include "weft/nn.h"

struct weft_nn {
    weft_graph *g;
    wf_allocator allocator;
    bool is_training, is_accumulating, uses_averages;
    weft_dtype storage; // of values between layers: NONE is f32
    int64_t seed;
    weft_val seed_var, step_var, micro_var, draw_seed; // none until used
    weft_parameter *parameters;
    size_t n_parameters, parameters_capacity;
};

// Records "what: options.struct_size is ..." and gives false when an options struct is too small.
bool wf_nn_options_check(weft_graph *g, const char *what, size_t given, size_t expected);
// The graph, when nn is there and its graph is well, else NULL.
weft_graph *wf_nn_begin(const weft_nn *nn);
// "<scope>.<name>" with dots, in the graph's arena; NULL after recording an error.
const char *wf_nn_variable_name(weft_nn *nn, const char *name);
// The variable "micro" [] i64: micro-batches of the step so far.
weft_val wf_nn_micro(weft_nn *nn);
#define WF_NN_AVERAGE_SUFFIX ".ema"
// "<parameter>.ema" in the graph's arena; NULL after recording an error.
const char *wf_nn_average_name(weft_graph *g, const char *parameter);
// Whether a whole name matches a pattern with "*" and "?".
bool wf_nn_name_matches(const char *pattern, const char *name);
// A variable of the current scope that is no parameter: running statistics.
weft_val wf_nn_buffer(weft_nn *nn, const char *name, weft_val init);
// A parameter of the current scope with its initialiser drawn in a scope of its own, so that its numbers
// do not depend on what else is random there.
weft_val wf_nn_parameter_init(weft_nn *nn, const char *name, const weft_init *init,
                              const int64_t *dims, int32_t ndim, bool has_decay);
// init, or +-1 / sqrt(fan_in) when it is the default: biases.
weft_init wf_nn_bias_init(weft_init init, int64_t fan_in);

// x as narrow storage holds it, in f32 again; the gradient is rounded on its way back. x itself where
// storage is f32.
weft_val wf_nn_store(const weft_nn *nn, weft_val x);
// f32 [] of a number.
weft_val wf_nn_number(weft_graph *g, double value);
// x with dims [c] as [1,c,1,..] of ndim dims, to meet a channel axis.
weft_val wf_nn_channels(weft_graph *g, weft_val x, int32_t ndim);
// Mean (of nothing: 0), sum or all of per-element losses.
weft_val wf_nn_reduce(weft_graph *g, weft_val losses, weft_reduction reduction);

#endif
