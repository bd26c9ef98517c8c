// One instruction of a fused group: what an op becomes inside a kernel (codegen/kernel.h says how
// instructions make a kernel). An op's `lower` fills one in; elementwise ops need none.
#ifndef WF_OP_INST_H
#define WF_OP_INST_H

#include "op/op.h"

typedef enum wf_inst_kind {
    WF_INST_LOAD,  // inputs[operand] at this point
    WF_INST_CONST, // a scalar: bits of dtype in `bits` (low bytes)
    WF_INST_IOTA, // the coordinate along space axis `axis`, plus `bits` (as i64); dtype i32 i64 f32
    WF_INST_RANDOM, // args: seed, step (outer or scalar i64); logical linear index of the point
    WF_INST_APPLY,  // op->elementwise on args
    WF_INST_CAST,   // args[0] from its dtype to dtype
    WF_INST_SELECT, // args: bool, then two of dtype
    WF_INST_REDUCE, // args[0] over the inner axes by `reduce`
    WF_INST_SECOND, // the second result of the REDUCE args[0] (variance)
    WF_INST_STORE,  // args[0] into outputs[operand]
} wf_inst_kind;

typedef enum wf_reduce_kind {
    WF_REDUCE_SUM, // f32: by the rule; integers: any order
    WF_REDUCE_MAX, // NaN wins, -0 < +0
    WF_REDUCE_MIN,
    WF_REDUCE_ARGMAX,  // i32: linear inner index of the first greatest
    WF_REDUCE_MOMENTS, // mean; variance by SECOND
} wf_reduce_kind;

typedef enum wf_random_kind { WF_RANDOM_BITS, WF_RANDOM_UNIFORM, WF_RANDOM_NORMAL } wf_random_kind;

#define WF_MAX_ARGS 3

struct wf_inst {
    wf_inst_kind kind;
    weft_dtype dtype; // of the result
    bool is_outer;
    int32_t level;
    uint32_t n_args;
    uint32_t args[WF_MAX_ARGS]; // earlier instructions
    const wf_op *op;            // APPLY
    uint32_t operand;           // LOAD, STORE
    int32_t axis;               // IOTA
    wf_reduce_kind reduce;      // REDUCE
    wf_random_kind random;      // RANDOM
    uint32_t stream;            // RANDOM
    uint64_t bits;              // CONST, IOTA
};

#endif
