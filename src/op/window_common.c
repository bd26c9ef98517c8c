// What the pooling ops share: sizes, attributes, which cells lie under which window.
#include "op/window_common.h"

#include "op/build.h"

// Windows, strides, pads and dilations above this are no network's; below it nothing overflows.
#define WF_WINDOW_MAX_ATTR INT32_MAX

static weft_status check_list(const wf_node_info *info, size_t attr, int32_t rank, int64_t min,
                              weft_error *err)
{
    const wf_attr *a = &info->attrs[attr];
    const char *name = info->op->attrs[attr].name;
    if (a->n != (size_t)rank) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "%s has %zu entries, expected %d, one for each spatial axis",
                  name, a->n, rank);
    }
    for (int32_t i = 0; i < rank; i++) {
        if (a->u.ints[i] < min || a->u.ints[i] > WF_WINDOW_MAX_ATTR) {
            WEFT_FAIL(err, WEFT_ERR_ATTR, "%s[%d] is %lld, expected %lld to %d", name, i,
                      (long long)a->u.ints[i], (long long)min, WF_WINDOW_MAX_ATTR);
        }
    }
    return WEFT_OK;
}

// A list right-aligned into three axes.
static void spread(int64_t dst[WF_WINDOW_AXES], const int64_t *src, int32_t rank, int64_t missing)
{
    for (int32_t i = 0; i < WF_WINDOW_AXES; i++) {
        int32_t from = i - (WF_WINDOW_AXES - rank);
        dst[i] = from < 0 ? missing : src[from];
    }
}

static weft_status get_attrs(const wf_node_info *info, wf_window_shape *s, weft_error *err)
{
    static const int64_t min[] = {1, 1, 0, 0, 1, 0};
    int64_t *const to[] = {s->window, s->stride, s->pad, s->pad_after, s->dilation};
    for (size_t i = 0; i < WF_WINDOW_N_ATTRS_MAX; i++) {
        WEFT_TRY(check_list(info, i, s->rank, min[i], err));
    }
    for (size_t i = 0; i < WF_COUNT_OF(to); i++) {
        spread(to[i], info->attrs[i].u.ints, s->rank, min[i]);
    }
    s->count_include_pad = info->op->n_attrs == WF_WINDOW_N_ATTRS_MEAN &&
                           info->attrs[WF_WINDOW_ATTR_COUNT_PAD].u.i != 0;
    return WEFT_OK;
}

// Every window starts before the padding on the right, and lies on the input somewhere.
static weft_status check_windows(const wf_window_shape *s, weft_error *err)
{
    for (int i = 0; i < WF_WINDOW_AXES; i++) {
        const int axis = i - (WF_WINDOW_AXES - s->rank);
        const int64_t span = s->dilation[i] * (s->window[i] - 1) + 1;
        const int64_t padded = s->in[i] + s->pad[i] + s->pad_after[i];
        if (s->out[i] < 1) {
            WEFT_FAIL(
                err, WEFT_ERR_SHAPE,
                "the window spans %lld on spatial axis %d, expected at most the input with its "
                "padding, %lld + %lld + %lld",
                (long long)span, axis, (long long)s->in[i], (long long)s->pad[i],
                (long long)s->pad_after[i]);
        }
        const int64_t last = (s->out[i] - 1) * s->stride[i]; // where the last window starts
        if (last >= s->in[i] + s->pad[i] || last >= padded) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE,
                      "window %lld of spatial axis %d starts behind the input, expected fewer "
                      "windows over %lld + %lld",
                      (long long)s->out[i] - 1, axis, (long long)s->in[i], (long long)s->pad[i]);
        }
        for (int64_t p = 0; p < s->out[i] && !s->count_include_pad; p++) {
            int64_t at = p * s->stride[i] - s->pad[i];
            if (at < 0)
                at += (-at + s->dilation[i] - 1) / s->dilation[i] * s->dilation[i];
            if (at >= s->in[i] || at >= p * s->stride[i] - s->pad[i] + span) {
                WEFT_FAIL(err, WEFT_ERR_SHAPE,
                          "window %lld of spatial axis %d lies in the padding only, pad_before is "
                          "%lld, the window spans %lld, the input is %lld",
                          (long long)p, axis, (long long)s->pad[i], (long long)span,
                          (long long)s->in[i]);
            }
            if (at == p * s->stride[i] - s->pad[i])
                break; // starts in the input, as all that follow
        }
    }
    return WEFT_OK;
}

