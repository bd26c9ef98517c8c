// What attention and its gradient share: sizes, which keys a query sees, the cases of `weft check`.
#ifndef WF_OP_ATTENTION_COMMON_H
#define WF_OP_ATTENTION_COMMON_H

#include "op/build.h"
#include "op/check_case.h"

#define WF_ATTENTION_KEYS 64 // of a block; a block of queries in dK and dV is as long

// Operands of the gradient, behind q, k, v; attention itself has the mask as operand 3.
enum { WF_ATTENTION_LSE = 3, WF_ATTENTION_DELTA = 4, WF_ATTENTION_DOUT = 5, WF_ATTENTION_MASK = 6 };

typedef struct wf_attention_shape {
    int64_t b, h, hk, tq, tk, d; // q [b,h,tq,d], k and v [b,hk,tk,d]
    float scale;
    bool is_causal;          // query i sees keys 0 .. i + tk - tq
    bool has_mask;           // operand n_inputs - 1
    bool is_additive;        // the mask is f32, not bool
    int64_t mask_strides[4]; // of a dense mask, elements; 0 along axes that are broadcast
} wf_attention_shape;

// Reads and checks types and attributes of either op. Errors: WEFT_ERR_DTYPE, WEFT_ERR_SHAPE.
weft_status wf_attention_shape_get(const wf_node_info *info, bool is_grad, wf_attention_shape *out,
                                   weft_error *err);

#define WF_ATTENTION_ATTR_SPECS                                                                    \
    {"scale", WF_ATTR_FLOAT},                                                                      \
    {                                                                                              \
        "is_causal", WF_ATTR_BOOL                                                                  \
    }

// Is key j a term for query i? out_added is what an additive mask adds to the score, else 0.
bool wf_attention_sees(const wf_attention_shape *s, const wf_tensor *mask, int64_t b, int64_t h,
                       int64_t i, int64_t j, double *out_added);

// The gradient of the added mask, operand 3: q asks for that of attention; delta [b,h,tq] as attention_grad
// takes it. In attention_mask_common.c.
weft_val wf_attention_mask_grad(const wf_grad_query *q, weft_val dout, weft_val delta);

wf_cost wf_attention_cost(const wf_node_info *info);
void wf_attention_cases(wf_check_list *list, bool is_grad);

#endif
