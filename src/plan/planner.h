// Working state of the planner, shared by its files only.
//
//   plan.c      the order of the steps below, and the unfused plan that `ref` runs
//   group.c     which nodes share a task
//   sink.c      nodes go to their reader's group where that moves fewer bytes
//   locate.c    where a value lives: buffer, strides, layout; copies where a view is impossible
//   rows.c      operands and results of ops that go by rows, which may lie apart
//   order.c     which group is next, outputs, assignments
//   lower.c     a group -> tasks with kernels
//   kernel_builder.c  a kernel and its task under construction
//   in_place.c  results that take the memory of the operand they change
//   repeat.c    a scan: the tasks of its region, once for each step
//   memory.c    lifetimes, in-place, offsets in the arena
//   plan_check.c  the independent checker
#ifndef WF_PLAN_PLANNER_H
#define WF_PLAN_PLANNER_H

#include "plan/plan.h"

typedef struct wf_group {
    wf_task_kind kind;
    bool is_update; // computes new values of variables only: runs last, gated by the status word
    bool is_gone;   // merged into another
    bool has_reduce;
    int32_t ndim; // the iteration space of MAP, ROW, COLUMN
    int64_t dims[WEFT_MAX_DIM];
    bool is_inner[WEFT_MAX_DIM];
    uint32_t *nodes; // ascending
    size_t n_nodes, nodes_capacity;
    // CONTRACT, CONV that may have an epilogue: the node, and the value by which the others read its result:
    // that itself, or a reshape of it. WF_NO_INDEX: none.
    uint32_t product;
    wf_id product_value;
} wf_group;

// Where a value's elements are.
typedef struct wf_location {
    bool is_known;
    uint32_t buffer;
    wf_strided at;
} wf_location;

typedef struct wf_planner {
    weft_context *ctx;
    const wf_allocator *allocator;
    const weft_graph *g;
    const wf_plan_options *options;
    wf_plan *plan;
    weft_error *err;

    uint32_t *use_start; // consumers of value v: uses[use_start[v] .. use_start[v + 1])
    uint32_t *uses;      // node indices, ascending
    bool *is_output;     // by value: a named output
    bool *is_update;     // by node
    uint32_t *group_of;  // by node; WF_NO_INDEX: none (sources, views, assigns)
    wf_group *groups;
    size_t n_groups, groups_capacity;
    uint32_t *stamps; // by node: visited marks of the cycle search
    uint32_t stamp;
    uint32_t *stack;
    size_t stack_capacity;

    wf_location *locations; // by value
    bool *is_channels_last; // by value: layout of its buffer
    uint32_t *assigned_by;  // by value: the assign node whose value it is; WF_NO_INDEX: none
    bool is_region;         // of a scan: its outputs are placed and copied by repeat.c
    size_t tasks_capacity;
    size_t bindings_capacity[3];
} wf_planner;

static inline const weft_type *wf_planner_type(const wf_planner *p, wf_id id)
{
    return wf_graph_type(p->g, id);
}

// ---- group.c
weft_status wf_plan_group(wf_planner *p);
bool wf_group_has_dims(const wf_group *group, const weft_type *t);
// May elementwise nodes live in it?
bool wf_group_takes_maps(const wf_group *group);
// The value inside groups a or b that an operand stands for: the operand itself, in a ROW group the
// per-row value behind a broadcast, in a product's the product behind its reshape. 0: it comes from
// outside.
wf_id wf_group_inside(const wf_planner *p, wf_id id, uint32_t a, uint32_t b);
weft_status wf_group_insert(wf_planner *p, uint32_t group, uint32_t node_idx);
// Group `from` is gone then.
weft_status wf_group_merge(wf_planner *p, uint32_t into, uint32_t from);
// Would groups a and b (or WF_NO_INDEX) with node `extra` (or WF_NO_INDEX) depend on themselves through
// something outside?
weft_status wf_group_would_cycle(wf_planner *p, uint32_t a, uint32_t b, uint32_t extra, bool *out);
// Distinct values that a group reads from outside: an upper bound of its kernel's operands.
size_t wf_group_operands(const wf_planner *p, uint32_t group, wf_id *list, size_t max);
// Would group a, or a and b together, be small enough to grow? b may be WF_NO_INDEX.
bool wf_group_is_small(const wf_planner *p, uint32_t a, uint32_t b);

// ---- sink.c
weft_status wf_plan_sink(wf_planner *p);