weft_status wf_window_shape_get(const wf_node_info *info, bool is_grad, wf_window_shape *s,
                                weft_error *err)
{
    const weft_type *x = &info->in[0];
    char text[WF_TYPE_TEXT];
    if (x->ndim < 3 || x->ndim > 2 + WF_WINDOW_AXES) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "%s is %s, expected 1 to 3 spatial axes behind two others",
                  is_grad ? "dy" : "x", wf_type_text(x, text));
    }
    s->rank = x->ndim - 2;
    s->n_planes = x->dims[0] * x->dims[1];
    WEFT_TRY(get_attrs(info, s, err));
    const int64_t *spatial = info->attrs[WF_WINDOW_ATTR_SPATIAL].u.ints;
    spread(s->in, is_grad ? spatial : x->dims + 2, s->rank, 1);
    spread(s->out, is_grad ? x->dims + 2 : spatial, s->rank, 1);
    return check_windows(s, err);
}

weft_type wf_window_type(const wf_node_info *info, const wf_window_shape *s, weft_dtype dtype,
                         const int64_t size[WF_WINDOW_AXES])
{
    int64_t dims[2 + WF_WINDOW_AXES] = {info->in[0].dims[0], info->in[0].dims[1]};
    for (int32_t i = 0; i < s->rank; i++) {
        dims[2 + i] = size[WF_WINDOW_AXES - s->rank + i];
    }
    return wf_type_make(dtype, 2 + s->rank, dims);
}

wf_cost wf_window_cost(const wf_node_info *info)
{
    // One operation for each window cell of each output, as good as any estimate: it is bound by memory.
    double volume = 1.0;
    for (size_t i = 0; i < info->attrs[WF_WINDOW_ATTR_WINDOW].n; i++) {
        volume *= (double)info->attrs[WF_WINDOW_ATTR_WINDOW].u.ints[i];
    }
    const wf_cost cost = {volume * (double)wf_type_count(&info->out[0]), wf_cost_bytes(info)};
    return cost;
}

// How many windows fit: PyTorch's and ONNX's rule, by which a window that would start in the padding on
// the right is dropped.
static int64_t count_windows(int64_t in, int64_t before, int64_t after, int64_t span,
                             int64_t stride, bool is_ceil)
{
    const int64_t room = in + before + after - span;
    if (!is_ceil)
        return room < 0 ? 0 : room / stride + 1;
    if (room + stride - 1 < 0)
        return 0;
    const int64_t n = (room + stride - 1) / stride + 1;
    return (n - 1) * stride >= in + before ? n - 1 : n;
}

// The numbers are checked by infer; here it is enough that nothing overflows or divides by zero.
static bool is_sane(int64_t value, int64_t min)
{
    return value >= min && value <= INT32_MAX;
}

weft_val wf_window_build(weft_graph *g, const wf_op *op, weft_val x, const int64_t *window,
                         const weft_window_options *options)
{
    static const int64_t ones[WF_WINDOW_AXES] = {1, 1, 1}, zeros[WF_WINDOW_AXES] = {0};
    static const weft_window_options none = WEFT_WINDOW_OPTIONS_INIT;
    if (!wf_build_ready(g, op, &x, 1))
        return WEFT_NONE;
    const weft_window_options *o = options ? options : &none;
    if (!window || o->struct_size < sizeof *o) {
        wf_graph_fail(g, op, WEFT_ERR_USAGE,
                      "window is NULL, or options.struct_size is %zu, not %zu", o->struct_size,
                      sizeof *o);
        return WEFT_NONE;
    }
    const weft_type t = weft_val_type(g, x);
    const int64_t *stride = o->stride ? o->stride : window;
    const int64_t *before = o->pad_before ? o->pad_before : zeros;
    const int64_t *after = o->pad_after ? o->pad_after : before;
    const int64_t *dilation = o->dilation ? o->dilation : ones;
    // With a wrong rank the lists' lengths are unknown: infer refuses before it looks at them.
    const int32_t rank = t.ndim >= 3 && t.ndim <= 2 + WF_WINDOW_AXES ? t.ndim - 2 : 0;
    int64_t out[WF_WINDOW_AXES] = {0};
    for (int32_t i = 0; i < rank; i++) {
        if (is_sane(window[i], 1) && is_sane(stride[i], 1) && is_sane(before[i], 0) &&
            is_sane(after[i], 0) && is_sane(dilation[i], 1)) {
            out[i] = count_windows(t.dims[2 + i], before[i], after[i],
                                   dilation[i] * (window[i] - 1) + 1, stride[i], o->ceil_mode);
        }
    }
    const size_t n = (size_t)rank;
    const wf_attr attrs[WF_WINDOW_N_ATTRS_MEAN] = {
        wf_attr_ints(window, n),           wf_attr_ints(stride, n),
        wf_attr_ints(before, n),           wf_attr_ints(after, n),
        wf_attr_ints(dilation, n),         wf_attr_ints(out, n),
        wf_attr_int(o->count_include_pad),
    };
    return wf_graph_add(g, op, &x, 1, attrs);
}

