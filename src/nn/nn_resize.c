// Resizing images by the nearest cell or linearly, 1 to 3 spatial axes, one after the other. Where a cell
// reads is decided here, in whole numbers: a coordinate is a fraction, and no rounding of a scale moves
// it across a border.
#include "nn/nn_resample.h"

// Coordinate num / den, den > 0, of output cell i.
typedef struct fraction {
    int64_t num, den;
} fraction;

static fraction get_coordinate(weft_resize_coordinates rule, int64_t i, int64_t in, int64_t out)
{
    switch (rule) {
    case WEFT_RESIZE_ALIGN_CORNERS:
        return out > 1 ? (fraction){i * (in - 1), out - 1} : (fraction){0, 1};
    case WEFT_RESIZE_ASYMMETRIC: return (fraction){i * in, out};
    case WEFT_RESIZE_HALF_PIXEL: break;
    }
    return (fraction){(2 * i + 1) * in - out, 2 * out}; // (i + 1/2) in / out - 1/2
}

static int64_t floor_of(fraction f)
{
    return f.num >= 0 ? f.num / f.den : -((-f.num + f.den - 1) / f.den);
}

static int64_t round_of(weft_resize_rounding rule, fraction f)
{
    const int64_t low = floor_of(f), rest = f.num - low * f.den;
    switch (rule) {
    case WEFT_RESIZE_FLOOR: return low;
    case WEFT_RESIZE_CEIL: return low + (rest > 0);
    case WEFT_RESIZE_PREFER_CEIL: return low + (2 * rest >= f.den);
    case WEFT_RESIZE_PREFER_FLOOR: break;
    }
    return low + (2 * rest > f.den);
}

static int64_t clamp(int64_t at, int64_t size)
{
    return at < 0 ? 0 : at < size ? at : size - 1;
}

static weft_val nearest(weft_graph *g, const weft_resize_options *o, weft_val x, int32_t axis,
                        int64_t out)
{
    const int64_t in = weft_val_type(g, x).dims[axis];
    int32_t *idx = wf_resample_table(g, out, sizeof *idx);
    if (!idx)
        return WEFT_NONE;
    for (int64_t i = 0; i < out; i++) {
        const fraction at = get_coordinate(o->coordinates, i, in, out);
        idx[i] = (int32_t)clamp(round_of(o->rounding, at), in);
    }
    const weft_val table = weft_constant(g, WEFT_I32, &out, 1, idx);
    wf_resample_free(g, idx);
    return weft_gather(g, x, table, axis);
}

// y = low + w * (high - low), which the canonical pass makes one fma.
static weft_val linear(weft_graph *g, const weft_resize_options *o, weft_val x, int32_t axis,
                       int64_t out)
{
    const weft_type t = weft_val_type(g, x);
    const int64_t in = t.dims[axis];
    int32_t *low = wf_resample_table(g, 2 * out, sizeof *low), *high = low ? low + out : NULL;
    float *w = low ? wf_resample_table(g, out, sizeof *w) : NULL;
    weft_val y = WEFT_NONE;
    for (int64_t i = 0; w && i < out; i++) {
        const fraction at = get_coordinate(o->coordinates, i, in, out);
        const int64_t below = floor_of(at), rest = at.num - below * at.den;
        const bool is_inside = below >= 0 && below < in - 1;
        low[i] = (int32_t)clamp(below, in);
        high[i] = (int32_t)(is_inside ? below + 1 : low[i]);
        w[i] = is_inside ? (float)((double)rest / (double)at.den) : 0.0f;
    }
    if (w) {
        const weft_val a = weft_gather(g, x, weft_constant(g, WEFT_I32, &out, 1, low), axis);
        const weft_val b = weft_gather(g, x, weft_constant(g, WEFT_I32, &out, 1, high), axis);
        const weft_val table = weft_constant(g, WEFT_F32, &out, 1, w);
        const weft_val weights = wf_resample_along(g, table, axis, t.ndim);
        y = weft_add(g, a, weft_mul(g, weft_sub(g, b, a), weights));
    }
    wf_resample_free(g, w);
    wf_resample_free(g, low);
    return y;
}

static bool check(weft_graph *g, weft_val x, const int64_t *size, const weft_resize_options *o)
{
    char text[WF_TYPE_TEXT];
    if (!wf_resample_check(g, "resize", x, size) ||
        !wf_nn_options_check(g, "resize", o->struct_size, sizeof *o))
        return false;
    const weft_type t = weft_val_type(g, x);
    if (o->mode == WEFT_RESIZE_LINEAR && t.dtype != WEFT_F32) {
        wf_graph_fail(g, NULL, WEFT_ERR_DTYPE, "resize: x is %s, expected f32 to be linear",
                      wf_type_text(&t, text));
        return false;
    }
    if (o->mode > WEFT_RESIZE_LINEAR || o->coordinates > WEFT_RESIZE_ASYMMETRIC ||
        o->rounding > WEFT_RESIZE_CEIL) {
        wf_graph_fail(
            g, NULL, WEFT_ERR_ATTR,
            "resize: mode %d, coordinates %d, rounding %d, expected values of their enums",
            (int)o->mode, (int)o->coordinates, (int)o->rounding);
        return false;
    }
    return true;
}

weft_val weft_resize(weft_graph *g, weft_val x, const int64_t *size,
                     const weft_resize_options *options)
{
    static const weft_resize_options none = WEFT_RESIZE_OPTIONS_INIT;
    const weft_resize_options *o = options ? options : &none;
    if (!check(g, x, size, o))
        return WEFT_NONE;
    const weft_type t = weft_val_type(g, x);
    weft_scope_push(g, "resize");
    weft_val y = wf_resample_begin(g, x);
    for (int32_t axis = 1; axis < t.ndim - 1; axis++) {
        const int64_t out = size[axis - 1];
        if (t.dims[axis + 1] == out)
            continue; // every rule reads cell i for cell i
        y = o->mode == WEFT_RESIZE_LINEAR ? linear(g, o, y, axis, out)
                                          : nearest(g, o, y, axis, out);
        if (!y.id)
            break;
    }
    y = wf_resample_end(g, y);
    weft_scope_pop(g);
    return y;
}
