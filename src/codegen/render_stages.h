// Reductions in several launches: partial states in the workspace, level by level.
#ifndef WF_CODEGEN_RENDER_STAGES_H
#define WF_CODEGEN_RENDER_STAGES_H

#include "codegen/render_text.h"

#define WF_STATE_BYTES 16 // the largest state; sections are counted in this unit

// A level's states: n_states for each outer point, state s of outer point o at [s * outer + o], one
// section per reduction.
typedef struct wf_stage {
    int64_t n_states;
    size_t start_bytes;
} wf_stage;

// Reserves the values that change from launch to launch.
void wf_stages_open(wf_renderer *r);
size_t wf_stages_level_bytes(const wf_kernel *k, int64_t n_states, int64_t outer);
void wf_stages_fill(wf_renderer *r, int64_t *values, const wf_stage *src, const wf_stage *dst);
// p.v[] of the byte offset of an instruction's states.
uint32_t wf_stages_offset(const wf_renderer *r, size_t inst, bool is_dst);
// v<i> of the REDUCE (and SECOND) instructions of a level (-1: of all) from states named <name><i>.
void wf_render_results(wf_renderer *r, int32_t level, const char *name);

// A ROW kernel whose rows are long and few is cut: one group per chunk, then one per row.
bool wf_row_is_staged(const wf_kernel *k, const wf_render_options *options);

#endif
