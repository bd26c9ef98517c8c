// dx = window_max_grad(where, dy): each output's gradient goes to the cell that won its window.
//   where [n,c,out..] u8, dy [n,c,out..] f32 -> dx [n,c,input_spatial..] f32
// Written as a gather: a cell adds, from +0, the windows that it won, in ascending (p,q).
#include "op/build.h"
#include "op/check_case.h"
#include "op/window_common.h"

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_window_shape s;
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    if (info->in[0].dtype != WEFT_U8 || info->in[1].dtype != WEFT_F32) {
        WEFT_FAIL(err, WEFT_ERR_DTYPE, "where is %s, dy is %s, expected u8 and f32",
                  wf_type_text(&info->in[0], a), wf_type_text(&info->in[1], b));
    }
    if (!wf_type_same_dims(&info->in[0], &info->in[1])) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "shapes differ, where is %s, dy is %s",
                  wf_type_text(&info->in[0], a), wf_type_text(&info->in[1], b));
    }
    WEFT_TRY(wf_window_shape_get(info, true, &s, err));
    out[0] = wf_window_type(info, &s, WEFT_F32, s.in);
    return WEFT_OK;
}

// dx[h] of one cell of one plane
static void eval_cell(const wf_eval *q, const wf_window_shape *s, int64_t plane, int64_t cell)
{
    const int64_t base = plane * wf_window_volume(s->out);
    const uint8_t *where = q->in[0].data;
    int64_t h[WF_WINDOW_AXES], p[WF_WINDOW_AXES], first[WF_WINDOW_AXES], last[WF_WINDOW_AXES];
    float sum = 0.0f;
    double truth = 0.0;
    wf_window_split(cell, s->in, h);
    wf_window_reach(s, h, first, last);
    for (p[0] = first[0]; p[0] <= last[0]; p[0]++) {
        for (p[1] = first[1]; p[1] <= last[1]; p[1]++) {
            for (p[2] = first[2]; p[2] <= last[2]; p[2]++) {
                const int64_t r = wf_window_cell(s, p, h);
                const int64_t yi = base + (p[0] * s->out[1] + p[1]) * s->out[2] + p[2];
                if (r < 0 || where[yi] != r)
                    continue;
                if (q->in[1].is_truth)
                    truth += ((const double *)q->in[1].data)[yi];
                else
                    sum += ((const float *)q->in[1].data)[yi];
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
    wf_window_cases(list, WF_WINDOW_MAX_GRAD);
}

static const wf_attr_spec attrs[] = {WF_WINDOW_ATTR_SPECS("input_spatial")};

const wf_op wf_op_window_max_grad = {
    .name = "window_max_grad",
    .n_inputs = 2,
    .n_outputs = 1,
    .task = WF_TASK_WINDOW,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .infer = infer,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_window_cost,
    .cases = cases,
};
