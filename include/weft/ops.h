// The primitive ops: constructors of graph values. One file of src/op/ each.
//
// Elementwise ops broadcast their operands to one shape by NumPy's rule (explicit broadcast nodes);
// apart from that, shapes and dtypes must match. Nothing converts silently: cast with weft_cast.
// Computing ops take f32 (and integers where it says so); other floats are stored and cast.
// The value of each op, to the last bit: doc/arithmetic.md.
// Errors are recorded in the graph; every op may record WEFT_ERR_SHAPE, WEFT_ERR_DTYPE and
// WEFT_ERR_ATTR, and returns WEFT_NONE then.
#ifndef WEFT_OPS_H
#define WEFT_OPS_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- sources
// A value that the program is given at each run, under a unique name.
WEFT_API weft_val weft_input(weft_graph *g, const char *name, weft_dtype dtype,
                             const int64_t *dims, int32_t ndim);
// A value that lives from run to run in a weft_state, under a unique name: weights, statistics.
// init: its first value, built of constants, iota and random only; its type is the variable's.
WEFT_API weft_val weft_variable(weft_graph *g, const char *name, weft_val init);
// A constant tensor; data is copied, row-major, of dtype.
WEFT_API weft_val weft_constant(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                                const void *data);
// A scalar [] of any dtype; value is rounded once to it.
WEFT_API weft_val weft_scalar(weft_graph *g, weft_dtype dtype, double value);
// A constant of one value in every element.
WEFT_API weft_val weft_fill(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                            double value);
// result[..., i, ...] = i along axis.   dtype f32 i32 i64
WEFT_API weft_val weft_iota(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                            int32_t axis);

// ---- effects
// The variable takes the value when the step ends, unless the step's status is bad (weft_guard, a
// bad index). Returns the value.   var: a weft_variable; value: its type.
WEFT_API weft_val weft_assign(weft_graph *g, weft_val var, weft_val value);
// Marks the step bad where x holds a NaN or an infinity: then no assign of the step takes place.
// Returns bool []: all is finite.   x f32.   No gradient.
WEFT_API weft_val weft_guard(weft_graph *g, weft_val x);

// Marks the step bad where an index is not in [0, size). Returns bool []: all are.
//   idx   i32 i64, any shape; negative ones are outside, unlike with weft_gather
// No gradient.
WEFT_API weft_val weft_index_guard(weft_graph *g, weft_val idx, int64_t size);

// ---- random. Philox4x32-10: key seed, counter (index / 4, step, stream), where index is the logical
// row-major index and stream a hash of the scope and of the op's ordinal among the scope's random ops.
//   seed, step   [] i64, values, not constants of the op; the low 32 bits of step count
//   result       dims
// The same seed, step, scope and ordinal give the same numbers on every device, and more rows change
// no number of the rows before.
// No gradient.
// Errors: WEFT_ERR_SHAPE (seed or step is no scalar, dims), WEFT_ERR_DTYPE.
WEFT_API weft_val weft_random_bits(weft_graph *g, weft_val seed, weft_val step,
                                   const int64_t *dims, int32_t ndim); // i32, all 32 bits
WEFT_API weft_val weft_random_uniform(weft_graph *g, weft_val seed, weft_val step,
                                      const int64_t *dims, int32_t ndim); // f32, k / 2^24 in [0, 1)
// f32, mean 0, variance 1, by Box and Muller; magnitudes end at 5.77.
WEFT_API weft_val weft_random_normal(weft_graph *g, weft_val seed, weft_val step,
                                     const int64_t *dims, int32_t ndim);

