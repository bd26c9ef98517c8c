// The cases that `weft check` tries of the three convolution ops: one table, seen three ways.
#include "op/check_case.h"
#include "op/conv_common.h"

typedef struct conv_case {
    const char *name;
    int32_t rank;
    int64_t n, c, k, groups;
    int64_t in[WF_CONV_AXES], window[WF_CONV_AXES];
    int64_t stride[WF_CONV_AXES], before[WF_CONV_AXES], after[WF_CONV_AXES], dilation[WF_CONV_AXES];
    wf_check_fill fill;
    bool is_large; // for finite differences
} conv_case;

// clang-format off
#define ONES {1, 1, 1}
#define NONE {0, 0, 0}

static const conv_case table[] = {
    {"one cell", 2, 1, 1, 1, 1, ONES, ONES, ONES, NONE, NONE, ONES, WF_CHECK_NORMAL, false},
    {"empty batch", 2, 0, 3, 2, 1, {5, 5}, {3, 3}, ONES, NONE, NONE, ONES, WF_CHECK_NORMAL, false},
    {"no channels", 1, 2, 0, 3, 1, {5}, {3}, ONES, {1}, {1}, ONES, WF_CHECK_NORMAL, false},
    {"1-D 31", 1, 2, 3, 5, 1, {31}, {3}, ONES, {1}, {1}, ONES, WF_CHECK_NORMAL, false},
    {"1-D 32 stride dilation", 1, 1, 33, 31, 1, {32}, {5}, {2}, {2}, {1}, {2}, WF_CHECK_NORMAL, true},
    {"2-D pad 1", 2, 2, 3, 4, 1, {7, 5}, {3, 3}, ONES, {1, 1}, {1, 1}, ONES, WF_CHECK_NORMAL, false},
    {"2-D stride 2", 2, 2, 3, 4, 1, {7, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, ONES, WF_CHECK_NORMAL, false},
    {"2-D stride 3 skips cells", 2, 1, 2, 3, 1, {8, 9}, {2, 1}, {3, 3}, NONE, NONE, ONES, WF_CHECK_NORMAL, false},
    {"2-D groups, uneven pads", 2, 2, 6, 4, 2, {8, 9}, {3, 2}, {2, 1}, {1, 0}, {0, 1}, {1, 2}, WF_CHECK_NORMAL, false},
    {"2-D depthwise", 2, 2, 8, 8, 8, {6, 7}, {3, 3}, ONES, {1, 1}, {1, 1}, ONES, WF_CHECK_NORMAL, false},
    {"2-D channels 32 33", 2, 1, 32, 33, 1, {9, 11}, {3, 3}, ONES, {1, 1}, {1, 1}, ONES, WF_CHECK_NORMAL, true},
    {"2-D wide", 2, 3, 16, 17, 1, {14, 15}, {3, 3}, ONES, {1, 1}, {1, 1}, ONES, WF_CHECK_WIDE, true},
    {"2-D 1x1", 2, 3, 31, 33, 1, {5, 7}, {1, 1}, ONES, NONE, NONE, ONES, WF_CHECK_NORMAL, true},
    {"2-D special values", 2, 2, 3, 5, 1, {7, 6}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, ONES, WF_CHECK_SPECIAL, true},
    {"2-D over 4096 input channels", 2, 1, 512, 3, 1, {4, 4}, {3, 3}, ONES, {1, 1}, {1, 1}, ONES, WF_CHECK_WIDE, true},
    {"2-D over 4096 output channels", 2, 1, 3, 512, 1, {4, 4}, {3, 3}, ONES, {1, 1}, {1, 1}, ONES, WF_CHECK_WIDE, true},
    {"2-D over 4096 cells", 2, 2, 2, 3, 1, {49, 51}, {3, 3}, ONES, {1, 1}, {1, 1}, ONES, WF_CHECK_WIDE, true},
    {"1-D over 32 blocks of channels", 1, 1, 140001, 1, 1, {1}, {1}, ONES, NONE, NONE, ONES, WF_CHECK_WIDE, true},
    {"1-D over 32 blocks of cells", 1, 1, 1, 1, 1, {140001}, {1}, ONES, NONE, NONE, ONES, WF_CHECK_WIDE, true},
    {"1-D groups, stride, dilation", 1, 2, 6, 9, 3, {15}, {3}, {2}, {2}, {2}, {3}, WF_CHECK_NORMAL, false},
    {"1-D depthwise", 1, 2, 33, 33, 33, {9}, {4}, ONES, {3}, NONE, ONES, WF_CHECK_NORMAL, true},
    {"3-D groups, stride, dilation", 3, 1, 4, 6, 2, {4, 6, 5}, {2, 3, 2}, {1, 2, 1}, {1, 2, 1}, {1, 2, 1}, {2, 2, 1}, WF_CHECK_NORMAL, true},
    {"3-D depthwise", 3, 1, 3, 3, 3, {3, 4, 5}, {3, 3, 3}, ONES, {1, 1, 1}, {1, 1, 1}, ONES, WF_CHECK_NORMAL, true},
    {"3-D", 3, 1, 2, 3, 1, {4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {1, 0, 1}, {1, 0, 1}, ONES, WF_CHECK_NORMAL, false},
};
// clang-format on

enum { P_STRIDE = 0, P_BEFORE = 3, P_AFTER = 6, P_DILATION = 9, P_GROUPS = 12, P_SPATIAL = 13 };

static weft_conv_options options_of(const int64_t *p)
{
    weft_conv_options o = WEFT_CONV_OPTIONS_INIT;
    o.stride = p + P_STRIDE;
    o.pad_before = p + P_BEFORE;
    o.pad_after = p + P_AFTER;
    o.dilation = p + P_DILATION;
    o.groups = p[P_GROUPS];
    return o;
}

static weft_val build_forward(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_conv_options o = options_of(p);
    return weft_conv(g, in[0], in[1], &o);
}

static weft_val build_grad_input(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_conv_options o = options_of(p);
    return weft_conv_grad_input(g, in[0], in[1], p + P_SPATIAL, &o);
}

static weft_val build_grad_weight(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_conv_options o = options_of(p);
    return weft_conv_grad_weight(g, in[0], in[1], p + P_SPATIAL, &o);
}

static wf_check_input input_of(const conv_case *t, int64_t first, int64_t second,
                               const int64_t *spatial)
{
    int64_t dims[2 + WF_CONV_AXES] = {first, second};
    for (int32_t i = 0; i < t->rank; i++) {
        dims[2 + i] = spatial[i];
    }
    const wf_check_input input = {wf_type_make(WEFT_F32, 2 + t->rank, dims), t->fill, 0};
    return input;
}

void wf_conv_cases(wf_check_list *list, wf_conv_kind kind)
{
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const conv_case *t = &table[i];
        int64_t out[WF_CONV_AXES];
        wf_check_case one = {.name = t->name, .n_inputs = 2, .no_difference = t->is_large};
        for (int32_t a = 0; a < t->rank; a++) {
            const int64_t span = t->dilation[a] * (t->window[a] - 1) + 1;
            out[a] = (t->in[a] + t->before[a] + t->after[a] - span) / t->stride[a] + 1;
            one.params[P_STRIDE + a] = t->stride[a];
            one.params[P_BEFORE + a] = t->before[a];
            one.params[P_AFTER + a] = t->after[a];
            one.params[P_DILATION + a] = t->dilation[a];
            one.params[P_SPATIAL + a] = kind == WF_CONV_GRAD_INPUT ? t->in[a] : t->window[a];
        }
        one.params[P_GROUPS] = t->groups;
        const wf_check_input x = input_of(t, t->n, t->c, t->in);
        const wf_check_input w = input_of(t, t->k, t->c / t->groups, t->window);
        const wf_check_input y = input_of(t, t->n, t->k, out);
        one.inputs[0] = kind == WF_CONV_GRAD_INPUT ? y : x;
        one.inputs[1] = kind == WF_CONV_GRAD_WEIGHT ? y : w;
        one.build = kind == WF_CONV_FORWARD      ? build_forward
                    : kind == WF_CONV_GRAD_INPUT ? build_grad_input
                                                 : build_grad_weight;
        wf_check_add(list, one);
    }
}
