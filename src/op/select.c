// y = cond ? a : b, elementwise. Only moves data: any dtype.
#include <string.h>

#include "op/build.h"
#include "op/check_case.h"
#include "op/elementwise.h"
#include "op/inst.h"
#include "op/tensor.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT], cond[WF_TYPE_TEXT];
    const weft_type *in = info->in;
    if (in[0].dtype != WEFT_BOOL) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "cond is %s, expected bool", wf_type_text(&in[0], cond));
    }
    if (in[1].dtype != in[2].dtype) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "dtypes differ, a is %s, b is %s", wf_type_text(&in[1], a),
                  wf_type_text(&in[2], b));
    }
    if (!wf_type_same_dims(&in[0], &in[1]) || !wf_type_same_dims(&in[0], &in[2])) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "shapes differ, cond is %s, a is %s, b is %s",
                  wf_type_text(&in[0], cond), wf_type_text(&in[1], a), wf_type_text(&in[2], b));
    }
    *out = in[1];
    return WEFT_OK;
}

// A product with a mask would turn an infinity on the other side into NaN.
static void grad(const wf_grad_query *q)
{
    const weft_val zero = wf_build_scalar_like(q->g, q->dout[0], 0.0);
    q->din[1] = q->need[1] ? weft_select(q->g, q->in[0], q->dout[0], zero) : WEFT_NONE;
    q->din[2] = q->need[2] ? weft_select(q->g, q->in[0], zero, q->dout[0]) : WEFT_NONE;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const size_t bytes = wf_tensor_elem_bytes(&q->out[0]);
    const int64_t count = wf_type_count(&q->out[0].type);
    for (int64_t i = 0; i < count; i++) {
        const wf_tensor *from = &q->in[((const uint8_t *)q->in[0].data)[i] ? 1 : 2];
        memcpy((char *)q->out[0].data + (size_t)i * bytes,
               (const char *)from->data + (size_t)i * bytes, bytes);
    }
    return WEFT_OK;
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    (void)info;
    out->kind = WF_INST_SELECT;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    (void)p;
    return weft_select(g, in[0], in[1], in[2]);
}

static void cases(wf_check_list *list)
{
    for (int dtype = 1; dtype < WEFT_N_DTYPES; dtype++) {
        const weft_dtype d = (weft_dtype)dtype;
        wf_check_add(list,
                     (wf_check_case){.name = weft_dtype_name(d),
                                     .build = build_case,
                                     .n_inputs = 3,
                                     .inputs = {WF_CHECK_INPUT(WEFT_BOOL, 5, 33),
                                                WF_CHECK_INPUT_FILL(WF_CHECK_SPECIAL, 0, d, 5, 33),
                                                WF_CHECK_INPUT_FILL(WF_CHECK_SPECIAL, 0, d, 5, 33)},
                                     .no_gradient = true,
                                     .bound = 1.0});
    }
    wf_check_add(list, (wf_check_case){.name = "broadcast",
                                       .build = build_case,
                                       .n_inputs = 3,
                                       .inputs = {WF_CHECK_INPUT(WEFT_BOOL, 4, 1),
                                                  WF_CHECK_INPUT(WEFT_F32, 7),
                                                  WF_CHECK_INPUT(WEFT_F32, 4, 7)},
                                       .bound = 1.0});
    static const int64_t sizes[] = {0, 1, 31, 32};
    for (size_t i = 0; i < WF_COUNT_OF(sizes); i++) {
        const int64_t n = sizes[i];
        wf_check_add(list, (wf_check_case){.name = wf_check_name(list, "%d", (int)n),
                                           .build = build_case,
                                           .n_inputs = 3,
                                           .inputs = {WF_CHECK_INPUT(WEFT_BOOL, n),
                                                      WF_CHECK_INPUT(WEFT_F32, n),
                                                      WF_CHECK_INPUT(WEFT_F32, n)},
                                           .bound = 1.0});
    }
}

const wf_op wf_op_select = {
    .name = "select",
    .n_inputs = 3,
    .n_outputs = 1,
    .task = WF_TASK_MAP,
    .infer = infer,
    .grad = grad,
    .lower = lower,
    .eval = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

weft_val weft_select(weft_graph *g, weft_val cond, weft_val a, weft_val b)
{
    const weft_val in[] = {cond, a, b};
    return wf_build_elementwise(g, &wf_op_select, in, 3);
}
