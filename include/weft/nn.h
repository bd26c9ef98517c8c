// Neural networks out of the primitive ops: layers, activations, losses, optimisers, schedules.
//
// Everything here is a function over other ops: it adds nodes to a graph and inherits their
// gradients, bits and devices. A layer names its nodes' scope and its parameters after itself: linear
// "fc1" in scope "encoder" has the parameters "encoder.fc1.weight" and "encoder.fc1.bias". Names and
// shapes are PyTorch's.
//
//   weft_nn *nn;
//   weft_nn_create(g, &(weft_nn_options){sizeof(weft_nn_options), .is_training = true}, &nn,
//                  &err);
//   weft_val y = weft_linear(nn, "fc1", x, 10, NULL);
//   weft_val loss = weft_cross_entropy(g, y, labels, NULL);
//   weft_train_step(nn, loss, &optimizer, &schedule);
//
// Errors are recorded in the graph, as for ops: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE, WEFT_ERR_ATTR (an
// option out of its range), WEFT_ERR_NAME (a name is taken), WEFT_ERR_USAGE (struct_size).
// Numbers in options are given as double and rounded once to f32, unless a comment says otherwise.
#ifndef WEFT_NN_H
#define WEFT_NN_H

#include <weft/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the model under construction: a graph, a mode, a seed, the parameters made so far
typedef struct weft_nn weft_nn;

typedef struct weft_nn_options {
    size_t struct_size;
    bool is_training; // dropout drops, batch norm takes the batch's statistics and updates its own
    int64_t seed;     // of initialisers and dropout
    bool
        is_accumulating; // for weft_accumulate_step: each micro-batch of a step draws other numbers
    bool uses_averages;  // parameters are what weft_average_parameters made of them
    // WEFT_BF16, WEFT_F16: parameters are read, and linear, convolution and recurrent layers read and give
    // their values, as that type holds them; gradients pass the same casts. Variables stay f32.
    weft_dtype storage; // WEFT_DTYPE_NONE: f32
} weft_nn_options;
#define WEFT_NN_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(weft_nn_options), false, 0, false, false, WEFT_DTYPE_NONE                           \
    }

// Starts building in graph, which must outlive it; one thread. options may be NULL.
// Errors: WEFT_ERR_MEMORY, WEFT_ERR_USAGE. Ownership: destroy it before the graph.
WEFT_API weft_status weft_nn_create(weft_graph *graph, const weft_nn_options *options,
                                    weft_nn **out_nn, weft_error *err);
// Accepts NULL.
WEFT_API void weft_nn_destroy(weft_nn *nn);
WEFT_API weft_graph *weft_nn_graph(const weft_nn *nn);
// Records the caller's place; the macros below call it. Returns nn.
WEFT_API weft_nn *weft_nn_at(weft_nn *nn, const char *file, int32_t line);

// The variable "seed" [] i64: what dropout draws from. Made on first use.
WEFT_API weft_val weft_nn_seed(weft_nn *nn);
// The variable "step" [] i64: good steps done so far; weft_train_step adds one. Made on first use.
WEFT_API weft_val weft_nn_step(weft_nn *nn);

// A trained variable. Its place in the list is the order of creation.
typedef struct weft_parameter {
    const char *name; // borrowed from the graph
    weft_val val;
    bool is_trainable; // false: frozen
    bool has_decay;    // weights: yes; biases and norms: no
    // What its group says (weft_nn_group).
    double lr_factor;
    bool has_own_decay; // weight_decay instead of the optimiser's
    double weight_decay;
    bool is_left_to_adamw;
    weft_val grad, next; // behind a training step: its gradient, clipped, and its new value
} weft_parameter;
WEFT_API size_t weft_nn_n_parameters(const weft_nn *nn);
// Name NULL and val none beyond the last.
WEFT_API weft_parameter weft_nn_parameter(const weft_nn *nn, size_t idx);
// Parameters whose names begin with prefix are no longer trained. Returns how many those are.
WEFT_API size_t weft_nn_freeze(weft_nn *nn, const char *prefix);

// Settings of their own for some parameters. To be said before weft_train_step.
typedef struct weft_group_options {
    size_t struct_size;
    double lr_factor; // on the schedule's learning rate; 0 or more
    bool has_own_decay;
    double
        weight_decay; // with has_own_decay: instead of the optimiser's, whatever the parameter is
    bool is_frozen;
    bool is_left_to_adamw; // of Muon: embeddings and the last layer, which it should not move
} weft_group_options;
#define WEFT_GROUP_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(weft_group_options), 1.0, false, 0.0, false, false                                  \
    }
