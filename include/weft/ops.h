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

// ---- sources. ndim is 0 to WEFT_MAX_DIM, dims are >= 0. Lists and data are copied.
// A value that the program is given at each run.
//   name    unique among inputs; a word without spaces and quotes
//   result  dims, any dtype
// Errors: WEFT_ERR_NAME (taken, not a word), WEFT_ERR_SHAPE, WEFT_ERR_DTYPE.
WEFT_API weft_val weft_input(weft_graph *g, const char *name, weft_dtype dtype, const int64_t *dims,
                             int32_t ndim);
// A value that lives from run to run in a weft_state: weights, statistics, counters.
//   name    unique among variables; a word without spaces and quotes
//   init    its first value, of any type, built of constants, iota, random and what follows from them
//   result  type of init
// Errors: WEFT_ERR_NAME, WEFT_ERR_ATTR (init depends on an input or a variable).
WEFT_API weft_val weft_variable(weft_graph *g, const char *name, weft_val init);
// A constant tensor.
//   data    row-major elements of dtype, host byte order; may be NULL when there are none
WEFT_API weft_val weft_constant(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                                const void *data);
// A scalar [].
//   value   rounded once, to nearest even; an integer dtype must hold it exactly, bool takes 0 and 1
// Errors: WEFT_ERR_ATTR (the dtype cannot hold value).
WEFT_API weft_val weft_scalar(weft_graph *g, weft_dtype dtype, double value);
// That scalar in every element of dims: a broadcast, no memory.
WEFT_API weft_val weft_fill(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                            double value);
// result[.., i, ..] = i along axis.
//   dtype   f32 i32 i64
//   axis    -ndim <= axis < ndim; negative counts from the end
WEFT_API weft_val weft_iota(weft_graph *g, weft_dtype dtype, const int64_t *dims, int32_t ndim,
                            int32_t axis);

// ---- effects
// The variable takes the value when the step ends, unless the step is bad (weft_guard, an index out of
// its range). Whoever reads the variable in the same step sees what it was before.
//   var     a weft_variable that nothing else assigns
//   value   type of var
//   result  value
// No gradient. Errors: WEFT_ERR_USAGE (var is no variable, or assigned twice), WEFT_ERR_SHAPE,
// WEFT_ERR_DTYPE.
WEFT_API weft_val weft_assign(weft_graph *g, weft_val var, weft_val value);
// Marks the step bad where x holds a NaN or an infinity: then no assign of the step takes place, and
// weft_program_check names this op.
//   x       any shape   f32
//   result  bool []: all is finite
// No gradient.
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
WEFT_API weft_val weft_random_bits(weft_graph *g, weft_val seed, weft_val step, const int64_t *dims,
                                   int32_t ndim); // i32, all 32 bits
WEFT_API weft_val weft_random_uniform(weft_graph *g, weft_val seed, weft_val step,
                                      const int64_t *dims, int32_t ndim); // f32, k / 2^24 in [0, 1)
// f32, mean 0, variance 1, by Box and Muller; magnitudes end at 5.77.
WEFT_API weft_val weft_random_normal(weft_graph *g, weft_val seed, weft_val step,
                                     const int64_t *dims, int32_t ndim);

