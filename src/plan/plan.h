// The plan: tasks in order, every buffer with its place in one arena. Built from a graph for one
// device's capabilities; nothing here knows a device. Stage: PLAN.
#ifndef WF_PLAN_PLAN_H
#define WF_PLAN_PLAN_H

#include "base/text.h"
#include "codegen/kernel.h"

typedef enum wf_buffer_kind {
    WF_BUFFER_ARENA,    // temporary: an interval of the arena
    WF_BUFFER_INPUT,    // written by the host before a run; a place in the arena for the whole run
    WF_BUFFER_OUTPUT,   // read by the host after a run; its place is kept until the run ends
    WF_BUFFER_CONSTANT, // uploaded once; an interval of the constants buffer
    WF_BUFFER_VARIABLE, // lives in the state, from run to run
} wf_buffer_kind;

#define WF_NO_INDEX UINT32_MAX
#define WF_BUFFER_ALIGN ((size_t)256) // bytes; a multiple of every device's sub-buffer alignment

typedef struct wf_buffer {
    wf_buffer_kind kind;
    size_t size_bytes;
    size_t offset_bytes; // in the arena or the constants
    uint32_t variable;   // VARIABLE: index into plan->variables
    uint32_t first_task; // written or bound here ...
    uint32_t last_task;  // ... last used here; WF_NO_INDEX: until the end of the run
    uint32_t alias_of;   // shares the place of this buffer (in place); WF_NO_INDEX: none
    const void *data;    // CONSTANT: its elements, of dtype (not yet as the device stores them)
    weft_dtype dtype;    // CONSTANT
} wf_buffer;

// A tensor as a task sees it: dense values have row-major strides unless the plan gave the buffer
// another layout (channels last) or the value is a view.
typedef struct wf_view {
    uint32_t buffer;
    weft_type type;                // logical dims
    int64_t offset;                // elements
    int64_t strides[WEFT_MAX_DIM]; // elements
} wf_view;

typedef struct wf_task {
    wf_task_kind kind;
    const wf_kernel *kernel; // MAP, ROW, COLUMN
    // CONTRACT and CONV: elementwise work on the product, block by block, before it leaves the cache; NULL:
    // none. Its input 0 is the product, its input i > 0 the task's input node->n_inputs + i - 1, its outputs
    // are the task's.
    const wf_kernel *epilogue;
    const wf_node *node; // the others: op and attributes; for fused groups the last node, for names
    size_t n_inputs;
    wf_view *inputs; // of kernels: buffer and offset count, strides are in kernel->inputs
    size_t n_outputs;
    wf_view *outputs;
    wf_view product;    // with an epilogue: the result of node, dense, in no buffer
    bool is_gated;      // skipped when the status word is bad: its outputs are variables
    uint32_t workspace; // buffer, WF_NO_INDEX: none
    size_t n_nodes;
    const uint32_t *nodes; // indices into the graph: what the task computes
    // Of a scan: the same task of its first step, whose workspace it shares (that step's: itself). `nodes`
    // then is the scan, `node` what it is in the region. WF_NO_INDEX: not of a scan.
    uint32_t first_step;
    uint32_t steady_inputs; // of a scan: bit i: operand i is the same in every step
    uint32_t fixed_inputs;  // bit i: operand i lies in memory that the program never writes
    bool keeps_workspace;   // what a run leaves there, the next one finds
    wf_cost cost;           // bytes: that its operands have, those of a broadcast once
    double bytes_written;   // of them
} wf_task;

typedef struct wf_plan_binding {
    const char *name;
    wf_view view;    // dense row-major
    bool is_written; // of a variable: by a task
} wf_plan_binding;

typedef struct wf_plan {
    wf_arena memory;         // owns everything below
    const weft_graph *graph; // owned
    size_t n_tasks;
    wf_task *tasks;
    size_t n_buffers, buffers_capacity;
    wf_buffer *buffers;
    size_t arena_bytes;
    size_t constant_bytes;
    size_t n_inputs;
    wf_plan_binding *inputs;
    size_t n_outputs;
    wf_plan_binding *outputs;
    size_t n_variables;
    wf_plan_binding *variables;
    size_t variable_bytes;
} wf_plan;

// What the planner may do, from the device's capabilities.
typedef struct wf_plan_options {
    bool fuse;          // false: one task per node, dense row-major operands, no in-place
    bool apart_rows;    // ops with row operands (op.h) take rows that lie apart
    bool channels_last; // give convolution-like values of rank >= 3 a channels-last layout
    // Bits of task kinds whose products take elementwise work on their results along.
    uint32_t epilogues;
    // How the device stores each dtype (ref in truth mode: as doubles).
    size_t elem_bytes[WEFT_N_DTYPES];
    // Workspace of a task on the device, bytes; may be NULL.
    size_t (*workspace)(void *user, const wf_task *task);
    // Does the task make there of its fixed operands what it need not make again? May be NULL.
    bool (*keeps_workspace)(void *user, const wf_task *task);
    void *user;
} wf_plan_options;

// Takes the graph. Errors: WEFT_ERR_MEMORY, WEFT_ERR_UNSUPPORTED.
weft_status wf_plan_create(weft_context *ctx, weft_graph *take_graph,
                           const wf_plan_options *options, wf_plan **out_plan, weft_error *err);
void wf_plan_destroy(wf_plan *plan);

// The independent checker: no two live buffers overlap, every operand lies inside its buffer, every
// value is written before it is read, no variable is overwritten before its last reader.
weft_status wf_plan_check(const wf_plan *plan, const wf_plan_options *options, weft_error *err);

// The buffer whose place another shares; itself, where it shares none.
static inline uint32_t wf_plan_root(const wf_plan *plan, uint32_t buffer)
{
    while (plan->buffers[buffer].alias_of != WF_NO_INDEX)
        buffer = plan->buffers[buffer].alias_of;
    return buffer;
}

// "map", "contract" and so on.
const char *wf_task_kind_name(wf_task_kind kind);
// Scope and op, "h/0/qkv/matmul", of the task's node; "copy" of none.
void wf_task_write_name(wf_text *text, const wf_task *task);
weft_status wf_plan_print(weft_context *ctx, const wf_plan *plan, char **out_text, weft_error *err);

// How operand i is walked where a kernel walks it; NULL: an op reads or writes it in its own way.
static inline const wf_access *wf_task_input_access(const wf_task *task, size_t i)
{
    const size_t n_own = task->epilogue ? task->node->n_inputs : 0;
    if (task->epilogue)
        return i < n_own ? NULL : &task->epilogue->inputs[1 + i - n_own];
    return task->kernel ? &task->kernel->inputs[i] : NULL;
}

static inline const wf_access *wf_task_output_access(const wf_task *task, size_t i)
{
    const wf_kernel *k = task->epilogue ? task->epilogue : task->kernel;
    return k ? &k->outputs[i] : NULL;
}

// What a task of a product makes: its output, or what its epilogue reads.
static inline const wf_view *wf_task_product(const wf_task *task)
{
    return task->epilogue ? &task->product : &task->outputs[0];
}

static inline bool wf_view_is_dense(const wf_view *v)
{
    int64_t stride = 1;
    for (int32_t i = v->type.ndim - 1; i >= 0; i--) {
        if (v->type.dims[i] != 1 && v->strides[i] != stride)
            return false;
        stride *= v->type.dims[i];
    }
    return true;
}

#endif