// Gives all parameters made so far whose whole name matches pattern ("*" stands for any characters,
// "?" for one) these settings, in place of what an earlier group gave them. Returns how many those are.
// Errors: WEFT_ERR_NAME (no parameter matches), WEFT_ERR_ATTR (lr_factor or weight_decay below 0).
WEFT_API size_t weft_nn_group(weft_nn *nn, const char *pattern, const weft_group_options *options);

// ---- initialisers
typedef enum weft_init_kind {
    WEFT_INIT_DEFAULT = 0, // the layer's own: FAN_IN for weights, see there
    WEFT_INIT_ZEROS = 1,
    WEFT_INIT_ONES = 2,
    WEFT_INIT_UNIFORM = 3,         // [a, b)
    WEFT_INIT_NORMAL = 4,          // mean a, standard deviation b
    WEFT_INIT_KAIMING_UNIFORM = 5, // +-gain * sqrt(3 / fan_in)
    WEFT_INIT_KAIMING_NORMAL = 6,  // standard deviation gain / sqrt(fan_in)
    WEFT_INIT_XAVIER_UNIFORM = 7,  // +-gain * sqrt(6 / (fan_in + fan_out))
    WEFT_INIT_XAVIER_NORMAL = 8,   // standard deviation gain * sqrt(2 / (fan_in + fan_out))
    WEFT_INIT_FAN_IN = 9,          // +-1 / sqrt(fan_in): PyTorch's default of linear and conv
} weft_init_kind;

// fan_in = dims[1] * window, fan_out = dims[0] * window, of dims [out,in,window..].
typedef struct weft_init {
    weft_init_kind kind;
    double a, b;
    double gain; // 0: sqrt(2) for Kaiming (relu), 1 for Xavier
} weft_init;

// Random numbers of an initialiser: f32 of dims, drawn from the seed at step 0 in the current scope.
// The default kind is FAN_IN. UNIFORM, NORMAL, ZEROS and ONES take any shape; the others two or more
// dims. No gradient. Numerics: bounds are computed in f32 from + * / sqrt.
WEFT_API weft_val weft_init_values(weft_nn *nn, const weft_init *init, const int64_t *dims,
                                   int32_t ndim);
// A trainable variable in the current scope, "<scope>.<name>"; init gives its first value and type.
WEFT_API weft_val weft_parameter_create(weft_nn *nn, const char *name, weft_val init,
                                        bool has_decay);

// ---- layers
typedef struct weft_linear_options {
    size_t struct_size;
    bool no_bias;
    weft_init weight; // default FAN_IN
    weft_init bias;   // default uniform +-1 / sqrt(in)
} weft_linear_options;
#define WEFT_LINEAR_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(weft_linear_options), false, {WEFT_INIT_DEFAULT, 0, 0, 0},                          \
        {                                                                                          \
            WEFT_INIT_DEFAULT, 0, 0, 0                                                             \
        }                                                                                          \
    }
// y = x * weight^T + bias.
//   x        [..,in], 1 dim or more    f32
//   result   [..,out]
//   weight   [out,in]; bias [out]
WEFT_API weft_val weft_linear(weft_nn *nn, const char *name, weft_val x, int64_t out,
                              const weft_linear_options *options);

typedef struct weft_conv_layer_options {
    size_t struct_size;
    weft_conv_options conv; // its struct_size 0: all defaults
    bool no_bias;
    weft_init weight;            // default FAN_IN
    weft_init bias;              // default uniform +-1 / sqrt(fan_in)
    const int64_t *output_extra; // of weft_conv_transpose_layer
} weft_conv_layer_options;
#define WEFT_CONV_LAYER_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(weft_conv_layer_options), WEFT_CONV_OPTIONS_INIT, false,                            \
            {WEFT_INIT_DEFAULT, 0, 0, 0}, {WEFT_INIT_DEFAULT, 0, 0, 0}, NULL                       \
    }
// y = conv(x, weight) + bias, over 1 to 3 spatial axes.
//   x        [n,c,spatial..]     f32
//   window   one size for each spatial axis
//   result   [n,out,spatial'..], see weft_conv
//   weight   [out,c/groups,window..]; bias [out]
WEFT_API weft_val weft_conv_layer(weft_nn *nn, const char *name, weft_val x, int64_t out,
                                  const int64_t *window, const weft_conv_layer_options *options);

