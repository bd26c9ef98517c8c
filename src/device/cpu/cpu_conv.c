// CONV tasks: convolution and its two gradients as products straight from the tensors, terms in the
// order of the definition (doc/arithmetic.md, "Products"). Stage: PLAN -> PROGRAM.
//
// x [n,c,in..], w [k,c/groups,window..], y [n,k,out..] in any layout: strides come from the views.
#include "device/cpu/cpu_conv.h"

#define UNIT_FLOPS 2e6 // of a unit, where cells enough are there ...
#define MIN_CELLS 128  // ... but so many at least: weights stream through L1 once per unit
#define MAX_CELLS 4096
#define WEIGHT_CELLS 256        // of a unit in a weight gradient
#define CUT_FLOPS 2e5           // no item is smaller
#define STREAM_FLOATS (4 << 20) // a result of so many goes past the caches,
#define STREAM_ROUND 16         // where it is made of whole vectors
#define HEAVY_FLOATS                                                                               \
    (256 << 10)       // weights that L2 would not keep: each unit reads them from further,
#define HEAVY_UNITS 8 // so units are large
#define MIN_UNITS 16  // a convolution of some size is cut for as many threads,
#define CUT_CELLS 64  // but not in units of fewer cells: then columns are cut

static wf_cpu_tensor get_tensor(const wf_view *view)
{
    wf_cpu_tensor t = {NULL, view->strides[0], view->strides[1], {0}};
    const int32_t rank = view->type.ndim - 2;
    for (int32_t i = 0; i < rank; i++)
        t.space[WF_CONV_AXES - rank + i] = view->strides[2 + i];
    return t;
}

// The distance of neighbouring cells, if all cells of all samples are that far apart; else 0.
static int64_t get_flat_step(const wf_cpu_tensor *t, const int64_t *size, int64_t n)
{
    int64_t cells = 1, step = 0;
    for (int i = WF_CONV_AXES - 1; i >= 0; i--) {
        if (size[i] > 1 && step == 0)
            step = t->space[i];
        if (size[i] > 1 && t->space[i] != step * cells)
            return 0;
        cells *= size[i];
    }
    if (n > 1 && step == 0)
        return t->n;
    return n > 1 && t->n != step * cells ? 0 : step ? step : 1;
}

static void set_box(wf_cpu_conv *c)
{
    const wf_conv_shape *s = &c->s;
    const bool is_grad = c->kind == WF_CONV_GRAD_INPUT;
    wf_cpu_box *b = &c->box;
    b->src = is_grad ? c->y : c->x;
    b->n = s->n;
    b->channels = is_grad ? s->kg : s->cg;
    b->is_flipped = is_grad;
    for (int i = 0; i < WF_CONV_AXES; i++) {
        b->src_size[i] = is_grad ? s->out[i] : s->in[i];
        b->out[i] = is_grad ? s->in[i] : s->out[i];
        b->window[i] = s->window[i];
        b->dilation[i] = s->dilation[i];
        b->step[i] = is_grad ? 1 : s->stride[i];
        b->hole[i] = is_grad ? s->stride[i] : 1;
        b->base[i] = is_grad ? s->pad[i] - (s->window[i] - 1) * s->dilation[i] : -s->pad[i];
    }
}

bool wf_cpu_conv_is_heavy(const wf_cpu_conv *c)
{
    return c->kind != WF_CONV_GRAD_WEIGHT &&
           c->n_cols * wf_conv_volume(c->s.window) * c->box.channels >= HEAVY_FLOATS;
}

int64_t wf_cpu_conv_target_cells(const wf_cpu_conv *c)
{
    if (c->kind == WF_CONV_GRAD_WEIGHT)
        return WEIGHT_CELLS;
    const int64_t n_cells = c->s.n * wf_conv_volume(c->box.out);
    const double flops =
        2.0 * (double)c->n_cols * (double)(wf_conv_volume(c->s.window) * c->box.channels);
    double cells = UNIT_FLOPS / flops;
    if (c->is_narrow) // lines of a unit share what their windows overlap
        cells *= 4;
    cells = cells < MIN_CELLS ? MIN_CELLS : cells > MAX_CELLS ? MAX_CELLS : cells;
    const bool is_heavy = wf_cpu_conv_is_heavy(c);
    if (is_heavy || (flops * (double)n_cells > UNIT_FLOPS && (double)n_cells < cells * MIN_UNITS)) {
        const int64_t shared = wf_cpu_div_up(n_cells, is_heavy ? HEAVY_UNITS : MIN_UNITS);
        return shared > CUT_CELLS ? shared : CUT_CELLS;
    }
    return (int64_t)cells;
}

