// What the ops with indices share: shapes around the axis, reading an index, which makes the step bad
// when it is out of range.
#ifndef WF_OP_INDEX_COMMON_H
#define WF_OP_INDEX_COMMON_H

#include "op/check_case.h"

// A tensor [outer.., size, inner..] seen around attribute 0, the axis.
typedef struct wf_index_walk {
    int64_t outer, size, inner;
    int64_t n_idx;
} wf_index_walk;

// Dtype of the indices and range of the axis. x, idx: which inputs they are.
weft_status wf_infer_index(const wf_node_info *info, size_t x, size_t idx, weft_error *err);
wf_index_walk wf_index_walk_make(const weft_type *x, int64_t axis, const wf_tensor *idx);
// Index j in [0, size), a negative one counted from the end; -1, and a bad step, out of range.
int64_t wf_index_get(wf_eval *q, const wf_index_walk *w, const wf_tensor *idx, int64_t j);
// Moves the result and as much again, and reads the indices.
wf_cost wf_cost_index(const wf_node_info *info);
// gather, scatter_add: operand 1 in [-size, size).
wf_index_range wf_index_range_axis(const wf_node_info *info);

// ---- dynamic_slice, dynamic_update: attribute 0 is the axis, operand 1 the start, one integer.
// Dtype and shape of the start, range of the axis.
weft_status wf_infer_start(const wf_node_info *info, weft_error *err);
// The part's place; -1, and a bad step, when it is out of range.
int64_t wf_start_get(wf_eval *q);
// Operand 1 in [0, size - part].
wf_index_range wf_index_range_start(const wf_node_info *info);
// The type of the part: operand 2, or the result of an op without one.
const weft_type *wf_start_part(const wf_node_info *info);

// What both are checked on: inputs x, start and part, params axis and size of the part. Beside the one
// in the middle, starts that are out of range are tried.
#define WF_START_N_CASES 9
#define WF_START_CASE_MIDDLE 3
wf_check_case wf_start_case(size_t idx);

#endif