// The transposed convolution: y = weft_conv_grad_input(x, weight) + bias. With its window and stride it
// undoes the shape of weft_conv_layer.
//   x        [n,c,spatial..]     f32
//   window   one size for each spatial axis
//   options  as weft_conv_layer; groups divides c and out; output_extra: how many cells more, for each
//            spatial axis 0 to stride - 1, which a convolution's stride would leave out; NULL: 0
//   result   [n,out,spatial'..], spatial' = (s - 1) * stride - pads + dilation * (window - 1) + 1 + extra
//   weight   [c,out/groups,window..], as PyTorch's; bias [out]
// Initialiser: FAN_IN over dims[1] * window, PyTorch's default of its transposed layers.
WEFT_API weft_val weft_conv_transpose_layer(weft_nn *nn, const char *name, weft_val x, int64_t out,
                                            const int64_t *window,
                                            const weft_conv_layer_options *options);

// Each element becomes factor elements along every spatial axis: [n,c,spatial..] -> [n,c,spatial*factor..].
//   factor   1 or more
// Gradient: the sum over an element's copies.   f32
WEFT_API weft_val weft_upsample(weft_graph *g, weft_val x, int64_t factor);

typedef struct weft_batch_norm_options {
    size_t struct_size;
    double epsilon;  // 0: 1e-5
    double momentum; // of the running statistics; 0: 0.1
    bool no_affine;
    bool is_zero_at_first; // weight begins at 0: a residual block then begins as its shortcut
} weft_batch_norm_options;
#define WEFT_BATCH_NORM_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(weft_batch_norm_options), 0, 0, false, false                                        \
    }
// y = (x - mean) / sqrt(variance + epsilon) * weight + bias, for each channel.
//   x        [n,c,..]     f32, 2 dims or more
//   result   shape of x
//   weight, bias, and the variables running_mean, running_var   [c]
// In training mean and biased variance are the batch's, and running = running + momentum * (batch -
// running) with the unbiased variance; otherwise they are the running ones.
// One value per channel (n and all spatial sizes 1) gives y = bias, and leaves running_var as it is:
// one value has no unbiased variance. No value at all leaves both.
// Numerics: weft_moments; running statistics are flushed.
WEFT_API weft_val weft_batch_norm(weft_nn *nn, const char *name, weft_val x,
                                  const weft_batch_norm_options *options);

typedef struct weft_layer_norm_options {
    size_t struct_size;
    int32_t n_axes; // last axes that are normalised together; 0: 1
    double epsilon; // 0: 1e-5
    bool no_affine;
} weft_layer_norm_options;
#define WEFT_LAYER_NORM_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(weft_layer_norm_options), 0, 0, false                                               \
    }
// y = (x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes, biased variance.
//   x        [..]                f32
//   result   shape of x
//   weight, bias   the shape of the last n_axes axes
WEFT_API weft_val weft_layer_norm(weft_nn *nn, const char *name, weft_val x,
                                  const weft_layer_norm_options *options);

// In training each element is dropped (0) with probability p, else multiplied by 1 / (1 - p);
// otherwise y = x.
//   x   any shape   f32
//   p   0 <= p < 1; an element is kept where its 32 random bits are >= floor(p * 2^32)
// Gradient: dy where kept, times 1 / (1 - p).
// Numerics: 1 / (1 - p) is rounded once to f32. Draws from "seed" and "step".
WEFT_API weft_val weft_dropout(weft_nn *nn, weft_val x, double p);

// ---- recurrent layers
#define WEFT_MAX_RECURRENT_LAYERS 32

typedef struct weft_recurrent_options {
    size_t struct_size;
    int32_t n_layers;      // 0: 1; each layer's result is the next one's x
    bool is_bidirectional; // a second scan from the end; results behind each other on the last axis
    bool is_batch_first;   // x and the result are [b,t,..] instead of [t,b,..]; the same bits
    bool no_bias;
    double dropout; // between layers, while training
    weft_val
        lengths; // [b] i32: steps behind a sequence's length keep its state, give 0, and pass no
                 // gradient; none: all have t steps
    weft_val h0, c0;    // first states [layers * directions,b,hidden]; none: zeros. c0: LSTM only
    bool resets_before; // GRU: the reset gate works in front of the product (ONNX's default)
    bool is_relu;       // RNN: relu instead of tanh
} weft_recurrent_options;
#define WEFT_RECURRENT_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(weft_recurrent_options), 0, false, false, false, 0.0, {0}, {0}, {0}, false, false   \
    }

