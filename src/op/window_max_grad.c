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

// a * scale + shift of integers, without the nodes that would change nothing
static weft_val scale_shift(weft_graph *g, weft_val a, int64_t scale, int64_t shift)
{
    const weft_val scaled =
        scale == 1 ? a : weft_mul(g, a, wf_build_scalar_like(g, a, (double)scale));
    return shift == 0 ? scaled : weft_add(g, scaled, wf_build_scalar_like(g, a, (double)shift));
}

// i64 [n,c,out..]: where in dx, row-major, the winner of each window lies.
static weft_val get_winners(const wf_grad_query *q, const wf_window_shape *s)
{
    weft_graph *g = q->g;
    const weft_type *t = &q->info->in[1];
    const int32_t skip = WF_WINDOW_AXES - s->rank; // missing axes stand in front
    weft_val rest = weft_cast(g, q->in[0], WEFT_I64), at[WF_WINDOW_AXES];
    for (int32_t i = WF_WINDOW_AXES - 1; i >= skip; i--) {
        // r, the window's cell along this axis, then p * stride - pad + r * dilation
        const weft_val size = weft_scalar(g, WEFT_I64, (double)s->window[i]);
        const weft_val r = i == skip ? rest : weft_rem(g, rest, size);
        const weft_val p = weft_iota(g, WEFT_I64, t->dims, t->ndim, 2 + i - skip);
        rest = i == skip ? rest : weft_div(g, rest, size);
        at[i] = weft_add(g, scale_shift(g, p, s->stride[i], -s->pad[i]),
                         scale_shift(g, r, s->dilation[i], 0));
    }
    weft_val flat = weft_iota(g, WEFT_I64, t->dims, t->ndim, 0);
    const weft_val channel = weft_iota(g, WEFT_I64, t->dims, t->ndim, 1);
    flat = weft_add(g, scale_shift(g, flat, t->dims[1], 0), channel);
    for (int32_t i = skip; i < WF_WINDOW_AXES; i++)
        flat = weft_add(g, scale_shift(g, flat, s->in[i], 0), at[i]);
    return flat;
}

// Linear in dy: each window's gradient is what arrives at the cell that won it.
static void grad(const wf_grad_query *q)
{
    wf_window_shape s;
    if (!q->need[1] || wf_window_shape_get(q->info, true, &s, NULL) != WEFT_OK)
        return;
    q->din[1] = weft_gather(q->g, weft_flatten(q->g, q->dout[0], 0), get_winners(q, &s), 0);
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
    .grad = grad,
    .eval = eval,
    .eval_truth = eval,
    .cost = wf_window_cost,
    .cases = cases,
};
