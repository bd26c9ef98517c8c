// See kernel_case.h.
#include "kernel_case.h"

#include <stdlib.h>
#include <string.h>

#include "math/sum.h"
#include "math/weft_math.h"
#include "wf_test.h"

uint32_t kernel_case_random(uint64_t *state)
{
    return wf_random_word(77, 0, 9, (*state)++);
}

static uint32_t below(uint64_t *state, uint32_t n)
{
    return kernel_case_random(state) % n;
}

// ---- evaluation
typedef struct value {
    uint8_t *data; // outer * inner, or outer elements
} value;

static int64_t element_of(const wf_kernel *k, const int64_t *strides, int64_t outer, int64_t inner,
                          bool is_outer)
{
    int64_t at = 0;
    for (int32_t i = k->ndim - 1; i >= 0; i--) {
        bool axis_inner = k->kind != WF_KERNEL_MAP && k->is_inner[i];
        int64_t *rest = axis_inner ? &inner : &outer;
        int64_t coordinate = *rest % k->dims[i];
        *rest /= k->dims[i];
        if (axis_inner && is_outer)
            continue;
        at += coordinate * strides[i];
    }
    return at;
}

typedef struct evaluator {
    weft_context *ctx;
    kernel_case *c;
    int64_t outer, inner;
    value values[CASE_MAX_INSTS];
} evaluator;

static int64_t count_of(const evaluator *e, size_t i)
{
    return e->c->insts[i].is_outer ? e->outer : e->outer * e->inner;
}

// Argument a as an array as long as the instruction's own.
static void *spread(evaluator *e, size_t inst, uint32_t arg)
{
    const wf_inst *src = &e->c->insts[arg];
    size_t bytes = weft_dtype_size(src->dtype);
    int64_t n = count_of(e, inst);
    uint8_t *out = malloc((size_t)n * bytes + 1);
    for (int64_t p = 0; p < n; p++) {
        int64_t from = src->is_outer && !e->c->insts[inst].is_outer ? p / e->inner : p;
        memcpy(out + (size_t)p * bytes, e->values[arg].data + (size_t)from * bytes, bytes);
    }
    return out;
}

static void eval_apply(evaluator *e, size_t i)
{
    const wf_inst *inst = &e->c->insts[i];
    wf_tensor in[WF_MAX_ARGS], out;
    weft_type types[WF_MAX_ARGS], out_type;
    int64_t n = count_of(e, i);
    for (uint32_t a = 0; a < inst->n_args; a++) {
        types[a] = wf_type_make(e->c->insts[inst->args[a]].dtype, 1, &n);
        in[a] = (wf_tensor){types[a], spread(e, i, inst->args[a]), false};
    }
    out_type = wf_type_make(inst->dtype, 1, &n);
    out = (wf_tensor){out_type, e->values[i].data, false};
    wf_node_info info = {inst->op, inst->n_args, types, 1, &out_type, NULL};
    wf_eval q = {.info = &info, .in = in, .out = &out, .allocator = e->ctx->allocator};
    weft_error err = {0};
    assert_int_equal(inst->op->eval(&q, &err), WEFT_OK);
    for (uint32_t a = 0; a < inst->n_args; a++)
        free(in[a].data);
}

static void eval_reduce(evaluator *e, size_t i)
{
    const wf_inst *inst = &e->c->insts[i];

    const float *all = (const float *)(void *)e->values[inst->args[0]].data;
    bool is_row = e->c->kernel.kind == WF_KERNEL_ROW;
    for (int64_t o = 0; o < e->outer; o++) {
        const float *row = all + o * e->inner;
        if (inst->reduce == WF_REDUCE_SUM) {
            ((float *)(void *)e->values[i].data)[o] =
                is_row ? wf_sum_row(row, e->inner, 1) : wf_sum_column(row, e->inner, 1);
        } else if (inst->reduce == WF_REDUCE_MOMENTS) {
            wf_moments m =
                is_row ? wf_moments_row(row, e->inner, 1) : wf_moments_column(row, e->inner, 1);
            ((float *)(void *)e->values[i].data)[o] = e->inner ? m.mean : WF_NAN;
            for (size_t j = i + 1; j < e->c->kernel.n_insts; j++) {
                const wf_inst *second = &e->c->insts[j];
                if (second->kind != WF_INST_SECOND || second->args[0] != i)
                    continue;
                ((float *)(void *)e->values[j].data)[o] = e->inner ? WF_DIV(m.m2, m.n) : WF_NAN;
            }
        } else if (inst->reduce == WF_REDUCE_ARGMAX) {
            int32_t best = 0;
            for (int64_t j = 1; j < e->inner; j++) {
                bool greater = row[j] > row[best] || (row[j] != row[j] && row[best] == row[best]);
                if (greater)
                    best = (int32_t)j;
            }
            ((int32_t *)(void *)e->values[i].data)[o] = best;
        } else {
            float best = e->inner ? row[0] : 0.0f;
            for (int64_t j = 1; j < e->inner; j++) {
                best = inst->reduce == WF_REDUCE_MAX ? wf_max(best, row[j]) : wf_min(best, row[j]);
            }
            ((float *)(void *)e->values[i].data)[o] = best;
        }
    }
}

