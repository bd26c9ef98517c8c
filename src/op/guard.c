// Marks the step bad where x holds a NaN or an infinity; y = all is finite.
#include <math.h>

#include "op/build.h"
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

const wf_op wf_op_guard = {
    .name = "guard",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_EFFECT | WF_OP_ZERO_GRADIENT,
    .task = WF_TASK_GUARD,
    .infer = infer,
    .eval = eval,
    .cost = wf_cost_move,
};

weft_val weft_guard(weft_graph *g, weft_val x)
{
    return wf_graph_add(g, &wf_op_guard, &x, 1, NULL);
}
