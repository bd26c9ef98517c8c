// What the three convolution ops share: sizes, checked once, and the order of a product's terms.
//
// x [n,c,in..], w [k,c/groups,window..], y [n,k,out..], 1 to 3 spatial axes. Inside, every shape has
// three spatial axes; missing ones stand in front with size 1, so that one loop nest serves all ranks.
// Devices read their sizes from here too.
#ifndef WF_OP_CONV_COMMON_H
#define WF_OP_CONV_COMMON_H

#include "op/op.h"

#define WF_CONV_AXES 3

// Attributes of all three, in this order; the gradients have one more (input_spatial, window).
enum {
    WF_CONV_ATTR_STRIDE,
    WF_CONV_ATTR_PAD_BEFORE,
    WF_CONV_ATTR_PAD_AFTER,
    WF_CONV_ATTR_DILATION,
    WF_CONV_ATTR_GROUPS,
    WF_CONV_ATTR_SPATIAL,
    WF_CONV_N_ATTRS_FORWARD = WF_CONV_ATTR_SPATIAL,
    WF_CONV_N_ATTRS_GRAD,
};
#define WF_CONV_ATTR_SPECS                                                                         \
    {"stride", WF_ATTR_INTS}, {"pad_before", WF_ATTR_INTS}, {"pad_after", WF_ATTR_INTS},           \
        {"dilation", WF_ATTR_INTS},                                                                \
    {                                                                                              \
        "groups", WF_ATTR_INT                                                                      \
    }

typedef enum wf_conv_kind {
    WF_CONV_FORWARD,     // x, w -> y
    WF_CONV_GRAD_INPUT,  // dy, w -> dx
    WF_CONV_GRAD_WEIGHT, // x, dy -> dw
} wf_conv_kind;

typedef struct wf_conv_shape {
    int32_t rank;           // spatial axes of the op
    int64_t n, c, k;        // samples, channels of x, channels of y
    int64_t groups, cg, kg; // cg = c / groups, kg = k / groups
    int64_t in[WF_CONV_AXES];
    int64_t window[WF_CONV_AXES];
    int64_t out[WF_CONV_AXES];
    int64_t stride[WF_CONV_AXES];
    int64_t pad[WF_CONV_AXES]; // before
    int64_t dilation[WF_CONV_AXES];
} wf_conv_shape;

// Sizes of a node, or the infer error. The kind says which inputs the node has.
weft_status wf_conv_shape_get(const wf_node_info *info, wf_conv_kind kind, wf_conv_shape *out_shape,
                              weft_error *err);
// The shape from a valid node's op, for devices: finds the kind by the op.
weft_status wf_conv_shape_of(const wf_node_info *info, wf_conv_shape *out_shape,
                             wf_conv_kind *out_kind, weft_error *err);

// The types of x, w and y.
weft_type wf_conv_type_x(const wf_conv_shape *s);
weft_type wf_conv_type_w(const wf_conv_shape *s);
weft_type wf_conv_type_y(const wf_conv_shape *s);

// The constructors' common end: fills attributes from options (which may be NULL) and adds the node.
// spatial: the gradients' last attribute, NULL for the forward op.
weft_val wf_conv_build(weft_graph *g, const wf_op *op, const weft_val in[2],
                       const weft_conv_options *options, const int64_t *spatial);
// The options that a node was built with; lists point at its attributes.
weft_conv_options wf_conv_options_get(const wf_node_info *info);

wf_cost wf_conv_cost(const wf_node_info *info);

// What `weft check` tries.
void wf_conv_cases(struct wf_check_list *list, wf_conv_kind kind);

static inline int64_t wf_conv_volume(const int64_t size[WF_CONV_AXES])
{
    return size[0] * size[1] * size[2];
}

// Splits a row-major index over size into coordinates.
static inline void wf_conv_split(int64_t idx, const int64_t size[WF_CONV_AXES],
                                 int64_t out_at[WF_CONV_AXES])
{
    for (int i = WF_CONV_AXES - 1; i >= 0; i--) {
        out_at[i] = idx % size[i];
        idx /= size[i];
    }
}

// Row-major index of the input cell under window cell r of output cell p; -1 in the padding.
int64_t wf_conv_input_cell(const wf_conv_shape *s, const int64_t p[WF_CONV_AXES],
                           const int64_t r[WF_CONV_AXES]);
// Row-major index of the output cell whose window cell r lies on input cell h; -1 where there is
// none: beyond the edge, or in a hole of the stride.
int64_t wf_conv_output_cell(const wf_conv_shape *s, const int64_t h[WF_CONV_AXES],
                            const int64_t r[WF_CONV_AXES]);

// ---- one output's terms, gathered in the order of doc/arithmetic.md, then summed
typedef struct wf_conv_terms {
    double *a, *b;
    int64_t n;
} wf_conv_terms;

// Room for n terms. The gatherer adds; wf_conv_terms_store sums into element i of t and empties.
weft_status wf_conv_terms_init(wf_conv_terms *terms, const wf_allocator *allocator, int64_t n,
                               weft_error *err);
void wf_conv_terms_deinit(wf_conv_terms *terms, const wf_allocator *allocator);
void wf_conv_terms_store(wf_conv_terms *terms, const wf_tensor *t, int64_t i);

static inline void wf_conv_terms_add(wf_conv_terms *terms, double a, double b)
{
    terms->a[terms->n] = a;
    terms->b[terms->n++] = b;
}

// An f32 element as double; idx -1 is padding, +0.
static inline double wf_conv_get(const wf_tensor *t, int64_t i)
{
    if (i < 0)
        return 0.0;
    return t->is_truth ? ((const double *)t->data)[i] : (double)((const float *)t->data)[i];
}

#endif
