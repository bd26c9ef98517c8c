// Marks the step bad where x holds a NaN or an infinity; y = all is finite.
#include <math.h>

#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPE_BIT(WEFT_F32), err));
    *out = wf_type_make(WEFT_BOOL, 0, NULL);
    return WEFT_OK;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const int64_t count = wf_type_count(&q->in[0].type);
    int64_t i = 0;
    while (i < count && isfinite(wf_tensor_get_float(&q->in[0], i))) {
        i++;
    }
    if (i < count) {
        q->is_bad = true;
        q->bad_elem = i;
    }
    wf_tensor_set_int(&q->out[0], 0, i == count);
    return WEFT_OK;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    return weft_guard(g, in[0]);
}

static void cases(wf_check_list *list)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 5000};
    for (size_t i = 0; i < WF_COUNT_OF(sizes); i++) {
        wf_check_add(list, (wf_check_case){.name = wf_check_name(list, "%d finite", (int)sizes[i]),
                                           .build = build_case,
                                           .n_inputs = 1,
                                           .inputs = {WF_CHECK_INPUT(WEFT_F32, sizes[i])},
                                           .no_gradient = true});
    }
}

const wf_op wf_op_guard = {
    .name = "guard",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_EFFECT | WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_GUARD,
    .infer = infer,
    .eval = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

weft_val weft_guard(weft_graph *g, weft_val x)
{
    return wf_graph_add(g, &wf_op_guard, &x, 1, NULL);
}
