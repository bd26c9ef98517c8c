// What the three convolution ops share: sizes, attributes, cost and the sum of terms.
// Follows doc/arithmetic.md, "Products".
#include "op/conv_common.h"

#include "math/product.h"
#include "op/build.h"

extern const wf_op wf_op_conv;
extern const wf_op wf_op_conv_grad_input;
extern const wf_op wf_op_conv_grad_weight;

// Strides, pads and dilations above this are no network's; below it no size computation overflows.
#define WF_CONV_MAX_ATTR INT32_MAX

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
        if (a->u.ints[i] < min || a->u.ints[i] > WF_CONV_MAX_ATTR) {
            WEFT_FAIL(err, WEFT_ERR_ATTR, "%s[%d] is %lld, expected %lld to %d", name, i,
                      (long long)a->u.ints[i], (long long)min, WF_CONV_MAX_ATTR);
        }
    }
    return WEFT_OK;
}

// A list right-aligned into three axes.
static void spread(int64_t dst[WF_CONV_AXES], const int64_t *src, int32_t rank, int64_t missing)
{
    for (int32_t i = 0; i < WF_CONV_AXES; i++) {
        int32_t from = i - (WF_CONV_AXES - rank);
        dst[i] = from < 0 ? missing : src[from];
    }
}

static weft_status get_attrs(const wf_node_info *info, wf_conv_kind kind, wf_conv_shape *s,
                             int64_t pad_after[WF_CONV_AXES], weft_error *err)
{
    WEFT_TRY(check_list(info, WF_CONV_ATTR_STRIDE, s->rank, 1, err));
    WEFT_TRY(check_list(info, WF_CONV_ATTR_PAD_BEFORE, s->rank, 0, err));
    WEFT_TRY(check_list(info, WF_CONV_ATTR_PAD_AFTER, s->rank, 0, err));
    WEFT_TRY(check_list(info, WF_CONV_ATTR_DILATION, s->rank, 1, err));
    if (kind != WF_CONV_FORWARD) {
        WEFT_TRY(check_list(info, WF_CONV_ATTR_SPATIAL, s->rank, 0, err));
    }
    spread(s->stride, info->attrs[WF_CONV_ATTR_STRIDE].u.ints, s->rank, 1);
    spread(s->pad, info->attrs[WF_CONV_ATTR_PAD_BEFORE].u.ints, s->rank, 0);
    spread(pad_after, info->attrs[WF_CONV_ATTR_PAD_AFTER].u.ints, s->rank, 0);
    spread(s->dilation, info->attrs[WF_CONV_ATTR_DILATION].u.ints, s->rank, 1);
    s->groups = info->attrs[WF_CONV_ATTR_GROUPS].u.i;
    if (s->groups < 1) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "groups is %lld, expected 1 or more", (long long)s->groups);
    }
    return WEFT_OK;
}

// out = floor((in + pads - dilation*(window-1) - 1) / stride) + 1
static weft_status get_out(wf_conv_shape *s, const int64_t pad_after[WF_CONV_AXES], weft_error *err)
{
    for (int i = 0; i < WF_CONV_AXES; i++) {
        int64_t padded = s->in[i] + s->pad[i] + pad_after[i];
        int64_t span = s->dilation[i] * (s->window[i] - 1) + 1;
        if (s->window[i] < 1) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "the window has size %lld, expected 1 or more",
                      (long long)s->window[i]);
        }
        if (s->window[i] > WF_CONV_MAX_ATTR || span > padded) {
            WEFT_FAIL(
                err, WEFT_ERR_SHAPE,
                "the window spans %lld on spatial axis %d, expected at most the input with its "
                "padding, %lld + %lld + %lld",
                (long long)span, i - (WF_CONV_AXES - s->rank), (long long)s->in[i],
                (long long)s->pad[i], (long long)pad_after[i]);
        }
        s->out[i] = (padded - span) / s->stride[i] + 1;
    }
    return WEFT_OK;
}

static const char *const input_names[3][2] = {{"x", "w"}, {"dy", "w"}, {"x", "dy"}};