// y = lstm(x), gru(x), rnn(x): states through time.
//   x       [t,b,i] or [b,t,i]   f32, t >= 1
//   result  [t,b,d * hidden] or [b,t,..], d directions
//   out_h, out_c   [layers * d,b,hidden]: states behind each sequence's last step; may be NULL
// Parameters of layer k: "weight_ih_l<k>" [gates * hidden,i], "weight_hh_l<k>" [gates * hidden,hidden],
// "bias_ih_l<k>", "bias_hh_l<k>" [gates * hidden], with "_reverse" behind those of the second direction;
// all drawn from +-1 / sqrt(hidden). Gates: LSTM i f g o, GRU r z n.
// Numerics: (x W^T + bias) + h U^T; for the LSTM and the RNN, bias is bias_ih + bias_hh; cells as
// weft_lstm_cell and weft_gru_cell say. Gradients of weights are one product over (t, b) each.
WEFT_API weft_val weft_lstm(weft_nn *nn, const char *name, weft_val x, int64_t hidden,
                            const weft_recurrent_options *options, weft_val *out_h,
                            weft_val *out_c);
WEFT_API weft_val weft_gru(weft_nn *nn, const char *name, weft_val x, int64_t hidden,
                           const weft_recurrent_options *options, weft_val *out_h);
WEFT_API weft_val weft_rnn(weft_nn *nn, const char *name, weft_val x, int64_t hidden,
                           const weft_recurrent_options *options, weft_val *out_h);

// Mean or maximum over all spatial axes: [n,c,spatial..] -> [n,c].   f32
WEFT_API weft_val weft_global_mean_pool(weft_graph *g, weft_val x);
WEFT_API weft_val weft_global_max_pool(weft_graph *g, weft_val x);

// Mean or maximum over windows that tile x into a given size, overlapping where they must: output cell i
// covers the cells from floor(i in / out) to ceil((i + 1) in / out) - 1 of each axis.
//   x        [n,c,spatial..]     f32, 1 to 3 spatial axes
//   size     out of each axis, above 0
//   result   [n,c,size..]
// Gradient: as of mean and max pooling; a maximum's goes to the lowest cell of equals.
// Numerics: windows that are all alike are weft_mean_pool's; others add along one axis, then the next,
// and are divided by their count.
// Errors: WEFT_ERR_UNSUPPORTED (a maximum over more than 256 cells of an axis).
WEFT_API weft_val weft_adaptive_mean_pool(weft_graph *g, weft_val x, const int64_t *size);
WEFT_API weft_val weft_adaptive_max_pool(weft_graph *g, weft_val x, const int64_t *size);

// ---- resizing
typedef enum weft_resize_mode {
    WEFT_RESIZE_NEAREST = 0,
    WEFT_RESIZE_LINEAR = 1, // along each axis; x is f32
} weft_resize_mode;
// Which coordinate of x output cell i stands for. ONNX has these names.
typedef enum weft_resize_coordinates {
    WEFT_RESIZE_HALF_PIXEL = 0,    // (i + 1/2) in / out - 1/2
    WEFT_RESIZE_ALIGN_CORNERS = 1, // i (in - 1) / (out - 1)
    WEFT_RESIZE_ASYMMETRIC = 2,    // i in / out
} weft_resize_coordinates;
// Which cell is the nearest.
typedef enum weft_resize_rounding {
    WEFT_RESIZE_PREFER_FLOOR = 0, // the lower one of two that are equally near
    WEFT_RESIZE_PREFER_CEIL = 1,
    WEFT_RESIZE_FLOOR = 2,
    WEFT_RESIZE_CEIL = 3,
} weft_resize_rounding;
typedef struct weft_resize_options {
    size_t struct_size;
    weft_resize_mode mode;
    weft_resize_coordinates coordinates;
    weft_resize_rounding rounding; // of nearest
} weft_resize_options;
#define WEFT_RESIZE_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(weft_resize_options), WEFT_RESIZE_NEAREST, WEFT_RESIZE_HALF_PIXEL,                  \
            WEFT_RESIZE_PREFER_FLOOR                                                               \
    }
