// Where the values of a kernel's steps lie: in the operand that is read, in the one that is written, or in a slot
// of the scratch. Stage: PLAN -> PROGRAM.
#include "device/cpu/cpu_tile_builder.h"

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

bool wf_cpu_is_block(const wf_cpu_builder *b, size_t input)
{
    return b->q->task->epilogue && input == 0;
}

// Whether an operand's elements are those of an output, point by point.
static bool is_same_access(const wf_cpu_builder *b, size_t input, size_t output)
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

static overwriting get_overwriting(const wf_cpu_builder *b, size_t input)
{
    overwriting o = {false, WF_CPU_NO_OPERAND};
    uintptr_t begin, end;
    if (wf_cpu_is_block(b, input))
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

bool wf_cpu_is_overwritten(const wf_cpu_builder *b, size_t input)
{
    return get_overwriting(b, input).is_any;
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
static void set_in_place(wf_cpu_builder *b, uint32_t load)
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
void wf_cpu_set_streams(wf_cpu_builder *b)
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
            step->is_streamed = step->is_streamed && !wf_cpu_is_overwritten(b, j);
        t->has_streams = t->has_streams || step->is_streamed;
    }
}

// Which loads may keep their rows apart, which steps may write their result in its place, and which loads
// may be read there until then.
void wf_cpu_set_shortcuts(wf_cpu_builder *b)
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
static void take_slot(wf_cpu_builder *b, uint32_t idx)
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

void wf_cpu_set_slots(wf_cpu_builder *b)
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
