// The cases of an op: those that its file adds, or, for elementwise ops, what follows from the arity
// and the dtypes that `infer` takes. Stage: check.
#include <stdarg.h>
#include <stdio.h>

#include "check/check.h"
#include "op/elementwise.h"

void wf_check_add(wf_check_list *list, wf_check_case one)
{
    if (wf_array_reserve(&list->memory.allocator, &list->items, &list->capacity, list->n + 1,
                         sizeof *list->items, NULL) != WEFT_OK) {
        list->is_out_of_memory = true;
        return;
    }
    list->items[list->n++] = one;
}

const char *wf_check_name(wf_check_list *list, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    (void)wf_text_vformat(text, sizeof text, format, args);
    va_end(args);
    const char *copy = wf_arena_strdup(&list->memory, text);
    if (!copy) {
        list->is_out_of_memory = true;
        return "";
    }
    return copy;
}

// params[0] is the op: a builder is a plain function.
static weft_val build_elementwise(weft_graph *g, const weft_val *in, const int64_t *p)
{
    const wf_op *op = (const wf_op *)(uintptr_t)p[0];
    return wf_build_elementwise(g, op, in, op->n_inputs);
}

static bool takes(const wf_op *op, weft_dtype dtype)
{
    weft_type in[WF_CHECK_MAX_INPUTS], out[WF_OP_MAX_OUTPUTS];
    const int64_t dims[] = {3};
    for (size_t i = 0; i < op->n_inputs; i++) {
        in[i] = wf_type_make(dtype, 1, dims);
    }
    const wf_node_info info = {op, op->n_inputs, in, op->n_outputs, NULL, NULL};
    return op->infer(&info, out, NULL) == WEFT_OK;
}

typedef struct shape {
    const char *name;
    int32_t ndim;
    int64_t dims[3];
} shape;

static void add_same(wf_check_list *list, const wf_op *op, weft_dtype dtype, const shape *s,
                     wf_check_fill fill, const char *what)
{
    wf_check_case one = {.name =
                             wf_check_name(list, "%s %s%s", weft_dtype_name(dtype), s->name, what),
                         .build = build_elementwise,
                         .params = {(int64_t)(uintptr_t)op},
                         .n_inputs = op->n_inputs,
                         .no_gradient = dtype != WEFT_F32,
                         .no_difference = fill == WF_CHECK_SPECIAL || s->dims[0] > 100};
    for (size_t i = 0; i < op->n_inputs; i++) {
        one.inputs[i].type = wf_type_make(dtype, s->ndim, s->dims);
        one.inputs[i].fill = fill;
    }
    wf_check_add(list, one);
}

// Operands that stretch over each other: [5,1,7] with [4,1], and a scalar.
static void add_broadcast(wf_check_list *list, const wf_op *op, weft_dtype dtype)
{
    static const shape operands[] = {{"", 3, {5, 1, 7}}, {"", 2, {4, 1}}, {"", 0, {0}}};
    wf_check_case one = {.name = wf_check_name(list, "%s broadcast", weft_dtype_name(dtype)),
                         .build = build_elementwise,
                         .params = {(int64_t)(uintptr_t)op},
                         .n_inputs = op->n_inputs,
                         .no_gradient = dtype != WEFT_F32};
    for (size_t i = 0; i < op->n_inputs; i++) {
        one.inputs[i].type = wf_type_make(dtype, operands[i].ndim, operands[i].dims);
        one.inputs[i].fill = WF_CHECK_NORMAL;
    }
    wf_check_add(list, one);
}

static void add_elementwise(wf_check_list *list, const wf_op *op)
{
    static const shape sizes[] = {{"0", 1, {0}},       {"[]", 0, {0}},         {"1", 1, {1}},
                                  {"31", 1, {31}},     {"32", 1, {32}},        {"33", 1, {33}},
                                  {"5003", 1, {5003}}, {"3x5x7", 3, {3, 5, 7}}};
    static const shape small = {"33", 1, {33}}, large = {"4099", 1, {4099}};
    static const shape table = {"33x31", 2, {33, 31}};
    bool is_first = true; // of the dtypes, f32 where the op takes it: every size
    for (weft_dtype d = WEFT_F32; d < WEFT_N_DTYPES; d = (weft_dtype)(d + 1)) {
        if (!takes(op, d)) {
            continue;
        }
        for (size_t i = 0; is_first && i < WF_COUNT_OF(sizes); i++) {
            add_same(list, op, d, &sizes[i], WF_CHECK_NORMAL, "");
        }
        is_first = false;
        if (d == WEFT_F32) {
            add_same(list, op, d, &small, WF_CHECK_POSITIVE, " positive");
            add_same(list, op, d, &small, WF_CHECK_UNIT, " unit");
            add_same(list, op, d, &large, WF_CHECK_WIDE, " wide");
        } else {
            add_same(list, op, d, &table, WF_CHECK_NORMAL, "");
        }
        add_same(list, op, d, &large, WF_CHECK_SPECIAL, " special");
        if (op->n_inputs > 1) {
            add_broadcast(list, op, d);
        }
    }
}

weft_status wf_check_list_init(wf_check_list *list, weft_context *ctx, const wf_op *op,
                               weft_error *err)
{
    *list = (wf_check_list){.n = 0};
    wf_arena_init(&list->memory, &ctx->allocator);
    if (op->cases) {
        op->cases(list);
    } else if (op->flags & WF_OP_ELEMENTWISE) {
        add_elementwise(list, op);
    }
    if (list->is_out_of_memory) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "check: memory for the cases of %s is not available",
                  op->name);
    }
    return WEFT_OK;
}

void wf_check_list_deinit(wf_check_list *list)
{
    wf_free(&list->memory.allocator, list->items);
    wf_arena_deinit(&list->memory);
}