weft_status wf_conv_shape_get(const wf_node_info *info, wf_conv_kind kind, wf_conv_shape *s,
                              weft_error *err)
{
    const weft_type *a = &info->in[0], *b = &info->in[1];
    const char *const *names = input_names[kind];
    char at[WF_TYPE_TEXT], bt[WF_TYPE_TEXT];
    wf_type_text(a, at);
    wf_type_text(b, bt);
    if (a->dtype != WEFT_F32 || b->dtype != WEFT_F32) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "%s is %s, %s is %s, expected f32", names[0], at, names[1],
                  bt);
    }
    if (a->ndim < 3 || a->ndim > 2 + WF_CONV_AXES || b->ndim != a->ndim) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "%s is %s, %s is %s, expected both with 1 to 3 spatial axes behind two others",
                  names[0], at, names[1], bt);
    }
    s->rank = a->ndim - 2;
    int64_t pad_after[WF_CONV_AXES];
    WEFT_TRY(get_attrs(info, kind, s, pad_after, err));
    const int64_t *spatial =
        kind == WF_CONV_FORWARD ? NULL : info->attrs[WF_CONV_ATTR_SPATIAL].u.ints;
    int64_t c_of_w = 0, k_of_w = 0; // what w says of the channels
    s->n = a->dims[0];
    if (kind == WF_CONV_GRAD_WEIGHT) {
        s->c = a->dims[1];
        s->k = b->dims[1];
        spread(s->in, a->dims + 2, s->rank, 1);
        spread(s->window, spatial, s->rank, 1);
    } else {
        k_of_w = b->dims[0];
        c_of_w = b->dims[1] * s->groups;
        s->c = kind == WF_CONV_FORWARD ? a->dims[1] : c_of_w;
        s->k = kind == WF_CONV_FORWARD ? k_of_w : a->dims[1];
        spread(s->in, kind == WF_CONV_FORWARD ? a->dims + 2 : spatial, s->rank, 1);
        spread(s->window, b->dims + 2, s->rank, 1);
    }
    bool is_fitting =
        kind == WF_CONV_GRAD_WEIGHT ? a->dims[0] == b->dims[0] : s->c == c_of_w && s->k == k_of_w;
    if (!is_fitting || s->c % s->groups != 0 || s->k % s->groups != 0) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "channels do not fit, %s is %s, %s is %s, groups %lld, expected x [n,c,..], "
                  "w [k,c/groups,..], y [n,k,..] and groups dividing c and k",
                  names[0], at, names[1], bt, (long long)s->groups);
    }
    s->cg = s->c / s->groups;
    s->kg = s->k / s->groups;
    WEFT_TRY(get_out(s, pad_after, err));
    if (kind != WF_CONV_FORWARD) {
        const weft_type *dy = kind == WF_CONV_GRAD_INPUT ? a : b;
        weft_type y = wf_conv_type_y(s);
        if (!wf_type_same_dims(dy, &y)) {
            char yt[WF_TYPE_TEXT];
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "dy is %s, expected %s, the shape of the convolution",
                      dy == a ? at : bt, wf_type_text(&y, yt));
        }
    }
    return WEFT_OK;
}

weft_status wf_conv_shape_of(const wf_node_info *info, wf_conv_shape *out_shape,
                             wf_conv_kind *out_kind, weft_error *err)
{
    *out_kind = info->op == &wf_op_conv              ? WF_CONV_FORWARD
                : info->op == &wf_op_conv_grad_input ? WF_CONV_GRAD_INPUT
                                                     : WF_CONV_GRAD_WEIGHT;
    return wf_conv_shape_get(info, *out_kind, out_shape, err);
}

static weft_type make_type(int64_t first, int64_t second, const int64_t spatial[WF_CONV_AXES],
                           int32_t rank)
{
    int64_t dims[2 + WF_CONV_AXES] = {first, second};
    for (int32_t i = 0; i < rank; i++) {
        dims[2 + i] = spatial[WF_CONV_AXES - rank + i];
    }
    return wf_type_make(WEFT_F32, 2 + rank, dims);
}

weft_type wf_conv_type_x(const wf_conv_shape *s)
{
    return make_type(s->n, s->c, s->in, s->rank);
}
weft_type wf_conv_type_w(const wf_conv_shape *s)
{
    return make_type(s->k, s->cg, s->window, s->rank);
}
weft_type wf_conv_type_y(const wf_conv_shape *s)
{
    return make_type(s->n, s->k, s->out, s->rank);
}

