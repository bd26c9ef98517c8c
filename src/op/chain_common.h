// What the ops along one axis share, whose terms follow one another: cumsum, cumprod, reduce_prod.
// A tensor is seen around the axis as [outer.., size, inner..]; a line is one outer and one inner index.
#ifndef WF_OP_CHAIN_COMMON_H
#define WF_OP_CHAIN_COMMON_H

#include "op/op.h"

// Elements of a cumulative sum's chunk: version 1 of doc/arithmetic.md.
#define WF_CHAIN_CHUNK 1024

// Attributes of all; those of the cumulative ops go on. The order is the devices', too.
enum { WF_CHAIN_AXIS, WF_CHAIN_EXCLUSIVE, WF_CHAIN_REVERSE };
extern const wf_attr_spec wf_chain_attrs[3];

typedef struct wf_chain_walk {
    int64_t outer, size, inner;
    bool is_exclusive, is_reverse; // of the cumulative ops
} wf_chain_walk;

wf_chain_walk wf_chain_walk_make(const wf_node_info *info);
// Where element k of a line stands in the order of the chain: from the end if reversed.
static inline int64_t wf_chain_at(const wf_chain_walk *w, int64_t outer, int64_t k, int64_t inner)
{
    const int64_t at = w->is_reverse ? w->size - 1 - k : k;
    return (outer * w->size + at) * w->inner + inner;
}

// A cumulative op's way along one line, in each kind of number.
typedef struct wf_chain_lines {
    void (*f32)(const wf_chain_walk *w, const float *x, float *y, int64_t outer, int64_t inner);
    void (*truth)(const wf_chain_walk *w, const double *x, double *y, int64_t outer, int64_t inner);
    void (*ints)(const wf_chain_walk *w, const wf_tensor *x, const wf_tensor *y, int64_t outer,
                 int64_t inner);
} wf_chain_lines;
// eval and eval_truth: every line.
weft_status wf_chain_eval(wf_eval *q, const wf_chain_lines *lines);

// dtype f32 i32 i64, axis in range; *out is x.
weft_status wf_infer_chain(const wf_node_info *info, weft_type *out, weft_error *err);
wf_cost wf_cost_chain(const wf_node_info *info);
// The constructor of a cumulative op.
weft_val wf_build_chain(weft_graph *g, const wf_op *op, weft_val x, int32_t axis, bool is_exclusive,
                        bool is_reverse);

// ---- cases of `weft check`
struct wf_check_list;
// params: axis, exclusive, reverse, and whether x becomes 1 + x / 128, for products that neither
// vanish nor overflow.
enum { WF_CHAIN_CASE_AXIS, WF_CHAIN_CASE_EXCLUSIVE, WF_CHAIN_CASE_REVERSE, WF_CHAIN_CASE_NEAR_ONE };
typedef struct wf_chain_cases {
    weft_val (*build)(weft_graph *g, const weft_val *in, const int64_t *p);
    bool is_cumulative; // exclusive and reverse, too
    bool is_product;
    bool no_gradient;
} wf_chain_cases;
void wf_chain_add_cases(struct wf_check_list *list, const wf_chain_cases *kind);
weft_val wf_chain_case_input(weft_graph *g, weft_val x, const int64_t *p);

#endif
