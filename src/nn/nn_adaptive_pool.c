// Pooling to a given size: output cell i covers cells floor(i in / out) to ceil((i + 1) in / out) - 1 of
// each spatial axis. Where the sizes divide, the windows are alike and an op does it; otherwise each
// axis is spread into windows of one length, by a table, and pooled in turn.
#include "nn/nn_resample.h"

typedef struct spread_axis {
    int64_t in, out;
    int64_t longest; // window
} spread_axis;

static int64_t first_of(const spread_axis *a, int64_t i)
{
    return i * a->in / a->out;
}

static int64_t end_of(const spread_axis *a, int64_t i)
{
    return ((i + 1) * a->in + a->out - 1) / a->out;
}

static spread_axis get_axis(int64_t in, int64_t out)
{
    spread_axis a = {in, out, 0};
    for (int64_t i = 0; i < out; i++) {
        const int64_t n = end_of(&a, i) - first_of(&a, i);
        a.longest = n > a.longest ? n : a.longest;
    }
    return a;
}

// The i32 [out,longest] of the cells under each window; a shorter one repeats its last cell.
static weft_val get_cells(weft_graph *g, const spread_axis *a)
{
    const int64_t dims[] = {a->out, a->longest};
    int32_t *idx = wf_resample_table(g, a->out * a->longest, sizeof *idx);
    if (!idx)
        return WEFT_NONE;
    for (int64_t i = 0; i < a->out; i++) {
        for (int64_t r = 0; r < a->longest; r++) {
            const int64_t at = first_of(a, i) + r, last = end_of(a, i) - 1;
            idx[i * a->longest + r] = (int32_t)(at < last ? at : last);
        }
    }
    const weft_val table = weft_constant(g, WEFT_I32, dims, 2, idx);
    wf_resample_free(g, idx);
    return table;
}

// Which entries of that table are no repetition: bool [1,..,out,longest,..,1], of ndim dims.
static weft_val get_mask(weft_graph *g, const spread_axis *a, int32_t axis, int32_t ndim)
{
    int64_t dims[WEFT_MAX_DIM];
    uint8_t *is_own = wf_resample_table(g, a->out * a->longest, 1);
    if (!is_own)
        return WEFT_NONE;
    for (int64_t i = 0; i < a->out; i++) {
        for (int64_t r = 0; r < a->longest; r++)
            is_own[i * a->longest + r] = first_of(a, i) + r < end_of(a, i);
    }
    for (int32_t i = 0; i < ndim; i++)
        dims[i] = i == axis ? a->out : i == axis + 1 ? a->longest : 1;
    const weft_val mask = weft_constant(g, WEFT_BOOL, dims, ndim, is_own);
    wf_resample_free(g, is_own);
    return mask;
}

// How many cells each window has along the axis: f32 [1,..,out,..,1].
static weft_val get_counts(weft_graph *g, const spread_axis *a, int32_t axis, int32_t ndim)
{
    float *counts = wf_resample_table(g, a->out, sizeof *counts);
    if (!counts)
        return WEFT_NONE;
    for (int64_t i = 0; i < a->out; i++)
        counts[i] = (float)(end_of(a, i) - first_of(a, i));
    const weft_val table = weft_constant(g, WEFT_F32, &a->out, 1, counts);
    wf_resample_free(g, counts);
    return wf_resample_along(g, table, axis, ndim);
}

// The sizes of a window when all are alike; false when they are not.
static bool get_window(const weft_type *t, const int64_t *size, int64_t window[WF_RESAMPLE_AXES])
{
    bool is_alike = true;
    for (int32_t i = 2; i < t->ndim; i++) {
        window[i - 2] = t->dims[i] / size[i - 2];
        is_alike &= t->dims[i] % size[i - 2] == 0;
    }
    return is_alike;
}

// Sums along each axis over a selection, not a product: what is repeated may be infinite.
static weft_val spread_mean(weft_graph *g, weft_val x, const int64_t *size)
{
    const weft_type t = weft_val_type(g, x);
    weft_val y = wf_resample_begin(g, x), counts = weft_scalar(g, WEFT_F32, 1.0);
    for (int32_t axis = 1; axis < t.ndim - 1; axis++) {
        const spread_axis a = get_axis(t.dims[axis + 1], size[axis - 1]);
        const int32_t behind = axis + 1;
        const weft_val cells = weft_gather(g, y, get_cells(g, &a), axis);
        const weft_val own =
            weft_select(g, get_mask(g, &a, axis, t.ndim + 1), cells, weft_scalar(g, WEFT_F32, 0.0));
        y = weft_sum(g, own, &behind, 1, false);
        counts = weft_mul(g, counts, get_counts(g, &a, axis, t.ndim));
    }
    return wf_resample_end(g, weft_div(g, y, counts));
}

// [n,spatial..,c] with the windows of one axis side by side: its size becomes out * longest.
static weft_val spread_cells(weft_graph *g, weft_val x, const spread_axis *a, int32_t axis)
{
    weft_type t = weft_val_type(g, x);
    const weft_val cells = weft_gather(g, x, get_cells(g, a), axis);
    t.dims[axis] = a->out * a->longest;
    return weft_reshape(g, cells, t.dims, t.ndim);
}

// The last axis first: then the lowest cell of equals, row-major, wins.
static weft_val spread_max(weft_graph *g, weft_val x, const int64_t *size)
{
    const weft_type t = weft_val_type(g, x);
    weft_val y = x;
    for (int32_t axis = t.ndim - 1; axis >= 2; axis--) {
        const spread_axis a = get_axis(t.dims[axis], size[axis - 2]);
        int64_t window[WF_RESAMPLE_AXES] = {1, 1, 1};
        window[axis - 2] = a.longest;
        if (a.in % a.out != 0)
            y = wf_resample_end(g, spread_cells(g, wf_resample_begin(g, y), &a, axis - 1));
        if (a.longest > 1)
            y = weft_max_pool(g, y, window, NULL);
    }
    return y;
}

static bool check(weft_graph *g, const char *what, weft_val x, const int64_t *size)
{
    char text[WF_TYPE_TEXT];
    if (!wf_resample_check(g, what, x, size))
        return false;
    const weft_type t = weft_val_type(g, x);
    if (t.dtype == WEFT_F32)
        return true;
    wf_graph_fail(g, NULL, WEFT_ERR_DTYPE, "%s: x is %s, expected f32", what,
                  wf_type_text(&t, text));
    return false;
}

weft_val weft_adaptive_mean_pool(weft_graph *g, weft_val x, const int64_t *size)
{
    int64_t window[WF_RESAMPLE_AXES];
    if (!check(g, "adaptive_mean_pool", x, size))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    weft_scope_push(g, "adaptive_mean_pool");
    const weft_val y =
        get_window(&t, size, window) ? weft_mean_pool(g, x, window, NULL) : spread_mean(g, x, size);
    weft_scope_pop(g);
    return y;
}

weft_val weft_adaptive_max_pool(weft_graph *g, weft_val x, const int64_t *size)
{
    if (!check(g, "adaptive_max_pool", x, size))
        return WEFT_NONE;
    weft_scope_push(g, "adaptive_max_pool");
    const weft_val y = spread_max(g, x, size);
    weft_scope_pop(g);
    return y;
}