weft_val wf_window_build_like(const wf_grad_query *q, const wf_op *op, const weft_val *in,
                              size_t n_in, const int64_t *spatial)
{
    wf_attr attrs[WF_WINDOW_N_ATTRS_MEAN] = {{{0}, 0}};
    for (size_t i = 0; i < q->info->op->n_attrs; i++) {
        attrs[i] = q->info->attrs[i];
    }
    attrs[WF_WINDOW_ATTR_SPATIAL].u.ints = spatial;
    return wf_graph_add(q->g, op, in, n_in, attrs);
}

int64_t wf_window_input_cell(const wf_window_shape *s, const int64_t p[WF_WINDOW_AXES],
                             const int64_t r[WF_WINDOW_AXES])
{
    int64_t cell = 0;
    for (int i = 0; i < WF_WINDOW_AXES; i++) {
        const int64_t h = p[i] * s->stride[i] - s->pad[i] + r[i] * s->dilation[i];
        if (h < 0 || h >= s->in[i])
            return -1;
        cell = cell * s->in[i] + h;
    }
    return cell;
}

int64_t wf_window_cell(const wf_window_shape *s, const int64_t p[WF_WINDOW_AXES],
                       const int64_t h[WF_WINDOW_AXES])
{
    int64_t cell = 0;
    for (int i = 0; i < WF_WINDOW_AXES; i++) {
        const int64_t r = h[i] + s->pad[i] - p[i] * s->stride[i];
        if (r < 0 || r % s->dilation[i] != 0 || r / s->dilation[i] >= s->window[i])
            return -1;
        cell = cell * s->window[i] + r / s->dilation[i];
    }
    return cell;
}

void wf_window_reach(const wf_window_shape *s, const int64_t h[WF_WINDOW_AXES],
                     int64_t out_first[WF_WINDOW_AXES], int64_t out_last[WF_WINDOW_AXES])
{
    for (int i = 0; i < WF_WINDOW_AXES; i++) {
        // p * stride <= h + pad <= p * stride + span - 1
        const int64_t at = h[i] + s->pad[i];
        const int64_t below = at - s->dilation[i] * (s->window[i] - 1);
        out_first[i] = below <= 0 ? 0 : (below + s->stride[i] - 1) / s->stride[i];
        out_last[i] = at / s->stride[i] < s->out[i] ? at / s->stride[i] : s->out[i] - 1;
    }
}

int64_t wf_window_count(const wf_window_shape *s, const int64_t p[WF_WINDOW_AXES])
{
    int64_t count = 1;
    for (int i = 0; i < WF_WINDOW_AXES; i++) {
        const int64_t begin = s->count_include_pad ? -s->pad[i] : 0;
        const int64_t end = s->in[i] + (s->count_include_pad ? s->pad_after[i] : 0);
        int64_t n = 0;
        for (int64_t r = 0; r < s->window[i]; r++) {
            const int64_t h = p[i] * s->stride[i] - s->pad[i] + r * s->dilation[i];
            n += h >= begin && h < end;
        }
        count *= n;
    }
    return count;
}
