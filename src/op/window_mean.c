// y = window_mean(x): the mean of each window.
//   x [n,c,in..] f32 -> y [n,c,out..] f32
// Bits: cells inside the input add, row-major, from +0; the sum is divided by the count (converted
// once). See wf_window_count for what is counted.
#include "op/build.h"
#include "op/check_case.h"
#include "op/window_common.h"

extern const wf_op wf_op_window_mean_grad;

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_window_shape s;
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPE_BIT(WEFT_F32), err));
    WEFT_TRY(wf_window_shape_get(info, false, &s, err));
    out[0] = wf_window_type(info, &s, WEFT_F32, s.out);
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    if (q->need[0]) {
        q->din[0] =
            wf_window_build_like(q, &wf_op_window_mean_grad, q->dout, 1, q->info->in[0].dims + 2);
    }
}

// y[p] of one cell of one plane
static void eval_cell(const wf_eval *q, const wf_window_shape *s, int64_t plane, int64_t cell)
{
    const int64_t base = plane * wf_window_volume(s->in), volume_w = wf_window_volume(s->window);
    int64_t p[WF_WINDOW_AXES], r[WF_WINDOW_AXES];
    float sum = 0.0f;
    double truth = 0.0;
    wf_window_split(cell, s->out, p);
    for (int64_t ri = 0; ri < volume_w; ri++) {
        wf_window_split(ri, s->window, r);
        const int64_t at = wf_window_input_cell(s, p, r);
        if (at < 0)
            continue;
        if (q->in[0].is_truth)
            truth += ((const double *)q->in[0].data)[base + at];
        else
            sum += ((const float *)q->in[0].data)[base + at];
    }
    const int64_t yi = plane * wf_window_volume(s->out) + cell;
    const int64_t count = wf_window_count(s, p);
    if (q->out[0].is_truth)
        ((double *)q->out[0].data)[yi] = truth / (double)count;
    else
        ((float *)q->out[0].data)[yi] = sum / (float)count;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_window_shape s;
    WEFT_TRY(wf_window_shape_get(q->info, false, &s, err));
    const int64_t volume = wf_window_volume(s.out);
    for (int64_t plane = 0; plane < s.n_planes; plane++) {
        for (int64_t cell = 0; cell < volume; cell++) {
            eval_cell(q, &s, plane, cell);
        }
    }
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_window_cases(list, WF_WINDOW_MEAN);
}

static const wf_attr_spec attrs[] = {WF_WINDOW_ATTR_SPECS("out_spatial"),
                                     {"count_include_pad", WF_ATTR_BOOL}};

const wf_op wf_op_window_mean = {
    .name = "window_mean",
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

weft_val weft_mean_pool(weft_graph *g, weft_val x, const int64_t *window,
                        const weft_window_options *options)
{
    return wf_window_build(g, &wf_op_window_mean, x, window, options);
}
