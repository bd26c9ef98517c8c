// What resizing and adaptive pooling share: reading along one spatial axis by a table of indices.
#ifndef WF_NN_NN_RESAMPLE_H
#define WF_NN_NN_RESAMPLE_H

#include "nn/nn_builder.h"

#define WF_RESAMPLE_AXES 3 // spatial axes at most

// Checks that x is [n,c,spatial..] with 1 to 3 spatial axes, none of them empty or too long, and that
// sizes are given and above 0. Records an error of `what` and gives false otherwise.
bool wf_resample_check(weft_graph *g, const char *what, weft_val x, const int64_t *size);

// [n,c,spatial..] as [n,spatial..,c], and back: a row of channels is then what a gather moves, and where
// images are held with channels last both cost nothing.
weft_val wf_resample_begin(weft_graph *g, weft_val x);
weft_val wf_resample_end(weft_graph *g, weft_val x);

// A table of n entries, all to be filled in by the caller; NULL after recording an error. To be freed
// by wf_resample_free.
void *wf_resample_table(weft_graph *g, int64_t n, size_t entry_bytes);
void wf_resample_free(weft_graph *g, void *table);

// The f32 [n] as [1,..,n,..,1] of ndim dims, n on an axis.
weft_val wf_resample_along(weft_graph *g, weft_val table, int32_t axis, int32_t ndim);

#endif