void wf_cpu_conv_cut_columns(wf_cpu_conv *c)
{
    const wf_cpu_tile_sizes *s = c->products->sizes;
    const int64_t n_panels = wf_cpu_div_up(c->n_cols, s->cols),
                  n_items = c->box.n_units * c->s.groups;
    const double flops =
        2.0 * (double)c->n_cols * (double)c->box.n_terms * (double)c->box.unit_cells;
    int64_t n_cuts =
        wf_cpu_min(wf_cpu_div_up(MIN_UNITS / 2, n_items), (int64_t)(flops / CUT_FLOPS));
    n_cuts = wf_cpu_min(n_cuts, n_panels);
    c->n_cuts = 1;
    c->cut_cols = c->n_cols;
    if (c->is_narrow || n_cuts <= 1)
        return;
    c->cut_cols = wf_cpu_div_up(n_panels, n_cuts) * s->cols;
    while (c->cut_cols < c->n_cols && (c->n_cols - 1) % c->cut_cols < s->lanes)
        c->cut_cols += s->cols; // the last two vectors may be one panel
    c->cut_cols = wf_cpu_min(c->cut_cols, c->n_cols);
    c->n_cuts = wf_cpu_div_up(c->n_cols, c->cut_cols);
}

bool wf_cpu_conv_is_streamed(const wf_cpu_conv *c, const wf_cpu_tensor *out)
{
    const bool is_x = out == &c->x;
    const int64_t n_cells = c->s.n * wf_conv_volume(is_x ? c->s.in : c->s.out);
    const int64_t n_channels = is_x ? c->s.c : c->s.k;
    bool is_whole = out->c == 1 && (c->is_depthwise ? n_channels : c->n_cols) % STREAM_ROUND == 0 &&
                    (uintptr_t)out->data % (STREAM_ROUND * sizeof(float)) == 0 &&
                    out->n % STREAM_ROUND == 0;
    for (int i = 0; i < WF_CONV_AXES; i++)
        is_whole &= out->space[i] % STREAM_ROUND == 0;
    return is_whole && n_cells * n_channels >= STREAM_FLOATS;
}

// Fills all but pointers. *out_fast: the task can run as tiles.
static weft_status get_conv(const wf_cpu_kernels *kernels, const wf_task *task,
                            const wf_node_info *info, wf_cpu_conv *c, bool *out_fast,
                            weft_error *err)
{
    *c = (wf_cpu_conv){.products = kernels->products, .lanes = kernels->lanes};
    WEFT_TRY(wf_conv_shape_of(info, &c->s, &c->kind, err));
    const wf_cpu_tensor first = get_tensor(&task->inputs[0]), second = get_tensor(&task->inputs[1]);
    const wf_cpu_tensor out = get_tensor(&task->outputs[0]);
    c->x = c->kind == WF_CONV_GRAD_INPUT ? out : first;
    c->w = c->kind == WF_CONV_GRAD_WEIGHT ? out : second;
    c->y = c->kind == WF_CONV_FORWARD ? out : c->kind == WF_CONV_GRAD_INPUT ? first : second;
    c->n_cols = c->kind == WF_CONV_GRAD_INPUT ? c->s.cg : c->s.kg;
    const wf_conv_shape *s = &c->s;
    // Each lane's product must be one block, except in the weight gradient, which walks them.
    c->is_depthwise =
        s->groups > 1 && s->cg == 1 && s->kg == 1 && c->x.c == 1 && c->y.c == 1 &&
        (c->kind == WF_CONV_GRAD_WEIGHT || wf_conv_volume(s->window) <= WF_PRODUCT_BLOCK);
    set_box(c);
    *out_fast = false;
    if (s->n == 0 || s->cg == 0 || s->kg == 0 || wf_conv_volume(s->in) == 0)
        return WEFT_OK;
    if (c->is_depthwise) {
        *out_fast = true;
        return WEFT_OK;
    }
    if (c->kind == WF_CONV_GRAD_INPUT) {
        c->flat_step = c->x.c == 1 || s->cg == 1 ? get_flat_step(&c->x, s->in, s->n) : 0;
    } else {
        c->flat_step = get_flat_step(&c->y, s->out, s->n);
        if (c->kind == WF_CONV_FORWARD && c->y.c != 1 && s->kg != 1)
            c->flat_step = 0;
        if (c->kind == WF_CONV_GRAD_WEIGHT && c->flat_step == 0)
            return WEFT_OK;
    }
    c->is_holed = wf_cpu_conv_holes_fit(c);
    if (!c->is_holed)
        wf_cpu_conv_narrow_choose(c, wf_conv_volume(s->window) * c->box.channels);
    c->box.is_large = c->is_narrow || wf_cpu_conv_is_heavy(c);
    if (c->kind == WF_CONV_GRAD_WEIGHT)
        wf_cpu_conv_weight_cut(c, kernels->products->sizes);
    *out_fast = wf_cpu_box_cut(&c->box, wf_cpu_conv_target_cells(c));
    if (c->kind != WF_CONV_GRAD_WEIGHT && *out_fast)
        wf_cpu_conv_cut_columns(c);
    return WEFT_OK;
}