// ---- elementwise, one operand: y[i] = f(a[i]).
//   a       any shape   f32, unless it says otherwise
//   result  shape and dtype of a
// Numerics: f32 throughout; +, -, *, / and sqrt round correctly, functions are within 2 units in the
// last place over all inputs (doc/arithmetic.md has each one's figure), NaN in is NaN out.
// -a.   f32 and integers, which wrap.   Gradient: -dy.
WEFT_API weft_val weft_neg(weft_graph *g, weft_val a);
// |a|.   f32 and integers; the least integer stays.   Gradient: dy * sign(a).
WEFT_API weft_val weft_abs(weft_graph *g, weft_val a);
// -1, 0 or 1.   f32 and integers; -0 and NaN stay.   The gradient stops.
WEFT_API weft_val weft_sign(weft_graph *g, weft_val a);
// e^a.   Gradient: dy * y.
WEFT_API weft_val weft_exp(weft_graph *g, weft_val a);
// e^a - 1, to full precision near 0.   Gradient: dy * e^a.
WEFT_API weft_val weft_expm1(weft_graph *g, weft_val a);
// ln a; -inf at 0, NaN below.   Gradient: dy / a.
WEFT_API weft_val weft_log(weft_graph *g, weft_val a);
// ln(1 + a), to full precision near 0.   Gradient: dy / (1 + a).
WEFT_API weft_val weft_log1p(weft_graph *g, weft_val a);
// The root of a, correctly rounded.   Gradient: dy / (2 y).
WEFT_API weft_val weft_sqrt(weft_graph *g, weft_val a);
// 1 / sqrt(a), each rounded.   Gradient: -dy * y / (2 a).
WEFT_API weft_val weft_rsqrt(weft_graph *g, weft_val a);
// Of radians, any magnitude.   Gradients: dy * cos(a), -dy * sin(a).
WEFT_API weft_val weft_sin(weft_graph *g, weft_val a);
WEFT_API weft_val weft_cos(weft_graph *g, weft_val a);
// Gradient: dy / cosh(a)^2, to full precision in the tails.
WEFT_API weft_val weft_tanh(weft_graph *g, weft_val a);
// The error function.   Gradient: dy * 2 / sqrt(pi) * e^(-a^2).
WEFT_API weft_val weft_erf(weft_graph *g, weft_val a);
// 1 / (1 + e^-a).   Gradient: dy * y (1 - y), to full precision in the tails.
WEFT_API weft_val weft_sigmoid(weft_graph *g, weft_val a);
// a * sigmoid(a).   Gradient: dy * s(a) (1 + a s(-a)).
WEFT_API weft_val weft_silu(weft_graph *g, weft_val a);
// ln(1 + e^a).   Gradient: dy * sigmoid(a).
WEFT_API weft_val weft_softplus(weft_graph *g, weft_val a);
// a * Phi(a), Phi the normal distribution (by erf; relative precision for a < 0 as well).
// Gradient: dy * (Phi(a) + a phi(a)).
WEFT_API weft_val weft_gelu(weft_graph *g, weft_val a);
// a / 2 * (1 + tanh(sqrt(2 / pi) (a + 0.044715 a^3))), the approximation of GPT-2 and others.
// Gradient: its own, not gelu's.
WEFT_API weft_val weft_gelu_tanh(weft_graph *g, weft_val a);
// a where a > 0, else +0; NaN stays.   f32 and integers.   Gradient: dy where y > 0 or NaN, else 0.
WEFT_API weft_val weft_relu(weft_graph *g, weft_val a);
// To whole numbers: down, up, nearest (half to even), toward zero; exact, the sign of 0 is kept.
// The gradient stops.
WEFT_API weft_val weft_floor(weft_graph *g, weft_val a);
WEFT_API weft_val weft_ceil(weft_graph *g, weft_val a);
WEFT_API weft_val weft_round(weft_graph *g, weft_val a);
WEFT_API weft_val weft_trunc(weft_graph *g, weft_val a);
// |a| < 2^-126 becomes a zero of the same sign: subnormals slow some processors down tenfold.
// Gradient: dy.
WEFT_API weft_val weft_flush(weft_graph *g, weft_val a);
// Neither NaN nor infinite.   f32, integers, bool -> bool.   The gradient stops.
WEFT_API weft_val weft_is_finite(weft_graph *g, weft_val a);
// Integers: every bit inverted; bool: the other one.   The gradient stops.
WEFT_API weft_val weft_not(weft_graph *g, weft_val a);

