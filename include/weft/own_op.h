// Ops of a program's own, added to a context at run time.
//
// Such an op runs on ref and on cpu by its eval; a device that cannot call it says so when the graph is
// compiled. An op that other ops can express needs none of this: a function that builds them has
// their gradient and runs everywhere.
#ifndef WEFT_OWN_OP_H
#define WEFT_OWN_OP_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

// Most operands, results and numbers of an own op.
#define WEFT_OWN_MAX_INPUTS 8
#define WEFT_OWN_MAX_OUTPUTS 4
#define WEFT_OWN_MAX_NUMBERS 8

// A tensor in host memory, dense and row-major. data of an operand is not to be written.
typedef struct weft_own_tensor {
    weft_type type;
    void *data;
} weft_own_tensor;

typedef struct weft_own_op {
    size_t struct_size;
    const char *name; // its identity, also in files; not a name that weft has
    uint32_t n_inputs;
    uint32_t n_outputs;
    uint32_t n_numbers;              // attributes, each a number
    const char *const *number_names; // n_numbers of them
    void *user;                      // given to each function
    // Types of the results, or a status with a message ("sizes differ, a is ...") in err, which is never
    // NULL, here and in eval.
    weft_status (*infer)(void *user, const double *numbers, const weft_type *in, weft_type *out,
                         weft_error *err);
    // The values. May be called from any thread, by one at a time for a node; the same operands must
    // give the same bits.
    weft_status (*eval)(void *user, const double *numbers, const weft_own_tensor *in,
                        const weft_own_tensor *out, weft_error *err);
    // Builds the gradient out of graph values: din[i] for each operand from dout (none where no
    // gradient arrives). NULL: the op has none.
    void (*grad)(void *user, weft_graph *g, const double *numbers, const weft_val *in,
                 const weft_val *out, const weft_val *dout, weft_val *din);
} weft_own_op;
#define WEFT_OWN_OP_INIT                                                                           \
    {                                                                                              \
        sizeof(weft_own_op), NULL, 0, 1, 0, NULL, NULL, NULL, NULL, NULL                           \
    }

// Adds the op to a context. The struct is copied; its texts and user live as long as the context.
// Errors: WEFT_ERR_NAME (taken, or not a word), WEFT_ERR_USAGE (a function or size is missing or out
// of range), WEFT_ERR_MEMORY.
WEFT_API weft_status weft_context_add_op(weft_context *context, const weft_own_op *op,
                                         weft_error *err);

// A node of that op: n_inputs operands, n_numbers numbers. Writes its n_outputs results.
// Errors: WEFT_ERR_NAME (no such own op), what infer says; recorded in the graph, results are none.
WEFT_API void weft_own(weft_graph *g, const char *name, const weft_val *in, const double *numbers,
                       weft_val *out);
#ifndef WEFT_NO_PLACE // records the caller's place, as weft/place.h does for ops
#define weft_own(g, ...) weft_own(WEFT_AT(g), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif
#endif
