// The graph inside: nodes and values by index, in creation order, which is a topological order.
// Stage: GRAPH (design: recipe / ONNX / C calls -> GRAPH -> GRADIENT -> PASSES -> PLAN).
#ifndef WF_GRAPH_GRAPH_H
#define WF_GRAPH_GRAPH_H

#include "base/alloc.h"
#include "base/dtype.h"
#include "weft/graph.h"

typedef struct wf_op wf_op;
typedef uint32_t wf_id; // index of a value; 0 is none

typedef enum wf_attr_kind {
    WF_ATTR_INT,
    WF_ATTR_FLOAT,
    WF_ATTR_BOOL,
    WF_ATTR_DTYPE,
    WF_ATTR_TEXT,
    WF_ATTR_INTS,
    WF_ATTR_DATA,  // raw elements of the node's output type: constants
    WF_ATTR_GRAPH, // a region: a graph that the node runs (scan)
} wf_attr_kind;

// One attribute's value. Lists, texts and data live in the graph's arena.
typedef struct wf_attr {
    union {
        int64_t i; // INT, BOOL, DTYPE
        double f;
        const char *text; // may be NULL: not given
        const int64_t *ints;
        const void *data;
        const weft_graph *graph; // GRAPH: owned by the graph that the node is in
    } u;
    size_t n; // of ints: how many; of data: bytes
} wf_attr;

typedef struct wf_attr_spec {
    const char *name;
    wf_attr_kind kind;
} wf_attr_spec;

typedef struct wf_place {
    const char *file; // NULL: unknown
    int32_t line;
    int32_t column;
} wf_place;

typedef struct wf_node {
    const wf_op *op;
    uint32_t n_inputs;
    uint32_t n_outputs;
    const wf_id *inputs;
    wf_id first_output; // outputs are consecutive values
    wf_attr *attrs;     // op->n_attrs of them, in the order of op->attrs
    const char *scope;  // "" at the top
    wf_place place;
} wf_node;

typedef struct wf_value {
    uint32_t node;
    uint32_t output; // which output of the node
    weft_type type;
} wf_value;

typedef struct wf_output {
    const char *name;
    wf_id val;
} wf_output;

#define WF_MAX_SCOPE_DEPTH 16 // nesting of blocks in the deepest of models is below ten

struct weft_context {
    wf_allocator allocator;
    void (*log)(void *user, weft_log_level level, const char *line);
    void *log_user;
    const wf_op **ops; // built-in ops, then the caller's own
    size_t n_ops;
    size_t ops_capacity;
    wf_arena own_ops; // descriptors of the caller's ops
};

struct weft_graph {
    weft_context *context;
    wf_arena arena;
    wf_node *nodes;
    size_t n_nodes, nodes_capacity;
    wf_value *values; // values[0] is none
    size_t n_values, values_capacity;
    wf_output *outputs;
    size_t n_outputs, outputs_capacity;
    weft_error error; // sticky; code 0 while all is well
    bool trap;
    wf_place place;
    const char *scopes[WF_MAX_SCOPE_DEPTH]; // full paths
    int32_t scope_depth;
    bool is_region;       // its inputs are counted by place, so none is dropped
    weft_graph **regions; // graphs that attributes point at: owned
    size_t n_regions, regions_capacity;
};

void wf_context_log(const weft_context *ctx, weft_log_level level, const char *format, ...)
    WF_PRINTF(3, 4);

// Ops of a context by name; NULL when there is none.
const wf_op *wf_op_find(const weft_context *ctx, const char *name);

static inline bool wf_graph_is_ok(const weft_graph *g)
{
    return g && g->error.code == 0;
}
static inline const wf_value *wf_graph_value(const weft_graph *g, wf_id id)
{
    return &g->values[id];
}
static inline const weft_type *wf_graph_type(const weft_graph *g, wf_id id)
{
    return &g->values[id].type;
}
static inline const wf_node *wf_graph_producer(const weft_graph *g, wf_id id)
{
    return &g->nodes[g->values[id].node];
}

// Records the first error: "place: op: text".
void wf_graph_fail(weft_graph *g, const wf_op *op, weft_status code, const char *format, ...)
    WF_PRINTF(4, 5);

// Adds a node: checks arity, infers the outputs' types. Returns the first output (the others follow
// by id), or none. attrs has op->n_attrs entries (NULL when it has none); what they point at is
// copied. Every constructor ends here.
weft_val wf_graph_add(weft_graph *g, const wf_op *op, const weft_val *inputs, size_t n_inputs,
                      const wf_attr *attrs);
// Output k of the node that made val.
static inline weft_val wf_val_output(weft_val first, uint32_t k)
{
    weft_val v = {first.id ? first.id + k : 0};
    return v;
}

// ---- types
int64_t wf_type_count(const weft_type *t); // elements; a size-0 axis gives 0
bool wf_type_same_dims(const weft_type *a, const weft_type *b);
bool wf_type_equal(const weft_type *a, const weft_type *b);
weft_type wf_type_make(weft_dtype dtype, int32_t ndim, const int64_t *dims);
// "[8,64]"; "f32[8,64]". Returns buf.
#define WF_TYPE_TEXT 192
const char *wf_dims_text(const int64_t *dims, int32_t ndim, char buf[WF_TYPE_TEXT]);
const char *wf_type_text(const weft_type *t, char buf[WF_TYPE_TEXT]);

// ---- attributes
static inline wf_attr wf_attr_int(int64_t i)
{
    wf_attr a = {{.i = i}, 0};
    return a;
}
static inline wf_attr wf_attr_float(double f)
{
    wf_attr a = {{.f = f}, 0};
    return a;
}
static inline wf_attr wf_attr_text(const char *text)
{
    wf_attr a = {{.text = text}, 0};
    return a;
}
static inline wf_attr wf_attr_ints(const int64_t *ints, size_t n)
{
    wf_attr a = {{.ints = ints}, n};
    return a;
}
static inline wf_attr wf_attr_graph(const weft_graph *graph)
{
    wf_attr a = {{.graph = graph}, 0};
    return a;
}
static inline wf_attr wf_attr_data(const void *data, size_t bytes)
{
    wf_attr a = {{.data = data}, bytes};
    return a;
}

// The attribute of a node that holds a region; NULL: it has none.
wf_attr *wf_node_region(const wf_node *node);

// ---- the verifier: gathers every broken rule of the graph's structure; used after each pass.
weft_status wf_graph_verify(const weft_graph *g, weft_error *err);

// ---- rewriting: passes build a new graph out of an old one.
typedef struct wf_rewrite {
    const weft_graph *src;
    weft_graph *dst;
    wf_id *map; // old value -> new value; 0 while not there
} wf_rewrite;

weft_status wf_rewrite_init(wf_rewrite *rw, const weft_graph *src, weft_error *err);
// Copies a node of src with inputs looked up in map; maps its outputs; keeps scope and place.
void wf_rewrite_copy(wf_rewrite *rw, uint32_t node_idx);
// Makes the new nodes that follow carry the old node's scope and place.
void wf_rewrite_set_place(wf_rewrite *rw, uint32_t node_idx);
static inline weft_val wf_rewrite_get(const wf_rewrite *rw, wf_id old)
{
    weft_val v = {rw->map[old]};
    return v;
}
// A copy of a whole graph, regions too.
weft_status wf_graph_clone(const weft_graph *src, weft_graph **out_graph, weft_error *err);
// Copies the outputs list, frees the map, gives the new graph (NULL on failure).
weft_status wf_rewrite_finish(wf_rewrite *rw, weft_graph **out_graph, weft_error *err);

#endif
