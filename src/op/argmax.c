// y = the index of the greatest along one axis: the lowest of equals (-0 equals +0); NaN is greatest.
#include "op/inst.h"
#include "op/reduce.h"

static const wf_attr_spec attrs[] = {{"axes", WF_ATTR_INTS}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const uint32_t allowed = WF_DTYPE_BIT(WEFT_F32) | WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL);
    return wf_infer_reduce_index(info, allowed, out, err);
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
                best = a > b || (a != a && b == b) ? j : best;
            } else {
                best = wf_tensor_get_int(x, now) > wf_tensor_get_int(x, then) ? j : best;
            }
        }
        ((int32_t *)q->out[0].data)[i] = (int32_t)best;
    }
    return WEFT_OK;
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    (void)info;
    out->kind = WF_INST_REDUCE;
    out->reduce = WF_REDUCE_ARGMAX;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    int32_t axes[WEFT_MAX_DIM];
    (void)wf_reduce_case_axes(p, axes);
    const weft_val x = wf_reduce_case_input(g, in[0], p);
    return weft_argmax(g, x, axes[0], p[WF_REDUCE_CASE_KEEP] != 0);
}

static void cases(struct wf_check_list *list)
{
    static const wf_reduce_cases kind = {.build = build_case,
                                         .ints = WF_DTYPES_INT | WF_DTYPE_BIT(WEFT_BOOL),
                                         .one_axis = true,
                                         .no_gradient = true};
    wf_reduce_add_cases(list, &kind);
}

const wf_op wf_op_argmax = {
    .name = "argmax",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_ROW,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .lower = lower,
    .eval = eval,
    .cost = wf_cost_reduce,
    .cases = cases,
};

weft_val weft_argmax(weft_graph *g, weft_val x, int32_t axis, bool keep_dims)
{
    return wf_build_reduce(g, &wf_op_argmax, x, &axis, 1, keep_dims);
}