// x at another spatial size.
//   x        [n,c,spatial..]     1 to 3 spatial axes, none empty; any dtype, f32 to be linear
//   size     of each spatial axis, above 0
//   result   [n,c,size..]
// PyTorch's "nearest" is ASYMMETRIC and FLOOR, "nearest-exact" HALF_PIXEL and PREFER_CEIL, "bilinear"
// LINEAR with HALF_PIXEL, or with ALIGN_CORNERS.
// Gradient: weft_scatter_add of dy, axis by axis; any order.
// Numerics: cells are found with whole numbers; low + w (high - low), w the f32 nearest the fraction.
WEFT_API weft_val weft_resize(weft_graph *g, weft_val x, const int64_t *size,
                              const weft_resize_options *options);

// ---- activations. relu, tanh, sigmoid, silu, gelu, gelu_tanh and softplus are ops.
// x where x > 0, else slope * x.   f32
WEFT_API weft_val weft_leaky_relu(weft_graph *g, weft_val x, double slope);
// min(max(x, 0), 6); the gradient is 0 at and beyond both ends.   f32
WEFT_API weft_val weft_relu6(weft_graph *g, weft_val x);
// y = exp(x) / sum(exp(x)) over one axis.
//   x      [..], 1 dim or more, that axis not empty   f32
//   axis   -n <= axis < n
// Numerics: subtracts the maximum; exponentials are flushed. A row of -inf gives NaN.
WEFT_API weft_val weft_softmax(weft_graph *g, weft_val x, int32_t axis);
// y = log(softmax(x)), without forming it.
WEFT_API weft_val weft_log_softmax(weft_graph *g, weft_val x, int32_t axis);
// By name, as recipes write it: "relu", "relu6", "leaky_relu" (slope 0.01), "gelu", "gelu_tanh", "silu",
// "tanh", "sigmoid", "softplus", "softmax" (last axis), "none".
// Errors: WEFT_ERR_NAME.
WEFT_API weft_val weft_activation(weft_graph *g, const char *name, weft_val x);

// ---- losses
typedef enum weft_reduction {
    WEFT_REDUCTION_MEAN = 0,
    WEFT_REDUCTION_SUM = 1,
    WEFT_REDUCTION_NONE = 2,
} weft_reduction;

typedef struct weft_ctc_options {
    size_t struct_size;
    weft_reduction
        reduction;          // MEAN: each loss over its number of labels (1 at least), then the mean
    int32_t blank;          // the class that stands for no label
    bool zero_infinity;     // what cannot be gives 0 instead of infinity
    weft_val lengths;       // [b] i32: steps of each sample; none: all t
    weft_val label_lengths; // [b] i32: labels of each sample; none: all n
} weft_ctc_options;
#define WEFT_CTC_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(weft_ctc_options), WEFT_REDUCTION_MEAN, 0, false, {0},                              \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
// loss = -log of the probability of the labels, over all ways to write them with blanks and repetitions.
//   logits   [t,b,c] f32, t >= 1; the loss takes their log_softmax
//   labels   [b,n] i32, 0 <= label < c, none of them the blank; behind label_lengths anything
//   result   [] or [b] f32
// Where no way exists (fewer steps than labels and repetitions need) the loss is infinity, or 0 with
// zero_infinity, and the gradient 0. A label outside its range makes the step bad.
// Gradient: by the scan's own (the backward recursion). Numerics: in the log domain; exponentials flushed.
// Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE, WEFT_ERR_ATTR (blank).
WEFT_API weft_val weft_ctc_loss(weft_graph *g, weft_val logits, weft_val labels,
                                const weft_ctc_options *options);

