// y = the index of the least along one axis: the lowest of equals (-0 equals +0); NaN comes before all.
// Expanded into argmax of what has the opposite order: -x, or of integers and bool the complement, which
// does not wrap.
#include "op/check_case.h"
#include "op/reduce.h"

static const wf_attr_spec attrs[] = {{"axes", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const uint32_t allowed = WF_DTYPE_BIT(WEFT_F32) | WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL);
    return wf_infer_reduce_index(info, allowed, out, err);
}

static void expand(weft_graph *g, const wf_node_info *info, const weft_val *in, weft_val *out)
{
    const bool is_float = wf_dtype_is_float(info->in[0].dtype);
    const weft_val opposite = is_float ? weft_neg(g, in[0]) : weft_not(g, in[0]);
    out[0] = weft_argmax(g, opposite, (int32_t)info->attrs[WF_REDUCE_AXES].u.ints[0], true);
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_reduce_walk walk = wf_reduce_walk_make(q->info);
    const wf_tensor *x = &q->in[0];
    const bool is_float = wf_dtype_is_float(x->type.dtype);
    for (int64_t i = 0; i < walk.n_outer; i++) {
        int64_t best = 0;
        for (int64_t j = 1; j < walk.n_inner; j++) {
            const int64_t now = wf_reduce_at(&walk, i, j), then = wf_reduce_at(&walk, i, best);
            if (is_float) {
                const double a = wf_tensor_get_float(x, now), b = wf_tensor_get_float(x, then);
                best = a < b || (a != a && b == b) ? j : best;
            } else {
                best = wf_tensor_get_int(x, now) < wf_tensor_get_int(x, then) ? j : best;
            }
        }
        ((int32_t *)q->out[0].data)[i] = (int32_t)best;
    }
    return WEFT_OK;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return weft_argmin(g, in[0], (int32_t)p[0], p[1] != 0);
}

// Few: what comes of the expansion is argmax's to check.
static void cases(struct wf_check_list *list)
{
    static const struct {
        weft_dtype dtype;
        int64_t dims[2];
        int32_t axis;
    } table[] = {
        {WEFT_F32, {6, 40}, 1},   {WEFT_F32, {40, 6}, 0}, {WEFT_F32, {0, 3}, 1},
        {WEFT_I8, {6, 40}, 1},    {WEFT_U8, {40, 6}, 0},  {WEFT_I32, {6, 40}, 1},
        {WEFT_I64, {6, 1100}, 1}, {WEFT_BOOL, {9, 3}, 1}, {WEFT_F32, {1, 32}, 1},
        {WEFT_F32, {33, 1}, 0},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const weft_type type = wf_type_make(table[i].dtype, 2, table[i].dims);
        char text[WF_TYPE_TEXT];
        wf_check_add(list, (wf_check_case){.name = wf_check_name(list, "%s axis %d",
                                                                 wf_type_text(&type, text),
                                                                 (int)table[i].axis),
                                           .build = build_case,
                                           .params = {table[i].axis, (int64_t)i % 2},
                                           .n_inputs = 1,
                                           .inputs = {{type, WF_CHECK_SPECIAL, 0}},
                                           .no_gradient = true});
    }
}

const wf_op wf_op_argmin = {
    .name = "argmin",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_ROW,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .expand = expand,
    .eval = eval,
    .cost = wf_cost_reduce,
    .cases = cases,
};

weft_val weft_argmin(weft_graph *g, weft_val x, int32_t axis, bool keep_dims)
{
    return wf_build_reduce(g, &wf_op_argmin, x, &axis, 1, keep_dims);
}