// ---- elementwise, one operand. f32 unless it says otherwise.
WEFT_API weft_val weft_neg(weft_graph *g, weft_val a);         // f32 and integers
WEFT_API weft_val weft_abs(weft_graph *g, weft_val a);         // f32 and integers
WEFT_API weft_val weft_sign(weft_graph *g, weft_val a);        // -1, 0, 1; f32: sign(-0) = -0, NaN
WEFT_API weft_val weft_exp(weft_graph *g, weft_val a);
WEFT_API weft_val weft_expm1(weft_graph *g, weft_val a);
WEFT_API weft_val weft_log(weft_graph *g, weft_val a);
WEFT_API weft_val weft_log1p(weft_graph *g, weft_val a);
WEFT_API weft_val weft_sqrt(weft_graph *g, weft_val a);
WEFT_API weft_val weft_rsqrt(weft_graph *g, weft_val a);       // 1 / sqrt(a), each rounded
WEFT_API weft_val weft_sin(weft_graph *g, weft_val a);
WEFT_API weft_val weft_cos(weft_graph *g, weft_val a);
WEFT_API weft_val weft_tanh(weft_graph *g, weft_val a);
WEFT_API weft_val weft_erf(weft_graph *g, weft_val a);
WEFT_API weft_val weft_sigmoid(weft_graph *g, weft_val a);
WEFT_API weft_val weft_silu(weft_graph *g, weft_val a);
WEFT_API weft_val weft_softplus(weft_graph *g, weft_val a);
WEFT_API weft_val weft_gelu(weft_graph *g, weft_val a);        // x * Phi(x), by erf
WEFT_API weft_val weft_gelu_tanh(weft_graph *g, weft_val a);
WEFT_API weft_val weft_relu(weft_graph *g, weft_val a);        // f32 and integers; relu(NaN) = NaN
WEFT_API weft_val weft_floor(weft_graph *g, weft_val a);
WEFT_API weft_val weft_ceil(weft_graph *g, weft_val a);
WEFT_API weft_val weft_round(weft_graph *g, weft_val a);       // half to even
WEFT_API weft_val weft_trunc(weft_graph *g, weft_val a);
WEFT_API weft_val weft_flush(weft_graph *g, weft_val a);       // |a| < 2^-126 -> 0 of the same sign
WEFT_API weft_val weft_is_finite(weft_graph *g, weft_val a);   // any -> bool
WEFT_API weft_val weft_not(weft_graph *g, weft_val a);         // integers: bits; bool: logical