typedef struct weft_cross_entropy_options {
    size_t struct_size;
    weft_reduction reduction;
    bool has_ignore_index;
    int32_t ignore_index; // rows with this label do not count
    double
        label_smoothing; // 0 <= s <= 1: the target is (1 - s) of the label and s / c of every class
    weft_val class_weights; // [c] f32; none: all 1
} weft_cross_entropy_options;
#define WEFT_CROSS_ENTROPY_OPTIONS_INIT                                                            \
    {                                                                                              \
        sizeof(weft_cross_entropy_options), WEFT_REDUCTION_MEAN, false, 0, 0,                      \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
// loss = - sum over classes of weight * target * log_softmax(logits).
//   logits   [n,c,..]    f32
//   labels   [n,..]      i32; one outside 0..c-1 that is not ignored makes the step bad
//   result   [] f32, or the shape of labels with WEFT_REDUCTION_NONE (ignored rows are 0)
// MEAN divides the sum by the sum of the weights of the labels that count, as PyTorch does. Where
// that is 0 (all ignored, or no rows) the loss is 0 and so is its gradient, unlike PyTorch's NaN.
// A class that is ignored still stands in every row's denominator, if it is a class.
// Gradient: in logits.
WEFT_API weft_val weft_cross_entropy(weft_graph *g, weft_val logits, weft_val labels,
                                     const weft_cross_entropy_options *options);
// loss = log(1 + exp(x)) - x * target, without overflow or cancellation.
//   logits, targets   one shape   f32; targets in 0..1
//   result            [] f32, or that shape; the mean of nothing is 0
// Gradient: sigmoid(x) - target; in targets, -x.
WEFT_API weft_val weft_bce_with_logits(weft_graph *g, weft_val logits, weft_val targets,
                                       weft_reduction reduction);
// loss = (x - target)^2.   x, target: one shape, f32
WEFT_API weft_val weft_mse(weft_graph *g, weft_val x, weft_val target, weft_reduction reduction);
// loss = d^2 / 2 where |d| <= delta, else delta * (|d| - delta / 2); d = x - target; delta > 0.
WEFT_API weft_val weft_huber(weft_graph *g, weft_val x, weft_val target, double delta,
                             weft_reduction reduction);

// ---- metrics. No gradient.
// Rows whose greatest logit (the lowest class of equals) is the label, as a count.
//   logits   [n,c] f32; labels [n] i32; ignored rows are those with label ignore_index (NULL: none)
//   result   [] i64
WEFT_API weft_val weft_count_correct(weft_graph *g, weft_val logits, weft_val labels,
                                     const int32_t *ignore_index);
// The same over the rows that count, in 0..1; 0 where none does.   result [] f32
WEFT_API weft_val weft_accuracy(weft_graph *g, weft_val logits, weft_val labels,
                                const int32_t *ignore_index);

// ---- schedules: the learning rate as a function of "step", in the graph, so that a resumed run goes
// on with the same numbers.
typedef enum weft_schedule_kind {
    WEFT_SCHEDULE_CONSTANT = 0,
    WEFT_SCHEDULE_LINEAR = 1,    // to final_fraction at total_steps
    WEFT_SCHEDULE_COSINE = 2,    // to final_fraction at total_steps, along half a cosine
    WEFT_SCHEDULE_STEP = 3,      // times gamma every step_size steps
    WEFT_SCHEDULE_ONE_CYCLE = 4, // PyTorch's OneCycleLR: up to lr and down again, along cosines
    WEFT_SCHEDULE_WSD = 5, // lr until the last decay_share of the steps, then to final_fraction
} weft_schedule_kind;

typedef struct weft_schedule_options {
    size_t struct_size;
    weft_schedule_kind kind;
    double lr;            // the base; the peak of one_cycle
    int64_t warmup_steps; // lr * (step + 1) / warmup_steps while step < warmup_steps; not one_cycle
    int64_t total_steps;  // of all but constant and step; steps beyond keep the last value
    double final_fraction;  // of lr, at the end of linear, cosine and wsd
    int64_t step_size;      // of step
    double gamma;           // of step; 0: 0.1
    double warmup_share;    // of one_cycle: the share of steps that goes up; 0: 0.3
    double initial_divisor; // of one_cycle: starts at lr / this; 0: 25
    double final_divisor;   // of one_cycle: ends at its start / this; 0: 10000
    double decay_share; // of wsd: of the steps behind the warm-up, rounded to whole ones; 0: 0.2
    bool is_sqrt_decay; // of wsd: along 1 - sqrt(share done) instead of a line
} weft_schedule_options;
#define WEFT_SCHEDULE_OPTIONS_INIT                                                                 \
    {                                                                                              \
        sizeof(weft_schedule_options), WEFT_SCHEDULE_CONSTANT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, false \
    }
// lr [] f32 at step [] i64. Warm-up and decay do not overlap: decay begins at warmup_steps. Where total_steps is
// warmup_steps or less, all of the run is warm-up, and what may come behind it has the last value.
// Errors: WEFT_ERR_ATTR (lr or steps out of range).
WEFT_API weft_val weft_schedule(weft_graph *g, weft_val step, const weft_schedule_options *options);

// ---- optimisers
typedef enum weft_optimizer_kind {
    WEFT_OPTIMIZER_SGD = 0,
    WEFT_OPTIMIZER_ADAM = 1,  // weight decay is added to the gradient
    WEFT_OPTIMIZER_ADAMW = 2, // weight decay is taken from the weights
    WEFT_OPTIMIZER_RMSPROP = 3,
    WEFT_OPTIMIZER_ADAGRAD = 4,
    WEFT_OPTIMIZER_LAMB =
        5, // You et al. 2020, algorithm 2: every parameter's step has its trust ratio
    WEFT_OPTIMIZER_LION = 6, // Chen et al. 2023; weight decay is taken from the weights
    // Jordan et al. 2024, scaled as Liu et al. 2025; weight decay is taken from the weights. Moves
    // parameters of 2 dims and more ([out, rest] of a kernel); AdamW moves the others.
    WEFT_OPTIMIZER_MUON = 7,
} weft_optimizer_kind;

typedef struct weft_optimizer_options {
    size_t struct_size;
    weft_optimizer_kind kind;
    double
        momentum; // of SGD and RMSprop, 0 <= momentum < 1; 0: no momentum, no state. Muon: 0: 0.95
    bool is_nesterov;    // of SGD
    double beta1;        // of Adam, AdamW, LAMB, Lion, and Muon's AdamW; 0: 0.9
    double beta2;        // likewise; 0: 0.999, Lion 0.99. RMSprop's smoothing ("alpha"); 0: 0.99
    double epsilon;      // 0: 1e-8; Adagrad 1e-10, LAMB 1e-6. Lion has none
    double weight_decay; // of parameters with has_decay
    bool decay_all;      // of all parameters, as PyTorch does
    double clip_norm;    // 0: off; gradients are scaled down to this norm over all parameters
    double clip_value;   // 0: off; gradients are cut to +- this, before the norm is taken
    bool is_centered;    // of RMSprop: divides by the deviation, not by the root of the mean square
    double lr_decay;     // of Adagrad: lr / (1 + step * lr_decay)
    double initial_sum;  // of Adagrad: what its sums of squares begin with
} weft_optimizer_options;
#define WEFT_OPTIMIZER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(weft_optimizer_options), WEFT_OPTIMIZER_SGD, 0, false, 0, 0, 0, 0, false, 0, 0,     \
            false, 0, 0                                                                            \
    }

