// A kernel's instructions into the steps of the tile interpreter. Stage: PLAN -> PROGRAM.
//
// Order of steps: loads of memory that a store may overwrite come first, stores come last, the rest keeps
// its order. Such loads are copied, so a tile reads everything before it writes anything that it reads;
// but one that a store replaces point by point is read where it lies, if nothing reads it later.
#include "device/cpu/cpu_tile.h"

#include <string.h>

typedef struct builder {
    wf_cpu_lower *q;
    const wf_kernel *k;
    const wf_cpu_layout *layout;
    wf_cpu_lowered *tiles;
    uint32_t *step_of;  // instruction -> step
    uint32_t *point_of; // step of an outer value -> the step that holds it for every point
    uint32_t capacity;
    uint32_t n_operands;
    bool is_late;                         // stores wait for the last walk
    uint32_t *free_slots[WF_CPU_N_SIZES]; // steps whose slot is free again
    uint32_t n_free[WF_CPU_N_SIZES];
    size_t slot_bytes;
} builder;

#define NO_STEP UINT32_MAX

int64_t wf_cpu_axes_count(const wf_kernel *k, const int32_t *axes, int32_t n)
{
    int64_t count = 1;
    for (int32_t i = 0; i < n; i++)
        count *= k->dims[axes[i]];
    return count;
}

static wf_cpu_group make_group(const wf_kernel *k, const int32_t *axes, int32_t n,
                               const int64_t *strides)
{
    int64_t dims[WEFT_MAX_DIM], along[WEFT_MAX_DIM];
    for (int32_t i = 0; i < n; i++) {
        dims[i] = k->dims[axes[i]];
        along[i] = strides[axes[i]];
    }
    return wf_cpu_group_make(dims, along, n);
}

static void set_operand(builder *b, uint32_t idx, char *data, int32_t log2, const int64_t *strides)
{
    const wf_cpu_layout *l = b->layout;
    b->tiles->operands[idx] = (wf_cpu_operand){data, log2, make_group(b->k, l->a, l->n_a, strides),
                                               make_group(b->k, l->b, l->n_b, strides)};
}

// First and last byte that an operand touches.
static void get_range(const wf_kernel *k, const wf_access *access, const char *data,
                      uintptr_t *out_begin, uintptr_t *out_end)
{
    int64_t low = 0, high = 0;
    const int64_t size = (int64_t)weft_dtype_size(access->dtype);
    for (int32_t i = 0; i < k->ndim; i++) {
        const int64_t span = access->strides[i] * (k->dims[i] - 1);
        low += span < 0 ? span : 0;
        high += span > 0 ? span : 0;
    }
    *out_begin = (uintptr_t)(data + low * size);
    *out_end = (uintptr_t)(data + (high + 1) * size);
}

// The product that an epilogue reads lies in a thread's own memory.
static bool is_block(const builder *b, size_t input)
{
    return b->q->task->epilogue && input == 0;
}

// Whether an operand's elements are those of an output, point by point.
static bool is_same_access(const builder *b, size_t input, size_t output)
{
    const wf_kernel *k = b->k;
    const wf_cpu_operand *in = &b->tiles->operands[input];
    const wf_cpu_operand *out = &b->tiles->operands[k->n_inputs + output];
    if (in->data != out->data || in->size_log2 != out->size_log2)
        return false;
    for (int32_t i = 0; i < k->ndim; i++) {
        if (k->dims[i] != 1 && k->inputs[input].strides[i] != k->outputs[output].strides[i])
            return false;
    }
    return true;
}

// How a load's memory is written by the task.
typedef struct overwriting {
    bool is_any;
    uint32_t in_place; // the output that replaces it point by point and the only one to touch it
} overwriting;

static overwriting get_overwriting(const builder *b, size_t input)
{
    overwriting o = {false, WF_CPU_NO_OPERAND};
    uintptr_t begin, end;
    if (is_block(b, input))
        return o;
    get_range(b->k, &b->k->inputs[input], b->tiles->operands[input].data, &begin, &end);
    for (size_t i = 0; i < b->k->n_outputs; i++) {
        uintptr_t out_begin, out_end;
        get_range(b->k, &b->k->outputs[i], b->tiles->operands[b->k->n_inputs + i].data, &out_begin,
                  &out_end);
        if (begin >= out_end || out_begin >= end)
            continue;
        const bool is_same = !o.is_any && is_same_access(b, input, i);
        o.in_place = is_same ? (uint32_t)(b->k->n_inputs + i) : WF_CPU_NO_OPERAND;
        o.is_any = true;
    }
    return o;
}

