// Input gradient of a strided convolution. Stage: PROGRAM, RUN.
//
// The cells of x fall into classes by their remainder on each axis: a class meets the same window cells
// everywhere, and is a convolution of stride 1 with them alone, so no hole is computed. Holes are terms
// by definition: they may be left out where the weights are finite (doc/arithmetic.md, "Products"), which
// packing finds out. Else the convolution runs once more as a whole, holes and all. Each window cell belongs to a
// class, so that all weights are looked at as long as no class is empty: x must reach over a stride on each axis.
#include "device/cpu/cpu_conv.h"

#define MAX_CLASSES 64

typedef struct holes_params {
    const wf_cpu_conv *whole;
    wf_cpu_conv *classes;
    int64_t n_classes;
    int64_t *packs, *units; // [n_classes + 1] of the classes before
    float *flags;           // [packs] 1: these weights are finite
} holes_params;

static int64_t get_common(int64_t a, int64_t b)
{
    return b == 0 ? a : get_common(b, a % b);
}

static int64_t count_classes(const wf_cpu_conv *c)
{
    return wf_conv_volume(c->s.stride);
}

// Axis i of the class of remainder k: the window cells r, r + step, ... meet it.
static void set_axis(wf_cpu_conv *c, int i, int64_t k, int64_t *w_at)
{
    wf_conv_shape *s = &c->s;
    wf_cpu_box *b = &c->box;
    const int64_t stride = s->stride[i], dilation = s->dilation[i];
    const int64_t step = stride / get_common(stride, dilation);
    int64_t r = 0, n = 0;
    while (r < s->window[i] && r < step && (k + s->pad[i] - r * dilation) % stride)
        r++;
    if (r < s->window[i] && r < step)
        n = (s->window[i] - 1 - r) / step + 1;
    s->in[i] = wf_cpu_div_up(s->in[i] - k, stride);
    s->window[i] = n;
    b->window[i] = n ? n : 1;
    b->dilation[i] = dilation * step / stride;
    b->hole[i] = 1;
    b->base[i] = n ? (k + s->pad[i] - (r + (n - 1) * step) * dilation) / stride : 0;
    b->out[i] = s->in[i];
    w_at[i] = r;
    c->w.space[i] *= step;
    c->x.space[i] *= stride;
}

static int64_t count_terms(const wf_cpu_conv *c)
{
    return wf_conv_volume(c->s.window) * c->box.channels;
}

// The convolution of one class, but for its tables. False: it has no box.
static bool get_class(const wf_cpu_conv *whole, int64_t idx, wf_cpu_conv *c)
{
    const wf_cpu_tensor w = whole->w, x = whole->x;
    int64_t k[WF_CONV_AXES], w_at[WF_CONV_AXES];
    wf_conv_split(idx, whole->s.stride, k);
    *c = *whole;
    c->flat_step = 0;
    for (int i = 0; i < WF_CONV_AXES; i++)
        set_axis(c, i, k[i], w_at);
    if (c->x.data) {
        c->w.data += wf_conv_volume(c->s.window) ? wf_cpu_conv_offset(&w, w_at) : 0;
        c->x.data += wf_cpu_conv_offset(&x, k);
    }
    wf_cpu_conv_narrow_choose(c, count_terms(whole));
    c->box.is_large = c->is_narrow || wf_cpu_conv_is_heavy(c);
    const bool fits = wf_cpu_box_cut(&c->box, wf_cpu_conv_target_cells(c));
    wf_cpu_conv_cut_columns(c);
    if (wf_conv_volume(c->s.window) == 0) { // nothing meets it: zeros
        c->box.is_direct = true;
        c->box.floats = c->box.n_terms = 0;
    }
    return fits;
}

bool wf_cpu_conv_holes_fit(const wf_cpu_conv *c)
{
    const int64_t n = count_classes(c);
    wf_cpu_conv one;
    bool fits = c->kind == WF_CONV_GRAD_INPUT && n > 1 && n <= MAX_CLASSES;
    for (int i = 0; i < WF_CONV_AXES; i++)
        fits &= c->s.in[i] >= c->s.stride[i];
    for (int64_t i = 0; i < n && fits; i++)
        fits = get_class(c, i, &one);
    return fits;
}

static int64_t count_class_floats(const wf_cpu_conv *c)
{
    return ((int64_t)wf_cpu_conv_gather_floats(c) + 15) / 16 * 16;
}

// Packed weights of the classes, where those of the whole may follow; then flags.
static size_t count_floats(const wf_cpu_conv *c, int64_t *out_flags)
{
    const int64_t whole = count_class_floats(c);
    int64_t floats = 0;
    *out_flags = 0;
    for (int64_t i = 0; i < count_classes(c); i++) {
        wf_cpu_conv one;
        (void)get_class(c, i, &one);
        floats += count_class_floats(&one);
        *out_flags += wf_cpu_conv_n_packs(&one);
    }
    return (size_t)(floats > whole ? floats : whole);
}

