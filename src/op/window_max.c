// y, where = window_max(x): the greatest of each window, and its cell in the window.
//   x [n,c,in..] f32 -> y [n,c,out..] f32, where [n,c,out..] u8 (row-major in the window)
// NaN is greatest, then +0 above -0; the lowest cell of equals; padding never wins.
#include <math.h>

#include "op/build.h"
#include "op/check_case.h"
#include "op/window_common.h"

// `where` is one byte. A larger window is a global maximum: weft_reduce_max.
#define WF_WINDOW_MAX_CELLS 256

extern const wf_op wf_op_window_max_grad;

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    wf_window_shape s;
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPE_BIT(WEFT_F32), err));
    WEFT_TRY(wf_window_shape_get(info, false, &s, err));
    double cells = 1.0; // a product of three sizes below 2^31
    for (int i = 0; i < WF_WINDOW_AXES; i++) {
        cells *= (double)s.window[i];
    }
    if (cells > WF_WINDOW_MAX_CELLS) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                  "the window has %.0f cells, expected at most %d, reduce_max has no limit", cells,
                  WF_WINDOW_MAX_CELLS);
    }
    out[0] = wf_window_type(info, &s, WEFT_F32, s.out);
    out[1] = wf_window_type(info, &s, WEFT_U8, s.out);
    return WEFT_OK;
}

static void grad(const wf_grad_query *q)
{
    if (!q->need[0] || !q->dout[0].id)
        return;
    const weft_val in[] = {q->out[1], q->dout[0]};
    q->din[0] = wf_window_build_like(q, &wf_op_window_max_grad, in, 2, q->info->in[0].dims + 2);
}

// a before b in the order of maxima: NaN, then greater, then +0 before -0.
static bool is_above(double a, double b)
{
    if (b != b || a != a)
        return b == b;
    return a > b || (a == 0.0 && b == 0.0 && !signbit(a) && signbit(b));
}

static double get(const wf_tensor *x, int64_t i)
{
    return x->is_truth ? ((const double *)x->data)[i] : (double)((const float *)x->data)[i];
}

// One plane: y[p] = max over r of x[p * stride - pad + r * dilation]
static void eval_plane(const wf_eval *q, const wf_window_shape *s, int64_t plane)
{
    const int64_t volume_in = wf_window_volume(s->in), volume_out = wf_window_volume(s->out);
    const int64_t volume_w = wf_window_volume(s->window);
    for (int64_t pi = 0; pi < volume_out; pi++) {
        int64_t p[WF_WINDOW_AXES], r[WF_WINDOW_AXES];
        int64_t best_cell = -1;
        double best = 0.0;
        wf_window_split(pi, s->out, p);
        for (int64_t ri = 0; ri < volume_w; ri++) {
            wf_window_split(ri, s->window, r);
            const int64_t at = wf_window_input_cell(s, p, r);
            if (at < 0)
                continue;
            const double x = get(&q->in[0], plane * volume_in + at);
            if (best_cell < 0 || is_above(x, best)) {
                best = x;
                best_cell = ri;
            }
        }
        const int64_t yi = plane * volume_out + pi;
        if (q->out[0].is_truth)
            ((double *)q->out[0].data)[yi] = best;
        else
            ((float *)q->out[0].data)[yi] = (float)best; // it came from a float
        ((uint8_t *)q->out[1].data)[yi] = (uint8_t)best_cell;
    }
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    wf_window_shape s;
    WEFT_TRY(wf_window_shape_get(q->info, false, &s, err));
    for (int64_t plane = 0; plane < s.n_planes; plane++) {
        eval_plane(q, &s, plane);
    }
    return WEFT_OK;
}

static void cases(wf_check_list *list)
{
    wf_window_cases(list, WF_WINDOW_MAX);
}

static const wf_attr_spec attrs[] = {WF_WINDOW_ATTR_SPECS("out_spatial")};

const wf_op wf_op_window_max = {
    .name = "window_max",
    .n_inputs = 1,
    .n_outputs = 2,
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

weft_val weft_max_pool(weft_graph *g, weft_val x, const int64_t *window,
                       const weft_window_options *options)
{
    return wf_window_build(g, &wf_op_window_max, x, window, options);
}
