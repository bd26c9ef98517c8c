// Lifetimes, in-place results, and every buffer's place in the arena: by size, the largest first,
// each into the lowest gap between the buffers that live at the same time (greedy by size; the
// method of XNNPACK's planner and of Pisarchyk & Lee, "Efficient Memory Management for Deep Neural
// Net Inference", 2020).
#include <stdlib.h>
#include <string.h>

#include "plan/planner.h"

static void touch(wf_plan *plan, uint32_t buffer, uint32_t task)
{
    wf_buffer *b = &plan->buffers[buffer];
    if (b->first_task == WF_NO_INDEX)
        b->first_task = task;
    b->last_task = task;
}

static void find_lifetimes(wf_plan *plan)
{
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        const wf_task *task = &plan->tasks[t];
        for (size_t i = 0; i < task->n_inputs; i++)
            touch(plan, task->inputs[i].buffer, t);
        for (size_t i = 0; i < task->n_outputs; i++)
            touch(plan, task->outputs[i].buffer, t);
        if (task->workspace != WF_NO_INDEX)
            touch(plan, task->workspace, t);
    }
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        if (!plan->tasks[t].keeps_workspace)
            continue;
        wf_buffer *b = &plan->buffers[plan->tasks[t].workspace];
        b->first_task = 0;
        b->last_task = WF_NO_INDEX;
    }
    for (size_t i = 0; i < plan->n_buffers; i++) {
        wf_buffer *b = &plan->buffers[i];
        // The host writes inputs before the run, perhaps once for many runs, and reads outputs
        // behind it.
        if (b->kind == WF_BUFFER_INPUT)
            b->first_task = 0;
        if (b->kind == WF_BUFFER_INPUT || b->kind == WF_BUFFER_OUTPUT)
            b->last_task = WF_NO_INDEX;
        if (b->first_task == WF_NO_INDEX)
            b->first_task = 0;
    }
}

static bool is_in_place(const wf_plan *plan, const wf_task *task, size_t out, size_t in)
{
    const wf_access *a = wf_task_input_access(task, in), *b = wf_task_output_access(task, out);
    return a &&
           plan->buffers[task->inputs[in].buffer].size_bytes ==
               plan->buffers[task->outputs[out].buffer].size_bytes &&
           a->dtype == b->dtype && a->offset == b->offset &&
           !memcmp(a->strides, b->strides, sizeof a->strides);
}

// Is `buffer` read by the task in exactly one way?
static bool is_read_once(const wf_task *task, uint32_t buffer)
{
    size_t n = 0;
    for (size_t i = 0; i < task->n_inputs; i++)
        n += task->inputs[i].buffer == buffer;
    return n == 1;
}

// A MAP result, or one of an epilogue, takes the place of an operand that dies there and is walked alike. The
// two become one interval: the operand's is extended.
static void share_in_place(wf_plan *plan)
{
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        const wf_task *task = &plan->tasks[t];
        wf_plan_share_updated(plan, t);
        if (task->kind != WF_TASK_MAP && !task->epilogue)
            continue;
        for (size_t o = 0; o < task->n_outputs; o++) {
            wf_buffer *dst = &plan->buffers[task->outputs[o].buffer];
            if (dst->kind != WF_BUFFER_ARENA || dst->first_task != t ||
                dst->alias_of != WF_NO_INDEX) {
                continue;
            }
            for (size_t i = 0; i < task->n_inputs; i++) {
                uint32_t root = task->inputs[i].buffer;
                if (!is_in_place(plan, task, o, i) || !is_read_once(task, root))
                    continue;
                root = wf_plan_root(plan, root);
                wf_buffer *src = &plan->buffers[root];
                if (src->kind != WF_BUFFER_ARENA || src->last_task != t)
                    continue;
                dst->alias_of = root;
                src->last_task = dst->last_task;
                break;
            }
        }
    }
}

typedef struct {
    uint32_t buffer;
    size_t size_bytes;
    size_t offset_bytes;
    uint32_t first, last;
} interval;

static int larger_first(const void *a, const void *b)
{
    const interval *x = a, *y = b;
    if (x->size_bytes != y->size_bytes)
        return x->size_bytes < y->size_bytes ? 1 : -1;
    return x->buffer < y->buffer ? -1 : 1;
}

static int lower_first(const void *a, const void *b)
{
    const interval *x = *(const interval *const *)a, *y = *(const interval *const *)b;
    if (x->offset_bytes != y->offset_bytes)
        return x->offset_bytes < y->offset_bytes ? -1 : 1;
    return x->buffer < y->buffer ? -1 : 1;
}