static void eval_memory(evaluator *e, size_t i)
{
    const wf_inst *inst = &e->c->insts[i];
    const wf_kernel *k = &e->c->kernel;
    size_t operand = inst->operand + (inst->kind == WF_INST_STORE ? k->n_inputs : 0);
    const wf_access *a = &e->c->accesses[operand];
    size_t bytes = weft_dtype_size(a->dtype);
    for (int64_t p = 0; p < count_of(e, i); p++) {
        int64_t outer = inst->is_outer ? p : p / (e->inner ? e->inner : 1);
        int64_t inner = inst->is_outer ? 0 : p % (e->inner ? e->inner : 1);
        uint8_t *there =
            e->c->data[operand] +
            (size_t)(a->offset + element_of(k, a->strides, outer, inner, inst->is_outer)) * bytes;
        if (inst->kind == WF_INST_LOAD) {
            memcpy(e->values[i].data + (size_t)p * bytes, there, bytes);
            continue;
        }
        bool repeat = e->c->insts[inst->args[0]].is_outer && !inst->is_outer;
        memcpy(there, e->values[inst->args[0]].data + (size_t)(repeat ? outer : p) * bytes, bytes);
    }
}

static void eval_iota(evaluator *e, size_t i)
{
    const wf_inst *inst = &e->c->insts[i];
    int64_t strides[WEFT_MAX_DIM] = {0};
    strides[inst->axis] = 1;
    for (int64_t p = 0; p < count_of(e, i); p++) {
        int64_t outer = inst->is_outer ? p : p / (e->inner ? e->inner : 1);
        int64_t inner = inst->is_outer ? 0 : p % (e->inner ? e->inner : 1);
        int64_t at =
            element_of(&e->c->kernel, strides, outer, inner, inst->is_outer) + (int64_t)inst->bits;
        ((float *)(void *)e->values[i].data)[p] = (float)at;
    }
}

void kernel_case_eval(weft_context *ctx, kernel_case *c)
{
    evaluator e = {.ctx = ctx,
                   .c = c,
                   .outer = wf_kernel_outer(&c->kernel),
                   .inner = wf_kernel_inner(&c->kernel)};
    for (size_t i = 0; i < c->kernel.n_insts; i++) {
        e.values[i].data = malloc((size_t)count_of(&e, i) * 8 + 8);
    }
    for (size_t i = 0; i < c->kernel.n_insts; i++) {
        const wf_inst *inst = &c->insts[i];
        switch (inst->kind) {
        case WF_INST_LOAD:
        case WF_INST_STORE: eval_memory(&e, i); break;
        case WF_INST_CONST:
            for (int64_t p = 0; p < count_of(&e, i); p++)
                memcpy(e.values[i].data + p * 4, &inst->bits, 4);
            break;
        case WF_INST_IOTA: eval_iota(&e, i); break;
        case WF_INST_APPLY: eval_apply(&e, i); break;
        case WF_INST_REDUCE: eval_reduce(&e, i); break;
        default: break; // SECOND is filled by its REDUCE
        }
    }
    for (size_t i = 0; i < c->kernel.n_insts; i++)
        free(e.values[i].data);
}

// ---- making
static const int64_t sizes[] = {1, 2, 3, 7, 31, 32, 33, 64, 65, 100, 130, 1023, 1024, 1025, 2049};

