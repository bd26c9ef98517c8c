// How an op's file says what `weft check` shall try of it.
//
//     static weft_val build(weft_graph *g, const weft_val *in, const int64_t *p) {
//         return weft_matmul(g, in[0], in[1], p[0], p[1]);
//     }
//     static void cases(wf_check_list *list) {
//         wf_check_add(list, (wf_check_case){.name = "31x32x33", .build = build, .n_inputs = 2,
//                      .inputs = {WF_CHECK_INPUT(WEFT_F32, 31, 32), WF_CHECK_INPUT(WEFT_F32, 32, 33)}});
//     }
//
// Each case is run forward (every output's bits equal those of ref, and lie within `bound` of
// float64) and, unless `no_gradient`, backward: the gradient of sum(output * random) by each f32
// input, whose bits equal ref's and which agrees with float64 finite differences on small cases.
#ifndef WF_OP_CHECK_CASE_H
#define WF_OP_CHECK_CASE_H

#include "op/op.h"

#define WF_CHECK_MAX_INPUTS 4
#define WF_CHECK_MAX_PARAMS 24

typedef enum wf_check_fill {
    WF_CHECK_NORMAL, // f32: about -2..2, every mantissa; integers: small of both signs; bool: both
    WF_CHECK_POSITIVE, // f32: 0.1..4
    WF_CHECK_UNIT,     // f32: -0.9..0.9
    WF_CHECK_SPECIAL,  // f32: also NaN, infinities, -0, subnormals, huge, tiny; integers: extremes
    WF_CHECK_INDEX,    // integers in [0, limit)
    WF_CHECK_WIDE,     // f32: magnitudes from 2^-20 to 2^20: shows the order of sums
} wf_check_fill;

typedef struct wf_check_input {
    weft_type type;
    wf_check_fill fill;
    int64_t limit; // INDEX
} wf_check_input;

#define WF_CHECK_DIMS(...) (sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define WF_CHECK_INPUT(dtype_, ...)                                                                \
    {                                                                                              \
        .type = { dtype_, (int32_t)WF_CHECK_DIMS(__VA_ARGS__), {__VA_ARGS__} }                     \
    }
#define WF_CHECK_INPUT_FILL(fill_, limit_, dtype_, ...)                                            \
    {                                                                                              \
        .type = {dtype_, (int32_t)WF_CHECK_DIMS(__VA_ARGS__), {__VA_ARGS__}}, .fill = fill_,       \
        .limit = limit_                                                                            \
    }

typedef struct wf_check_case {
    const char *name;
    // Builds the op on the inputs; p is `params`. Ops with several outputs return the first; the
    // engine looks at all of the node's outputs.
    weft_val (*build)(weft_graph *g, const weft_val *in, const int64_t *p);
    int64_t params[WF_CHECK_MAX_PARAMS];
    size_t n_inputs;
    wf_check_input inputs[WF_CHECK_MAX_INPUTS];
    bool no_gradient;
    bool no_difference; // no finite differences: not smooth, or too large
    // Greatest |value - truth| / (scale * 2^-24), where scale is the greatest magnitude of the
    // truth's tensor; 0: the engine's default for the op's kind.
    double bound;
} wf_check_case;

typedef struct wf_check_list wf_check_list;
void wf_check_add(wf_check_list *list, wf_check_case one);
// A name that lives as long as the list (printf format).
const char *wf_check_name(wf_check_list *list, const char *format, ...) WF_PRINTF(2, 3);

#endif