// ---- elementwise, two operands
WEFT_API weft_val weft_add(weft_graph *g, weft_val a, weft_val b); // f32 and integers (wrap)
WEFT_API weft_val weft_sub(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_mul(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_div(weft_graph *g, weft_val a, weft_val b); // integers truncate; n/0 = 0
WEFT_API weft_val weft_rem(weft_graph *g, weft_val a, weft_val b); // integers; sign of a; n%0 = 0
WEFT_API weft_val weft_max(weft_graph *g, weft_val a, weft_val b); // NaN wins, then -0 < +0
WEFT_API weft_val weft_min(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_pow(weft_graph *g, weft_val a, weft_val b); // f32
WEFT_API weft_val weft_and(weft_graph *g, weft_val a, weft_val b); // integers and bool
WEFT_API weft_val weft_or(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_xor(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_shl(weft_graph *g, weft_val a, weft_val b); // integers; width or more: 0
WEFT_API weft_val weft_shr(weft_graph *g, weft_val a, weft_val b); // keeps the sign
// Comparisons: f32, integers, bool -> bool. With a NaN only "not equal" is true.
WEFT_API weft_val weft_equal(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_not_equal(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_less(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_less_equal(weft_graph *g, weft_val a, weft_val b);

// ---- elementwise, three operands
WEFT_API weft_val weft_fma(weft_graph *g, weft_val a, weft_val b, weft_val c); // rounds once
// cond ? a : b.   cond bool; a, b of one dtype, any
WEFT_API weft_val weft_select(weft_graph *g, weft_val cond, weft_val a, weft_val b);

// ---- dtypes
// To f32 from integers: nearest even. To integers: toward zero, saturating, NaN -> 0. Between
// integers: wraps. To bool: != 0. f16 and bf16: nearest even. Gradient: cast back (floats only).
WEFT_API weft_val weft_cast(weft_graph *g, weft_val a, weft_dtype dtype);

// ---- reductions. axes: n_axes of them, negative counts from the end, NULL with n_axes 0 means all.
// keep_dims: reduced axes stay with size 1.
WEFT_API weft_val weft_sum(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                           bool keep_dims); // f32 i32 i64
WEFT_API weft_val weft_mean(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                            bool keep_dims); // f32; sum / count
WEFT_API weft_val weft_reduce_max(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                                  bool keep_dims); // f32, integers, bool; size 0 is an error
WEFT_API weft_val weft_reduce_min(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                                  bool keep_dims);
// Index of the greatest along one axis, i32; the lowest index of equals; NaN is greatest.
WEFT_API weft_val weft_argmax(weft_graph *g, weft_val x, int32_t axis, bool keep_dims);
// Mean and biased variance in one pass by chunks; both keep the reduced axes with size 1.
WEFT_API void weft_moments(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                           weft_val *out_mean, weft_val *out_variance);

// ---- products
// [..,m,k] x [..,k,n] -> [..,m,n]; transpose_a: a is [..,k,m]; transpose_b: b is [..,n,k]. f32.
// Batch axes broadcast.
WEFT_API weft_val weft_matmul(weft_graph *g, weft_val a, weft_val b, bool transpose_a,
                              bool transpose_b);

// Convolution over n_axes = 1..3 spatial axes. Each list has n_axes entries, or is NULL for the
// default (stride 1, pad 0, dilation 1). groups 0 means 1.
typedef struct weft_conv_options {
    size_t struct_size;
    const int64_t *stride;     // >= 1
    const int64_t *pad_before; // >= 0
    const int64_t *pad_after;  // >= 0; NULL: as pad_before
    const int64_t *dilation;   // >= 1
    int64_t groups;            // divides c and k
} weft_conv_options;
#define WEFT_CONV_OPTIONS_INIT {sizeof(weft_conv_options), NULL, NULL, NULL, NULL, 0}
// y = conv(x, w): cross-correlation, which every framework calls convolution.
//   x        [n,c,spatial..]               f32
//   w        [k,c/groups,window..]         f32
//   result   [n,k,spatial'..], spatial' = floor((s + pads - dilation*(window-1) - 1) / stride) + 1
// Gradient: weft_conv_grad_input, weft_conv_grad_weight, each flushed; any order.
// Numerics: one sum of products, window cells first, the group's channels last; padding is 0, so an
// infinite weight over padding gives NaN.
// Errors: WEFT_ERR_SHAPE (ranks, channels, a window larger than the padded input), WEFT_ERR_DTYPE,
// WEFT_ERR_ATTR (an option out of its range), WEFT_ERR_USAGE (struct_size).
WEFT_API weft_val weft_conv(weft_graph *g, weft_val x, weft_val w,
                            const weft_conv_options *options);
// dx: the gradient of weft_conv in its input; as a forward op, the transposed convolution.
//   dy              [n,k,spatial'..]              f32
//   w               [k,c/groups,window..]         f32
//   input_spatial   n_axes sizes of x: spatial' does not determine them where a stride skips cells
//   result          [n,c,input_spatial..]
// Gradient: weft_conv and weft_conv_grad_weight, each flushed.
// Numerics: one sum of products, window cells first, the group's output channels last.
// Errors: as weft_conv; dy must have the shape that weft_conv gives.
WEFT_API weft_val weft_conv_grad_input(weft_graph *g, weft_val dy, weft_val w,
                                       const int64_t *input_spatial,
                                       const weft_conv_options *options);
// dw: the gradient of weft_conv in its weights.
//   x        [n,c,spatial..]               f32
//   dy       [n,k,spatial'..]              f32
//   window   n_axes sizes of w
//   result   [k,c/groups,window..]
// Gradient: weft_conv_grad_input and weft_conv, each flushed.
// Numerics: one sum of products over the samples, then the output's cells.
// Errors: as weft_conv; dy must have the shape that weft_conv gives.
WEFT_API weft_val weft_conv_grad_weight(weft_graph *g, weft_val x, weft_val dy,
                                        const int64_t *window, const weft_conv_options *options);

// ---- windows (pooling) over the 1..3 spatial axes of x. Lists as for conv; stride NULL means the
// window. ceil_mode: a last window may reach beyond the padding, unless it would start there.
typedef struct weft_window_options {
    size_t struct_size;
    const int64_t *stride;
    const int64_t *pad_before;
    const int64_t *pad_after;
    const int64_t *dilation;
    bool ceil_mode;
    bool count_include_pad; // of mean: padded cells count, cells beyond the padding do not
} weft_window_options;
#define WEFT_WINDOW_OPTIONS_INIT {sizeof(weft_window_options), NULL, NULL, NULL, NULL, false, false}
// y = the greatest of each window.
//   x        [n,c,spatial..]    f32
//   window   1 to 3 sizes, at most 256 cells (a global maximum is weft_reduce_max)
//   result   [n,c,spatial'..]
// Gradient: each dy goes to the cell that won; a cell adds its windows in ascending order. First order.
// Numerics: NaN wins, then +0 over -0; the lowest cell of equals; padding never wins.
// Errors: WEFT_ERR_SHAPE (rank, window larger than the padded input, a window in the padding only),
// WEFT_ERR_DTYPE, WEFT_ERR_ATTR, WEFT_ERR_UNSUPPORTED (window above 256 cells), WEFT_ERR_USAGE.
WEFT_API weft_val weft_max_pool(weft_graph *g, weft_val x, const int64_t *window,
                                const weft_window_options *options);
// y = the mean of each window.
//   x        [n,c,spatial..]    f32
//   window   1 to 3 sizes
//   result   [n,c,spatial'..]
// Gradient: dy / count to each cell of the window; any order.
// Numerics: an ascending chain of sums, divided by the count.
// Errors: as weft_max_pool, without the limit of 256.
WEFT_API weft_val weft_mean_pool(weft_graph *g, weft_val x, const int64_t *window,
                                 const weft_window_options *options);

// ---- indices. An index out of its range makes the step bad (see weft_assign); negative counts from
// the end, once.
// y[a,i..,b] = x[a,idx[i..],b]: x with axis replaced by idx's shape.
//   x        [a..,d,b..]              any dtype
//   idx      [i..], also []           i32 i64, -d <= idx < d; out of range reads zeros
//   axis     -n <= axis < n           which axis d is
//   result   [a..,i..,b..], at most 8 axes
// Gradient: weft_scatter_add of dy onto zeros.
// Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE; WEFT_ERR_INDEX when it runs.
WEFT_API weft_val weft_gather(weft_graph *g, weft_val x, weft_val idx, int32_t axis);
// y = base with updates added: y[a,idx[i..],b] += updates[a,i..,b].
//   base      [a..,d,b..]             f32 i32 i64
//   idx       [i..]                   i32 i64, -d <= idx < d; out of range adds nothing
//   updates   [a..,i..,b..]           dtype of base
//   axis      -n <= axis < n
//   result    shape and dtype of base
// Gradient: dbase = dy, dupdates = weft_gather of dy.
// Numerics: the updates of one place add by the column rule in ascending position, then base + sum;
// a place without updates keeps its bits. Integers wrap.
// Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE; WEFT_ERR_INDEX when it runs.
WEFT_API weft_val weft_scatter_add(weft_graph *g, weft_val base, weft_val idx, weft_val updates,
                                   int32_t axis);

// ---- shape: no arithmetic, any dtype
// One of dims may be -1: what is left.
WEFT_API weft_val weft_reshape(weft_graph *g, weft_val x, const int64_t *dims, int32_t ndim);
// Axes from first on become one.
WEFT_API weft_val weft_flatten(weft_graph *g, weft_val x, int32_t first);
// result axis i is x's axis order[i].
WEFT_API weft_val weft_permute(weft_graph *g, weft_val x, const int32_t *order);
// Swaps the last two axes.
WEFT_API weft_val weft_transpose(weft_graph *g, weft_val x);
// NumPy's rule: axes are matched from the right, size 1 stretches.
WEFT_API weft_val weft_broadcast(weft_graph *g, weft_val x, const int64_t *dims, int32_t ndim);
// start <= i < stop by step > 0 for each axis; negative start and stop count from the end, stop is
// cut to the size. step NULL: 1.
WEFT_API weft_val weft_slice(weft_graph *g, weft_val x, const int64_t *start, const int64_t *stop,
                             const int64_t *step);
// before and after >= 0 for each axis.
WEFT_API weft_val weft_pad(weft_graph *g, weft_val x, const int64_t *before, const int64_t *after,
                           double value);
WEFT_API weft_val weft_concat(weft_graph *g, const weft_val *xs, size_t n, int32_t axis);

// ---- gradient control and losses
// x, through which no gradient flows.
WEFT_API weft_val weft_stop_gradient(weft_graph *g, weft_val x);
// loss = log(sum(exp(logits))) - logits[label], for each row.
//   logits   [n,c], c >= 1     f32
//   labels   [n]               i32, 0 <= label < c; one outside makes the step bad
//   result   [n]               f32
// Gradient: dlogits = (softmax - [column = label]) * dloss, flushed; none in labels.
// Numerics: subtracts the row's maximum; sums in f32 by the row rule.
// Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE; WEFT_ERR_INDEX when it runs.
WEFT_API weft_val weft_softmax_cross_entropy(weft_graph *g, weft_val logits, weft_val labels);

// ---- an op by name: what the constructors above call; for programs with ops of their own.
// Attributes are given in the op's order. See weft/own_op.h.

// Records the caller's place for error messages. The library itself is built without these.
#ifndef WEFT_NO_PLACE
#include <weft/place.h>
#endif

#ifdef __cplusplus
}
#endif
#endif
