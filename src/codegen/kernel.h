// The kernel IR: one fused group of nodes as a short list of instructions over one iteration space.
// The planner builds it; each device runs or renders it. Stage: PLAN -> PROGRAM.
//
// Space: dims[0..ndim). MAP visits every point once. ROW and COLUMN split the axes in outer (kept)
// and inner (reduced) ones; `is_inner[axis]` says which. In a ROW kernel the inner axes come last
// and are reduced by the row rule (doc/arithmetic.md), in a COLUMN kernel by the column rule, both
// in ascending logical index (dims order, last fastest).
//
// Instructions are in order; each makes one value (STORE: none). A value is per point
// (is_outer = false) or, in ROW and COLUMN kernels, per outer point (is_outer = true): results of
// reductions, loads and constants that do not vary along inner axes, and what is computed from
// those only. APPLY with one per-point argument is per point: outer arguments are repeated. A STORE is
// per point when its output varies along inner axes, whatever its argument is, and a REDUCE reduces
// inner points whatever its argument is: an outer value counts once for each inner point. A
// COLUMN kernel never mixes a reduction's result back into per-point instructions (that needs a
// second walk over its inputs); a ROW kernel may, and a device then walks the row once per level:
// level[i] = the number of reductions in the longest chain in front of instruction i. Recomputing
// a per-point instruction in a later walk gives the same bits, so devices are free to.
#ifndef WF_CODEGEN_KERNEL_H
#define WF_CODEGEN_KERNEL_H

#include "op/inst.h"

typedef enum wf_kernel_kind { WF_KERNEL_MAP, WF_KERNEL_ROW, WF_KERNEL_COLUMN } wf_kernel_kind;

// How an operand is walked: element strides per space axis (0: does not vary), from offset.
typedef struct wf_access {
    weft_dtype dtype;
    int64_t offset; // elements from the buffer's start
    int64_t strides[WEFT_MAX_DIM];
} wf_access;

typedef struct wf_kernel {
    wf_kernel_kind kind;
    int32_t ndim;
    int64_t dims[WEFT_MAX_DIM];
    bool is_inner[WEFT_MAX_DIM];
    int32_t n_levels; // walks a ROW kernel needs: 1 + the greatest level
    size_t n_insts;
    wf_inst *insts;
    size_t n_inputs;
    wf_access *inputs; // task->inputs[i] names the buffer
    size_t n_outputs;
    wf_access *outputs;
} wf_kernel;

// Points of the outer and of the inner axes.
int64_t wf_kernel_outer(const wf_kernel *k);
int64_t wf_kernel_inner(const wf_kernel *k);

// One instruction a line, for --dump and tests. Returns text to be freed by weft_text_free.
weft_status wf_kernel_print(weft_context *ctx, const wf_kernel *k, char **out_text,
                            weft_error *err);

#endif