static bool is_overwritten(const builder *b, size_t input)
{
    return get_overwriting(b, input).is_any;
}

static wf_cpu_step *add_step(builder *b, wf_cpu_step_kind kind, weft_dtype dtype)
{
    WEFT_ASSERT(b->tiles->n_steps < b->capacity);
    wf_cpu_step *step = &b->tiles->steps[b->tiles->n_steps];
    b->point_of[b->tiles->n_steps++] = NO_STEP;
    *step = (wf_cpu_step){.kind = kind,
                          .dtype = dtype,
                          .size_log2 = wf_cpu_size_log2(dtype),
                          .operand = WF_CPU_NO_OPERAND,
                          .direct = WF_CPU_NO_OPERAND};
    return step;
}

static bool is_constant(const builder *b, uint32_t operand)
{
    const wf_cpu_operand *op = &b->tiles->operands[operand];
    return wf_cpu_group_is_constant(&op->a) && wf_cpu_group_is_constant(&op->b);
}

// Whether tiles follow each other that hold the same of an operand.
static bool is_periodic(const builder *b, uint32_t operand)
{
    return b->tiles->size_a > b->tiles->tile_a &&
           wf_cpu_group_is_constant(&b->tiles->operands[operand].a);
}

// The step that holds a value for every point: itself, or one that repeats it.
static uint32_t get_point(builder *b, uint32_t idx)
{
    wf_cpu_step *from = &b->tiles->steps[idx];
    if (!from->is_outer)
        return idx;
    if (b->point_of[idx] != NO_STEP)
        return b->point_of[idx];
    const uint32_t at = b->tiles->n_steps;
    const bool is_once = from->time == WF_CPU_TIME_ONCE;
    wf_cpu_step *step = add_step(b, is_once ? from->kind : WF_CPU_STEP_REPEAT, from->dtype);
    if (is_once) {
        *step = *from;
        step->is_outer = false;
    } else {
        step->n_args = 1;
        step->args[0] = idx;
        step->time = b->k->kind == WF_KERNEL_COLUMN ? WF_CPU_TIME_PERIOD : WF_CPU_TIME_POINT;
    }
    b->point_of[idx] = at;
    return at;
}

static void add_load(builder *b, const wf_inst *inst)
{
    wf_cpu_step *step = add_step(b, WF_CPU_STEP_LOAD, inst->dtype);
    step->operand = inst->operand;
    step->is_outer = inst->is_outer;
    step->is_gathered = is_overwritten(b, inst->operand);
    step->is_block = is_block(b, inst->operand);
    step->time = inst->is_outer ? WF_CPU_TIME_OUTER : WF_CPU_TIME_POINT;
    if (step->is_block)
        return;
    if (!step->is_gathered && is_constant(b, inst->operand))
        step->time = WF_CPU_TIME_ONCE;
    else if (!step->is_gathered && !inst->is_outer && is_periodic(b, inst->operand))
        step->time = WF_CPU_TIME_PERIOD;
}

static void add_index(builder *b, const wf_inst *inst, const uint32_t *args)
{
    const bool is_random = inst->kind == WF_INST_RANDOM;
    int64_t strides[WEFT_MAX_DIM] = {0}, stride = 1;
    for (int32_t i = b->k->ndim - 1; i >= 0; i--) {
        strides[i] = is_random ? stride : 0;
        stride *= b->k->dims[i];
    }
    if (!is_random)
        strides[inst->axis] = 1;
    const uint32_t operand = b->n_operands++;
    set_operand(b, operand, NULL, 0, strides);
    wf_cpu_step *step = add_step(b, is_random ? WF_CPU_STEP_RANDOM : WF_CPU_STEP_IOTA, inst->dtype);
    step->operand = operand;
    step->is_outer = inst->is_outer;
    step->time = inst->is_outer ? WF_CPU_TIME_OUTER : WF_CPU_TIME_POINT;
    if (!is_random && !inst->is_outer && is_periodic(b, operand))
        step->time = WF_CPU_TIME_PERIOD;
    step->bits = inst->bits;
    step->random = (wf_cpu_random){inst->random, inst->stream, 0, 0};
    step->n_args = inst->n_args;
    memcpy(step->args, args, sizeof step->args);
}

