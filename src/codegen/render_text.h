// What the files of the renderer share: the text under construction and the values it refers to.
#ifndef WF_CODEGEN_RENDER_TEXT_H
#define WF_CODEGEN_RENDER_TEXT_H

#include "codegen/render.h"
#include "codegen/render_space.h"

typedef struct wf_renderer {
    const wf_kernel *k;
    const wf_render_options *options;
    const wf_render_task *task;
    wf_space space;
    wf_text *text;
    wf_render *out;
    // The values struct: each entry's number for this kernel, by order of use.
    int64_t *values;
    size_t n_values, values_capacity;
    uint32_t dim_value[WEFT_MAX_DIM]; // p.v[] of each axis' size
    uint32_t *stride_value;           // [pattern * WEFT_MAX_DIM + axis]
    uint32_t *offset_value;           // per instruction
    uint32_t points_value, inner_value, task_value, gated_value;
    uint32_t stage_values[4]; // see render_stages.h
    bool *needed;             // scratch: instructions of the walk in hand
    weft_status status;
    weft_error *err;
} wf_renderer;

// "wf_f32", "wf_i64", ... how a value of the dtype is held in a kernel (f16, bf16: their bits).
const char *wf_render_type(const wf_renderer *r, weft_dtype dtype);

// Adds a value and returns its place in p.v[].
uint32_t wf_render_value(wf_renderer *r, int64_t value);

// The values of a CONST instruction, unless it stands in the text.
void wf_render_reserve_const(wf_renderer *r, size_t i);

// The static functions for the kernel's formulas, one per (op, dtype).
void wf_render_formulas(wf_renderer *r);
// How instruction i is computed from v<args>: an expression, for APPLY, CAST and SELECT.
void wf_render_apply(wf_renderer *r, const wf_inst *inst);
void wf_render_cast(wf_renderer *r, const wf_inst *inst);

// "WF_KERNEL ... void name(arguments) {" with the group size as given, and the gate.
void wf_render_head(wf_renderer *r, const char *name, uint32_t group_size);
// Coordinates of an outer point from `from`: c0 .. ; then those patterns' outer parts: y<p>.
void wf_render_outer_point(wf_renderer *r, const char *from);
// Coordinates of an inner point from `from` (NULL: they are there already), and whole indices x<p>.
void wf_render_inner_point(wf_renderer *r, const char *indent, const char *from);
// Marks what the per-point instruction i is computed from (and i).
void wf_render_need(wf_renderer *r, size_t i);
// Every instruction in order that is marked needed and per-point (outer: is_outer), level <= level.
void wf_render_points(wf_renderer *r, const char *indent);
// The outer instructions (no REDUCE, SECOND, STORE) of one level.
void wf_render_outer_insts(wf_renderer *r, int32_t level);
// Stores; those that are outer ones, or those per point.
void wf_render_store(wf_renderer *r, const char *indent, size_t i);

// One reduction's state: C type, first value, how to add an element, how to merge two states.
typedef struct wf_reduce_text {
    const char *type;   // of the state
    const char *first;  // the state of nothing
    const char *merge;  // function of two states: the rule's order is (earlier, later)
    const char *add;    // function (state, element, inner index) -> state
    size_t state_bytes; // in the workspace
    bool is_ordered;    // f32 sums and moments: the shape of the sum is the definition
} wf_reduce_text;
wf_reduce_text wf_render_reduce(wf_renderer *r, const wf_inst *inst);

void wf_render_map(wf_renderer *r);
void wf_render_row(wf_renderer *r);
void wf_render_column(wf_renderer *r);

#endif
