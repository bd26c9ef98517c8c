// What the files of grad/ share.
#ifndef WF_GRAD_GRAD_INTERNAL_H
#define WF_GRAD_GRAD_INTERNAL_H

#include "op/op.h"

// The walk with given gradients to begin with: seeds[i] arrives at outs[i], behind what its consumers
// contribute. out_grads[i] is none where nothing arrives at wrt[i].
void wf_grad_seeded(weft_graph *g, const weft_val *outs, const weft_val *seeds, size_t n,
                    const weft_val *wrt, size_t n_wrt, weft_val *out_grads);

// The gradient of a scan (grad_scan.c): another scan in the other direction.
void wf_grad_scan(const wf_grad_query *q);

#endif
