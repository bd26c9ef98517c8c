// What scan is made of, for those that walk into its region: the op itself, grad/, pass/, plan/.
//
// Operands: the states' first values, then the sequences [n,..], then what is captured. The region is a
// graph whose first nodes are inputs, one for each operand in that order: a state, an element of a
// sequence (without axis 0), a captured value as it is. So the region's input k is its value k + 1. Its
// outputs: the states' next values, then what is stacked. Results of the node: the states' last values,
// then the stacks [n,..]. Step i of n reads and writes place i of axis 0, or n - 1 - i in reverse.
#ifndef WF_OP_SCAN_H
#define WF_OP_SCAN_H

#include "op/op.h"

enum {
    WF_SCAN_N_STATES,
    WF_SCAN_N_SEQUENCES,
    WF_SCAN_N_STEPS,
    WF_SCAN_REVERSE,
    WF_SCAN_REGION,
    WF_SCAN_N_ATTRS
};

typedef struct wf_scan {
    const weft_graph *region;
    size_t n_states, n_sequences, n_captured;
    size_t n_stacks;
    int64_t n_steps;
    bool is_reverse;
} wf_scan;

extern const wf_op wf_op_scan;

wf_scan wf_scan_get(const wf_attr *attrs, size_t n_inputs);

static inline size_t wf_scan_n_inputs(const wf_scan *s)
{
    return s->n_states + s->n_sequences + s->n_captured;
}
// The place on axis 0 that step i reads and writes.
static inline int64_t wf_scan_place(const wf_scan *s, int64_t step)
{
    return s->is_reverse ? s->n_steps - 1 - step : step;
}
// A sequence's or stack's type without axis 0; a type with one more.
weft_type wf_scan_element(const weft_type *sequence);
weft_type wf_scan_stacked(const weft_type *element, int64_t n_steps);
// The input node of a region for an operand of that type; named by its place.
weft_val wf_scan_region_input(weft_graph *region, const weft_type *type);

// An empty region in the scope and at the place of g.
weft_status wf_scan_region_create(const weft_graph *g, weft_graph **out_region);
// The region's next output.
void wf_scan_output(weft_graph *region, weft_val val);
// Is the value worth keeping from the forward scan to the backward one? Products and the like are, and what
// the op says (kept_outputs); what else is elementwise is computed again.
bool wf_scan_is_kept(const weft_graph *region, wf_id id);
// Stacks, behind the outputs that are there: the states' next values and what is worth keeping.
void wf_scan_keep(weft_graph *region, size_t n_states);

// Adds the node. region is copied. in: as above.
weft_val wf_scan_add(weft_graph *g, const wf_scan *s, const weft_val *in);

#endif
