// The cpu device inside: how a task of the plan becomes functions that its threads run.
// Stage: PROGRAM (lowering, once) and RUN.
//
// Each kind of task has one row in cpu_lower.c and one file: cpu_map.c, cpu_row.c, cpu_column.c,
// cpu_contract.c, cpu_conv.c, cpu_window.c, cpu_chain.c, cpu_index.c, cpu_order.c, cpu_guard.c, cpu_call.c. A lowering turns a
// task into phases. A phase is a function, its parameters and a number of items; its items may run
// in any order on any threads; one phase ends before the next begins. How a task is cut into items
// depends on its sizes, never on the number of threads.
#ifndef WF_CPU_H
#define WF_CPU_H

#include <stdatomic.h>

#include "device/cpu/cpu_isa.h"
#include "device/cpu/cpu_pool.h"
#include "device/cpu/cpu_walk.h"
#include "device/host_buffer.h"

typedef struct wf_cpu_device {
    weft_device base; // first: a weft_device points here
    const wf_cpu_kernels *kernels;
    wf_cpu_pool *pool;
    bool with_winograd; // convolutions that it suits take it: in `fast`, unless told not to
} wf_cpu_device;

extern const wf_driver wf_driver_cpu;

// The program's status word: WF_STATUS_GOOD, or the lowest index of a task that went bad.
typedef _Atomic uint32_t wf_cpu_status;

// What went wrong in a run, beyond the status word: a caller's op may fail.
typedef struct wf_cpu_failure {
    weft_status code;
    weft_error error;
} wf_cpu_failure;

// What a lowering is given, and where it puts what it makes.
typedef struct wf_cpu_lower {
    const wf_cpu_device *device;
    const wf_cpu_kernels *kernels; // the device's
    const wf_plan *plan;
    const wf_program_memory *memory;
    const wf_task *task;
    uint32_t task_idx;
    wf_node_info info; // of task->node: op, types, attributes; op NULL for kernel tasks
    wf_allocator allocator;
    wf_cpu_status *status;
    wf_cpu_failure *failure; // written by phases of one item
    struct wf_device_program *program;
} wf_cpu_lower;

// What a phase makes of an operand that the program never writes. It is left out while it would make the same.
typedef struct wf_cpu_kept {
    const wf_device_buffer *source; // NULL: constants
    uint64_t version;               // of the source that it was made of, + 1; 0: it was not
} wf_cpu_kept;

typedef struct wf_cpu_lowering {
    wf_task_kind kind;
    // Adds phases for the task. Errors: WEFT_ERR_UNSUPPORTED with the reason, WEFT_ERR_MEMORY.
    weft_status (*lower)(wf_cpu_lower *q, weft_error *err);
    // Scratch bytes that the task wants from the arena; NULL: none.
    size_t (*workspace)(const wf_cpu_device *dev, const wf_task *task);
    // See wf_driver; NULL: no task of this kind does.
    bool (*keeps_workspace)(const wf_cpu_device *dev, const wf_task *task);
} wf_cpu_lowering;

// ---- for lowerings
// Zeroed memory that lives as long as the program.
weft_status wf_cpu_take(wf_cpu_lower *q, size_t count, size_t size_bytes, void *out_ptr,
                        weft_error *err);
weft_status wf_cpu_add_phase(wf_cpu_lower *q, wf_cpu_item_fn *run, const void *params,
                             int64_t n_items, weft_error *err);
// A phase that makes something of operand 1 in the task's workspace, which keeps it where the plan says so.
weft_status wf_cpu_add_kept_phase(wf_cpu_lower *q, wf_cpu_item_fn *run, const void *params,
                                  int64_t n_items, weft_error *err);
// One item that only the thread that runs the program may do.
weft_status wf_cpu_add_caller_phase(wf_cpu_lower *q, wf_cpu_item_fn *run, const void *params,
                                    weft_error *err);
// Every thread's scratch will have these bytes at least.
void wf_cpu_need_scratch(wf_cpu_lower *q, size_t size_bytes);
// First byte of a buffer of the plan; NULL for WF_NO_INDEX. Fixed for the program's life.
char *wf_cpu_buffer_data(const wf_cpu_lower *q, uint32_t buffer);
// The element of all-zero indices of a view.
char *wf_cpu_view_data(const wf_cpu_lower *q, const wf_view *view);
// Its elements by one linear index, group B; group A is one point.
wf_cpu_operand wf_cpu_view_operand(const wf_cpu_lower *q, const wf_view *view);
// The same of a kernel's operand; NULL for the product that an epilogue reads.
char *wf_cpu_input_data(const wf_cpu_lower *q, size_t operand);
char *wf_cpu_output_data(const wf_cpu_lower *q, size_t operand);
// The task's workspace, 256-byte aligned; NULL when it asked for none.
char *wf_cpu_workspace(const wf_cpu_lower *q);

// ---- for items
// Marks the task bad; the lowest index stays.
void wf_cpu_mark_bad(wf_cpu_status *status, uint32_t task_idx);

static inline int64_t wf_cpu_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static inline int64_t wf_cpu_div_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

// ---- the lowerings: rows of the table in cpu_lower.c
extern const wf_cpu_lowering wf_cpu_lowering_map;
extern const wf_cpu_lowering wf_cpu_lowering_row;
extern const wf_cpu_lowering wf_cpu_lowering_column;
extern const wf_cpu_lowering wf_cpu_lowering_contract;
extern const wf_cpu_lowering wf_cpu_lowering_conv;
extern const wf_cpu_lowering wf_cpu_lowering_window;
extern const wf_cpu_lowering wf_cpu_lowering_chain;
extern const wf_cpu_lowering wf_cpu_lowering_index;
extern const wf_cpu_lowering wf_cpu_lowering_order;
extern const wf_cpu_lowering wf_cpu_lowering_guard;
extern const wf_cpu_lowering wf_cpu_lowering_attention;
extern const wf_cpu_lowering wf_cpu_lowering_call;

#endif
