// A kernel under construction. Everything lives in the plan's memory. Stage: PLAN.
#ifndef WF_PLAN_KERNEL_BUILDER_H
#define WF_PLAN_KERNEL_BUILDER_H

#include "plan/planner.h"

typedef struct wf_kernel_builder {
    wf_planner *p;
    uint32_t group; // WF_NO_INDEX for copies
    wf_kernel *kernel;
    wf_view *in_views, *out_views;
    size_t insts_capacity, inputs_capacity, outputs_capacity;
    uint32_t *inst_of; // by value: its instruction; WF_NO_INDEX
} wf_kernel_builder;

weft_status wf_kernel_start(wf_kernel_builder *b, wf_planner *p, wf_kernel_kind kind, int32_t ndim,
                            const int64_t *dims, size_t max_insts, size_t max_operands);
uint32_t wf_kernel_add_inst(wf_kernel_builder *b, wf_inst inst);
// The operand at that place, or the one that is there already: its index.
uint32_t wf_kernel_add_operand(const wf_location *l, weft_dtype dtype, wf_access *accesses,
                               wf_view *views, size_t *n, int32_t ndim);
// A value as an instruction: a constant, or a load. A scalar (seed, step) is loaded by every point from the
// same place.
weft_status wf_kernel_add_load(wf_kernel_builder *b, wf_id id, uint32_t *out_inst);
void wf_kernel_add_store(wf_kernel_builder *b, uint32_t inst, const wf_location *l,
                         weft_dtype dtype);
// The task of the kernel.
weft_status wf_kernel_finish(wf_kernel_builder *b, bool is_gated, const uint32_t *nodes,
                             size_t n_nodes);

#endif