static void make_space(uint64_t *state, int64_t max_points, wf_kernel *k)
{
    k->kind = (wf_kernel_kind)below(state, 3);
    k->ndim = (int32_t)below(state, 5);
    int64_t total = 1;
    for (int32_t i = 0; i < k->ndim; i++) {
        int64_t size = sizes[below(state, WF_COUNT_OF(sizes))];
        while (total * size > max_points)
            size = (size + 6) / 7;
        k->dims[i] = below(state, 60) == 0 && k->kind == WF_KERNEL_MAP ? 0 : size;
        total *= size;
    }
    int32_t first_inner = (int32_t)below(state, (uint32_t)k->ndim + 1);
    for (int32_t i = 0; i < k->ndim; i++) {
        k->is_inner[i] = k->kind == WF_KERNEL_ROW ? i >= first_inner
                                                  : k->kind == WF_KERNEL_COLUMN && below(state, 2);
    }
}

// A view: axes in random order, some not varying (inputs only), some padded.
static void make_access(uint64_t *state, kernel_case *c, size_t operand, bool is_input,
                        bool is_outer)
{
    wf_kernel *k = &c->kernel;
    wf_access *a = &c->accesses[operand];
    memset(a, 0, sizeof *a);
    a->dtype = WEFT_F32;
    a->offset = (int64_t)below(state, 40);
    int32_t order[WEFT_MAX_DIM];
    for (int32_t i = 0; i < k->ndim; i++)
        order[i] = i;
    for (int32_t i = 0; i + 1 < k->ndim && below(state, 2); i++) {
        int32_t j = i + (int32_t)below(state, (uint32_t)(k->ndim - i));
        int32_t t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    int64_t stride = 1;
    for (int32_t i = k->ndim - 1; i >= 0; i--) {
        int32_t axis = order[i];
        bool varies = !(is_outer && k->is_inner[axis]) && !(is_input && below(state, 5) == 0);
        a->strides[axis] = varies ? stride : 0;
        if (varies)
            stride *= k->dims[axis] + (below(state, 8) == 0 ? 1 : 0);
    }
    c->counts[operand] = a->offset + (stride > 0 ? stride : 1) + 1;
    c->data[operand] = malloc((size_t)c->counts[operand] * 4);
    for (int64_t i = 0; i < c->counts[operand]; i++) {
        uint32_t u = kernel_case_random(state);
        uint32_t bits =
            u % 97 == 0 ? u : (u & 0x807fffffu) | (0x3e000000u + (u >> 3 & 0x01800000u));
        if (!is_input)
            bits = 0x12345678u;
        memcpy(c->data[operand] + i * 4, &bits, 4);
    }
}

static size_t push(kernel_case *c, wf_inst inst)
{
    // Outer, where every argument is; its level, the deepest argument's, and one more behind a reduction.
    for (uint32_t a = 0; a < inst.n_args; a++) {
        const wf_inst *arg = &c->insts[inst.args[a]];
        int32_t level = arg->level + (arg->kind == WF_INST_REDUCE);
        if (level > inst.level)
            inst.level = level;
    }
    if (inst.level + 1 > c->kernel.n_levels)
        c->kernel.n_levels = inst.level + 1;
    c->insts[c->kernel.n_insts] = inst;
    return c->kernel.n_insts++;
}

extern const wf_op wf_op_add, wf_op_sub, wf_op_mul, wf_op_div, wf_op_fma, wf_op_max, wf_op_exp,
    wf_op_neg, wf_op_sqrt, wf_op_tanh;
static const wf_op *const case_ops[] = {&wf_op_add,  &wf_op_sub, &wf_op_mul, &wf_op_div,
                                        &wf_op_fma,  &wf_op_max, &wf_op_exp, &wf_op_neg,
                                        &wf_op_sqrt, &wf_op_tanh};

static size_t push_apply(uint64_t *state, kernel_case *c, size_t first, size_t last)
{
    wf_inst inst = {.kind = WF_INST_APPLY,
                    .dtype = WEFT_F32,
                    .op = case_ops[below(state, WF_COUNT_OF(case_ops))]};
    inst.n_args = inst.op->n_inputs;
    inst.is_outer = true;
    for (uint32_t a = 0; a < inst.n_args; a++) {
        do {
            inst.args[a] = (uint32_t)(first + below(state, (uint32_t)(last - first + 1)));
        } while (c->insts[inst.args[a]].dtype != WEFT_F32 ||
                 c->insts[inst.args[a]].kind == WF_INST_STORE);
        inst.is_outer &= c->insts[inst.args[a]].is_outer;
    }
    return push(c, inst);
}

static void push_store(uint64_t *state, kernel_case *c, size_t arg)
{
    size_t operand = c->kernel.n_inputs + c->kernel.n_outputs;
    bool is_outer = c->insts[arg].is_outer && c->kernel.kind != WF_KERNEL_MAP;
    make_access(state, c, operand, false, is_outer);
    c->accesses[operand].dtype = c->insts[arg].dtype;
    push(c, (wf_inst){.kind = WF_INST_STORE,
                      .dtype = c->insts[arg].dtype,
                      .n_args = 1,
                      .args = {(uint32_t)arg},
                      .operand = (uint32_t)c->kernel.n_outputs++,
                      .is_outer = is_outer});
}

void kernel_case_make(weft_context *ctx, uint64_t seed, int64_t max_points, kernel_case *c)
{
    memset(c, 0, sizeof *c);
    uint64_t state = seed << 32;
    wf_kernel *k = &c->kernel;
    k->insts = c->insts;
    make_space(&state, max_points, k);
    k->n_inputs = 1 + below(&state, 3);
    k->inputs = c->accesses;
    k->outputs = c->accesses + k->n_inputs;
    size_t last = 0;
    for (size_t i = 0; i < k->n_inputs; i++) {
        bool is_outer = k->kind != WF_KERNEL_MAP && i > 0 && below(&state, 3) == 0;
        make_access(&state, c, i, true, is_outer);
        last = push(c, (wf_inst){.kind = WF_INST_LOAD,
                                 .dtype = WEFT_F32,
                                 .operand = (uint32_t)i,
                                 .is_outer = is_outer});
    }
    last = push(c, (wf_inst){.kind = WF_INST_CONST,
                             .dtype = WEFT_F32,
                             .bits = 0x3fc00000u,
                             .is_outer = k->kind != WF_KERNEL_MAP});
    if (k->ndim > 0 && below(&state, 3) == 0) {
        int32_t axis = (int32_t)below(&state, (uint32_t)k->ndim);
        bool is_outer = k->kind != WF_KERNEL_MAP && !k->is_inner[axis];
        last = push(c, (wf_inst){.kind = WF_INST_IOTA,
                                 .dtype = WEFT_F32,
                                 .axis = axis,
                                 .bits = 5,
                                 .is_outer = is_outer});
    }
    size_t sources = last;
    size_t n_points = 1 + below(&state, 3);
    for (size_t i = 0; i < n_points; i++)
        last = push_apply(&state, c, 0, last);
    size_t per_point = 0; // instruction 0 is per point in every kind
    for (size_t i = sources + 1; i <= last; i++) {
        if (!c->insts[i].is_outer)
            per_point = i;
    }
    if (k->kind == WF_KERNEL_MAP) {
        for (size_t i = 0; i <= last; i++)
            c->insts[i].is_outer = false;
        push_store(&state, c, last);
        if (below(&state, 2))
            push_store(&state, c, sources);
        kernel_case_eval(ctx, c);
        return;
    }
    size_t n_rounds = k->kind == WF_KERNEL_ROW ? 1 + below(&state, 3) : 1 + below(&state, 2);
    size_t reduced = per_point;
    for (size_t round = 0; round < n_rounds; round++) {
        wf_reduce_kind kind = (wf_reduce_kind)below(&state, 5);
        weft_dtype dtype = kind == WF_REDUCE_ARGMAX ? WEFT_I32 : WEFT_F32;
        if (c->insts[reduced].is_outer)
            reduced = per_point;
        wf_inst reduce = {.kind = WF_INST_REDUCE,
                          .dtype = dtype,
                          .is_outer = true,
                          .n_args = 1,
                          .args = {(uint32_t)reduced},
                          .reduce = kind};
        size_t result = push(c, reduce);
        if (kind == WF_REDUCE_MOMENTS) {
            size_t second = push(c, (wf_inst){.kind = WF_INST_SECOND,
                                              .dtype = WEFT_F32,
                                              .is_outer = true,
                                              .n_args = 1,
                                              .args = {(uint32_t)result}});
            push_store(&state, c, second);
        }
        push_store(&state, c, result);
        if (k->kind == WF_KERNEL_ROW && dtype == WEFT_F32 && round + 1 < n_rounds) {
            // The next round reduces what this one made of the row.
            wf_inst sub = {.kind = WF_INST_APPLY,
                           .dtype = WEFT_F32,
                           .op = &wf_op_sub,
                           .n_args = 2,
                           .args = {(uint32_t)per_point, (uint32_t)result}};
            reduced = push(c, sub);
        }
    }
    if (reduced != per_point || k->kind == WF_KERNEL_COLUMN)
        push_store(&state, c, reduced);
    kernel_case_eval(ctx, c);
}

void kernel_case_free(kernel_case *c)
{
    for (size_t i = 0; i < CASE_MAX_OPERANDS; i++)
        free(c->data[i]);
}

// ---- running
static bool is_same(const uint8_t *a, const uint8_t *b, weft_dtype dtype)
{
    if (memcmp(a, b, weft_dtype_size(dtype)) == 0)
        return true;
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return dtype == WEFT_F32 && x != x && y != y;
}

// One task over one arena; every operand has its own buffer there.
void kernel_case_run(weft_device *dev, kernel_case *c, uint64_t seed)
{
    const wf_driver *driver = dev->driver;
    size_t n = c->kernel.n_inputs + c->kernel.n_outputs;
    wf_buffer buffers[CASE_MAX_OPERANDS + 1] = {0};
    wf_view views[CASE_MAX_OPERANDS] = {0};
    wf_task task = {.kind =
                        (wf_task_kind[]){WF_TASK_MAP, WF_TASK_ROW, WF_TASK_COLUMN}[c->kernel.kind],
                    .kernel = &c->kernel,
                    .n_inputs = c->kernel.n_inputs,
                    .inputs = views,
                    .n_outputs = c->kernel.n_outputs,
                    .outputs = views + c->kernel.n_inputs,
                    .workspace = WF_NO_INDEX};
    size_t arena = 0;
    for (size_t i = 0; i <= n; i++) {
        buffers[i].kind = WF_BUFFER_ARENA;
        buffers[i].alias_of = WF_NO_INDEX;
        buffers[i].offset_bytes = arena;
        buffers[i].size_bytes =
            i < n ? (size_t)c->counts[i] * 4 : driver->task_workspace(dev, &task);
        if (i < n) {
            views[i].buffer = (uint32_t)i;
            views[i].offset = c->accesses[i].offset;
            views[i].type.dtype = c->accesses[i].dtype;
        }
        arena += wf_round_up(buffers[i].size_bytes, WF_BUFFER_ALIGN);
    }
    if (buffers[n].size_bytes)
        task.workspace = (uint32_t)n;
    wf_plan plan = {
        .n_tasks = 1, .tasks = &task, .n_buffers = n + 1, .buffers = buffers, .arena_bytes = arena};
    wf_program_memory memory = {0};
    wf_device_program *program = NULL;
    weft_error err = {0};
    if (driver->buffer_create(dev, arena, &memory.arena, &err) != WEFT_OK ||
        driver->program_create(dev, &plan, &memory, &program, &err) != WEFT_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
    }
    uint8_t *got = malloc(arena + 1);
    for (size_t i = 0; i < n; i++) {
        uint8_t *start = c->data[i];
        size_t bytes = (size_t)c->counts[i] * 4;
        if (i < c->kernel.n_inputs)
            memcpy(got + buffers[i].offset_bytes, start, bytes);
        for (size_t j = 0; i >= c->kernel.n_inputs && j < bytes / 4; j++) {
            memcpy(got + buffers[i].offset_bytes + 4 * j, &(uint32_t){0x12345678u}, 4);
        }
    }
    assert_int_equal(driver->buffer_write(dev, memory.arena, 0, got, arena, &err), WEFT_OK);
    assert_int_equal(driver->enqueue(dev, program, 0, 1, &err), WEFT_OK);
    assert_int_equal(driver->buffer_read(dev, memory.arena, 0, got, arena, &err), WEFT_OK);
    for (size_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < c->counts[i]; j++) {
            const uint8_t *have = got + buffers[i].offset_bytes + j * 4;
            if (is_same(have, c->data[i] + j * 4, c->accesses[i].dtype))
                continue;
            uint32_t x, y;
            memcpy(&x, have, 4);
            memcpy(&y, c->data[i] + j * 4, 4);
            char *text = NULL;
            wf_kernel_print(dev->context, &c->kernel, &text, NULL);
            fail_msg("seed %llu: operand %zu element %lld is %08x, expected %08x\n%s",
                     (unsigned long long)seed, i, (long long)j, x, y, text);
        }
    }
    free(got);
    driver->program_destroy(dev, program);
    driver->buffer_destroy(dev, memory.arena);
}
