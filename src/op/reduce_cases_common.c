// The cases that `weft check` tries of the reductions: sizes around lanes and chunks, both rules, several
// levels of the tree, kept axes in every place, views, special values, integers.
#include "op/check_case.h"
#include "op/reduce.h"

#define AXES(a, b, c, d) ((a) | (b) << 1 | (c) << 2 | (d) << 3)

typedef struct reduce_case {
    int32_t ndim;
    int64_t dims[4];
    uint32_t axes; // bit i: axis i is reduced
    wf_check_fill fill;
    bool is_turned; // reduces a transposed view of [dims]
} reduce_case;

// clang-format off: one case a line
static const reduce_case table[] = {
    {1, {1}, AXES(1, 0, 0, 0), WF_CHECK_NORMAL, false},
    {1, {31}, AXES(1, 0, 0, 0), WF_CHECK_POSITIVE, false},
    {1, {33}, AXES(1, 0, 0, 0), WF_CHECK_WIDE, false},
    {1, {1025}, AXES(1, 0, 0, 0), WF_CHECK_POSITIVE, false},
    {1, {5000}, AXES(1, 0, 0, 0), WF_CHECK_WIDE, false},
    {1, {1100000}, AXES(1, 0, 0, 0), WF_CHECK_POSITIVE, false}, // three levels of chunks of 1024
    {2, {3, 4097}, AXES(0, 1, 0, 0), WF_CHECK_WIDE, false},
    {2, {7, 32}, AXES(0, 1, 0, 0), WF_CHECK_NORMAL, false},
    {2, {4100, 3}, AXES(1, 0, 0, 0), WF_CHECK_WIDE, false}, // three levels of chunks of 64
    {2, {65, 33}, AXES(1, 0, 0, 0), WF_CHECK_NORMAL, false},
    {2, {64, 1}, AXES(1, 0, 0, 0), WF_CHECK_NORMAL, false},
    {2, {5, 31}, AXES(1, 0, 0, 0), WF_CHECK_NORMAL, true},
    {2, {33, 70}, AXES(0, 1, 0, 0), WF_CHECK_WIDE, true},
    {2, {9, 130}, AXES(1, 1, 0, 0), WF_CHECK_POSITIVE, true},
    {3, {4, 1, 9}, AXES(0, 1, 0, 0), WF_CHECK_NORMAL, false},
    {4, {2, 3, 4, 5}, AXES(0, 0, 1, 1), WF_CHECK_NORMAL, false},
    {4, {5, 3, 7, 4}, AXES(1, 0, 1, 1), WF_CHECK_NORMAL, false}, // statistics of channels
    {4, {3, 5, 2, 31}, AXES(1, 1, 0, 1), WF_CHECK_WIDE, false},
    {4, {3, 4, 5, 2}, AXES(0, 1, 0, 1), WF_CHECK_NORMAL, false},
    {4, {16, 3, 17, 9}, AXES(1, 0, 1, 1), WF_CHECK_WIDE, false},
    {2, {6, 40}, AXES(0, 1, 0, 0), WF_CHECK_SPECIAL, false},
    {2, {40, 6}, AXES(1, 0, 0, 0), WF_CHECK_SPECIAL, false},
    {2, {5, 3}, AXES(0, 0, 0, 0), WF_CHECK_NORMAL, false},
    {2, {0, 3}, AXES(0, 1, 0, 0), WF_CHECK_NORMAL, false}, // no results
    {2, {0, 3}, AXES(1, 0, 0, 0), WF_CHECK_NORMAL, false}, // nothing to reduce
};
// clang-format on

static const weft_dtype ints[] = {WEFT_I8, WEFT_U8, WEFT_I32, WEFT_I64, WEFT_BOOL};

size_t wf_reduce_case_axes(const int64_t *p, int32_t axes[WEFT_MAX_DIM])
{
    size_t n = 0;
    for (int32_t i = 0; i < 4; i++) {
        if ((p[WF_REDUCE_CASE_MASK] >> i) & 1) {
            axes[n++] = i;
        }
    }
    return n;
}

weft_val wf_reduce_case_input(weft_graph *g, weft_val x, const int64_t *p)
{
    return p[WF_REDUCE_CASE_TURN] ? weft_transpose(g, x) : x;
}

static const char *name_of(wf_check_list *list, weft_dtype dtype, const reduce_case *c)
{
    char dims[WF_TYPE_TEXT];
    return wf_check_name(list, "%s%s%s axes 0x%x", weft_dtype_name(dtype),
                         wf_dims_text(c->dims, c->ndim, dims), c->is_turned ? " turned" : "",
                         c->axes);
}

static void add(wf_check_list *list, const wf_reduce_cases *kind, weft_dtype dtype,
                const reduce_case *c)
{
    const weft_type type = wf_type_make(dtype, c->ndim, c->dims);
    wf_check_case one = {.name = name_of(list, dtype, c), .build = kind->build, .n_inputs = 1};
    one.params[WF_REDUCE_CASE_MASK] = c->axes;
    one.params[WF_REDUCE_CASE_KEEP] = c->ndim > 2;
    one.params[WF_REDUCE_CASE_TURN] = c->is_turned;
    one.inputs[0] = (wf_check_input){type, c->fill, 0};
    one.no_gradient = kind->no_gradient || dtype != WEFT_F32 || c->fill == WF_CHECK_SPECIAL;
    one.no_difference = wf_type_count(&type) > 300 || c->fill == WF_CHECK_WIDE;
    one.bound = kind->bound;
    wf_check_add(list, one);
}

void wf_reduce_add_cases(wf_check_list *list, const wf_reduce_cases *kind)
{
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const reduce_case *c = &table[i];
        const bool is_nothing = c->dims[0] == 0 && (c->axes & 1u);
        const bool is_one_axis = c->axes != 0 && (c->axes & (c->axes - 1)) == 0;
        if ((is_nothing && !kind->takes_nothing) || (kind->one_axis && !is_one_axis)) {
            continue;
        }
        add(list, kind, WEFT_F32, c);
        for (size_t k = 0; k < WF_COUNT_OF(ints); k++) {
            // Integers: the small ones of special values, where extremes wrap or win.
            if (c->fill == WF_CHECK_SPECIAL && ((kind->ints >> ints[k]) & 1u)) {
                add(list, kind, ints[k], c);
            }
        }
    }
}
