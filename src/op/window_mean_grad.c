// dx = window_mean_grad(dy): each cell gets its windows' gradients, divided by their counts.
//   dy [n,c,out..] f32 -> dx [n,c,input_spatial..] f32
// Bits: a cell adds dy / count of the windows over it, from +0, in ascending (p,q).
#include "op/build.h"
#include "op/check_case.h"
#include "op/window_common.h"

extern const wf_op wf_op_window_mean;

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_window_shape s;
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPE_BIT(WEFT_F32), err));
    WEFT_TRY(wf_window_shape_get(info, true, &s, err));
    out[0] = wf_window_type(info, &s, WEFT_F32, s.in);
    return WEFT_OK;
}

// Linear in dy, with the mean itself as its transpose.
static void grad(const wf_grad_query *q)
{
    if (q->need[0]) {
        q->din[0] =
            wf_window_build_like(q, &wf_op_window_mean, q->dout, 1, q->info->in[0].dims + 2);
    }
}

// dx[h] of one cell of one plane
static void eval_cell(const wf_eval *q, const wf_window_shape *s, int64_t plane, int64_t cell)
{
    const int64_t base = plane * wf_window_volume(s->out);
    int64_t h[WF_WINDOW_AXES], p[WF_WINDOW_AXES], first[WF_WINDOW_AXES], last[WF_WINDOW_AXES];
    float sum = 0.0f;
    double truth = 0.0;
    wf_window_split(cell, s->in, h);
    wf_window_reach(s, h, first, last);
    for (p[0] = first[0]; p[0] <= last[0]; p[0]++) {
        for (p[1] = first[1]; p[1] <= last[1]; p[1]++) {
            for (p[2] = first[2]; p[2] <= last[2]; p[2]++) {
                if (wf_window_cell(s, p, h) < 0)
                    continue;
                const int64_t yi = base + (p[0] * s->out[1] + p[1]) * s->out[2] + p[2];
                const int64_t count = wf_window_count(s, p);
                if (q->in[0].is_truth)
                    truth += ((const double *)q->in[0].data)[yi] / (double)count;
                else
                    sum += ((const float *)q->in[0].data)[yi] / (float)count;
            }
        }
    }
    const int64_t xi = plane * wf_window_volume(s->in) + cell;
    if (q->out[0].is_truth)
        ((double *)q->out[0].data)[xi] = truth;
    else
        ((float *)q->out[0].data)[xi] = sum;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_window_shape s;
    WEFT_TRY(wf_window_shape_get(q->info, true, &s, err));
    const int64_t volume = wf_window_volume(s.in);
    for (int64_t plane = 0; plane < s.n_planes; plane++) {
        for (int64_t cell = 0; cell < volume; cell++) {
            eval_cell(q, &s, plane, cell);
        }
    }
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_window_cases(list, WF_WINDOW_MEAN_GRAD);
}

static const wf_attr_spec attrs[] = {WF_WINDOW_ATTR_SPECS("input_spatial"),
                                     {"count_include_pad", WF_ATTR_BOOL}};

const wf_op wf_op_window_mean_grad = {
    .name = "window_mean_grad",
    .n_inputs = 1,
    .n_outputs = 1,
    .task = WF_TASK_WINDOW,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .grad = grad,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_window_cost,
    .cases = cases,
};
