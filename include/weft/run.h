// Compiling a graph for a device and running it.
//
//   weft_state     the variables (weights, statistics, counters) on a device, by name
//   weft_program   one compiled graph: bind inputs, run, read outputs
#ifndef WEFT_RUN_H
#define WEFT_RUN_H

#include <weft/device.h>
#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_state weft_state;
typedef struct weft_program weft_program;

// Variables on a device. Programs that share a state share its variables.
WEFT_API weft_status weft_state_create(weft_device *device, weft_state **out_state,
                                       weft_error *err);
// Accepts NULL. Destroy its programs first.
WEFT_API void weft_state_destroy(weft_state *state);
// Variables that exist so far, in the order of creation. name is borrowed.
WEFT_API size_t weft_state_count(const weft_state *state);
WEFT_API const char *weft_state_name(const weft_state *state, size_t idx);
// dtype none when there is no such variable.
WEFT_API weft_type weft_state_type(const weft_state *state, const char *name);
// Copies a variable to or from host memory, row-major, of its dtype; size_bytes must be exact.
// Reading waits for the device. Writing a variable that does not exist yet creates it, so that the
// program compiled later finds it there instead of initialising it.
// Errors: WEFT_ERR_NAME, WEFT_ERR_SHAPE (size_bytes, type), WEFT_ERR_DRIVER.
WEFT_API weft_status weft_state_read(weft_state *state, const char *name, void *data,
                                     size_t size_bytes, weft_error *err);
WEFT_API weft_status weft_state_write(weft_state *state, const char *name, const weft_type *type,
                                      const void *data, size_t size_bytes, weft_error *err);

typedef struct weft_compile_options {
    size_t struct_size;
    const char *dump;            // "graph", "pass:NAME", "plan": text to the log; NULL: none
    uint64_t memory_limit_bytes; // 0: none; a plan above it is refused (WEFT_ERR_MEMORY)
} weft_compile_options;
#define WEFT_COMPILE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(weft_compile_options), NULL, 0                                                      \
    }

// Compiles a graph (which stays the caller's) for the state's device. Variables that the state does
// not have yet are created and given their first values.
// Errors: what the graph recorded; WEFT_ERR_UNSUPPORTED (the device cannot run an op: which, why);
// WEFT_ERR_MEMORY; WEFT_ERR_COMPILE; WEFT_ERR_SHAPE (a variable has another type in the state).
WEFT_API weft_status weft_compile(weft_state *state, const weft_graph *graph,
                                  const weft_compile_options *options, weft_program **out_program,
                                  weft_error *err);
// Accepts NULL.
WEFT_API void weft_program_destroy(weft_program *program);

// Copies data into the input of that name: row-major, of its dtype, exact size.
WEFT_API weft_status weft_program_write(weft_program *program, const char *input, const void *data,
                                        size_t size_bytes, weft_error *err);
// Starts one run; returns as soon as it is enqueued.
WEFT_API weft_status weft_program_run(weft_program *program, weft_error *err);
// Copies an output of the last run to host memory; waits for it. An output that is a variable itself
// is read as it stands after the run.
WEFT_API weft_status weft_program_read(weft_program *program, const char *output, void *data,
                                       size_t size_bytes, weft_error *err);
// Waits, and says whether the last run was good. Bad: a guard met a NaN or an infinity
// (WEFT_ERR_NONFINITE) or an index was out of range (WEFT_ERR_INDEX); the message names the op that
// noticed it. No variable has changed then.
WEFT_API weft_status weft_program_check(weft_program *program, weft_error *err);
// After a bad run: repeats it, value by value, on the same inputs and variables, and names the first
// op (with its scope and element) whose result is not finite though its operands are.
WEFT_API weft_status weft_program_blame(weft_program *program, weft_error *err);

// Bytes that the plan counts: arena, constants, variables.
WEFT_API uint64_t weft_program_planned_bytes(const weft_program *program);
WEFT_API uint64_t weft_program_flops(const weft_program *program);
WEFT_API size_t weft_program_n_tasks(const weft_program *program);

#ifdef __cplusplus
}
#endif
#endif
