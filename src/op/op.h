// The descriptor of a primitive op: everything weft knows of it, in one file per op.
#ifndef WF_OP_OP_H
#define WF_OP_OP_H

#include "graph/graph.h"
#include "weft/ops.h"

typedef enum wf_task_kind {
    WF_TASK_NONE,      // sources and views: no work
    WF_TASK_MAP,       // fused elementwise over one iteration space
    WF_TASK_ROW,       // elementwise and reductions over the trailing axes
    WF_TASK_COLUMN,    // reductions over outer axes
    WF_TASK_CONTRACT,  // matmul
    WF_TASK_CONV,      // convolution and its gradients
    WF_TASK_WINDOW,    // pooling and its gradients
    WF_TASK_CHAIN,     // cumulative sums and products, whose terms follow one another
    WF_TASK_INDEX,     // gather, scatter
    WF_TASK_ORDER,     // sort, top_k
    WF_TASK_GUARD,     // finds non-finite values
    WF_TASK_ATTENTION, // attention and its gradient
    WF_TASK_CALL,      // a caller's op: the device calls its eval
    WF_TASK_SCAN,      // a region: the plan repeats its tasks, so no device meets the kind
    WF_N_TASK_KINDS
} wf_task_kind;

// The operand of an op that holds indices, and the range they must keep to; else the step is bad.
typedef struct wf_index_range {
    size_t input;
    int64_t low, high; // both are in it; low > high: no index is good
} wf_index_range;

// What infer, eval, cost and the devices see of a node.
typedef struct wf_node_info {
    const wf_op *op;
    size_t n_inputs;
    const weft_type *in;
    size_t n_outputs;
    const weft_type *out; // not in infer
    wf_attr *attrs;       // infer may fill in attributes that were not given
} wf_node_info;

// A dense row-major tensor for eval. In truth mode floats of every width are held as double.
typedef struct wf_tensor {
    weft_type type;
    void *data;
    bool is_truth;
} wf_tensor;

// Where inside an op with a region a value went bad first.
typedef struct wf_eval_origin {
    const weft_graph *region;
    const wf_node *node; // NULL: nowhere
    int64_t step, elem;  // of node's first result
    bool is_index;       // an index was out of range; else the result is not finite
    float value;         // the result that is not
} wf_eval_origin;

typedef struct wf_eval {
    const wf_node_info *info;
    const wf_tensor *in;
    const wf_tensor *out; // data is written
    bool is_bad;      // set by eval: an index was out of range, or guard found a non-finite value
    int64_t bad_elem; // the first such element
    wf_allocator allocator;
    wf_eval_origin *origin; // NULL: nobody asks
} wf_eval;

// For grad: builds din[i] for inputs with need[i]; leaves WEFT_NONE where nothing flows.
typedef struct wf_grad_query {
    weft_graph *g;
    const wf_node_info *info;
    const weft_val *in;
    const weft_val *out;
    const weft_val *dout; // WEFT_NONE where no gradient arrives
    const bool *need;
    weft_val *din;
} wf_grad_query;

typedef struct wf_cost {
    double flops; // 2 per fma
    double bytes; // read and written once
} wf_cost;

// How an elementwise op is computed: expressions in the common dialect over a, b, c.
typedef struct wf_elementwise {
    uint32_t n_args;
    const char *formula_f32; // NULL: not for floats
    const char *formula_int; // over T (the type) and U (its unsigned twin); NULL: not for integers
    bool is_compare;         // result is bool
} wf_elementwise;

enum {
    WF_OP_ELEMENTWISE = 1u << 0,
    WF_OP_SOURCE = 1u << 1,         // input, variable, constant: no inputs, no work
    WF_OP_EFFECT = 1u << 2,         // assign, guard: kept although nobody reads the result
    WF_OP_VIEW = 1u << 3,           // reshape, permute, broadcast, slice: no arithmetic
    WF_OP_ZERO_GRADIENT = 1u << 4,  // derivative is zero or meaningless: gradient stops silently
    WF_OP_PRODUCT = 1u << 5,        // elementwise product, for the canonical fma pass
    WF_OP_VARIADIC = 1u << 6,       // n_inputs is the minimum
    WF_OP_COMMUTATIVE = 1u << 7,    // of the bits, too: operands may be ordered for CSE
    WF_OP_WEIGHT_OPERAND = 1u << 8, // operand 1 is a weight: no layout of images
    WF_OP_WEIGHT_RESULT = 1u << 9,
    WF_OP_IN_PLACE = 1u << 10, // result 0 is operand 0 with a part changed: it may take its memory
    WF_OP_NO_MINUS_ZERO = 1u << 11, // no result is ever -0
};

#define WF_OP_MAX_ATTRS 8
#define WF_OP_MAX_OUTPUTS 32 // of a scan: states and stacked results

typedef struct wf_inst wf_inst; // op/inst.h