static bool is_by_winograd(const wf_cpu_device *dev, const wf_cpu_conv *c)
{
    return dev->with_winograd && wf_cpu_conv_winograd_suits(c, dev->kernels->winograd);
}

// *c of a task, but for pointers. False: the task runs as plain loops.
static bool look(const wf_cpu_device *dev, const wf_task *task, wf_cpu_conv *c)
{
    const weft_type in[2] = {task->inputs[0].type, task->inputs[1].type};
    const wf_node_info info = {task->node->op, 2, in, 1, &task->outputs[0].type, task->node->attrs};
    bool is_fast;
    return get_conv(dev->kernels, task, &info, c, &is_fast, NULL) == WEFT_OK && is_fast;
}

static size_t workspace(const wf_cpu_device *dev, const wf_task *task)
{
    wf_cpu_conv c;
    if (!look(dev, task, &c))
        return 0;
    if (c.kind == WF_CONV_GRAD_WEIGHT) {
        return sizeof(float) * (c.is_depthwise ? wf_cpu_conv_lanes_weight_floats(&c)
                                               : wf_cpu_conv_weight_floats(&c));
    }
    return sizeof(float) * (c.is_depthwise            ? wf_cpu_conv_lanes_floats(&c)
                            : c.is_holed              ? wf_cpu_conv_holes_floats(&c)
                            : is_by_winograd(dev, &c) ? wf_cpu_conv_winograd_floats(&c)
                                                      : wf_cpu_conv_gather_floats(&c));
}

// So few cells that packing weights which nothing changes between runs would take a good part of them.
#define KEPT_CELLS 4096
static bool keeps_workspace(const wf_cpu_device *dev, const wf_task *task)
{
    wf_cpu_conv c;
    return (task->fixed_inputs & 2) != 0 && look(dev, task, &c) && c.kind == WF_CONV_FORWARD &&
           !c.is_depthwise && !is_by_winograd(dev, &c) &&
           c.s.n * wf_conv_volume(c.s.out) <= KEPT_CELLS;
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    wf_cpu_conv *c;
    bool is_fast;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *c, &c, err));
    WEFT_TRY(get_conv(q->kernels, task, &q->info, c, &is_fast, err));
    float *data[3];
    data[0] = (float *)(void *)wf_cpu_view_data(q, &task->inputs[0]);
    data[1] = (float *)(void *)wf_cpu_view_data(q, &task->inputs[1]);
    data[2] = (float *)(void *)wf_cpu_view_data(q, &task->outputs[0]);
    c->x.data = data[c->kind == WF_CONV_GRAD_INPUT ? 2 : 0];
    c->w.data = data[c->kind == WF_CONV_GRAD_WEIGHT ? 2 : 1];
    c->y.data = data[c->kind == WF_CONV_FORWARD ? 2 : c->kind == WF_CONV_GRAD_INPUT ? 0 : 1];
    c->box.src.data = c->kind == WF_CONV_GRAD_INPUT ? c->y.data : c->x.data;
    if (!is_fast)
        return wf_cpu_conv_plain(q, c, err);
    c->workspace = (float *)(void *)wf_cpu_workspace(q);
    if (c->kind == WF_CONV_GRAD_WEIGHT) {
        return c->is_depthwise ? wf_cpu_conv_lanes_weight(q, c, err)
                               : wf_cpu_conv_weight(q, c, err);
    }
    return c->is_depthwise                ? wf_cpu_conv_lanes(q, c, err)
           : c->is_holed                  ? wf_cpu_conv_holes(q, c, err)
           : is_by_winograd(q->device, c) ? wf_cpu_conv_winograd(q, c, err)
                                          : wf_cpu_conv_gather(q, c, err);
}

const wf_cpu_lowering wf_cpu_lowering_conv = {.kind = WF_TASK_CONV,
                                              .lower = lower,
                                              .workspace = workspace,
                                              .keeps_workspace = keeps_workspace};
