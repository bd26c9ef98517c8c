// y = x in another dtype (doc/arithmetic.md, Numbers). Between f64, integers and the halves the value
// goes through f32, as it must where a device has no f64.
#include <math.h>

#include "math/half.h"
#include "op/build.h"
#include "op/check_case.h"
#include "op/inst.h"
#include "op/tensor.h"

enum { ATTR_DTYPE };
static const wf_attr_spec attrs[] = {{"dtype", WF_ATTR_DTYPE}};

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    const int64_t dtype = info->attrs[ATTR_DTYPE].u.i;
    if (dtype <= WEFT_DTYPE_NONE || dtype >= WEFT_N_DTYPES) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "dtype %lld is unknown", (long long)dtype);
    }
    *out = info->in[0];
    out->dtype = (weft_dtype)dtype;
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    const weft_dtype from = q->info->in[0].dtype;
    if (wf_dtype_is_float(from) && wf_dtype_is_float(q->info->out[0].dtype)) {
        q->din[0] = weft_cast(q->g, q->dout[0], from);
    }
}

// Toward zero, saturating, NaN to 0.
static int64_t to_int(weft_dtype dtype, double x)
{
    static const double low[WEFT_N_DTYPES] = {
        [WEFT_I8] = -128.0, [WEFT_I32] = -0x1p31, [WEFT_I64] = -0x1p63};
    static const int64_t high[WEFT_N_DTYPES] = {[WEFT_I8] = INT8_MAX,
                                                [WEFT_U8] = UINT8_MAX,
                                                [WEFT_I32] = INT32_MAX,
                                                [WEFT_I64] = INT64_MAX};
    if (isnan(x)) {
        return 0;
    }
    if (x <= low[dtype]) {
        return (int64_t)low[dtype];
    }
    return x >= (double)high[dtype] ? high[dtype] : (int64_t)x;
}

static void set_float(const wf_tensor *t, int64_t i, double x)
{
    switch (t->is_truth ? (int)WEFT_F64 : (int)t->type.dtype) {
    case WEFT_F32: ((float *)t->data)[i] = (float)x; break;
    case WEFT_F64: ((double *)t->data)[i] = x; break;
    case WEFT_F16: ((uint16_t *)t->data)[i] = wf_f32_to_f16((float)x); break;
    default: ((uint16_t *)t->data)[i] = wf_f32_to_bf16((float)x); break;
    }
}

// An integer as a float of dtype, in one rounding to f32 (to f64 for f64 and for the truth).
static double int_to_float(const wf_tensor *y, int64_t x)
{
    return y->is_truth || y->type.dtype == WEFT_F64 ? (double)x : (double)(float)x;
}

// In truth mode a float is not rounded to its dtype, but what the dtype cannot hold is infinite there too.
static double cut_to_range(weft_dtype dtype, double x)
{
    return isinf(wf_scalar_round(dtype, x)) ? copysign(INFINITY, x) : x;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    (void)err;
    const wf_tensor *x = &q->in[0], *y = &q->out[0];
    const weft_dtype from = x->type.dtype, to = y->type.dtype;
    const int64_t count = wf_type_count(&y->type);
    for (int64_t i = 0; i < count; i++) {
        if (wf_dtype_is_float(from)) {
            const double value = wf_tensor_get_float(x, i);
            if (wf_dtype_is_float(to)) {
                set_float(y, i, y->is_truth ? cut_to_range(to, value) : value);
            } else if (to == WEFT_BOOL) {
                wf_tensor_set_int(y, i, value != 0.0);
            } else {
                wf_tensor_set_int(y, i, to_int(to, value));
            }
        } else {
            const int64_t value = wf_tensor_get_int(x, i);
            if (wf_dtype_is_float(to)) {
                set_float(y, i, int_to_float(y, value));
            } else {
                wf_tensor_set_int(y, i, to == WEFT_BOOL ? value != 0 : value);
            }
        }
    }
    return WEFT_OK;
}

static void lower(const wf_node_info *info, wf_inst *out)
{
    (void)info;
    out->kind = WF_INST_CAST;
}

static weft_val build_case(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_val y = weft_cast(g, in[0], (weft_dtype)p[0]);
    return p[1] ? weft_cast(g, y, WEFT_F32) : y; // there and back, for the gradient
}

static void cases(wf_check_list *list)
{
    for (int from = 1; from < WEFT_N_DTYPES; from++) {
        for (int to = 1; to < WEFT_N_DTYPES; to++) {
            if (from == to) {
                continue;
            }
            wf_check_add(
                list,
                (wf_check_case){
                    .name = wf_check_name(list, "%s to %s", weft_dtype_name((weft_dtype)from),
                                          weft_dtype_name((weft_dtype)to)),
                    .build = build_case,
                    .params = {to, 0},
                    .n_inputs = 1,
                    .inputs = {WF_CHECK_INPUT_FILL(WF_CHECK_SPECIAL, 0, (weft_dtype)from, 13, 11)},
                    .no_gradient = true,
                    // Truth is not rounded to a half.
                    .bound = to == WEFT_BF16  ? 0x1p17
                             : to == WEFT_F16 ? 0x1p14
                                              : 1.0});
        }
    }
    static const int64_t sizes[] = {0, 1, 31, 32, 33};
    for (size_t i = 0; i < WF_COUNT_OF(sizes); i++) {
        wf_check_add(list,
                     (wf_check_case){.name = wf_check_name(list, "f32 to i32, %d", (int)sizes[i]),
                                     .build = build_case,
                                     .params = {WEFT_I32, 0},
                                     .n_inputs = 1,
                                     .inputs = {WF_CHECK_INPUT(WEFT_F32, sizes[i])},
                                     .no_gradient = true,
                                     .bound = 1.0});
    }
    wf_check_add(list, (wf_check_case){.name = "gradient through f16",
                                       .build = build_case,
                                       .params = {WEFT_F16, 1},
                                       .n_inputs = 1,
                                       .inputs = {WF_CHECK_INPUT(WEFT_F32, 31)},
                                       .no_difference = true,
                                       .bound = 0x1p14});
}

const wf_op wf_op_cast = {
    .name = "cast",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_MAP,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .lower = lower,
    .eval = eval,
    .cost = wf_cost_move,
    .cases = cases,
};

weft_val weft_cast(weft_graph *g, weft_val a, weft_dtype dtype)
{
    const wf_attr list[] = {wf_attr_int(dtype)};
    if (!wf_build_ready(g, &wf_op_cast, &a, 1)) {
        return WEFT_NONE;
    }
    return wf_graph_type(g, a.id)->dtype == dtype ? a : wf_graph_add(g, &wf_op_cast, &a, 1, list);
}

bool wf_op_is_widening(const weft_graph *g, const wf_node *node)
{
    if (node->op != &wf_op_cast || wf_graph_type(g, node->first_output)->dtype != WEFT_F32)
        return false;
    const weft_dtype from = wf_graph_type(g, node->inputs[0])->dtype;
    return from == WEFT_BF16 || from == WEFT_F16;
}
