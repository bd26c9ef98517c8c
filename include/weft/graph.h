// Graphs: values, shapes, gradient, text form. Ops are in weft/ops.h.
//
// A graph only grows. The first error is kept and everything after it does nothing, so that calls
// are chained freely and the graph is asked once: weft_graph_status, or weft_compile, which refuses.
#ifndef WEFT_GRAPH_H
#define WEFT_GRAPH_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_graph weft_graph;

// A value of a graph, by index. id 0 is "none": what a failed constructor returns and what any
// constructor accepts by doing nothing.
typedef struct weft_val {
    uint32_t id;
} weft_val;

static const weft_val WEFT_NONE = {0};

// dtype and dims of a value. ndim 0 is a scalar.
typedef struct weft_type {
    weft_dtype dtype;
    int32_t ndim;
    int64_t dims[WEFT_MAX_DIM];
} weft_type;

// Creates an empty graph. Ownership: destroy before its context. Programs compiled from it and
// gradients stay valid without it.
WEFT_API weft_status weft_graph_create(weft_context *context, weft_graph **out_graph,
                                       weft_error *err);
// Accepts NULL.
WEFT_API void weft_graph_destroy(weft_graph *graph);

// WEFT_OK, or the first error: op, operand shapes, place ("file:line: op: what").
WEFT_API weft_status weft_graph_status(const weft_graph *graph, weft_error *err);

// With true, the first error aborts the program: for debuggers.
WEFT_API void weft_graph_set_trap(weft_graph *graph, bool trap);

// Where the next nodes come from: the caller's file and line, or a recipe's line and column
// (column 0: none). file must live as long as the graph. The macros of weft/ops.h call it.
// Returns graph.
WEFT_API weft_graph *weft_graph_at(weft_graph *graph, const char *file, int32_t line,
                                   int32_t column);
#define WEFT_AT(graph) weft_graph_at((graph), __FILE__, __LINE__, 0)

// Names the nodes built until the matching pop: "encoder/conv1". Dumps, profiles, errors and random
// streams use it. name may not hold '/' or spaces.
WEFT_API void weft_scope_push(weft_graph *graph, const char *name);
WEFT_API void weft_scope_pop(weft_graph *graph);

// The type of a value; dtype none for WEFT_NONE or a failed graph.
WEFT_API weft_type weft_val_type(const weft_graph *graph, weft_val val);
// The number of elements; 0 for none.
WEFT_API int64_t weft_val_count(const weft_graph *graph, weft_val val);

// Adds the gradient of a scalar to the graph: out_grads[i] = d loss / d wrt[i], of wrt[i]'s type.
//   loss   []   f32
//   wrt    n values that loss may depend on; where it does not, the gradient is zeros
// Contributions to one value add in node order. Reverse mode; gradients are graph values, so they
// can be differentiated again where the ops allow.
// Errors: WEFT_ERR_SHAPE (loss is no scalar), WEFT_ERR_DTYPE, WEFT_ERR_GRADIENT (an op on the way
// has no gradient); recorded in the graph.
WEFT_API void weft_grad(weft_graph *graph, weft_val loss, const weft_val *wrt, size_t n_wrt,
                        weft_val *out_grads);

// Gives a value a name under which a program's result is read. Names are unique.
WEFT_API void weft_output(weft_graph *graph, const char *name, weft_val val);

// The graph as text, one node a line; weft_graph_parse reads it back to an equal graph.
// Ownership: free *out_text with weft_text_free.
WEFT_API weft_status weft_graph_print(const weft_graph *graph, char **out_text, weft_error *err);
WEFT_API weft_status weft_graph_parse(weft_context *context, const char *text,
                                      weft_graph **out_graph, weft_error *err);
// Frees a text that the library gave. Accepts NULL.
WEFT_API void weft_text_free(weft_context *context, char *text);

#ifdef __cplusplus
}
#endif
#endif
