// What lstm_cell and gru_cell share: see cell_common.h.
#include "op/cell_common.h"

#include <math.h>

#include "op/build.h"

weft_status wf_infer_cell(const wf_node_info *info, int64_t n_gates, char state, weft_type *out,
                          weft_error *err)
{
    const weft_type *x = &info->in[0], *p = &info->in[1], *s = &info->in[2];
    const int n = (int)n_gates;
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT], c[WF_TYPE_TEXT];
    WEFT_TRY(wf_infer_check_dtypes(info, WF_DTYPE_BIT(WEFT_F32), err));
    if (x->ndim != 2 || s->ndim != 2 || x->dims[0] != s->dims[0] ||
        x->dims[1] != n_gates * s->dims[1] || !wf_type_equal(x, p)) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE,
                  "x is %s, p is %s, %c is %s, expected [b,%dh], [b,%dh], [b,h]",
                  wf_type_text(x, a), wf_type_text(p, b), state, wf_type_text(s, c), n, n);
    }
    for (size_t i = 0; i < info->n_outputs; i++)
        out[i] = *s;
    return WEFT_OK;
}

wf_cost wf_cost_cell(const wf_node_info *info)
{
    const wf_cost c = {40.0 * (double)wf_type_count(&info->in[0]), wf_cost_bytes(info)};
    return c;
}

void wf_cell_add_cases(wf_check_list *list, int64_t n_gates,
                       weft_val (*build)(weft_graph *g, const weft_val *in, const int64_t *p))
{
    static const struct {
        const char *name;
        int64_t b, h;
        wf_check_fill fill;
    } table[] = {{"3x2", 3, 2, WF_CHECK_NORMAL},   {"1x1", 1, 1, WF_CHECK_NORMAL},
                 {"4x32", 4, 32, WF_CHECK_WIDE},   {"no rows", 0, 3, WF_CHECK_NORMAL},
                 {"33x17", 33, 17, WF_CHECK_WIDE}, {"special values", 40, 7, WF_CHECK_SPECIAL}};
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const int64_t b = table[i].b, h = table[i].h;
        wf_check_case one = {.name = table[i].name,
                             .build = build,
                             .n_inputs = 3,
                             .inputs = {WF_CHECK_INPUT(WEFT_F32, b, n_gates * h),
                                        WF_CHECK_INPUT(WEFT_F32, b, n_gates * h),
                                        WF_CHECK_INPUT(WEFT_F32, b, h)},
                             .no_difference = table[i].fill != WF_CHECK_NORMAL,
                             // A gate that is 0 in f32 and not in float64, times infinity.
                             .bound = table[i].fill == WF_CHECK_SPECIAL ? INFINITY : 64.0};
        one.inputs[0].fill = one.inputs[1].fill = one.inputs[2].fill = table[i].fill;
        wf_check_add(list, one);
    }
}
