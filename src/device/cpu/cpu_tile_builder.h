// A kernel on its way into the steps of the tile interpreter: what cpu_tile_lower.c and cpu_tile_place.c share.
#ifndef WF_CPU_TILE_BUILDER_H
#define WF_CPU_TILE_BUILDER_H

#include "device/cpu/cpu_tile.h"

typedef struct wf_cpu_builder {
    wf_cpu_lower *q;
    const wf_kernel *k;
    const wf_cpu_layout *layout;
    wf_cpu_lowered *tiles;
    uint32_t *step_of;  // instruction -> step
    uint32_t *point_of; // step of an outer value -> the step that holds it for every point
    uint32_t capacity;
    uint32_t n_operands;
    bool is_late;                         // stores wait for the last walk
    uint32_t *free_slots[WF_CPU_N_SIZES]; // steps whose slot is free again
    uint32_t n_free[WF_CPU_N_SIZES];
    size_t slot_bytes;
} wf_cpu_builder;

// The product that an epilogue reads lies in a thread's own memory.
bool wf_cpu_is_block(const wf_cpu_builder *b, size_t input);
// Does the task write memory that the input reads?
bool wf_cpu_is_overwritten(const wf_cpu_builder *b, size_t input);

// Once all steps are there, in this order. Streams: large results go past the caches. Shortcuts: values that are
// read, or written, where an operand lies. Slots: room in the scratch for the others.
void wf_cpu_set_streams(wf_cpu_builder *b);
void wf_cpu_set_shortcuts(wf_cpu_builder *b);
void wf_cpu_set_slots(wf_cpu_builder *b);

#endif
