// The iteration space of a kernel after axes are merged, and the ways its operands are walked.
#ifndef WF_CODEGEN_RENDER_SPACE_H
#define WF_CODEGEN_RENDER_SPACE_H

#include "codegen/kernel.h"

#define WF_NO_PATTERN UINT32_MAX

// How an index grows along the axes of the space. Operands that walk alike share one.
typedef struct wf_pattern {
    int64_t strides[WEFT_MAX_DIM];
} wf_pattern;

typedef struct wf_space {
    int32_t n_outer; // axes [0, n_outer) are outer ones, the rest inner; MAP: all outer
    int32_t ndim;
    int64_t dims[WEFT_MAX_DIM];
    int64_t outer, inner; // points
    bool is_wide;         // an index needs more than 31 bits
    size_t n_patterns;
    wf_pattern *patterns;
    uint32_t *inst_pattern; // of LOAD, STORE, IOTA and RANDOM; else WF_NO_PATTERN
} wf_space;

// Axes of size 1 are dropped, neighbours merged wherever every pattern allows; MAP axes are ordered by
// the strides of the first output, so that neighbouring work-items write neighbours.
weft_status wf_space_create(wf_arena *memory, const wf_kernel *k, wf_space *out_space,
                            weft_error *err);

#endif
