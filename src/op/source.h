// What the sources share: dtype and dims as attributes, names that are unique in the graph.
#ifndef WF_OP_SOURCE_H
#define WF_OP_SOURCE_H

#include "op/build.h"
#include "op/tensor.h"

// The type that attributes `dtype` and `dims` give.
weft_status wf_infer_source(const wf_attr *dtype, const wf_attr *dims, weft_type *out,
                            weft_error *err);
// False, with an error, when dims cannot be read: ndim out of range, or no list.
bool wf_build_dims(weft_graph *g, const wf_op *op, const int64_t *dims, int32_t ndim);
// False, with an error, when another node of the op has the name, or it is not a word.
// Attribute 0 of the op is the name.
bool wf_build_name(weft_graph *g, const wf_op *op, const char *name);

#endif
