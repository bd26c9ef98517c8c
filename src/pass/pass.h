// A pass: graph in, new graph out, same bits. One file each; pass_list.c is the order.
// Stage: PASSES.
#ifndef WF_PASS_PASS_H
#define WF_PASS_PASS_H

#include "op/op.h"

typedef struct wf_pass {
    const char *name;
    const char *what; // one line for --help and the docs
    weft_status (*run)(const weft_graph *src, weft_graph **out_dst, weft_error *err);
} wf_pass;

extern const wf_pass *const wf_pass_list[];
extern const size_t wf_n_passes;

// Runs a pass on a graph, then on the regions of the graph that it gives.
weft_status wf_pass_run(const wf_pass *pass, const weft_graph *src, weft_graph **out_dst,
                        weft_error *err);

// What a node looks like from outside, for expand, eval and infer: types are copied into the
// caller's arrays.
#define WF_NODE_MAX_INPUTS 256
typedef struct wf_node_types {
    weft_type in[WF_NODE_MAX_INPUTS];
    weft_type out[WF_OP_MAX_OUTPUTS];
    wf_node_info info;
} wf_node_types;
void wf_node_types_get(const weft_graph *g, const wf_node *node, wf_node_types *out);

// The f32 bits of a constant scalar behind broadcasts and reshapes, if the value is one.
bool wf_pass_scalar_bits(const weft_graph *g, wf_id id, uint32_t *out);

// A pass whose whole work is a rule per node: the rule maps the node's outputs in rw->map itself and
// returns true, or returns false to have the node copied.
weft_status wf_pass_each(const weft_graph *src, bool (*rule)(wf_rewrite *rw, uint32_t node_idx),
                         weft_graph **out_dst, weft_error *err);

#endif