static weft_status find_apply(builder *b, const wf_inst *inst, wf_cpu_apply_fn **out,
                              weft_error *err)
{
    const weft_dtype from = b->k->insts[inst->args[0]].dtype;
    const char *name = "select";
    if (inst->kind == WF_INST_APPLY) {
        name = inst->op->name;
        *out = wf_cpu_apply_find(b->q->kernels, name, from);
    } else if (inst->kind == WF_INST_CAST) {
        name = "cast";
        *out = b->tiles->elementwise->casts[from][inst->dtype];
    } else {
        *out = b->tiles->elementwise->selects[wf_cpu_size_log2(inst->dtype)];
    }
    if (!*out) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: %s from %s to %s has no loop here", name,
                  weft_dtype_name(from), weft_dtype_name(inst->dtype));
    }
    return WEFT_OK;
}

// As seldom as its arguments change.
static wf_cpu_step_time get_apply_time(const builder *b, uint32_t n_args, const uint32_t *args)
{
    wf_cpu_step_time time = WF_CPU_TIME_ONCE;
    for (uint32_t i = 0; i < n_args; i++) {
        const wf_cpu_step_time arg = b->tiles->steps[args[i]].time;
        if (arg != WF_CPU_TIME_ONCE && arg != WF_CPU_TIME_PERIOD)
            return WF_CPU_TIME_POINT;
        time = arg > time ? arg : time;
    }
    return time;
}

static weft_status add_apply(builder *b, const wf_inst *inst, const uint32_t *args, weft_error *err)
{
    wf_cpu_apply_fn *apply;
    WEFT_TRY(find_apply(b, inst, &apply, err));
    wf_cpu_step *step = add_step(b, WF_CPU_STEP_APPLY, inst->dtype);
    step->apply = apply;
    step->is_outer = inst->is_outer;
    step->time = inst->is_outer ? WF_CPU_TIME_OUTER : get_apply_time(b, inst->n_args, args);
    step->n_args = inst->n_args;
    memcpy(step->args, args, sizeof step->args);
    return WEFT_OK;
}

static weft_status add_reduce(builder *b, const wf_inst *inst, const uint32_t *args,
                              weft_error *err)
{
    const weft_dtype from = b->k->insts[inst->args[0]].dtype;
    const wf_cpu_reduce *reduce = wf_cpu_reduce_find(b->q->kernels, inst->reduce, from);
    if (!reduce) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: reduction %d of %s has no loop here",
                  (int)inst->reduce, weft_dtype_name(from));
    }
    const uint32_t idx = b->tiles->n_steps;
    wf_cpu_step *step = add_step(b, WF_CPU_STEP_REDUCE, inst->dtype);
    step->reduce = reduce;
    step->reduce_idx = b->tiles->n_reduces;
    step->time = WF_CPU_TIME_POINT;
    step->n_args = 1;
    step->args[0] = args[0];
    b->tiles->reduce_steps[b->tiles->n_reduces++] = idx;
    return WEFT_OK;
}

// The arguments' steps: for every point where the instruction is, as they are where it is outer.
static void get_args(builder *b, const wf_inst *inst, uint32_t args[WF_MAX_ARGS])
{
    const bool is_as_is = inst->is_outer && inst->kind != WF_INST_REDUCE;
    for (uint32_t i = 0; i < WF_MAX_ARGS; i++)
        args[i] = 0;
    for (uint32_t i = 0; i < inst->n_args; i++) {
        const uint32_t arg = b->step_of[inst->args[i]];
        args[i] = is_as_is || inst->kind == WF_INST_RANDOM ? arg : get_point(b, arg);
    }
}