// Clips n gradients in place, as the options of the same names; the norm is [] f32, before clipping.
// Numerics: squares are summed parameter by parameter, in order; scale = min(1, max / (norm + 1e-6)).
WEFT_API void weft_clip_value(weft_graph *g, weft_val *grads, size_t n, double limit);
WEFT_API weft_val weft_clip_norm(weft_graph *g, weft_val *grads, size_t n, double max_norm);

// New values of all trainable parameters from their gradients, assigned when the step ends. State
// variables, flushed: "<parameter>.momentum" (SGD and RMSprop with momentum, Muon), ".m" and ".v" (Adam,
// AdamW, LAMB), ".m" (Lion), ".v" and centred ".mean" (RMSprop), ".sum" (Adagrad).
//   grads   one for each trainable parameter, in order
//   lr      [] f32
// Numerics: PyTorch's formulas, those of the papers for LAMB, Lion and Muon; bias corrections come from
// "step" by expm1(t * log(beta)). Norms of LAMB and Muon are sums of squares over the whole parameter.
WEFT_API void weft_optimizer_apply(weft_nn *nn, const weft_val *grads, weft_val lr,
                                   const weft_optimizer_options *options);

// A whole training step: gradient of loss, guard (a loss or gradient norm that is not finite changes
// no variable), clipping, schedule, optimiser, and step + 1.
//   loss     [] f32
//   result   lr [] f32 of this step
WEFT_API weft_val weft_train_step(weft_nn *nn, weft_val loss,
                                  const weft_optimizer_options *optimizer,
                                  const weft_schedule_options *schedule);

// The same step cut into micro-batches, for batches that do not fit: one program with
// weft_accumulate_step runs for each, then one with weft_update_step ends the step.
//   loss     [] f32, the mean over what counts in the micro-batch
//   weight   [] f32, how much counts in it: samples, or labels that are not ignored
//   out_loss [] f32, the mean over all that counted; 0 where nothing did (then gradients are 0, too)
// State variables: "<parameter>.grad", "accumulated.loss", "accumulated.weight", "micro"; 0 between steps.
// Numerics: the sum over the micro-batches, in order, of the gradient of loss * weight (flushed), divided
// once by the sum of the weights. It is not the sum of the whole batch, but for rounding.
WEFT_API void weft_accumulate_step(weft_nn *nn, weft_val loss, weft_val weight);
WEFT_API weft_val weft_update_step(weft_nn *nn, const weft_optimizer_options *optimizer,
                                   const weft_schedule_options *schedule, weft_val *out_loss);