size_t wf_cpu_conv_holes_floats(const wf_cpu_conv *c)
{
    int64_t n_flags;
    const size_t floats = count_floats(c, &n_flags);
    return floats + (size_t)n_flags;
}

static bool is_finite(const holes_params *p)
{
    return wf_cpu_conv_all_set(p->flags, p->packs[p->n_classes]);
}

static int64_t find_class(const holes_params *p, const int64_t *starts, int64_t item)
{
    int64_t i = 0;
    while (i + 1 < p->n_classes && starts[i + 1] <= item)
        i++;
    return i;
}

static void run_pack(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const holes_params *p = params;
    const int64_t i = find_class(p, p->packs, item);
    p->flags[item] = wf_cpu_conv_pack(&p->classes[i], item - p->packs[i], worker);
}

static void run_unit(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const holes_params *p = params;
    if (!is_finite(p))
        return;
    const int64_t i = find_class(p, p->units, item);
    wf_cpu_conv_unit(&p->classes[i], item - p->units[i], worker);
}

static void run_pack_whole(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const holes_params *p = params;
    if (!is_finite(p))
        (void)wf_cpu_conv_pack(p->whole, item, worker);
}

static void run_unit_whole(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const holes_params *p = params;
    if (!is_finite(p))
        wf_cpu_conv_unit(p->whole, item, worker);
}

// Where the product's blocks end among the terms of a class.
static weft_status set_blocks(wf_cpu_lower *q, const wf_cpu_conv *whole, int64_t idx,
                              wf_cpu_conv *c, weft_error *err)
{
    const int64_t n_terms = count_terms(whole), channels = c->box.channels;
    const int64_t len = wf_product_block_len(n_terms), n_window = wf_conv_volume(c->s.window);
    int64_t *ends, k[WF_CONV_AXES], at[WF_CONV_AXES];
    wf_conv_split(idx, whole->s.stride, k);
    c->n_blocks = wf_product_n_blocks(n_terms);
    WEFT_TRY(wf_cpu_take(q, (size_t)c->n_blocks, sizeof *ends, &ends, err));
    for (int64_t i = 0, r = 0; i < n_window; r++) {
        wf_conv_split(r, whole->s.window, at);
        bool is_met = true;
        for (int a = 0; a < WF_CONV_AXES; a++) {
            is_met &=
                (k[a] + whole->s.pad[a] - at[a] * whole->s.dilation[a]) % whole->s.stride[a] == 0;
        }
        if (!is_met)
            continue;
        i++;
        for (int64_t block = 0; block < c->n_blocks; block++) {
            const int64_t before = (block + 1) * len - r * channels;
            ends[block] += before < 0 ? 0 : wf_cpu_min(before, channels);
        }
    }
    c->block_ends = ends;
    return WEFT_OK;
}

static weft_status add_class(wf_cpu_lower *q, holes_params *p, int64_t idx, float **workspace,
                             weft_error *err)
{
    wf_cpu_conv *c = &p->classes[idx];
    (void)get_class(p->whole, idx, c);
    c->workspace = *workspace;
    c->first_nonfinite = q->kernels->elementwise->first_nonfinite;
    *workspace += count_class_floats(c);
    WEFT_TRY(set_blocks(q, p->whole, idx, c, err));
    WEFT_TRY(wf_cpu_conv_gather_prepare(q, c, err));
    p->packs[idx + 1] = p->packs[idx] + wf_cpu_conv_n_packs(c);
    p->units[idx + 1] = p->units[idx] + wf_cpu_conv_n_items(c);
    return WEFT_OK;
}

weft_status wf_cpu_conv_holes(wf_cpu_lower *q, wf_cpu_conv *c, weft_error *err)
{
    const int64_t n = count_classes(c);
    int64_t n_flags;
    holes_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->whole = c;
    p->n_classes = n;
    p->flags = c->workspace + count_floats(c, &n_flags);
    WEFT_TRY(wf_cpu_take(q, (size_t)n, sizeof *p->classes, &p->classes, err));
    WEFT_TRY(wf_cpu_take(q, (size_t)n + 1, sizeof *p->packs, &p->packs, err));
    WEFT_TRY(wf_cpu_take(q, (size_t)n + 1, sizeof *p->units, &p->units, err));
    float *workspace = c->workspace;
    for (int64_t i = 0; i < n; i++)
        WEFT_TRY(add_class(q, p, i, &workspace, err));
    WEFT_TRY(wf_cpu_conv_gather_prepare(q, c, err));
    WEFT_TRY(wf_cpu_add_phase(q, run_pack, p, p->packs[p->n_classes], err));
    WEFT_TRY(wf_cpu_add_phase(q, run_unit, p, p->units[p->n_classes], err));
    WEFT_TRY(wf_cpu_add_phase(q, run_pack_whole, p, wf_cpu_conv_n_packs(c), err));
    return wf_cpu_add_phase(q, run_unit_whole, p, wf_cpu_conv_n_items(c), err);
}