static weft_status add_inst(builder *b, uint32_t inst_idx, weft_error *err)
{
    const wf_inst *inst = &b->k->insts[inst_idx];
    uint32_t args[WF_MAX_ARGS];
    if (inst->kind == WF_INST_SECOND) {
        args[0] = b->step_of[inst->args[0]];
    } else {
        get_args(b, inst, args);
    }
    switch (inst->kind) {
    case WF_INST_LOAD: add_load(b, inst); break;
    case WF_INST_CONST: {
        wf_cpu_step *step = add_step(b, WF_CPU_STEP_CONST, inst->dtype);
        step->is_outer = inst->is_outer;
        step->time = WF_CPU_TIME_ONCE;
        step->bits = inst->bits;
        break;
    }
    case WF_INST_IOTA:
    case WF_INST_RANDOM: add_index(b, inst, args); break;
    case WF_INST_APPLY:
    case WF_INST_CAST:
    case WF_INST_SELECT: WEFT_TRY(add_apply(b, inst, args, err)); break;
    case WF_INST_REDUCE: WEFT_TRY(add_reduce(b, inst, args, err)); break;
    case WF_INST_SECOND: {
        const uint32_t reduce_idx = b->tiles->steps[args[0]].reduce_idx;
        wf_cpu_step *step = add_step(b, WF_CPU_STEP_SECOND, inst->dtype);
        step->is_outer = true;
        step->time = WF_CPU_TIME_OUTER;
        step->n_args = 1;
        step->args[0] = args[0];
        step->reduce_idx = reduce_idx;
        break;
    }
    case WF_INST_STORE: {
        wf_cpu_step *step = add_step(b, WF_CPU_STEP_STORE, b->k->outputs[inst->operand].dtype);
        step->is_outer = inst->is_outer;
        step->time = inst->is_outer ? WF_CPU_TIME_OUTER : WF_CPU_TIME_POINT;
        step->operand = (uint32_t)b->k->n_inputs + inst->operand;
        step->n_args = 1;
        step->args[0] = args[0];
        break;
    }
    }
    // A reduction's value is outer: get_point must repeat it. Whatever came before it in this call
    // was a repetition of an argument.
    b->step_of[inst_idx] = b->tiles->n_steps - 1;
    if (inst->kind == WF_INST_REDUCE)
        b->tiles->steps[b->tiles->n_steps - 1].is_outer = true;
    return WEFT_OK;
}

static weft_status add_insts(builder *b, weft_error *err)
{
    const wf_kernel *k = b->k;
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < k->n_insts; i++) {
            const wf_inst *inst = &k->insts[i];
            const bool is_first = inst->kind == WF_INST_LOAD && is_overwritten(b, inst->operand);
            const int wanted = is_first ? 0 : inst->kind == WF_INST_STORE ? 2 : 1;
            if (pass == wanted)
                WEFT_TRY(add_inst(b, i, err));
        }
    }
    return WEFT_OK;
}

// Levels, and with them when a value is there.
static int32_t available_level(const wf_cpu_step *step)
{
    return step->level + (step->kind == WF_CPU_STEP_REDUCE);
}

static void set_levels(builder *b)
{
    wf_cpu_lowered *t = b->tiles;
    t->n_levels = 1;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        wf_cpu_step *step = &t->steps[i];
        for (uint32_t j = 0; j < step->n_args; j++) {
            const int32_t level = available_level(&t->steps[step->args[j]]);
            if (level > step->level)
                step->level = level;
        }
        if (step->level + 1 > t->n_levels)
            t->n_levels = step->level + 1;
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (t->steps[i].kind == WF_CPU_STEP_STORE && b->is_late)
            t->steps[i].level = t->n_levels - 1;
    }
}

// The last step that reads a step's value where it is, and the step that writes an output.
static uint32_t last_reader(const wf_cpu_lowered *t, uint32_t idx)
{
    uint32_t last = idx;
    for (uint32_t i = idx; i < t->n_steps; i++) {
        for (uint32_t j = 0; j < t->steps[i].n_args; j++)
            last = t->steps[i].args[j] == idx ? i : last;
    }
    return last;
}

