// Tensors in eval: integer elements by value, moving elements of any size, raw bytes of a dtype.
#ifndef WF_OP_TENSOR_H
#define WF_OP_TENSOR_H

#include "op/op.h"

void wf_tensor_set_int(const wf_tensor *t, int64_t i, int64_t value); // wraps; bool: & 1
// A float element of any width, exactly.
double wf_tensor_get_float(const wf_tensor *t, int64_t i);

// Strides of a dense row-major tensor, in elements.
void wf_dims_strides(const weft_type *t, int64_t strides[WEFT_MAX_DIM]);

// One side of a move: elements of t, from an offset by strides (0 repeats).
typedef struct wf_walk {
    const wf_tensor *t;
    int64_t offset;
    int64_t strides[WEFT_MAX_DIM];
} wf_walk;

// dst[i0, i1, ..] = src[i0, i1, ..] over dims. Both of one dtype, any; size-agnostic.
void wf_tensor_move(const wf_walk *dst, const wf_walk *src, int32_t ndim, const int64_t *dims);
// A walk over a whole dense tensor.
wf_walk wf_walk_dense(const wf_tensor *t);

// The bytes of value in dtype, rounded once; false when an integer or bool cannot hold it.
bool wf_scalar_encode(weft_dtype dtype, double value, void *out_bytes);
// The value that wf_scalar_encode stores, as a double again.
double wf_scalar_round(weft_dtype dtype, double value);
// Element i of packed data of a dtype, exactly (i64 beyond 2^53: not for those).
double wf_scalar_decode(weft_dtype dtype, const void *data, int64_t i);

// Fills t from packed data of its dtype, as uploads do: in truth mode floats become double.
void wf_tensor_load(const wf_tensor *t, const void *data);
// Every element becomes value (already rounded to the dtype).
void wf_tensor_fill(const wf_tensor *t, double value);

#endif
