// y = x with other dims, the elements in the same row-major order.
#include "op/build.h"
#include "op/check_case.h"
#include "op/source.h"

enum { ATTR_DIMS };
static const wf_attr_spec attrs[] = {{"dims", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const weft_type *x = &info->in[0];
    const wf_attr *dims = &info->attrs[ATTR_DIMS];
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_dims(x->dtype, dims->u.ints, dims->n, out, err));
    if (wf_type_count(x) != wf_type_count(out)) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "counts differ, x is %s, dims are %s",
                  wf_dims_text(x->dims, x->ndim, a), wf_dims_text(out->dims, out->ndim, b));
    }
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const weft_type *x = &q->info->in[0];
    q->din[0] = wf_build_reshape(q->g, q->dout[0], x->ndim, x->dims);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const int64_t count = wf_type_count(&q->out[0].type);
    const wf_walk dst = {&q->out[0], 0, {1}}, src = {&q->in[0], 0, {1}};
    wf_tensor_move(&dst, &src, 1, &count);
    return WEFT_OK;
}

// Axes are taken from both sides in runs of equal count. A run of x's axes that lies in one line of
// memory is cut into the run of new axes; one that does not has no strides: false.
static bool view(const wf_node_info *info, const wf_strided *in, wf_strided *out)
{
    wf_strided x = {0}; // in without its axes of size 1, which have no say
    (void)info;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (in->dims[i] != 1) {
            x.dims[x.ndim] = in->dims[i];
            x.strides[x.ndim++] = in->strides[i];
        }
    }
    out->offset = in->offset;
    if (wf_type_count(&info->out[0]) == 0) {
        wf_dims_strides(&info->out[0], out->strides); // no element is ever reached
        return true;
    }
    int32_t old = x.ndim - 1, new = out->ndim - 1;
    while (old >= 0) {
        int64_t old_count = x.dims[old], new_count = out->dims[new], stride = x.strides[old];
        const int32_t old_last = old;
        out->strides[new] = stride;
        while (old_count != new_count) {
            if (new_count < old_count) {
                new --;
                out->strides[new] = stride * new_count;
                new_count *= out->dims[new];
            } else {
                old--;
                if (x.strides[old] != x.strides[old_last] * old_count) {
                    return false;
                }
                old_count *= x.dims[old];
            }
        }
        old--;
        new --;
    }
    for (; new >= 0; new --) {
        out->strides[new] = 1; // of size 1
    }
    return true;
}

// A reshape back.
static bool unview(const wf_node_info *info, const wf_strided *out, wf_strided *in)
{
    const wf_node_info back = {info->op, 1, info->out, 1, info->in, NULL};
    return view(&back, out, in);
}

// [a,b] to dims p[1..3]; p[0]: of a transposed view, which has to be copied first.
static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_val x = p[0] ? weft_transpose(g, in[0]) : in[0];
    return weft_reshape(g, x, p + 1, 3);
}

static void cases(wf_check_list *list)
{
    static const struct {
        const char *name;
        weft_dtype dtype;
        int64_t from[2], to[3];
        bool is_turned;
    } table[] = {
        {"split", WEFT_F32, {6, 35}, {3, 2, 35}, false},
        {"merge and split", WEFT_F32, {6, 35}, {5, 1, 42}, false},
        {"turned, splits", WEFT_F32, {6, 35}, {5, 7, 6}, true},
        {"turned, merges", WEFT_F32, {6, 35}, {10, 3, 7}, true},
        {"bytes", WEFT_U8, {33, 4}, {11, 3, 4}, true},
        {"halves", WEFT_F16, {33, 4}, {2, 33, 2}, true},
        {"long integers", WEFT_I64, {33, 4}, {1, 1, 132}, true},
        {"nothing", WEFT_F32, {0, 4}, {2, 0, 7}, false},
        {"32", WEFT_F32, {1, 32}, {4, 8, 1}, false},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        wf_check_add(
            list,
            (wf_check_case){
                .name = table[i].name,
                .build = build_case,
                .params = {table[i].is_turned, table[i].to[0], table[i].to[1], table[i].to[2]},
                .n_inputs = 1,
                .inputs = {WF_CHECK_INPUT(table[i].dtype, table[i].from[0], table[i].from[1])},
                .no_gradient = table[i].dtype != WEFT_F32,
                .bound = 1.0});
    }
}

const wf_op wf_op_reshape = {
    .name = "reshape",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_VIEW,
    .task = WF_TASK_NONE,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .view = view,
    .unview = unview,
    .eval = eval,
    .cost = wf_cost_none,
    .cases = cases,
};

weft_val weft_reshape(weft_graph *g, weft_val x, const int64_t *dims, int32_t ndim)
{
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    int64_t full[WEFT_MAX_DIM];
    int32_t open = -1;
    int64_t known = 1;
    if (!wf_build_ready(g, &wf_op_reshape, &x, 1) ||
        !wf_build_dims(g, &wf_op_reshape, dims, ndim)) {
        return WEFT_NONE;
    }
    const weft_type t = *wf_graph_type(g, x.id);
    for (int32_t i = 0; i < ndim; i++) {
        full[i] = dims[i];
        if (dims[i] == -1 && open < 0) {
            open = i;
        } else if (dims[i] > 0 && known <= INT64_MAX / dims[i]) {
            known *= dims[i];
        } else {
            known = 0; // infer words the error, unless a -1 makes it ambiguous
        }
    }
    if (open >= 0) {
        if (known == 0 || wf_type_count(&t) % known != 0) {
            wf_graph_fail(g, &wf_op_reshape, WEFT_ERR_SHAPE,
                          "nothing fits for -1, x is %s, dims are %s",
                          wf_dims_text(t.dims, t.ndim, a), wf_dims_text(dims, ndim, b));
            return WEFT_NONE;
        }
        full[open] = wf_type_count(&t) / known;
    }
    const wf_attr list[] = {wf_attr_ints(full, (size_t)ndim)};
    return wf_graph_add(g, &wf_op_reshape, &x, 1, list);
}

weft_val weft_flatten(weft_graph *g, weft_val x, int32_t first)
{
    int64_t dims[WEFT_MAX_DIM];
    char text[WF_TYPE_TEXT];
    if (!wf_build_ready(g, &wf_op_reshape, &x, 1)) {
        return WEFT_NONE;
    }
    const weft_type t = *wf_graph_type(g, x.id);
    const int32_t axis = first < 0 ? first + t.ndim : first;
    if (axis < 0 || axis > t.ndim || axis >= WEFT_MAX_DIM) {
        wf_graph_fail(g, &wf_op_reshape, WEFT_ERR_SHAPE,
                      "flatten from axis %d is out of range, x is %s", first,
                      wf_dims_text(t.dims, t.ndim, text));
        return WEFT_NONE;
    }
    for (int32_t i = 0; i < axis; i++) {
        dims[i] = t.dims[i];
    }
    dims[axis] = 1;
    for (int32_t i = axis; i < t.ndim; i++) {
        dims[axis] *= t.dims[i];
    }
    return wf_build_reshape(g, x, axis + 1, dims);
}
