// y = x with the order of its elements reversed along some axes.
#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

enum { ATTR_AXES };
static const wf_attr_spec attrs[] = {{"axes", WF_ATTR_INTS}};
extern const wf_op wf_op_flip;

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    *out = info->in[0];
    return wf_infer_axes(out, &info->attrs[ATTR_AXES], err);
}

static weft_val flip(weft_graph *g, weft_val x, const wf_attr *axes)
{
    return wf_graph_add(g, &wf_op_flip, &x, 1, axes);
}

static void grad(const wf_grad_query *q)
{
    q->din[0] = flip(q->g, q->dout[0], &q->info->attrs[ATTR_AXES]);
}

// Starts at the far end of each reversed axis and walks it backwards.
static void reverse(const wf_node_info *info, int64_t *offset, int64_t strides[WEFT_MAX_DIM])
{
    const wf_attr *axes = &info->attrs[ATTR_AXES];
    for (size_t i = 0; i < axes->n; i++) {
        const int64_t axis = axes->u.ints[i], size = info->in[0].dims[axis];
        if (size > 1) {
            *offset += (size - 1) * strides[axis];
            strides[axis] = -strides[axis];
        }
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_walk dst = wf_walk_dense(&q->out[0]);
    wf_walk src = wf_walk_dense(&q->in[0]);
    reverse(q->info, &src.offset, src.strides);
    wf_tensor_move(&dst, &src, q->out[0].type.ndim, q->out[0].type.dims);
    return WEFT_OK;
}

static bool view(const wf_node_info *info, const wf_strided *in, wf_strided *out)
{
    out->offset = in->offset;
    for (int32_t i = 0; i < out->ndim; i++)
        out->strides[i] = in->strides[i];
    reverse(info, &out->offset, out->strides);
    return true;
}

// What reads the view: a copy of it, work along it, and sums whose order shows.
typedef enum case_kind {
    CASE_COPY,
    CASE_MAP, // beside the unflipped operand
    CASE_ROW_SUM,
    CASE_COLUMN_SUM,
    CASE_RESHAPE, // needs a copy first
    CASE_PRODUCT,
} case_kind;

// p: number of axes, axes, case_kind
static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    static const int32_t first = 0, last = -1;
    const int32_t axes[] = {(int32_t)p[1], (int32_t)p[2]};
    const weft_val y = weft_flip(g, in[0], axes, (size_t)p[0]);
    switch ((case_kind)p[3]) {
    case CASE_MAP: return weft_add(g, weft_tanh(g, y), in[0]);
    case CASE_ROW_SUM: return weft_sum(g, y, &last, 1, false);
    case CASE_COLUMN_SUM: return weft_sum(g, y, &first, 1, false);
    case CASE_RESHAPE: return weft_exp(g, weft_flatten(g, y, 0));
    case CASE_PRODUCT: return weft_matmul(g, y, in[0], true, false);
    default: return y;
    }
}

static void cases(wf_check_list *list)
{
    static const struct {
        const char *name;
        weft_dtype dtype;
        int32_t ndim;
        int64_t dims[3], n_axes, axes[2];
        case_kind kind;
        wf_check_fill fill;
    } table[] = {
        {"one element", WEFT_F32, 1, {1}, 1, {0}, CASE_COPY, WF_CHECK_NORMAL},
        {"empty", WEFT_F32, 2, {0, 3}, 2, {0, 1}, CASE_COPY, WF_CHECK_NORMAL},
        {"no axis", WEFT_F32, 1, {5}, 0, {0}, CASE_COPY, WF_CHECK_NORMAL},
        {"32", WEFT_F32, 1, {32}, 1, {0}, CASE_COPY, WF_CHECK_NORMAL},
        {"33", WEFT_F32, 1, {33}, 1, {0}, CASE_COPY, WF_CHECK_SPECIAL},
        {"first axis", WEFT_F32, 3, {5, 7, 33}, 1, {0}, CASE_COPY, WF_CHECK_NORMAL},
        {"last axis", WEFT_F32, 3, {5, 7, 33}, 1, {2}, CASE_MAP, WF_CHECK_NORMAL},
        {"two axes", WEFT_F32, 3, {5, 7, 33}, 2, {0, 2}, CASE_MAP, WF_CHECK_NORMAL},
        {"u8", WEFT_U8, 3, {5, 7, 33}, 2, {1, 2}, CASE_COPY, WF_CHECK_NORMAL},
        {"f16", WEFT_F16, 3, {5, 7, 33}, 1, {2}, CASE_COPY, WF_CHECK_NORMAL},
        {"i64", WEFT_I64, 3, {5, 7, 33}, 1, {1}, CASE_COPY, WF_CHECK_NORMAL},
        {"bool", WEFT_BOOL, 1, {31}, 1, {0}, CASE_COPY, WF_CHECK_NORMAL},
        {"row sum", WEFT_F32, 2, {9, 1500}, 1, {1}, CASE_ROW_SUM, WF_CHECK_WIDE},
        {"row sum, turned rows", WEFT_F32, 2, {9, 70}, 2, {0, 1}, CASE_ROW_SUM, WF_CHECK_WIDE},
        {"column sum", WEFT_F32, 2, {150, 9}, 1, {0}, CASE_COLUMN_SUM, WF_CHECK_WIDE},
        {"column sum, turned", WEFT_F32, 2, {70, 33}, 2, {0, 1}, CASE_COLUMN_SUM, WF_CHECK_WIDE},
        {"reshaped", WEFT_F32, 3, {3, 4, 5}, 1, {1}, CASE_RESHAPE, WF_CHECK_NORMAL},
        {"product", WEFT_F32, 2, {31, 9}, 1, {0}, CASE_PRODUCT, WF_CHECK_NORMAL},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const bool is_sum = table[i].kind == CASE_ROW_SUM || table[i].kind == CASE_COLUMN_SUM;
        wf_check_add(
            list,
            (wf_check_case){.name = table[i].name,
                            .build = build_case,
                            .params = {table[i].n_axes, table[i].axes[0], table[i].axes[1],
                                       (int64_t)table[i].kind},
                            .n_inputs = 1,
                            .inputs = {{wf_type_make(table[i].dtype, table[i].ndim, table[i].dims),
                                        table[i].fill, 0}},
                            .no_gradient = table[i].dtype != WEFT_F32,
                            .no_difference = table[i].fill != WF_CHECK_NORMAL,
                            .bound = is_sum || table[i].kind == CASE_PRODUCT ? 64.0 : 4.0});
    }
}

const wf_op wf_op_flip = {
    .name = "flip",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_VIEW,
    .task = WF_TASK_NONE,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .view = view,
    .eval = eval,
    .cost = wf_cost_none,
    .cases = cases,
};

weft_val weft_flip(weft_graph *g, weft_val x, const int32_t *axes, size_t n_axes)
{
    int64_t list[WEFT_MAX_DIM];
    size_t n = 0;
    if (!wf_build_ready(g, &wf_op_flip, &x, 1))
        return WEFT_NONE;
    const weft_type t = *wf_graph_type(g, x.id);
    if (!wf_build_axes(g, &wf_op_flip, &t, axes, n_axes, list, &n))
        return WEFT_NONE;
    const wf_attr attr = wf_attr_ints(list, n);
    return flip(g, x, &attr);
}
