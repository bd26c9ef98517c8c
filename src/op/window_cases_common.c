// The cases that `weft check` tries of the pooling ops; their gradients' bits come with them.
#include "op/check_case.h"
#include "op/window_common.h"

typedef struct window_case {
    const char *name;
    int32_t rank;
    int64_t n, c;
    int64_t in[WF_WINDOW_AXES], window[WF_WINDOW_AXES], stride[WF_WINDOW_AXES];
    int64_t before[WF_WINDOW_AXES], after[WF_WINDOW_AXES], dilation[WF_WINDOW_AXES];
    bool is_ceil, is_counted;
    wf_check_fill fill;
} window_case;

// clang-format off
#define ONES {1, 1, 1}
#define NONE {0, 0, 0}

static const window_case table[] = {
    {"one cell", 2, 1, 1, ONES, ONES, ONES, NONE, NONE, ONES, false, false, WF_CHECK_NORMAL},
    {"empty batch", 2, 0, 3, {4, 4}, {2, 2}, {2, 2}, NONE, NONE, ONES, false, false, WF_CHECK_NORMAL},
    {"no channels", 1, 2, 0, {4}, {2}, {2}, NONE, NONE, ONES, false, false, WF_CHECK_NORMAL},
    {"1-D 31 overlapping", 1, 2, 3, {31}, {5}, {2}, {2}, {1}, ONES, false, true, WF_CHECK_NORMAL},
    {"1-D 33 ceil, counted pads", 1, 2, 3, {33}, {7}, {3}, {3}, {3}, ONES, true, true, WF_CHECK_NORMAL},
    {"2-D 2x2", 2, 2, 5, {32, 31}, {2, 2}, {2, 2}, NONE, NONE, ONES, false, false, WF_CHECK_NORMAL},
    {"2-D 3x3 overlapping", 2, 2, 3, {7, 8}, {3, 3}, {2, 1}, {1, 1}, {1, 0}, ONES, false, false, WF_CHECK_NORMAL},
    {"2-D ceil", 2, 1, 2, {4, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, ONES, true, false, WF_CHECK_NORMAL},
    {"2-D ceil, counted pads", 2, 1, 2, {4, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, ONES, true, true, WF_CHECK_NORMAL},
    {"2-D dilation", 2, 2, 2, {9, 7}, {3, 2}, {1, 2}, {1, 0}, {1, 0}, {2, 3}, false, false, WF_CHECK_NORMAL},
    {"2-D stride skips cells", 2, 1, 3, {8, 9}, {2, 1}, {3, 4}, NONE, NONE, ONES, false, false, WF_CHECK_NORMAL},
    {"2-D 16x16 window", 2, 2, 1, {32, 33}, {16, 16}, {7, 9}, NONE, NONE, ONES, false, false, WF_CHECK_WIDE},
    {"2-D special values", 2, 3, 2, {8, 7}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, ONES, false, false, WF_CHECK_SPECIAL},
    {"2-D over 4096 outputs", 2, 2, 3, {68, 66}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, ONES, false, false, WF_CHECK_NORMAL},
    {"3-D", 3, 1, 2, {4, 5, 6}, {2, 3, 2}, {1, 2, 2}, {1, 0, 0}, {0, 1, 0}, ONES, false, true, WF_CHECK_NORMAL},
};
// clang-format on

enum {
    P_WINDOW = 0,
    P_STRIDE = 3,
    P_BEFORE = 6,
    P_AFTER = 9,
    P_DILATION = 12,
    P_CEIL = 15,
    P_COUNTED = 16
};

static weft_window_options options_of(const int64_t *p)
{
    weft_window_options o = WEFT_WINDOW_OPTIONS_INIT;
    o.stride = p + P_STRIDE;
    o.pad_before = p + P_BEFORE;
    o.pad_after = p + P_AFTER;
    o.dilation = p + P_DILATION;
    o.ceil_mode = p[P_CEIL] != 0;
    o.count_include_pad = p[P_COUNTED] != 0;
    return o;
}

static weft_val build_max(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_window_options o = options_of(p);
    return weft_max_pool(g, in[0], p + P_WINDOW, &o);
}

static weft_val build_mean(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const weft_window_options o = options_of(p);
    return weft_mean_pool(g, in[0], p + P_WINDOW, &o);
}

// The gradient ops have no constructor: here is what weft_grad makes of sum(y * y).
static weft_val grad_of(weft_graph *g, weft_val y, weft_val x)
{
    weft_val dx;
    weft_grad(g, weft_sum(g, weft_mul(g, y, y), NULL, 0, false), &x, 1, &dx);
    return dx;
}

static weft_val build_max_grad(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return grad_of(g, build_max(g, in, p), in[0]);
}

static weft_val build_mean_grad(weft_graph *g, const weft_val *in, const int64_t *p)
{
    return grad_of(g, build_mean(g, in, p), in[0]);
}

void wf_window_cases(wf_check_list *list, wf_window_kind kind)
{
    static weft_val (*const builders[])(weft_graph *, const weft_val *, const int64_t *) = {
        [WF_WINDOW_MAX] = build_max,
        [WF_WINDOW_MAX_GRAD] = build_max_grad,
        [WF_WINDOW_MEAN] = build_mean,
        [WF_WINDOW_MEAN_GRAD] = build_mean_grad,
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const window_case *t = &table[i];
        int64_t dims[2 + WF_WINDOW_AXES] = {t->n, t->c};
        wf_check_case one = {.name = t->name, .n_inputs = 1};
        for (int32_t a = 0; a < t->rank; a++) {
            dims[2 + a] = t->in[a];
            one.params[P_WINDOW + a] = t->window[a];
            one.params[P_STRIDE + a] = t->stride[a];
            one.params[P_BEFORE + a] = t->before[a];
            one.params[P_AFTER + a] = t->after[a];
            one.params[P_DILATION + a] = t->dilation[a];
        }
        one.params[P_CEIL] = t->is_ceil;
        one.params[P_COUNTED] = t->is_counted;
        one.inputs[0] = (wf_check_input){wf_type_make(WEFT_F32, 2 + t->rank, dims), t->fill, 0};
        one.build = builders[kind];
        one.no_difference = t->fill != WF_CHECK_NORMAL || t->in[0] * t->in[1] > 400;
        wf_check_add(list, one);
    }
}