// ---- elementwise, two operands: z[i] = f(a[i], b[i]).
//   a, b    shapes that broadcast by NumPy's rule   one dtype: f32 and integers, unless it says otherwise
//   result  the broadcast shape, that dtype
// Gradients are summed over what was stretched.
// Errors: WEFT_ERR_SHAPE (they do not broadcast), WEFT_ERR_DTYPE (two dtypes, or one not allowed).
// Integers wrap.   Gradients: dz and dz; dz and -dz; dz * b and dz * a.
WEFT_API weft_val weft_add(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_sub(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_mul(weft_graph *g, weft_val a, weft_val b);
// Integers: toward zero, n / 0 = 0, MIN / -1 = MIN.   Gradients: dz / b and -(dz / b) * z.
WEFT_API weft_val weft_div(weft_graph *g, weft_val a, weft_val b);
// What that division leaves: the sign of a; n rem 0 = 0.   Integers and bool.   The gradient stops.
WEFT_API weft_val weft_rem(weft_graph *g, weft_val a, weft_val b);
// NaN wins, then -0 < +0.   Gradient: to the winner, of equals to a.
WEFT_API weft_val weft_max(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_min(weft_graph *g, weft_val a, weft_val b);
// a^b, as C's pow.   f32.   Gradients: dz * b a^(b-1), 0 where b is 0; dz * z ln a, 0 where a is 0 and
// b >= 0.
WEFT_API weft_val weft_pow(weft_graph *g, weft_val a, weft_val b);
// Bit by bit.   Integers and bool.   The gradient stops.
WEFT_API weft_val weft_and(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_or(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_xor(weft_graph *g, weft_val a, weft_val b);
// a shifted by b bits; right keeps the sign. b < 0 or the width and more: 0, or all sign.
// Integers and bool.   The gradient stops.
WEFT_API weft_val weft_shl(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_shr(weft_graph *g, weft_val a, weft_val b);
// Comparisons.   f32, integers, bool -> bool. With a NaN only "not equal" is true; -0 equals +0.
// The gradient stops.
WEFT_API weft_val weft_equal(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_not_equal(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_less(weft_graph *g, weft_val a, weft_val b);
WEFT_API weft_val weft_less_equal(weft_graph *g, weft_val a, weft_val b);

// ---- elementwise, three operands; shapes broadcast
// a * b + c, rounded once.   f32.   Gradients: dy * b, dy * a, dy.
WEFT_API weft_val weft_fma(weft_graph *g, weft_val a, weft_val b, weft_val c);
// cond ? a : b.
//   cond    bool
//   a, b    one dtype, any
// Gradient: dy to the side that was chosen, 0 to the other (not a product: no NaN from an infinity).
WEFT_API weft_val weft_select(weft_graph *g, weft_val cond, weft_val a, weft_val b);

// ---- dtypes
// a in another dtype; a itself when it has that one.
//   a       any shape, any dtype
// Numerics: to f32 rounds to nearest even. To integers: toward zero, saturating, NaN to 0. Between
// integers: wraps. To bool: is not 0. To f16 and bf16: to f32, then to nearest even.
// Gradient: cast back, between floats; else it stops.
WEFT_API weft_val weft_cast(weft_graph *g, weft_val a, weft_dtype dtype);

// ---- reductions
//   x          any shape
//   axes       n_axes of them, each once; negative counts from the end; NULL with n_axes 0: all
//   keep_dims  reduced axes stay with size 1
// Errors: WEFT_ERR_SHAPE (axis out of range), WEFT_ERR_ATTR (axis named twice).
// Sum.   f32 i32 i64; integers wrap.   Gradient: dy in every element.
// Numerics: f32 in a tree of fixed shape; of nothing +0.
WEFT_API weft_val weft_sum(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                           bool keep_dims);
// That sum / count.   f32; of nothing NaN.
WEFT_API weft_val weft_mean(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                            bool keep_dims);
// Greatest, least: NaN wins, then -0 < +0.   f32, integers, bool.   Gradient: shared equally among the
// elements that equal the result.   Errors: WEFT_ERR_SHAPE (nothing to reduce).
WEFT_API weft_val weft_reduce_max(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                                  bool keep_dims);
WEFT_API weft_val weft_reduce_min(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                                  bool keep_dims);
// Product.   f32 i32 i64; integers wrap.   Gradient: dy times the other elements' product, without a
// division, so zeros are no special case. First order.
// Numerics: one ascending chain from 1; of nothing 1.
WEFT_API weft_val weft_reduce_prod(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                                   bool keep_dims);
// Index of the greatest, of the least along one axis: the lowest of equals (-0 equals +0); to both NaN
// comes first.
//   x       f32, integers, bool
//   result  i32
// The gradient stops. Errors: WEFT_ERR_SHAPE (nothing to reduce).
WEFT_API weft_val weft_argmax(weft_graph *g, weft_val x, int32_t axis, bool keep_dims);
WEFT_API weft_val weft_argmin(weft_graph *g, weft_val x, int32_t axis, bool keep_dims);
// Mean and variance (divided by the count, not count - 1), both with the reduced axes of size 1.
//   x       f32
// Gradient: dx = dmean / n + dvariance * 2 (x - mean) / n.
// Numerics: two passes inside a chunk, chunks merged by Chan's formula: a small variance far from 0
// keeps its bits. Of nothing NaN both.
WEFT_API void weft_moments(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes,
                           weft_val *out_mean, weft_val *out_variance);

// ---- running sums and products: y[k] of x[0] .. x[k] along one axis.
//   x          any shape     f32 i32 i64; integers wrap
//   axis       -n <= axis < n
//   exclusive  without x[k] itself
//   reverse    of x[k] .. to the end of the axis
//   result     type of x
// Errors: WEFT_ERR_SHAPE (axis out of range), WEFT_ERR_DTYPE.
// Gradient: the running sum of dy from the other side.
// Numerics: in chunks of 1024, from +0, and the totals of the chunks before are added.
WEFT_API weft_val weft_cumsum(weft_graph *g, weft_val x, int32_t axis, bool exclusive,
                              bool reverse);
// No gradient (weft_reduce_prod has one). Numerics: one chain from 1.
WEFT_API weft_val weft_cumprod(weft_graph *g, weft_val x, int32_t axis, bool exclusive,
                               bool reverse);

// ---- products
// c = a b over the last two axes.
//   a       [..,m,k], or [..,k,m] with transpose_a   f32
//   b       [..,k,n], or [..,n,k] with transpose_b   f32
//   result  [..,m,n]; batch axes broadcast
// Gradients: dc b^T and a^T dc, flushed, summed over batch axes that were stretched.
// Numerics: chains of fma over ascending k in blocks of at most 4096, block sums ascending; a row more
// in a changes no other row's bits. k = 0 gives +0.
// Errors: WEFT_ERR_SHAPE (fewer than 2 axes, inner sizes differ, batches do not broadcast).
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
#define WEFT_CONV_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(weft_conv_options), NULL, NULL, NULL, NULL, 0                                       \
    }
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
#define WEFT_WINDOW_OPTIONS_INIT                                                                   \
    {                                                                                              \
        sizeof(weft_window_options), NULL, NULL, NULL, NULL, false, false                          \
    }
// y = the greatest of each window.
//   x        [n,c,spatial..]    f32
//   window   1 to 3 sizes, at most 256 cells (a global maximum is weft_reduce_max)
//   result   [n,c,spatial'..]
// Gradient: each dy goes to the cell that won; a cell adds its windows in ascending order. Any
// order.
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

// The elements in order along an axis, and the index that each had.
//   x          [a..,d,b..]            f32, integers, bool
//   axis       -n <= axis < n         which axis d is
//   descending the greatest first
//   values     [a..,d,b..]            dtype of x; out pointers may be NULL
//   indices    [a..,d,b..]            i32
// Gradient: dy of values to where they came from; none through indices.
// Numerics: -0 < +0, NaN last in both directions; equal elements keep their order.
// Errors: WEFT_ERR_SHAPE (axis out of range or too long for an i32), WEFT_ERR_DTYPE.
WEFT_API void weft_sort(weft_graph *g, weft_val x, int32_t axis, bool descending,
                        weft_val *out_values, weft_val *out_indices);
// The first k of that order: the k greatest, or least, of ties those with the lowest index.
//   k          0 <= k <= d
//   values     [a..,k,b..]            and indices, likewise
// Gradient, numerics, errors: as weft_sort; WEFT_ERR_SHAPE also where k is out of range.
WEFT_API void weft_top_k(weft_graph *g, weft_val x, int64_t k, int32_t axis, bool largest,
                         weft_val *out_values, weft_val *out_indices);
// size elements of an axis from start on, which is known when the program runs.
//   x         [a..,d,b..]             any dtype
//   start     [] or one element       i32 i64, 0 <= start <= d - size; a negative one is out of range
//   axis      -n <= axis < n          which axis d is
//   size      0 <= size <= d
//   result    [a..,size,b..]; zeros where start is out of range, which makes the step bad
// Gradient: weft_dynamic_update of dy into zeros; none in start.
// Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE; WEFT_ERR_INDEX when it runs.
WEFT_API weft_val weft_dynamic_slice(weft_graph *g, weft_val x, weft_val start, int32_t axis,
                                     int64_t size);
// x with part in place of the elements of an axis from start on. Assigned to the variable that x is, it
// writes the part only, where nothing can go wrong behind it: a cache is kept without a copy.
//   x         [a..,d,b..]             any dtype
//   start     [] or one element       i32 i64, 0 <= start <= d - n; a negative one is out of range
//   part      [a..,n,b..]             dtype of x
//   axis      -ndim <= axis < ndim    which axis d is
//   result    shape and dtype of x; x where start is out of range, which makes the step bad
// Gradients: dx = dy with zeros in the part's place, dpart = weft_dynamic_slice of dy; none in start.
// Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE; WEFT_ERR_INDEX when it runs.
WEFT_API weft_val weft_dynamic_update(weft_graph *g, weft_val x, weft_val start, weft_val part,
                                      int32_t axis);

// ---- shape: no arithmetic, any dtype. All but pad and concat are views: they cost nothing by themselves.
// The same elements in row-major order under other dims.
//   dims    of the same count; one may be -1: what is left
// Gradient: reshaped back. Errors: WEFT_ERR_SHAPE (counts differ, nothing fits for -1).
WEFT_API weft_val weft_reshape(weft_graph *g, weft_val x, const int64_t *dims, int32_t ndim);
// Axes from first on become one: [a,b,c] from 1 is [a,b*c].
//   first   0 <= first <= x's ndim; negative counts from the end
WEFT_API weft_val weft_flatten(weft_graph *g, weft_val x, int32_t first);
// result axis i is x's axis order[i].
//   order   each of x's axes once; negative counts from the end
// Gradient: permuted back. Errors: WEFT_ERR_ATTR (not each axis once).
WEFT_API weft_val weft_permute(weft_graph *g, weft_val x, const int32_t *order);
// The order of the elements reversed along some axes.
//   axes    n_axes of them, each once; negative counts from the end; NULL with n_axes 0: all
// Gradient: flipped back. Errors: WEFT_ERR_SHAPE (axis out of range), WEFT_ERR_ATTR (axis named twice).
WEFT_API weft_val weft_flip(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes);
// Swaps the last two axes. Errors: WEFT_ERR_SHAPE (fewer than two).
WEFT_API weft_val weft_transpose(weft_graph *g, weft_val x);
// NumPy's rule: axes are matched from the right, size 1 stretches.
// Gradient: summed over what was stretched. Errors: WEFT_ERR_SHAPE (x does not stretch to dims).
WEFT_API weft_val weft_broadcast(weft_graph *g, weft_val x, const int64_t *dims, int32_t ndim);
// Elements start, start + step, .. before stop of each axis.
//   start   0 <= start <= stop, one for each axis; negative counts from the end
//   stop    likewise; cut to the size (INT64_MAX: to the end)
//   step    >= 1; NULL: 1
// Gradient: zeros in between and around. Errors: WEFT_ERR_SHAPE (range outside), WEFT_ERR_ATTR (step).
WEFT_API weft_val weft_slice(weft_graph *g, weft_val x, const int64_t *start, const int64_t *stop,
                             const int64_t *step);
// x with elements around it.
//   before, after   how many, >= 0, one for each axis
//   value           rounded once to x's dtype; an integer dtype must hold it exactly
// Gradient: the part of x. Errors: WEFT_ERR_ATTR (a size below 0, value does not fit).
WEFT_API weft_val weft_pad(weft_graph *g, weft_val x, const int64_t *before, const int64_t *after,
                           double value);
// n values one behind the other along axis; the other axes and the dtype are the same.
//   axis    negative counts from the end
// Gradient: each one's part. Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE, WEFT_ERR_USAGE (n = 0).
WEFT_API weft_val weft_concat(weft_graph *g, const weft_val *xs, size_t n, int32_t axis);

// ---- scan: one step run a fixed number of times, with states that go from step to step
// A step under construction: values of a graph of its own. Nothing of the outer graph may be used in it
// but what is named here; variables, assignments and random numbers stay outside.
typedef struct weft_scan_step {
    const weft_val *states;    // before the step
    const weft_val *sequences; // the step's element of each: without axis 0
    const weft_val *captured;  // the same in every step
    weft_val *next_states;     // to be set, of the states' types
    weft_val *stacks;          // to be set: results of the step
} weft_scan_step;

typedef struct weft_scan_spec {
    size_t struct_size;
    int64_t n_steps;        // 0: the sequences' axis 0
    bool is_reverse;        // from the last element of axis 0 to the first
    const weft_val *states; // first values
    size_t n_states;
    const weft_val *sequences; // [n,..]
    size_t n_sequences;
    const weft_val *captured;
    size_t n_captured;
    size_t n_stacks;
    // Builds the step, once. Errors are recorded in `step_graph` or by leaving a result unset.
    void (*step)(weft_graph *step_graph, void *user, const weft_scan_step *step);
    void *user;
} weft_scan_spec;

// Runs the step n times, n >= 1, all in one program.
//   out_states   n_states values: behind the last step; may be NULL
//   out_stacks   n_stacks values [n,..]: the step's results, each at its element's place on axis 0
// A product of a sequence's element [b,k] with a captured matrix is done for all steps at once before.
// Gradient: a scan in the other direction. Of a captured matrix [k,n] that products multiply from the
// right: one product over the terms (step's place, b), ascending. Of anything else that is captured:
// the sum of the steps' gradients by the column rule.
// Errors: WEFT_ERR_SHAPE (axes 0 differ, 0 steps, a next state of another type), WEFT_ERR_USAGE,
// WEFT_ERR_UNSUPPORTED (a variable in the step), WEFT_ERR_ATTR (more than 32 results).
WEFT_API void weft_scan(weft_graph *g, const weft_scan_spec *spec, weft_val *out_states,
                        weft_val *out_stacks);

// What one step of an LSTM does behind its products; what runs a whole sequence is in nn.h.
//   x       [b,4h]   f32   the input's part of input, forget, candidate and output gate, with the bias
//   p       [b,4h]   f32   the state's part of them
//   c       [b,h]    f32
//   out_h, out_c   [b,h]   h' = o * tanh(c'), c' = f * c + i * g
// Gradient: by the cell's own formulas, flushed. Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE.
WEFT_API void weft_lstm_cell(weft_graph *g, weft_val x, weft_val p, weft_val c, weft_val *out_h,
                             weft_val *out_c);
// The same of a GRU whose reset gate works behind the product (PyTorch's).
//   x       [b,3h]   f32   the input's part of reset gate, update gate and candidate, with its bias
//   p       [b,3h]   f32   the state's part of them, with its bias
//   h       [b,h]    f32
//   result  [b,h]          n + z * (h - n), n = tanh(x_n + r * p_n)
// Gradient: by the cell's own formulas, flushed. Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE.
WEFT_API weft_val weft_gru_cell(weft_graph *g, weft_val x, weft_val p, weft_val h);

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

typedef struct weft_attention_options {
    size_t struct_size;
    double scale;   // of the scores; 0: 1 / sqrt(d)
    bool is_causal; // query i sees keys 0 .. i + tk - tq: the last query sees every key
    weft_val mask;  // none, or [b,h,tq,tk] with sizes of 1 where it is the same for all:
        // bool, true where the query sees the key, or f32, added to the score, -inf hides
} weft_attention_options;
#define WEFT_ATTENTION_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(weft_attention_options), 0, false,                                                  \
        {                                                                                          \
            0                                                                                      \
        }                                                                                          \
    }
// o = softmax(scale * q k^T + mask) v for each head, without forming the scores.
//   q         [b,h,tq,d], d >= 1                        f32
//   k, v      [b,hk,tk,d], h a multiple of hk           f32; h / hk heads after one another share one
//   options   NULL: all defaults
//   result    [b,h,tq,d]
//   out_lse   NULL, or [b,h,tq]: log of the sum of exp of the scores; -inf for a query without keys
// A query that sees no key gives 0, and zero gradients.
// Gradient: of q, k and v, recomputed block by block; of an added mask, where it is wanted, by ordinary ops whose
// scores [b,h,tq,tk] stand in memory. First order.
// Numerics: blocks of 64 keys, ascending, with a running maximum; see doc/arithmetic.md. A query more
// changes no other one's bits, so one by one equals all at once.
// Errors: WEFT_ERR_SHAPE, WEFT_ERR_DTYPE, WEFT_ERR_USAGE (struct_size).
WEFT_API weft_val weft_attention(weft_graph *g, weft_val q, weft_val k, weft_val v,
                                 const weft_attention_options *options, weft_val *out_lse);

// Records the caller's place for error messages. The library itself is built without these.
#ifndef WEFT_NO_PLACE
#include <weft/place.h>
#endif

#ifdef __cplusplus
}
#endif
#endif
