// A state and a program inside. Stage: PROGRAM -> RUN.
#ifndef WF_RUN_RUN_INTERNAL_H
#define WF_RUN_RUN_INTERNAL_H

#include "device/device.h"
#include "weft/run.h"

typedef struct wf_variable {
    char *name;
    weft_type type;
    wf_device_buffer *buffer;
} wf_variable;

struct weft_state {
    weft_device *device;
    wf_variable *variables;
    size_t n_variables, capacity;
    size_t variable_bytes;
};

struct weft_program {
    weft_state *state;
    wf_plan *plan;
    wf_program_memory memory;
    wf_device_program *program;
};

// Writes which index of a node that went bad is out of range, and of which: never WEFT_OK.
weft_status wf_program_blame_index(weft_program *p, const wf_node *node, weft_error *err);

// The variable of that name; NULL when there is none.
wf_variable *wf_state_find(const weft_state *state, const char *name);
// A new variable, zeroed.
weft_status wf_state_add(weft_state *state, const char *name, const weft_type *type,
                         wf_variable **out, weft_error *err);

// Host elements of type <-> the bytes that the device stores: the same, but for ref's truth mode.
weft_status wf_device_put(weft_device *dev, wf_device_buffer *dst, size_t offset_bytes,
                          weft_dtype dtype, size_t count, const void *data, weft_error *err);
weft_status wf_device_get(weft_device *dev, wf_device_buffer *src, size_t offset_bytes,
                          weft_dtype dtype, size_t count, void *data, weft_error *err);

// The planner's options for a device.
wf_plan_options wf_device_plan_options(weft_device *dev);

// Variables of the plan that the state lacks get their first values, each computed on the device by a
// program of its own; graph is the one the plan was made from. The others must have the plan's types.
weft_status wf_state_prepare(weft_state *state, const weft_graph *graph, const wf_plan *plan,
                             weft_error *err);

// Makes a program out of a plan, which it takes; every variable of the plan is in the state.
weft_status wf_program_create(weft_state *state, wf_plan *take_plan, weft_program **out,
                              weft_error *err);

// Only the plan that weft_compile would make: what a program needs, without taking it.
weft_status wf_compile_plan(weft_state *state, const weft_graph *graph, wf_plan **out_plan,
                            weft_error *err);

#endif
