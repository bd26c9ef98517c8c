// y = x, through which no gradient flows.
#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    (void)err;
    *out = info->in[0];
    return WEFT_OK;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_walk dst = wf_walk_dense(&q->out[0]), src = wf_walk_dense(&q->in[0]);
    wf_tensor_move(&dst, &src, q->out[0].type.ndim, q->out[0].type.dims);
    return WEFT_OK;
}

static bool view(const wf_node_info *info, const wf_strided *in, wf_strided *out)
{
    (void)info;
    *out = *in;
    return true;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    return weft_mul(g, in[0], weft_stop_gradient(g, in[0]));
}

static void cases(wf_check_list *list)
{
    static const int64_t sizes[] = {0, 1, 32, 33};
    for (size_t i = 0; i < WF_COUNT_OF(sizes); i++) {
        wf_check_add(list,
                     (wf_check_case){.name = wf_check_name(list, "x * stop(x), %d", (int)sizes[i]),
                                     .build = build_case,
                                     .n_inputs = 1,
                                     .inputs = {WF_CHECK_INPUT(WEFT_F32, sizes[i])},
                                     .no_difference = true}); // half the slope, on purpose
    }
}

const wf_op wf_op_stop_gradient = {
    .name = "stop_gradient",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_VIEW | WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_NONE,
    .infer = infer,
    .view = view,
    .eval = eval,
    .cost = wf_cost_none,
    .cases = cases,
};

weft_val weft_stop_gradient(weft_graph *g, weft_val x)
{
    return wf_graph_add(g, &wf_op_stop_gradient, &x, 1, NULL);
}