// An output that replaces what a load read, point by point: the load need not be copied if nothing reads
// it behind the step that writes. That is the STORE, or the step whose result it stores, where this one
// may write at once.
static void set_in_place(builder *b, uint32_t load)
{
    wf_cpu_lowered *t = b->tiles;
    const uint32_t output = get_overwriting(b, t->steps[load].operand).in_place;
    const uint32_t last = last_reader(t, load);
    uint32_t store = 0;
    if (output == WF_CPU_NO_OPERAND)
        return;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        wf_cpu_step *step = &t->steps[i];
        if (step->kind == WF_CPU_STEP_STORE && step->operand == output)
            store = i;
        if (step->direct == output && i < last)
            step->direct = WF_CPU_NO_OPERAND;
    }
    t->steps[load].is_gathered = last > store;
}

// Whether each tile of an operand is one block of memory.
static bool is_in_blocks(const wf_cpu_lowered *t, const wf_cpu_operand *op)
{
    const bool is_row = op->b.ndim == 0 || (op->b.ndim == 1 && op->b.strides[0] == 1);
    const bool is_dense =
        op->a.ndim == 1 && op->a.strides[0] == t->size_b && t->tile_b == t->size_b;
    return is_row && (t->tile_a == 1 || t->size_a == 1 || is_dense);
}

// Large results that replace nothing that was read.
static void set_streams(builder *b)
{
    wf_cpu_lowered *t = b->tiles;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        wf_cpu_step *step = &t->steps[i];
        if (step->kind != WF_CPU_STEP_STORE || step->is_outer)
            continue;
        step->is_streamed =
            (size_t)(t->size_a * t->size_b) >= t->elementwise->stream_bytes >> step->size_log2 &&
            is_in_blocks(t, &t->operands[step->operand]);
        for (size_t j = 0; j < b->k->n_inputs; j++)
            step->is_streamed = step->is_streamed && !is_overwritten(b, j);
        t->has_streams = t->has_streams || step->is_streamed;
    }
}

// Which loads may keep their rows apart, which steps may write their result in its place, and which loads
// may be read there until then.
static void set_shortcuts(builder *b)
{
    wf_cpu_lowered *t = b->tiles;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (t->steps[i].kind == WF_CPU_STEP_LOAD && !t->steps[i].is_outer)
            t->steps[i].has_pitch = true;
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const wf_cpu_step *step = &t->steps[i];
        for (uint32_t j = 0; j < step->n_args; j++) {
            wf_cpu_step *arg = &t->steps[step->args[j]];
            if (step->kind != WF_CPU_STEP_REDUCE)
                arg->has_pitch = false;
            if (step->kind == WF_CPU_STEP_STORE && arg->kind == WF_CPU_STEP_APPLY &&
                arg->is_outer == step->is_outer && arg->time == step->time && !step->is_streamed &&
                arg->direct == WF_CPU_NO_OPERAND && !b->is_late)
                arg->direct = step->operand;
        }
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (t->steps[i].is_gathered)
            set_in_place(b, i);
    }
}

static size_t slot_size(const wf_cpu_lowered *t, const wf_cpu_step *step)
{
    if (step->kind == WF_CPU_STEP_STORE)
        return 0;
    if (step->kind == WF_CPU_STEP_REDUCE)
        return WF_CPU_N_PARTS * wf_round_up((size_t)t->n_outer_max * 8, 64);
    const int64_t n = step->is_outer ? t->n_outer_max : t->tile_a * t->tile_b;
    // The extra line keeps slots of 4 KiB from competing for the same cache sets.
    return wf_round_up((size_t)n << step->size_log2, 64) + 64;
}

// A slot for the step's value: one that is free again, or a new one.
static void take_slot(builder *b, uint32_t idx)
{
    wf_cpu_step *step = &b->tiles->steps[idx];
    const bool may_share = step->time == WF_CPU_TIME_POINT && !step->is_outer;
    uint32_t *n_free = &b->n_free[step->size_log2];
    if (may_share && step->kind != WF_CPU_STEP_STORE && *n_free > 0) {
        step->slot = b->tiles->steps[b->free_slots[step->size_log2][--*n_free]].slot;
        return;
    }
    step->slot = b->slot_bytes;
    b->slot_bytes += slot_size(b->tiles, step);
}

