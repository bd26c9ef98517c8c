// What the reductions share: their attribute, their types, and walking the reduced elements of each
// result in ascending logical index.
#ifndef WF_OP_REDUCE_H
#define WF_OP_REDUCE_H

#include "op/build.h"
#include "op/tensor.h"

// Attributes of every reduction: `axes`, sorted; those whose bits depend on the order also have
// `rule`, "row" or "column".
enum { WF_REDUCE_AXES, WF_REDUCE_RULE };
extern const wf_attr_spec wf_reduce_attrs[2];

static inline bool wf_reduce_is_row(const wf_node_info *info)
{
    return info->attrs[WF_REDUCE_RULE].u.text[0] == 'r';
}

// Checks axes and dtype; *out is x with the reduced axes of size 1.
weft_status wf_infer_reduce(const wf_node_info *info, uint32_t allowed, weft_type *out,
                            weft_error *err);
// "row" if every reduced axis comes after every kept one, axes of size 1 ignored, else "column": taken
// from the shape where the attribute is not given, so that a pass that copies a node keeps its bits.
weft_status wf_infer_reduce_rule(const wf_node_info *info, weft_error *err);
// An error when results exist but have nothing to reduce.
weft_status wf_infer_reduce_some(const wf_node_info *info, const weft_type *out, weft_error *err);
// argmax, argmin: one axis, which an i32 can count, and something to reduce; the result is i32.
weft_status wf_infer_reduce_index(const wf_node_info *info, uint32_t allowed, weft_type *out,
                                  weft_error *err);

// The constructor: the node, and behind it the reshape that drops the axes unless keep_dims.
weft_val wf_build_reduce(weft_graph *g, const wf_op *op, weft_val x, const int32_t *axes,
                         size_t n_axes, bool keep_dims);
// Elements per result.
int64_t wf_reduce_inner(const wf_node_info *info);
wf_cost wf_cost_reduce(const wf_node_info *info);

typedef struct wf_reduce_walk {
    int64_t n_outer, n_inner;
    int32_t n_kept, n_reduced;
    int64_t kept_dims[WEFT_MAX_DIM], kept_strides[WEFT_MAX_DIM];
    int64_t reduced_dims[WEFT_MAX_DIM], reduced_strides[WEFT_MAX_DIM];
} wf_reduce_walk;

wf_reduce_walk wf_reduce_walk_make(const wf_node_info *info);
// Index in x of the inner-th element of the outer-th result.
int64_t wf_reduce_at(const wf_reduce_walk *walk, int64_t outer, int64_t inner);
// x's elements of one result, side by side in buf: f32, or double in truth mode.
void wf_reduce_gather(const wf_reduce_walk *walk, const wf_tensor *x, int64_t outer, void *buf);

// ---- cases of `weft check` (op/check_case.h)
struct wf_check_list;
typedef struct wf_reduce_cases {
    weft_val (*build)(weft_graph *g, const weft_val *in, const int64_t *p);
    uint32_t ints; // integer dtypes to try besides f32
    bool one_axis; // only cases that reduce one axis
    bool takes_nothing;
    bool no_gradient;
    double bound; // wf_check_case.bound
} wf_reduce_cases;
void wf_reduce_add_cases(struct wf_check_list *list, const wf_reduce_cases *kind);
// What build does with its parameters.
enum { WF_REDUCE_CASE_MASK, WF_REDUCE_CASE_KEEP, WF_REDUCE_CASE_TURN };
size_t wf_reduce_case_axes(const int64_t *p, int32_t axes[WEFT_MAX_DIM]);
weft_val wf_reduce_case_input(weft_graph *g, weft_val x, const int64_t *p);

// dx of a maximum or minimum: shared equally among the elements that equal it.
void wf_grad_reduce_extreme(const wf_grad_query *q);

#endif