weft_val wf_conv_build(weft_graph *g, const wf_op *op, const weft_val in[2],
                       const weft_conv_options *options, const int64_t *spatial)
{
    static const int64_t ones[WF_CONV_AXES] = {1, 1, 1}, zeros[WF_CONV_AXES] = {0};
    static const weft_conv_options none = WEFT_CONV_OPTIONS_INIT;
    if (!wf_build_ready(g, op, in, 2))
        return WEFT_NONE;
    const weft_conv_options *o = options ? options : &none;
    if (o->struct_size < sizeof *o) {
        wf_graph_fail(g, op, WEFT_ERR_USAGE, "options.struct_size is %zu, expected %zu",
                      o->struct_size, sizeof *o);
        return WEFT_NONE;
    }
    // With a wrong rank the lists' lengths are unknown: infer refuses before it looks at them.
    int32_t rank = weft_val_type(g, in[0]).ndim - 2;
    size_t n = rank >= 1 && rank <= WF_CONV_AXES ? (size_t)rank : 0;
    const int64_t *before = o->pad_before ? o->pad_before : zeros;
    const wf_attr attrs[WF_CONV_N_ATTRS_GRAD] = {
        wf_attr_ints(o->stride ? o->stride : ones, n),
        wf_attr_ints(before, n),
        wf_attr_ints(o->pad_after ? o->pad_after : before, n),
        wf_attr_ints(o->dilation ? o->dilation : ones, n),
        wf_attr_int(o->groups ? o->groups : 1),
        wf_attr_ints(spatial, spatial ? n : 0),
    };
    return wf_graph_add(g, op, in, 2, attrs);
}

weft_conv_options wf_conv_options_get(const wf_node_info *info)
{
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = info->attrs[WF_CONV_ATTR_STRIDE].u.ints;
    o.pad_before = info->attrs[WF_CONV_ATTR_PAD_BEFORE].u.ints;
    o.pad_after = info->attrs[WF_CONV_ATTR_PAD_AFTER].u.ints;
    o.dilation = info->attrs[WF_CONV_ATTR_DILATION].u.ints;
    o.groups = info->attrs[WF_CONV_ATTR_GROUPS].u.i;
    return o;
}

wf_cost wf_conv_cost(const wf_node_info *info)
{
    wf_cost cost = {0};
    wf_conv_shape s;
    wf_conv_kind kind;
    if (wf_conv_shape_of(info, &s, &kind, NULL) != WEFT_OK)
        return cost;
    const weft_type x = wf_conv_type_x(&s), w = wf_conv_type_w(&s), y = wf_conv_type_y(&s);
    cost.flops = 2.0 * (double)wf_type_count(&y) * (double)s.cg * (double)wf_conv_volume(s.window);
    cost.bytes =
        4.0 * ((double)wf_type_count(&x) + (double)wf_type_count(&w) + (double)wf_type_count(&y));
    return cost;
}

int64_t wf_conv_input_cell(const wf_conv_shape *s, const int64_t p[WF_CONV_AXES],
                           const int64_t r[WF_CONV_AXES])
{
    int64_t cell = 0;
    for (int i = 0; i < WF_CONV_AXES; i++) {
        int64_t h = p[i] * s->stride[i] - s->pad[i] + r[i] * s->dilation[i];
        if (h < 0 || h >= s->in[i])
            return -1;
        cell = cell * s->in[i] + h;
    }
    return cell;
}

int64_t wf_conv_output_cell(const wf_conv_shape *s, const int64_t h[WF_CONV_AXES],
                            const int64_t r[WF_CONV_AXES])
{
    int64_t cell = 0;
    for (int i = 0; i < WF_CONV_AXES; i++) {
        int64_t start = h[i] + s->pad[i] - r[i] * s->dilation[i];
        if (start < 0 || start % s->stride[i] != 0 || start / s->stride[i] >= s->out[i])
            return -1;
        cell = cell * s->out[i] + start / s->stride[i];
    }
    return cell;
}

weft_status wf_conv_terms_init(wf_conv_terms *terms, const wf_allocator *allocator, int64_t n,
                               weft_error *err)
{
    *terms = (wf_conv_terms){0};
    WEFT_TRY(wf_alloc(allocator, (size_t)n, 2 * sizeof *terms->a, &terms->a, err));
    terms->b = terms->a + n;
    return WEFT_OK;
}

void wf_conv_terms_deinit(wf_conv_terms *terms, const wf_allocator *allocator)
{
    wf_free(allocator, terms->a);
}

// Doubles that came from floats: the casts are exact.
static void get_term(const void *user, int64_t t, float *out_a, float *out_b)
{
    const wf_conv_terms *terms = user;
    *out_a = (float)terms->a[t];
    *out_b = (float)terms->b[t];
}

void wf_conv_terms_store(wf_conv_terms *terms, const wf_tensor *t, int64_t i)
{
    if (t->is_truth) {
        double sum = 0.0;
        for (int64_t j = 0; j < terms->n; j++) {
            sum += terms->a[j] * terms->b[j];
        }
        ((double *)t->data)[i] = sum;
    } else {
        ((float *)t->data)[i] = wf_product_sum(get_term, terms, terms->n);
    }
    terms->n = 0;
}