// The lowest offset where `one` fits between those of `placed` that live when it does.
static size_t find_gap(const interval *one, const interval *placed, size_t n,
                       const interval **overlapping)
{
    size_t n_overlapping = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        if (placed[i].first <= one->last && one->first <= placed[i].last) {
            overlapping[n_overlapping++] = &placed[i];
        }
    }
    qsort(overlapping, n_overlapping, sizeof *overlapping, lower_first);
    for (size_t i = 0; i < n_overlapping; i++) {
        if (at + one->size_bytes <= overlapping[i]->offset_bytes)
            break;
        const size_t end = overlapping[i]->offset_bytes + overlapping[i]->size_bytes;
        if (end > at)
            at = end;
    }
    return at;
}

static weft_status place_arena(wf_planner *p)
{
    wf_plan *plan = p->plan;
    interval *list;
    const interval **overlapping;
    size_t n = 0;
    WEFT_TRY(wf_plan_take(p, plan->n_buffers, sizeof *list, &list));
    WEFT_TRY(wf_plan_take(p, plan->n_buffers, sizeof *overlapping, &overlapping));
    for (uint32_t i = 0; i < plan->n_buffers; i++) {
        const wf_buffer *b = &plan->buffers[i];
        const bool is_arena =
            b->kind == WF_BUFFER_ARENA || b->kind == WF_BUFFER_INPUT || b->kind == WF_BUFFER_OUTPUT;
        if (!is_arena || b->alias_of != WF_NO_INDEX)
            continue;
        list[n++] = (interval){i, wf_round_up(b->size_bytes ? b->size_bytes : 1, WF_BUFFER_ALIGN),
                               0, b->first_task, b->last_task};
    }
    qsort(list, n, sizeof *list, larger_first);
    for (size_t i = 0; i < n; i++) {
        list[i].offset_bytes = find_gap(&list[i], list, i, overlapping);
        plan->buffers[list[i].buffer].offset_bytes = list[i].offset_bytes;
        const size_t end = list[i].offset_bytes + list[i].size_bytes;
        if (end > plan->arena_bytes)
            plan->arena_bytes = end;
    }
    return WEFT_OK;
}

static void place_rest(wf_plan *plan)
{
    for (size_t i = 0; i < plan->n_buffers; i++) {
        wf_buffer *b = &plan->buffers[i];
        if (b->alias_of != WF_NO_INDEX) {
            b->offset_bytes = plan->buffers[wf_plan_root(plan, b->alias_of)].offset_bytes;
        } else if (b->kind == WF_BUFFER_CONSTANT) {
            b->offset_bytes = plan->constant_bytes;
            plan->constant_bytes += wf_round_up(b->size_bytes ? b->size_bytes : 1, WF_BUFFER_ALIGN);
        } else if (b->kind == WF_BUFFER_VARIABLE) {
            plan->variable_bytes += b->size_bytes;
        }
    }
}

// Which variables tasks write, and which operands are constants or other variables.
static void find_fixed(wf_plan *plan)
{
    for (size_t t = 0; t < plan->n_tasks; t++) {
        for (size_t i = 0; i < plan->tasks[t].n_outputs; i++) {
            const wf_buffer *b = &plan->buffers[plan->tasks[t].outputs[i].buffer];
            if (b->kind == WF_BUFFER_VARIABLE)
                plan->variables[b->variable].is_written = true;
        }
    }
    for (size_t t = 0; t < plan->n_tasks; t++) {
        wf_task *task = &plan->tasks[t];
        for (size_t i = 0; i < task->n_inputs && i < 32; i++) {
            const wf_buffer *b = &plan->buffers[task->inputs[i].buffer];
            if (b->kind == WF_BUFFER_CONSTANT ||
                (b->kind == WF_BUFFER_VARIABLE && !plan->variables[b->variable].is_written))
                task->fixed_inputs |= 1u << i;
        }
    }
}

weft_status wf_plan_memory(wf_planner *p)
{
    wf_plan *plan = p->plan;
    find_fixed(plan);
    if (p->options->workspace) {
        for (size_t t = 0; t < plan->n_tasks; t++) {
            const uint32_t first_step = plan->tasks[t].first_step;
            if (first_step < t) {
                plan->tasks[t].workspace = plan->tasks[first_step].workspace;
                continue;
            }
            const size_t bytes = p->options->workspace(p->options->user, &plan->tasks[t]);
            uint32_t buffer;
            if (bytes == 0)
                continue;
            WEFT_TRY(wf_plan_add_buffer(p, WF_BUFFER_ARENA, bytes, &buffer));
            plan->tasks[t].workspace = buffer;
            plan->tasks[t].keeps_workspace =
                p->options->keeps_workspace &&
                p->options->keeps_workspace(p->options->user, &plan->tasks[t]);
        }
    }
    find_lifetimes(plan);
    if (p->options->fuse)
        share_in_place(plan);
    WEFT_TRY(place_arena(p));
    place_rest(plan);
    return WEFT_OK;
}