// Behind weft_train_step or weft_update_step: keeps a moving average of every parameter in the variable
// "<parameter>.ema", average = d * average + (1 - d) * new value, d = min(decay, step / (9 + step)),
// flushed; so the first average is the first new value. A model made with uses_averages reads them.
//   decay   0 < decay < 1
WEFT_API void weft_average_parameters(weft_nn *nn, double decay);

// Behind weft_train_step or weft_update_step: what it did to each trainable parameter, in their order.
//   result   [n,2] f32: norm of the gradient (clipped); norm of the change over norm of the parameter (0
//            for a parameter of zeros)
WEFT_API weft_val weft_step_statistics(weft_nn *nn);

// Records the caller's place for error messages, as weft/place.h does for ops.
#ifndef WEFT_NO_PLACE
#define WEFT_NN_AT(nn) weft_nn_at((nn), __FILE__, __LINE__)
#define weft_init_values(nn, ...) weft_init_values(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_parameter_create(nn, ...) weft_parameter_create(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_linear(nn, ...) weft_linear(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_conv_layer(nn, ...) weft_conv_layer(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_conv_transpose_layer(nn, ...) weft_conv_transpose_layer(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_upsample(g, ...) weft_upsample(WEFT_AT(g), __VA_ARGS__)
#define weft_batch_norm(nn, ...) weft_batch_norm(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_layer_norm(nn, ...) weft_layer_norm(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_dropout(nn, ...) weft_dropout(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_lstm(nn, ...) weft_lstm(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_gru(nn, ...) weft_gru(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_rnn(nn, ...) weft_rnn(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_global_mean_pool(g, ...) weft_global_mean_pool(WEFT_AT(g), __VA_ARGS__)
#define weft_global_max_pool(g, ...) weft_global_max_pool(WEFT_AT(g), __VA_ARGS__)
#define weft_adaptive_mean_pool(g, ...) weft_adaptive_mean_pool(WEFT_AT(g), __VA_ARGS__)
#define weft_adaptive_max_pool(g, ...) weft_adaptive_max_pool(WEFT_AT(g), __VA_ARGS__)
#define weft_resize(g, ...) weft_resize(WEFT_AT(g), __VA_ARGS__)
#define weft_leaky_relu(g, ...) weft_leaky_relu(WEFT_AT(g), __VA_ARGS__)
#define weft_relu6(g, ...) weft_relu6(WEFT_AT(g), __VA_ARGS__)
#define weft_softmax(g, ...) weft_softmax(WEFT_AT(g), __VA_ARGS__)
#define weft_log_softmax(g, ...) weft_log_softmax(WEFT_AT(g), __VA_ARGS__)
#define weft_activation(g, ...) weft_activation(WEFT_AT(g), __VA_ARGS__)
#define weft_cross_entropy(g, ...) weft_cross_entropy(WEFT_AT(g), __VA_ARGS__)
#define weft_ctc_loss(g, ...) weft_ctc_loss(WEFT_AT(g), __VA_ARGS__)
#define weft_bce_with_logits(g, ...) weft_bce_with_logits(WEFT_AT(g), __VA_ARGS__)
#define weft_mse(g, ...) weft_mse(WEFT_AT(g), __VA_ARGS__)
#define weft_huber(g, ...) weft_huber(WEFT_AT(g), __VA_ARGS__)
#define weft_count_correct(g, ...) weft_count_correct(WEFT_AT(g), __VA_ARGS__)
#define weft_accuracy(g, ...) weft_accuracy(WEFT_AT(g), __VA_ARGS__)
#define weft_schedule(g, ...) weft_schedule(WEFT_AT(g), __VA_ARGS__)
#define weft_clip_value(g, ...) weft_clip_value(WEFT_AT(g), __VA_ARGS__)
#define weft_clip_norm(g, ...) weft_clip_norm(WEFT_AT(g), __VA_ARGS__)
#define weft_optimizer_apply(nn, ...) weft_optimizer_apply(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_train_step(nn, ...) weft_train_step(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_accumulate_step(nn, ...) weft_accumulate_step(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_update_step(nn, ...) weft_update_step(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_average_parameters(nn, ...) weft_average_parameters(WEFT_NN_AT(nn), __VA_ARGS__)
#define weft_step_statistics(nn) weft_step_statistics(WEFT_NN_AT(nn))
#endif

#ifdef __cplusplus
}
#endif
#endif
