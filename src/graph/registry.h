// The ops that a context knows: those of src/op/, listed by the build, then the caller's own.
#ifndef WF_GRAPH_REGISTRY_H
#define WF_GRAPH_REGISTRY_H

#include "graph/graph.h"

// Defined beside the ops (op/registry.c), which the graph itself does not see.
weft_status wf_registry_fill(weft_context *ctx, weft_error *err);
// Adds one op. Errors: WEFT_ERR_NAME (taken), WEFT_ERR_MEMORY.
weft_status wf_registry_add(weft_context *ctx, const wf_op *op, weft_error *err);

#endif
