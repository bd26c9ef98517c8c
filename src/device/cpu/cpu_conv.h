// Convolutions on the cpu device: what their files share.
//
//   cpu_conv.c        chooses, and is the lowering
//   cpu_conv_box.c    units of outputs and the box of input that a unit reads
//   cpu_conv_gather.c forward and input gradient: tiles of cells x channels
//   cpu_conv_holes.c  input gradient of a strided convolution, without its holes
//   cpu_conv_narrow.c few channels in the result: vectors of cells
//   cpu_conv_weight.c weight gradient: tiles of (window cell, channel) x channels
//   cpu_conv_lanes.c  depthwise: vectors of channels; _weight: its weight gradient
//   cpu_conv_plain.c  any case at all, slowly
//   cpu_conv_winograd.c  in `fast`: 3 x 3 windows with fewer products
#ifndef WF_CPU_CONV_H
#define WF_CPU_CONV_H

#include "device/cpu/cpu_panel.h"
#include "op/conv_common.h"

typedef struct wf_cpu_tensor {
    float *data;
    int64_t n, c;                // strides of the first two axes
    int64_t space[WF_CONV_AXES]; // of the spatial ones
} wf_cpu_tensor;

// How a unit (a run of consecutive outputs: whole samples, or a slice of one) reads src. Output cell o
// and window cell t meet src at o * step + base + t * dilation on each axis (is_flipped: the window
// backwards), where every hole-th place holds a cell of src and the others, like those outside, +0.
// The places that a unit needs are copied into a box, so that all offsets in it are known before.
typedef struct wf_cpu_box {
    wf_cpu_tensor src;
    int64_t n, channels; // of src in one group
    int64_t src_size[WF_CONV_AXES], out[WF_CONV_AXES], window[WF_CONV_AXES];
    int64_t dilation[WF_CONV_AXES], step[WF_CONV_AXES], base[WF_CONV_AXES], hole[WF_CONV_AXES];
    bool is_flipped;
    bool is_large;                                 // boxes may take most of L2
    const wf_cpu_products *planar;                 // not NULL: lines of channels of cells
    bool is_direct;                                // nothing lies outside: src itself is the box
    int64_t unit_samples, unit_size[WF_CONV_AXES]; // outputs of a whole unit
    int64_t n_units;
    int64_t pitch_n, pitch_c, pitch[WF_CONV_AXES];
    int64_t floats;       // of a box; 0: direct
    int64_t unit_cells;   // outputs in a unit, at most
    int64_t n_terms;      // window cells x channels
    const int64_t *cells; // [unit_cells] where an output's window begins in the box
    const int64_t *terms; // [n_terms] from there to window cell and channel
} wf_cpu_box;

typedef struct wf_cpu_unit {
    int64_t sample, n_samples;
    int64_t start[WF_CONV_AXES], size[WF_CONV_AXES];
    int64_t first_cell, n_cells; // in the order (n, cell)
} wf_cpu_unit;

// Everything about one convolution task that does not need memory.
typedef struct wf_cpu_conv {
    const wf_cpu_products *products;
    const wf_cpu_lanes *lanes;
    wf_conv_kind kind;
    wf_conv_shape s;
    bool is_depthwise, is_holed, is_narrow, is_streamed;
    wf_cpu_tensor x, w, y; // of the forward op: its gradients write x or w
    wf_cpu_box box;
    int64_t n_cols; // columns of the product in one group
    float *workspace;
    int64_t
        flat_step; // y's cells (input gradient: x's) lie so far apart, all of them; 0: they do not
    int64_t n_cuts, cut_cols;  // items have so many of a group's columns
    int64_t n_chunks;          // weight gradient: of x's channels in a group
    bool is_y_direct;          // whole panels are read from y itself
    int64_t n_blocks;          // forward and input gradient: of the product,
    const int64_t *block_ends; // and the term behind each; NULL: yet to be set
    size_t (*first_nonfinite)(const float *a, size_t n); // of the weights; NULL: may be anything
} wf_cpu_conv;

// Where window cell tap of output cell out meets src on one axis; -1: in the padding or a hole.
int64_t wf_cpu_box_place(const wf_cpu_box *box, int axis, int64_t out, int64_t tap);

// Where the lines along the last axis begin that the window of output line o meets: [window 0 * window 1], NULL where
// there is none. sample: that of src.
void wf_cpu_box_lines(const wf_cpu_box *box, const float *sample, const int64_t o[WF_CONV_AXES],
                      const float **lines);

static inline int64_t wf_cpu_conv_offset(const wf_cpu_tensor *t, const int64_t at[WF_CONV_AXES])
{
    return at[0] * t->space[0] + at[1] * t->space[1] + at[2] * t->space[2];
}

