// Renders a wf_kernel as source text in the common dialect (OpenCL C, CUDA and HIP compile it alike).
// In: a kernel of the plan, what the device likes. Out: text, the launches, their arguments.
// Stage: PLAN -> PROGRAM.
//
// The text holds the structure only (instructions, dtypes, which strides are 0 or 1, which operands are
// walked alike): sizes, other strides and offsets are arguments, so a new batch size finds the old
// text. Every kernel of one text takes the same arguments, in this order:
//     each input's buffer, each output's buffer, the workspace (when it has one), the status word,
//     a struct of n_values integers by value (32-bit, or 64-bit when is_wide)
// The text expects gpu_dialect.h and gpu_reduce.h in front of it.
#ifndef WF_CODEGEN_RENDER_H
#define WF_CODEGEN_RENDER_H

#include "base/text.h"
#include "codegen/kernel.h"

typedef struct wf_render_options {
    bool is_cpu;         // work-items are loop iterations of a processor core
    bool has_f64;        // doubles can be computed with; else f64 is only moved
    uint32_t group_size; // of kernels that need no cooperation
    uint32_t n_units;    // work-groups that run at one time, about
} wf_render_options;

// At most: one partial, the levels of its tree (64^10 > 2^60), one final.
#define WF_RENDER_MAX_LAUNCHES 12

typedef struct wf_render_launch {
    const char *name; // static
    uint32_t group_size;
    int64_t n_groups;
    int64_t *values; // n_values of them
} wf_render_launch;

typedef struct wf_render {
    wf_arena memory;
    wf_text source;
    bool is_wide;
    bool has_workspace;
    size_t workspace_bytes;
    size_t n_values;
    size_t n_launches; // 0: there is nothing to do (an axis of size 0)
    wf_render_launch launches[WF_RENDER_MAX_LAUNCHES];
} wf_render;

// Bytes of the values struct on the device.
static inline size_t wf_render_values_bytes(const wf_render *r)
{
    return r->n_values * (r->is_wide ? sizeof(int64_t) : sizeof(int32_t));
}

// What the plan says of the kernel's task, apart from the kernel.
typedef struct wf_render_task {
    uint32_t idx;             // what the status word would name
    bool is_gated;            // does nothing once the status is bad
    int64_t workspace_offset; // bytes from the start of the buffer that is passed; a multiple of 16
} wf_render_task;

// Errors: WEFT_ERR_MEMORY, WEFT_ERR_UNSUPPORTED (f64 arithmetic without it), WEFT_ERR_INTERNAL (a formula
// with a product beside a sum).
weft_status wf_render_create(const wf_allocator *a, const wf_kernel *k,
                             const wf_render_options *options, const wf_render_task *task,
                             wf_render *out_render, weft_error *err);
void wf_render_destroy(wf_render *render);

// Only the bytes of workspace that the kernel wants.
size_t wf_render_workspace(const wf_kernel *k, const wf_render_options *options);

// True when a formula leaves a product beside a sum, which a compiler might contract. On the text:
// a '*' with a '+' or binary '-' in the same parentheses or the ones around it. Integer formulas are free.
bool wf_render_has_bare_product(const char *formula);

#endif
