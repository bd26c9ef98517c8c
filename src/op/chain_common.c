// What the ops along one axis share: see chain_common.h.
#include "op/chain_common.h"

#include "op/build.h"
#include "op/check_case.h"

const wf_attr_spec wf_chain_attrs[3] = {
    {"axis", WF_ATTR_INT}, {"exclusive", WF_ATTR_BOOL}, {"reverse", WF_ATTR_BOOL}};

wf_chain_walk wf_chain_walk_make(const wf_node_info *info)
{
    const weft_type *x = &info->in[0];
    const int64_t axis = info->attrs[WF_CHAIN_AXIS].u.i;
    wf_chain_walk w = {.outer = 1, .size = x->dims[axis], .inner = 1};
    for (int32_t i = 0; i < x->ndim; i++) {
        if (i < axis)
            w.outer *= x->dims[i];
        else if (i > axis)
            w.inner *= x->dims[i];
    }
    if (info->op->n_attrs > WF_CHAIN_REVERSE) {
        w.is_exclusive = info->attrs[WF_CHAIN_EXCLUSIVE].u.i != 0;
        w.is_reverse = info->attrs[WF_CHAIN_REVERSE].u.i != 0;
    }
    return w;
}

weft_status wf_chain_eval(wf_eval *q, const wf_chain_lines *lines)
{
    const wf_chain_walk w = wf_chain_walk_make(q->info);
    for (int64_t outer = 0; outer < w.outer; outer++) {
        for (int64_t inner = 0; inner < w.inner; inner++) {
            if (q->in[0].type.dtype != WEFT_F32)
                lines->ints(&w, &q->in[0], &q->out[0], outer, inner);
            else if (q->in[0].is_truth)
                lines->truth(&w, q->in[0].data, q->out[0].data, outer, inner);
            else
                lines->f32(&w, q->in[0].data, q->out[0].data, outer, inner);
        }
    }
    return WEFT_OK;
}

weft_status wf_infer_chain(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const uint32_t allowed =
        WF_DTYPE_BIT(WEFT_F32) | WF_DTYPE_BIT(WEFT_I32) | WF_DTYPE_BIT(WEFT_I64);
    const int64_t axis = info->attrs[WF_CHAIN_AXIS].u.i;
    char text[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_check_dtypes(info, allowed, err));
    if (axis < 0 || axis >= info->in[0].ndim) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "axis %lld is out of range, x is %s", (long long)axis,
                  wf_dims_text(info->in[0].dims, info->in[0].ndim, text));
    }
    *out = info->in[0];
    return WEFT_OK;
}

wf_cost wf_cost_chain(const wf_node_info *info)
{
    const wf_cost cost = {(double)wf_type_count(&info->in[0]), wf_cost_bytes(info)};
    return cost;
}

weft_val wf_build_chain(weft_graph *g, const wf_op *op, weft_val x, int32_t axis, bool is_exclusive,
                        bool is_reverse)
{
    int32_t at;
    if (!wf_build_ready(g, op, &x, 1))
        return WEFT_NONE;
    const weft_type t = *wf_graph_type(g, x.id);
    if (!wf_build_axis(g, op, &t, axis, &at))
        return WEFT_NONE;
    const wf_attr attrs[] = {wf_attr_int(at), wf_attr_int(is_exclusive), wf_attr_int(is_reverse)};
    return wf_graph_add(g, op, &x, 1, attrs);
}

// ---- cases
typedef struct chain_case {
    int32_t ndim;
    int64_t dims[3];
    int32_t axis;
    wf_check_fill fill;
} chain_case;

// clang-format off: one case a line
static const chain_case table[] = {
    {1, {0}, 0, WF_CHECK_NORMAL},         {2, {0, 3}, 1, WF_CHECK_NORMAL}, // no lines
    {1, {1}, 0, WF_CHECK_NORMAL},         {1, {31}, 0, WF_CHECK_NORMAL},
    {2, {33, 32}, 1, WF_CHECK_NORMAL},    {2, {3, 1023}, 1, WF_CHECK_WIDE},
    {2, {1024, 3}, 0, WF_CHECK_WIDE},     {2, {1025, 33}, 0, WF_CHECK_WIDE},
    {1, {5000}, 0, WF_CHECK_WIDE},        {3, {3, 7, 70}, 1, WF_CHECK_NORMAL},
    {3, {5, 6, 31}, 0, WF_CHECK_SPECIAL},
};
// clang-format on

weft_val wf_chain_case_input(weft_graph *g, weft_val x, const int64_t *p)
{
    if (!p[WF_CHAIN_CASE_NEAR_ONE])
        return x;
    return weft_fma(g, x, wf_build_scalar_like(g, x, 1.0 / 128.0), wf_build_scalar_like(g, x, 1.0));
}

static void add(wf_check_list *list, const wf_chain_cases *kind, weft_dtype dtype,
                const chain_case *c, bool is_exclusive, bool is_reverse)
{
    char dims[WF_TYPE_TEXT];
    const weft_type type = wf_type_make(dtype, c->ndim, c->dims);
    const char *name = wf_check_name(
        list, "%s%s axis %d%s%s", weft_dtype_name(dtype), wf_dims_text(c->dims, c->ndim, dims),
        (int)c->axis, is_exclusive ? " exclusive" : "", is_reverse ? " reverse" : "");
    wf_check_case one = {.name = name, .build = kind->build, .n_inputs = 1};
    one.params[WF_CHAIN_CASE_AXIS] = c->axis;
    one.params[WF_CHAIN_CASE_EXCLUSIVE] = is_exclusive;
    one.params[WF_CHAIN_CASE_REVERSE] = is_reverse;
    one.params[WF_CHAIN_CASE_NEAR_ONE] =
        kind->is_product && dtype == WEFT_F32 && c->fill != WF_CHECK_SPECIAL;
    // Products near 1 show their order by rounding; factors far from 1 would overflow.
    const bool is_wide = c->fill == WF_CHECK_WIDE;
    one.inputs[0] =
        (wf_check_input){type, kind->is_product && is_wide ? WF_CHECK_NORMAL : c->fill, 0};
    one.no_gradient = kind->no_gradient || dtype != WEFT_F32 || c->fill == WF_CHECK_SPECIAL;
    one.no_difference = is_wide || wf_type_count(&type) > 300;
    one.bound = 64.0; // chains of up to 1024 sums, of up to 5000 products near 1; found: 12
    wf_check_add(list, one);
}

void wf_chain_add_cases(wf_check_list *list, const wf_chain_cases *kind)
{
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const chain_case *c = &table[i];
        // Every size both ways, the four ways in turn.
        const bool is_exclusive = kind->is_cumulative && i % 2 == 1;
        const bool is_reverse = kind->is_cumulative && i / 2 % 2 == 1;
        add(list, kind, WEFT_F32, c, is_exclusive, is_reverse);
        if (kind->is_cumulative)
            add(list, kind, WEFT_F32, c, !is_exclusive, !is_reverse);
        if (c->fill == WF_CHECK_SPECIAL) {
            add(list, kind, WEFT_I32, c, is_exclusive, is_reverse);
            add(list, kind, WEFT_I64, c, is_exclusive, !is_reverse && kind->is_cumulative);
        }
    }
}