// A value as strides over its dims, in elements from its buffer's start.
typedef struct wf_strided {
    int32_t ndim;
    int64_t dims[WEFT_MAX_DIM];
    int64_t strides[WEFT_MAX_DIM];
    int64_t offset;
} wf_strided;

struct wf_check_list; // op/check_case.h: the cases that `weft check` runs

struct wf_op {
    const char *name; // its identity, also in files
    uint32_t n_inputs;
    uint32_t n_outputs;
    uint32_t flags;
    wf_task_kind task;
    const wf_attr_spec *attrs;
    size_t n_attrs;
    const wf_elementwise *elementwise;
    // How many results, where attributes say so: n_outputs is then the least.
    uint32_t (*count_outputs)(const wf_attr *attrs);
    // Types of the outputs, or an error whose message starts behind "op: ".
    weft_status (*infer)(const wf_node_info *info, weft_type *out, weft_error *err);
    void (*grad)(const wf_grad_query *q);
    // What the op is inside a fused kernel (MAP, ROW and COLUMN ops): sets kind and the fields of
    // that kind. Elementwise ops need none: they are APPLY.
    void (*lower)(const wf_node_info *info, wf_inst *out);
    // WF_OP_VIEW: the result as strides over the operand's memory; false where strides cannot say it
    // (a reshape of what is not contiguous), and the planner copies the operand first. out->ndim and
    // out->dims are set.
    bool (*view)(const wf_node_info *info, const wf_strided *in, wf_strided *out);
    // The other way round, where that can be said: where the operand lies if the result lies in `out`; false
    // where strides cannot say it. in->ndim and in->dims are set.
    bool (*unview)(const wf_node_info *info, const wf_strided *out, wf_strided *in);
    // Bits of operands and of results that are handled a row of the last axis at a time: where the device says
    // so (wf_plan_options), the rows may lie anywhere.
    uint32_t row_inputs, row_outputs;
    // Bits of results that are there for the gradient: a scan keeps them from its forward steps (scan.h), where
    // what else is elementwise is computed again.
    uint32_t kept_outputs;
    // Ops that only place their operands in the result (concat, pad): where element 0 of an operand
    // goes. `fill` is what the rest holds, where there is a rest.
    void (*place)(const wf_node_info *info, size_t input, int64_t out_start[WEFT_MAX_DIM]);
    void (*fill)(const wf_node_info *info, wf_inst *out); // a CONST
    // Ops that make the step bad by an index: which indices, and their range. Messages say both, and the
    // planner sees which tasks may go bad, and which together.
    wf_index_range (*index_range)(const wf_node_info *info);
    // Builds the op out of simpler ones, outputs into out[]; used before planning.
    void (*expand)(weft_graph *g, const wf_node_info *info, const weft_val *in, weft_val *out);
    // Plain loops: the canonical bits.
    weft_status (*eval)(wf_eval *q, weft_error *err);
    // The same in float64: what the tests hold for true. NULL: eval serves both (it only moves data).
    weft_status (*eval_truth)(wf_eval *q, weft_error *err);
    wf_cost (*cost)(const wf_node_info *info);
    // Adds the shapes, attributes and inputs that `weft check` tries. Elementwise ops may leave it
    // NULL: theirs follow from the arity and dtypes.
    void (*cases)(struct wf_check_list *list);
};

// The most common infer errors, worded once.
weft_status wf_infer_dtype_error(const wf_node_info *info, size_t input, uint32_t allowed,
                                 weft_error *err);
weft_status wf_infer_check_dtypes(const wf_node_info *info, uint32_t allowed, weft_error *err);
// A list of axes of x: each in range, ascending.
weft_status wf_infer_axes(const weft_type *x, const wf_attr *axes, weft_error *err);

// Elementwise work, and sums and their like, which the planner puts into groups.
static inline bool wf_op_is_map(const wf_op *op)
{
    return op->task == WF_TASK_MAP && !op->place;
}
static inline bool wf_op_is_reduction(const wf_op *op)
{
    return op->task == WF_TASK_ROW || op->task == WF_TASK_COLUMN;
}
// Is it the cast of a bf16 or f16 to f32, which loses nothing?
bool wf_op_is_widening(const weft_graph *g, const wf_node *node);
// Elements of a value that lie in memory: of a broadcast what is repeated.
double wf_op_stored_count(const weft_graph *g, wf_id id);

// ---- elements of tensors in eval, truth or not
static inline double wf_tensor_get_f64(const wf_tensor *t, int64_t i)
{
    return ((const double *)t->data)[i];
}
size_t wf_tensor_elem_bytes(const wf_tensor *t);
// The first element of an f32 tensor that is NaN or infinite; -1: there is none, or it is no f32.
int64_t wf_tensor_find_nonfinite(const wf_tensor *t);
// An integer or bool element as i64.
int64_t wf_tensor_get_int(const wf_tensor *t, int64_t i);

#endif