static void set_slots(builder *b)
{
    wf_cpu_lowered *t = b->tiles;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        t->steps[i].kept_until = i;
        for (uint32_t j = 0; j < t->steps[i].n_args; j++)
            t->steps[t->steps[i].args[j]].kept_until = i;
    }
    b->slot_bytes = wf_round_up(t->n_steps * (sizeof(char *) + sizeof(int64_t)) +
                                    2 * t->n_reduces * sizeof(wf_cpu_parts),
                                64);
    for (uint32_t i = 0; i < t->n_steps; i++) {
        take_slot(b, i);
        // Arguments are given back after the result has its place: loops over elements of different
        // sizes may not work in place.
        for (uint32_t j = 0; j < t->steps[i].n_args; j++) {
            wf_cpu_step *arg = &t->steps[t->steps[i].args[j]];
            if (arg->kept_until != i || arg->time != WF_CPU_TIME_POINT || arg->is_outer)
                continue;
            arg->kept_until = -1; // once, even if it is both arguments
            b->free_slots[arg->size_log2][b->n_free[arg->size_log2]++] = t->steps[i].args[j];
        }
    }
    t->scratch_bytes = b->slot_bytes;
}

static weft_status make_list(builder *b, wf_cpu_list *list, const bool *is_in, weft_error *err)
{
    wf_cpu_lowered *t = b->tiles;
    list->n = 0;
    WEFT_TRY(wf_cpu_take(b->q, t->n_steps, sizeof *list->steps, &list->steps, err));
    for (uint32_t i = 0; i < t->n_steps; i++) {
        if (is_in[i])
            list->steps[list->n++] = i;
    }
    return WEFT_OK;
}

static weft_status make_time_list(builder *b, wf_cpu_list *list, wf_cpu_step_time time, bool *is_in,
                                  weft_error *err)
{
    for (uint32_t i = 0; i < b->tiles->n_steps; i++)
        is_in[i] = b->tiles->steps[i].time == time;
    return make_list(b, list, is_in, err);
}

// What the walk of a level must run: its reductions and stores, and what they need in each tile.
static weft_status make_level(builder *b, int32_t level, bool *is_in, weft_error *err)
{
    wf_cpu_lowered *t = b->tiles;
    for (uint32_t i = t->n_steps; i-- > 0;) {
        const wf_cpu_step *step = &t->steps[i];
        const bool is_root = step->kind == WF_CPU_STEP_REDUCE || step->kind == WF_CPU_STEP_STORE;
        is_in[i] = is_root && step->time == WF_CPU_TIME_POINT && step->level == level;
    }
    for (uint32_t i = t->n_steps; i-- > 0;) {
        const wf_cpu_step *step = &t->steps[i];
        for (uint32_t j = 0; is_in[i] && j < step->n_args; j++) {
            const wf_cpu_step *arg = &t->steps[step->args[j]];
            if (arg->time == WF_CPU_TIME_POINT && arg->kind != WF_CPU_STEP_REDUCE)
                is_in[step->args[j]] = true;
        }
    }
    WEFT_TRY(make_list(b, &t->points[level], is_in, err));
    for (uint32_t i = 0; i < t->n_steps; i++) {
        is_in[i] = t->steps[i].time == WF_CPU_TIME_OUTER && t->steps[i].level == level &&
                   t->steps[i].kind != WF_CPU_STEP_STORE;
    }
    return make_list(b, &t->outer[level], is_in, err);
}

static weft_status make_lists(builder *b, weft_error *err)
{
    wf_cpu_lowered *t = b->tiles;
    bool *is_in;
    WEFT_TRY(wf_cpu_take(b->q, t->n_steps + 1, sizeof *is_in, &is_in, err));
    WEFT_TRY(make_time_list(b, &t->once, WF_CPU_TIME_ONCE, is_in, err));
    WEFT_TRY(make_time_list(b, &t->period, WF_CPU_TIME_PERIOD, is_in, err));
    for (uint32_t i = 0; i < t->n_steps; i++) {
        is_in[i] = t->steps[i].time == WF_CPU_TIME_POINT || t->steps[i].time == WF_CPU_TIME_OUTER;
    }
    WEFT_TRY(make_list(b, &t->all, is_in, err));
    for (uint32_t i = 0; i < t->n_steps; i++)
        is_in[i] = t->steps[i].time == WF_CPU_TIME_OUTER && t->steps[i].kind == WF_CPU_STEP_STORE;
    WEFT_TRY(make_list(b, &t->last, is_in, err));
    WEFT_TRY(wf_cpu_take(b->q, (size_t)t->n_levels, sizeof *t->points, &t->points, err));
    WEFT_TRY(wf_cpu_take(b->q, (size_t)t->n_levels, sizeof *t->outer, &t->outer, err));
    for (int32_t level = 0; level < t->n_levels; level++) {
        WEFT_TRY(make_level(b, level, is_in, err));
    }
    return WEFT_OK;
}

