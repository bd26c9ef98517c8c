// What the pooling ops share: sizes, checked once. x [n,c,in..], y [n,c,out..], 1 to 3 spatial axes.
// Inside, every shape has three spatial axes; missing ones stand in front with size 1. Devices read
// their sizes from here too.
#ifndef WF_OP_WINDOW_COMMON_H
#define WF_OP_WINDOW_COMMON_H

#include "op/op.h"

#define WF_WINDOW_AXES 3

// Attributes of all, in this order. SPATIAL is what the inputs do not say: the forward ops' output
// size (it holds the choice between floor and ceil), the gradients' input size. The mean ops have
// one more, count_include_pad.
enum {
    WF_WINDOW_ATTR_WINDOW,
    WF_WINDOW_ATTR_STRIDE,
    WF_WINDOW_ATTR_PAD_BEFORE,
    WF_WINDOW_ATTR_PAD_AFTER,
    WF_WINDOW_ATTR_DILATION,
    WF_WINDOW_ATTR_SPATIAL,
    WF_WINDOW_ATTR_COUNT_PAD,
    WF_WINDOW_N_ATTRS_MAX = WF_WINDOW_ATTR_COUNT_PAD,
    WF_WINDOW_N_ATTRS_MEAN,
};
#define WF_WINDOW_ATTR_SPECS(spatial_)                                                             \
    {"window", WF_ATTR_INTS}, {"stride", WF_ATTR_INTS}, {"pad_before", WF_ATTR_INTS},              \
        {"pad_after", WF_ATTR_INTS}, {"dilation", WF_ATTR_INTS},                                   \
    {                                                                                              \
        spatial_, WF_ATTR_INTS                                                                     \
    }

typedef struct wf_window_shape {
    int32_t rank;
    int64_t n_planes; // n * c
    int64_t in[WF_WINDOW_AXES];
    int64_t window[WF_WINDOW_AXES];
    int64_t out[WF_WINDOW_AXES];
    int64_t stride[WF_WINDOW_AXES];
    int64_t pad[WF_WINDOW_AXES]; // before
    int64_t pad_after[WF_WINDOW_AXES];
    int64_t dilation[WF_WINDOW_AXES];
    bool count_include_pad; // mean ops
} wf_window_shape;

// Sizes of a node, or the infer error. is_grad: the first input has the output's size.
weft_status wf_window_shape_get(const wf_node_info *info, bool is_grad, wf_window_shape *out_shape,
                                weft_error *err);
// x's type with the spatial sizes `size`.
weft_type wf_window_type(const wf_node_info *info, const wf_window_shape *s, weft_dtype dtype,
                         const int64_t size[WF_WINDOW_AXES]);
wf_cost wf_window_cost(const wf_node_info *info);

// What `weft check` tries.
typedef enum wf_window_kind {
    WF_WINDOW_MAX,
    WF_WINDOW_MAX_GRAD,
    WF_WINDOW_MEAN,
    WF_WINDOW_MEAN_GRAD,
} wf_window_kind;
void wf_window_cases(struct wf_check_list *list, wf_window_kind kind);

// Constructors of the forward ops: output sizes by floor or ceil, then the node.
weft_val wf_window_build(weft_graph *g, const wf_op *op, weft_val x, const int64_t *window,
                         const weft_window_options *options);
// A node whose attributes are another's, but for SPATIAL.
weft_val wf_window_build_like(const wf_grad_query *q, const wf_op *op, const weft_val *in,
                              size_t n_in, const int64_t *spatial);

static inline int64_t wf_window_volume(const int64_t size[WF_WINDOW_AXES])
{
    return size[0] * size[1] * size[2];
}

static inline void wf_window_split(int64_t idx, const int64_t size[WF_WINDOW_AXES],
                                   int64_t out_at[WF_WINDOW_AXES])
{
    for (int i = WF_WINDOW_AXES - 1; i >= 0; i--) {
        out_at[i] = idx % size[i];
        idx /= size[i];
    }
}

// Row-major index of the input cell under window cell r of output cell p; -1 in the padding.
int64_t wf_window_input_cell(const wf_window_shape *s, const int64_t p[WF_WINDOW_AXES],
                             const int64_t r[WF_WINDOW_AXES]);
// Row-major index of the window cell of output cell p that lies on input cell h; -1: none does.
int64_t wf_window_cell(const wf_window_shape *s, const int64_t p[WF_WINDOW_AXES],
                       const int64_t h[WF_WINDOW_AXES]);
// The output cells whose windows may lie on h: first to last along each axis; last < first: none.
void wf_window_reach(const wf_window_shape *s, const int64_t h[WF_WINDOW_AXES],
                     int64_t out_first[WF_WINDOW_AXES], int64_t out_last[WF_WINDOW_AXES]);
// What the mean of window p divides by: its cells inside the input, or, with count_include_pad,
// inside the input with its padding (a last window of ceil_mode may reach beyond).
int64_t wf_window_count(const wf_window_shape *s, const int64_t p[WF_WINDOW_AXES]);

#endif