// ---- plan.c
weft_status wf_planner_init(wf_planner *p);
void wf_planner_deinit(wf_planner *p);
// What the task's nodes cost; its operands' bytes.
void wf_plan_add_cost(wf_planner *p, wf_task *task);

// ---- repeat.c
weft_status wf_plan_lower_scan(wf_planner *p, uint32_t node_idx);

// ---- locate.c
weft_status wf_plan_add_buffer(wf_planner *p, wf_buffer_kind kind, size_t size_bytes,
                               uint32_t *out_buffer);
size_t wf_plan_type_bytes(const wf_planner *p, const weft_type *t);
// Strides of a dense value: row-major, or channels last (axis 1 fastest).
void wf_dense_strides(const weft_type *t, bool is_channels_last, int64_t strides[WEFT_MAX_DIM]);
wf_location wf_plan_dense(uint32_t buffer, const weft_type *t, bool is_channels_last);
// Does the location walk its memory densely in that layout? Axes of size 1 may have any stride.
bool wf_plan_is_dense(const wf_location *l, bool is_channels_last);
// Where operand `input` of an op that places its operands goes in the whole.
wf_location wf_plan_place_of(const wf_node_info *info, size_t input, const wf_location *whole);
// A new arena buffer for a value in its layout.
weft_status wf_plan_place_value(wf_planner *p, wf_id id, wf_buffer_kind kind);
// Where a value is; adds copy tasks for views that strides cannot say.
weft_status wf_plan_locate(wf_planner *p, wf_id id, wf_location *out);
typedef enum wf_density { WF_DENSE_ROW_MAJOR, WF_DENSE_CHANNELS_LAST } wf_density;
// The same, copied first unless it is dense in that layout.
weft_status wf_plan_locate_dense(wf_planner *p, wf_id id, wf_density density, wf_location *out);
// The scalar behind broadcasts and reshapes, if the value is one: its bits.
bool wf_plan_scalar_bits(const wf_planner *p, wf_id id, uint64_t *out_bits);

typedef enum wf_binding_kind { WF_BIND_INPUT, WF_BIND_OUTPUT, WF_BIND_VARIABLE } wf_binding_kind;
weft_status wf_plan_add_binding(wf_planner *p, wf_binding_kind kind, const char *name,
                                wf_view view);

// ---- rows.c
// Where a value is, its rows dense: copied first only if they are not.
weft_status wf_plan_locate_rows(wf_planner *p, wf_id id, wf_location *out);
// Places a value that is written by rows where it is wanted; leaves it unknown where nobody says.
weft_status wf_plan_place_rows(wf_planner *p, wf_id id);

// ---- order.c
weft_status wf_plan_lower_groups(wf_planner *p);

// ---- lower.c
weft_status wf_plan_lower_group(wf_planner *p, uint32_t group, const bool *is_lowered);
// Has everything that reads the value (through views, too) been lowered, `group` apart?
bool wf_plan_is_read_up(const wf_planner *p, wf_id id, uint32_t group, const bool *is_lowered);
// Is the value a source, or a view of one?
bool wf_plan_is_source(const wf_planner *p, wf_id id);
wf_view wf_plan_view(const wf_location *l, weft_dtype dtype);

// ---- kernel_builder.c
weft_status wf_plan_add_task(wf_planner *p, wf_task **out_task);
// A task of these nodes, otherwise empty.
weft_status wf_plan_add_task_of(wf_planner *p, const uint32_t *nodes, size_t n_nodes,
                                wf_task **out_task);
// A MAP task that copies from one location to another of the same dims.
weft_status wf_plan_add_copy(wf_planner *p, weft_dtype dtype, const wf_location *src,
                             const wf_location *dst, bool is_gated, uint32_t node_idx);

// ---- in_place.c
// The variable that a group of one node may write as it runs; 0: none.
wf_id wf_plan_in_place_variable(const wf_planner *p, uint32_t group, const bool *is_lowered);
// Gives the result of a task the place of the operand that it changes, where that dies there.
void wf_plan_share_updated(wf_plan *plan, uint32_t task_idx);

// ---- memory.c
weft_status wf_plan_memory(wf_planner *p);

// Memory of the plan; records WEFT_ERR_MEMORY.
weft_status wf_plan_take(wf_planner *p, size_t count, size_t size_bytes, void *out_ptr);
// Room for one more of the n elements of an array in that memory, which cannot grow a block: inout_ptr is the address of
// the array's pointer.
weft_status wf_plan_grow(wf_planner *p, void *inout_ptr, size_t n, size_t size_bytes,
                         size_t *inout_capacity);

#endif
