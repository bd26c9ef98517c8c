// What constructors and gradients share: looking at operands before a node is added, shapes that
// broadcast, axes that count from the end.
#ifndef WF_OP_BUILD_H
#define WF_OP_BUILD_H

#include "op/op.h"

// True when the graph is well and all n values are its own. A value of another graph is recorded as
// an error; none is not one: something failed before.
bool wf_build_ready(weft_graph *g, const wf_op *op, const weft_val *in, size_t n);

// axis in -ndim..ndim-1 to 0..ndim-1; records an error and gives false otherwise.
bool wf_build_axis(weft_graph *g, const wf_op *op, const weft_type *x, int32_t axis,
                   int32_t *out_axis);
// The same for a list, sorted; an axis named twice is an error. NULL with n 0: all axes.
bool wf_build_axes(weft_graph *g, const wf_op *op, const weft_type *x, const int32_t *axes,
                   size_t n, int64_t out_axes[WEFT_MAX_DIM], size_t *out_n);

// NumPy's rule for n dims lists; false when they do not fit.
bool wf_dims_broadcast(const weft_type *const *types, size_t n, int32_t *out_ndim,
                       int64_t out_dims[WEFT_MAX_DIM]);
// val itself when it has these dims, else a broadcast node.
weft_val wf_build_broadcast(weft_graph *g, weft_val val, int32_t ndim, const int64_t *dims);
// val itself when it has these dims, else a reshape node.
weft_val wf_build_reshape(weft_graph *g, weft_val val, int32_t ndim, const int64_t *dims);

// The way back from a broadcast: val summed over what was stretched, then without the axes that dims lacks.
weft_val wf_build_sum_to(weft_graph *g, weft_val val, int32_t ndim, const int64_t *dims);

// A scalar of val's dtype, and that scalar in val's shape.
weft_val wf_build_scalar_like(weft_graph *g, weft_val val, double value);
weft_val wf_build_fill_like(weft_graph *g, weft_val val, double value);
// val * value, the value rounded to f32.
weft_val wf_build_scale(weft_graph *g, weft_val val, double value);
// flush(exp(val)): subnormals are born here.
weft_val wf_build_exp_flush(weft_graph *g, weft_val val);
// exp(-|x|) / (1 + exp(-|x|))^2, the derivative of sigmoid, to a few ulp in the tails as well:
// y * (1 - y) loses all bits where y is near 1.
weft_val wf_build_sigmoid_slope(weft_graph *g, weft_val x);

// ---- infer
// dims of a new value: at most WEFT_MAX_DIM, none negative, the count in 63 bits.
weft_status wf_infer_dims(weft_dtype dtype, const int64_t *dims, size_t ndim, weft_type *out,
                          weft_error *err);

// ---- cost
wf_cost wf_cost_none(const wf_node_info *info); // sources and views
wf_cost wf_cost_move(const wf_node_info *info); // reads its inputs, writes its outputs
double wf_cost_bytes(const wf_node_info *info);

#endif
