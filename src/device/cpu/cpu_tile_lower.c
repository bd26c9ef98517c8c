// A kernel's instructions into the steps of the tile interpreter. Stage: PLAN -> PROGRAM.
//
// Order of steps: loads of memory that a store may overwrite come first, stores come last, the rest keeps
// its order. Such loads are copied, so a tile reads everything before it writes anything that it reads;
// but one that a store replaces point by point is read where it lies, if nothing reads it later.
#include "device/cpu/cpu_tile_builder.h"

#include <string.h>

#define FAR_BYTES 4e6       // more than second-level caches hold,
#define FAR_PLAN_BYTES 32e6 // of a program that finds little of itself in the third

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

static void set_operand(wf_cpu_builder *b, uint32_t idx, char *data, int32_t log2,
                        const int64_t *strides)
{
    const wf_cpu_layout *l = b->layout;
    b->tiles->operands[idx] = (wf_cpu_operand){data, log2, make_group(b->k, l->a, l->n_a, strides),
                                               make_group(b->k, l->b, l->n_b, strides)};
}

static wf_cpu_step *add_step(wf_cpu_builder *b, wf_cpu_step_kind kind, weft_dtype dtype)
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

static bool is_constant(const wf_cpu_builder *b, uint32_t operand)
{
    const wf_cpu_operand *op = &b->tiles->operands[operand];
    return wf_cpu_group_is_constant(&op->a) && wf_cpu_group_is_constant(&op->b);
}

// Whether tiles follow each other that hold the same of an operand.
static bool is_periodic(const wf_cpu_builder *b, uint32_t operand)
{
    return b->tiles->size_a > b->tiles->tile_a &&
           wf_cpu_group_is_constant(&b->tiles->operands[operand].a);
}

// The step that holds a value for every point: itself, or one that repeats it.
static uint32_t get_point(wf_cpu_builder *b, uint32_t idx)
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

static void add_load(wf_cpu_builder *b, const wf_inst *inst)
{
    wf_cpu_step *step = add_step(b, WF_CPU_STEP_LOAD, inst->dtype);
    step->operand = inst->operand;
    step->is_outer = inst->is_outer;
    step->is_gathered = wf_cpu_is_overwritten(b, inst->operand);
    step->is_block = wf_cpu_is_block(b, inst->operand);
    step->time = inst->is_outer ? WF_CPU_TIME_OUTER : WF_CPU_TIME_POINT;
    if (step->is_block)
        return;
    if (!step->is_gathered && is_constant(b, inst->operand))
        step->time = WF_CPU_TIME_ONCE;
    else if (!step->is_gathered && !inst->is_outer && is_periodic(b, inst->operand))
        step->time = WF_CPU_TIME_PERIOD;
}

static void add_index(wf_cpu_builder *b, const wf_inst *inst, const uint32_t *args)
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

static weft_status find_apply(wf_cpu_builder *b, const wf_inst *inst, wf_cpu_apply_fn **out,
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
static wf_cpu_step_time get_apply_time(const wf_cpu_builder *b, uint32_t n_args,
                                       const uint32_t *args)
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

static weft_status add_apply(wf_cpu_builder *b, const wf_inst *inst, const uint32_t *args,
                             weft_error *err)
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

static weft_status add_reduce(wf_cpu_builder *b, const wf_inst *inst, const uint32_t *args,
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
static void get_args(wf_cpu_builder *b, const wf_inst *inst, uint32_t args[WF_MAX_ARGS])
{
    const bool is_as_is = inst->is_outer && inst->kind != WF_INST_REDUCE;
    for (uint32_t i = 0; i < WF_MAX_ARGS; i++)
        args[i] = 0;
    for (uint32_t i = 0; i < inst->n_args; i++) {
        const uint32_t arg = b->step_of[inst->args[i]];
        args[i] = is_as_is || inst->kind == WF_INST_RANDOM ? arg : get_point(b, arg);
    }
}

static weft_status add_inst(wf_cpu_builder *b, uint32_t inst_idx, weft_error *err)
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

static weft_status add_insts(wf_cpu_builder *b, weft_error *err)
{
    const wf_kernel *k = b->k;
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 0; i < k->n_insts; i++) {
            const wf_inst *inst = &k->insts[i];
            const bool is_first =
                inst->kind == WF_INST_LOAD && wf_cpu_is_overwritten(b, inst->operand);
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

static void set_levels(wf_cpu_builder *b)
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

static weft_status make_list(wf_cpu_builder *b, wf_cpu_list *list, const bool *is_in,
                             weft_error *err)
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

static weft_status make_time_list(wf_cpu_builder *b, wf_cpu_list *list, wf_cpu_step_time time,
                                  bool *is_in, weft_error *err)
{
    for (uint32_t i = 0; i < b->tiles->n_steps; i++)
        is_in[i] = b->tiles->steps[i].time == time;
    return make_list(b, list, is_in, err);
}

// What the walk of a level must run: its reductions and stores, and what they need in each tile.
static weft_status make_level(wf_cpu_builder *b, int32_t level, bool *is_in, weft_error *err)
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

static weft_status make_lists(wf_cpu_builder *b, weft_error *err)
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

static weft_status init_builder(wf_cpu_builder *b, weft_error *err)
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
        b->is_late = b->is_late || wf_cpu_is_overwritten(b, i);
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
    wf_cpu_builder b = {.q = q, .k = k, .layout = layout, .tiles = t};
    WEFT_TRY(init_builder(&b, err));
    WEFT_TRY(add_insts(&b, err));
    set_levels(&b);
    wf_cpu_set_streams(&b);
    t->is_far = q->task->cost.bytes >= FAR_BYTES &&
                (double)(q->plan->arena_bytes + q->plan->variable_bytes) >= FAR_PLAN_BYTES;
    wf_cpu_set_shortcuts(&b);
    wf_cpu_set_slots(&b);
    WEFT_TRY(make_lists(&b, err));
    wf_cpu_need_scratch(q, t->scratch_bytes);
    *out = t;
    return WEFT_OK;
}