static weft_status init_builder(builder *b, weft_error *err)
{
    wf_cpu_lower *q = b->q;
    const wf_kernel *k = b->k;
    wf_cpu_lowered *t = b->tiles;
    size_t n_index = 0, n_reduces = 0;
    for (size_t i = 0; i < k->n_insts; i++) {
        n_index += k->insts[i].kind == WF_INST_IOTA || k->insts[i].kind == WF_INST_RANDOM;
        n_reduces += k->insts[i].kind == WF_INST_REDUCE;
    }
    // Every outer value may need a repetition.
    b->capacity = (uint32_t)(2 * k->n_insts);
    WEFT_TRY(wf_cpu_take(q, b->capacity, sizeof *t->steps, &t->steps, err));
    WEFT_TRY(wf_cpu_take(q, k->n_insts, sizeof *b->step_of, &b->step_of, err));
    WEFT_TRY(wf_cpu_take(q, b->capacity, sizeof *b->point_of, &b->point_of, err));
    WEFT_TRY(wf_cpu_take(q, n_reduces, sizeof *t->reduce_steps, &t->reduce_steps, err));
    for (int i = 0; i < WF_CPU_N_SIZES; i++)
        WEFT_TRY(wf_cpu_take(q, b->capacity, sizeof(uint32_t), &b->free_slots[i], err));
    WEFT_TRY(wf_cpu_take(q, k->n_inputs + k->n_outputs + n_index, sizeof *t->operands, &t->operands,
                         err));
    for (size_t i = 0; i < k->n_inputs; i++) {
        set_operand(b, (uint32_t)i, wf_cpu_input_data(q, i), wf_cpu_size_log2(k->inputs[i].dtype),
                    k->inputs[i].strides);
    }
    for (size_t i = 0; i < k->n_outputs; i++) {
        set_operand(b, (uint32_t)(k->n_inputs + i), wf_cpu_output_data(q, i),
                    wf_cpu_size_log2(k->outputs[i].dtype), k->outputs[i].strides);
    }
    b->n_operands = (uint32_t)(k->n_inputs + k->n_outputs);
    // A row that lies wholly in a tile is read before it is written.
    for (size_t i = 0; i < k->n_inputs && k->kind == WF_KERNEL_ROW && t->size_b > t->tile_b; i++)
        b->is_late = b->is_late || is_overwritten(b, i);
    return WEFT_OK;
}

weft_status wf_cpu_lowered_create(wf_cpu_lower *q, const wf_cpu_layout *layout,
                                  wf_cpu_lowered **out, weft_error *err)
{
    const wf_kernel *k = q->task->epilogue ? q->task->epilogue : q->task->kernel;
    wf_cpu_lowered *t;
    *out = NULL;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *t, &t, err));
    t->elementwise = q->kernels->elementwise;
    t->randoms = q->kernels->randoms;
    t->reduces = q->kernels->reduces;
    t->kind = k->kind;
    t->size_a = wf_cpu_axes_count(k, layout->a, layout->n_a);
    t->size_b = wf_cpu_axes_count(k, layout->b, layout->n_b);
    t->tile_a = layout->tile_a;
    t->tile_b = layout->tile_b;
    t->n_outer_max = k->kind == WF_KERNEL_COLUMN ? t->tile_b : t->tile_a;
    builder b = {.q = q, .k = k, .layout = layout, .tiles = t};
    WEFT_TRY(init_builder(&b, err));
    WEFT_TRY(add_insts(&b, err));
    set_levels(&b);
    set_streams(&b);
    set_shortcuts(&b);
    set_slots(&b);
    WEFT_TRY(make_lists(&b, err));
    wf_cpu_need_scratch(q, t->scratch_bytes);
    *out = t;
    return WEFT_OK;
}