// Flags in the workspace, set by the items of packing: 1 where what they packed is finite.
static inline bool wf_cpu_conv_all_set(const float *flags, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (flags[i] == 0.0f)
            return false;
    }
    return true;
}

// Terms of a weight gradient's product, and the groups of its blocks, which are summed apart.
static inline int64_t wf_cpu_conv_weight_terms(const wf_cpu_conv *c)
{
    return c->s.n * wf_conv_volume(c->s.out);
}

static inline int64_t wf_cpu_conv_weight_parts(const wf_cpu_conv *c)
{
    return wf_product_n_groups(wf_product_n_blocks(wf_cpu_conv_weight_terms(c)));
}

// Units of about target cells. False: no unit has a box of a sane size.
bool wf_cpu_box_cut(wf_cpu_box *box, int64_t target_cells);
// Offsets, once the unit is known.
weft_status wf_cpu_box_tables(wf_cpu_box *box, wf_cpu_lower *q, weft_error *err);
// The unit that holds a cell.
int64_t wf_cpu_box_find(const wf_cpu_box *box, int64_t cell);
wf_cpu_unit wf_cpu_box_unit(const wf_cpu_box *box, int64_t idx);
// The box of a unit for one group: copied into buf, or in src.
const float *wf_cpu_box_fill(const wf_cpu_box *box, const wf_cpu_unit *u, int64_t group,
                             float *buf);

weft_status wf_cpu_conv_plain(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err);

// A result that no cache would hold until it is read: vectors of channels may go past the caches.
bool wf_cpu_conv_is_streamed(const wf_cpu_conv *c, const wf_cpu_tensor *out);

// Cells of a unit that suit the product.
int64_t wf_cpu_conv_target_cells(const wf_cpu_conv *c);
// Weights that L2 would not keep between units.
bool wf_cpu_conv_is_heavy(const wf_cpu_conv *c);

// Where units are few, columns are cut where panels begin. After the box is cut.
void wf_cpu_conv_cut_columns(wf_cpu_conv *c);

size_t wf_cpu_conv_gather_floats(const wf_cpu_conv *c);
weft_status wf_cpu_conv_gather(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err);
// Its parts: tables and scratch; some channels' weights of one group, packed; some columns of one unit.
weft_status wf_cpu_conv_gather_prepare(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err);
int64_t wf_cpu_conv_n_packs(const wf_cpu_conv *c);
// Units, groups and cuts of columns.
int64_t wf_cpu_conv_n_items(const wf_cpu_conv *c);
// False: first_nonfinite is set and has found one.
bool wf_cpu_conv_pack(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker);
void wf_cpu_conv_unit(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker);

// Columns of the packed weights' panel that starts at j0.
int64_t wf_cpu_conv_panel(const wf_cpu_conv *c, int64_t j0);
// Of one group.
int64_t wf_cpu_conv_packed_floats(const wf_cpu_conv *c);

// Chooses vectors of cells where they are fuller than those of channels. Before the box is cut.
void wf_cpu_conv_narrow_choose(wf_cpu_conv *c, int64_t n_terms);
size_t wf_cpu_conv_narrow_scratch(const wf_cpu_conv *c);
void wf_cpu_conv_narrow_unit(const wf_cpu_conv *c, int64_t item, const wf_cpu_worker *worker);

// False: it has no holes, or they must stay.
bool wf_cpu_conv_holes_fit(const wf_cpu_conv *c);
size_t wf_cpu_conv_holes_floats(const wf_cpu_conv *c);
weft_status wf_cpu_conv_holes(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err);

// Chooses chunks and cuts. Before the box is cut.
void wf_cpu_conv_weight_cut(wf_cpu_conv *c, const wf_cpu_tile_sizes *s);
size_t wf_cpu_conv_weight_floats(const wf_cpu_conv *c);
weft_status wf_cpu_conv_weight(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err);

// Depthwise only, channels last.
size_t wf_cpu_conv_lanes_floats(const wf_cpu_conv *c);
weft_status wf_cpu_conv_lanes(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err);
size_t wf_cpu_conv_lanes_weight_floats(const wf_cpu_conv *c);
weft_status wf_cpu_conv_lanes_weight(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err);

// In `fast`: forward and input gradient with a 3 x 3 window, channels last.
bool wf_cpu_conv_winograd_suits(const wf_cpu_conv *c, const wf_cpu_winograd *kernels);
size_t wf_cpu_conv_winograd_floats(const wf_cpu_conv *c);
weft_status wf_cpu_conv_winograd(wf_cpu_lower *q, const wf_cpu_conv *c, weft_error *err);

#endif
