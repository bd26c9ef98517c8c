// A scan becomes the tasks of its region, once for each step, in the plan's one list: devices meet
// nothing new, and no step returns to the host. The region is planned once, whatever the number of steps:
// its operands and results lie in placeholders, and each step's copy of a task names the real buffers at
// the step's offsets. A state lies in its stack where it has one (a step reads the place that the step
// before wrote), else in two buffers that take turns.
#include <string.h>

#include "op/scan.h"
#include "plan/planner.h"

// What a placeholder stands for in a step: buffers[step & 1], or `first` in step 0.
typedef struct {
    uint32_t placeholder;
    bool has_first;
    uint32_t first, buffers[2];
    int64_t first_offset, offset; // elements
    int64_t step_offset;          // added for each step
} stand_in;

typedef struct {
    wf_planner *p;
    uint32_t node_idx;
    const wf_node *node;
    wf_scan s;
    wf_planner inner;
    wf_location *outside; // by operand
    wf_location *results; // by result: a stack [n,..]; a state in its turn buffer
    uint32_t *stack_of;   // by state: the result that is its stack; WF_NO_INDEX
    uint32_t (*turns)[2]; // by state
    stand_in *stand_ins;
    size_t n_stand_ins;
} repeater;

static weft_status add_placeholder(repeater *r, stand_in **out)
{
    stand_in *s = &r->stand_ins[r->n_stand_ins++];
    *s = (stand_in){0};
    // No task touches it in the end, and an empty buffer takes no room.
    WEFT_TRY(wf_plan_add_buffer(r->p, WF_BUFFER_ARENA, 0, &s->placeholder));
    *out = s;
    return WEFT_OK;
}

// Where results go: stacks, and two buffers for each state that has no stack.
static weft_status place_results(repeater *r)
{
    wf_planner *p = r->p;
    const wf_scan *s = &r->s;
    for (size_t i = s->n_states; i < s->region->n_outputs; i++) {
        const wf_id id = r->node->first_output + (wf_id)i;
        WEFT_TRY(wf_plan_place_value(p, id, WF_BUFFER_ARENA));
        r->results[i] = p->locations[id];
    }
    for (size_t i = 0; i < s->n_states; i++) {
        const weft_type *t = wf_planner_type(p, r->node->first_output + (wf_id)i);
        r->stack_of[i] = WF_NO_INDEX;
        for (size_t k = s->region->n_outputs; k-- > s->n_states;) {
            if (s->region->outputs[k].val == s->region->outputs[i].val)
                r->stack_of[i] = (uint32_t)k;
        }
        for (int k = 0; k < 2 && r->stack_of[i] == WF_NO_INDEX; k++) {
            WEFT_TRY(
                wf_plan_add_buffer(p, WF_BUFFER_ARENA, wf_plan_type_bytes(p, t), &r->turns[i][k]));
        }
    }
    return WEFT_OK;
}

// Offset of a stack's place for step 0, and what a step adds, in elements.
static void set_stacked(const wf_scan *s, stand_in *one, const wf_location *whole)
{
    const int64_t stride = whole->at.strides[0];
    one->buffers[0] = one->buffers[1] = whole->buffer;
    one->offset = whole->at.offset + wf_scan_place(s, 0) * stride;
    one->step_offset = s->is_reverse ? -stride : stride;
}

static weft_status stand_in_operand(repeater *r, size_t i)
{
    const wf_scan *s = &r->s;
    const weft_type *t = wf_graph_type(s->region, (wf_id)(i + 1));
    stand_in *one;
    WEFT_TRY(add_placeholder(r, &one));
    wf_location *inside = &r->inner.locations[i + 1];
    const wf_location *outside = &r->outside[i];
    *inside = wf_plan_dense(one->placeholder, t, false);
    if (i >= s->n_states + s->n_sequences) {
        one->buffers[0] = one->buffers[1] = outside->buffer;
        one->offset = outside->at.offset;
    } else if (i >= s->n_states) {
        set_stacked(s, one, outside);
        memcpy(inside->at.strides, outside->at.strides + 1,
               (size_t)t->ndim * sizeof *inside->at.strides);
    } else {
        one->has_first = true;
        one->first = outside->buffer;
        one->first_offset = outside->at.offset;
        if (r->stack_of[i] != WF_NO_INDEX) { // the place before this step's
            set_stacked(s, one, &r->results[r->stack_of[i]]);
            one->offset -= one->step_offset;
        } else { // step k writes turn k & 1
            one->buffers[0] = r->turns[i][1];
            one->buffers[1] = r->turns[i][0];
        }
    }
    return WEFT_OK;
}

// May the value's task write into a placeholder? What is a view, an operand or written already is copied
// there; so is what a device may want in another layout.
static bool can_place(const repeater *r, wf_id id)
{
    const wf_node *node = wf_graph_producer(r->s.region, id);
    const wf_task_kind kind = node->op->task;
    return !r->inner.locations[id].is_known && (kind == WF_TASK_MAP || kind == WF_TASK_ROW ||
                                                kind == WF_TASK_COLUMN || kind == WF_TASK_CONTRACT);
}

// A result of the region: `to` is where it has to be copied; unknown when it is written in place.
static weft_status stand_in_result(repeater *r, size_t i, wf_location *to)
{
    const wf_scan *s = &r->s;
    const wf_id id = s->region->outputs[i].val;
    const weft_type *t = wf_graph_type(s->region, id);
    stand_in *one;
    *to = (wf_location){0};
    if (i < s->n_states && r->stack_of[i] != WF_NO_INDEX)
        return WEFT_OK;
    WEFT_TRY(add_placeholder(r, &one));
    if (i < s->n_states) {
        one->buffers[0] = r->turns[i][0];
        one->buffers[1] = r->turns[i][1];
    } else {
        set_stacked(s, one, &r->results[i]);
    }
    const wf_location at = wf_plan_dense(one->placeholder, t, false);
    if (can_place(r, id))
        r->inner.locations[id] = at;
    else
        *to = at;
    return WEFT_OK;
}

// Plans the region behind the plan's tasks so far.
static weft_status plan_region(repeater *r)
{
    const wf_scan *s = &r->s;
    const size_t n_out = s->region->n_outputs;
    wf_location *to;
    WEFT_TRY(wf_plan_take(r->p, n_out, sizeof *to, &to));
    WEFT_TRY(wf_planner_init(&r->inner));
    for (size_t i = 0; i < wf_scan_n_inputs(s); i++)
        WEFT_TRY(stand_in_operand(r, i));
    for (size_t i = 0; i < n_out; i++)
        WEFT_TRY(stand_in_result(r, i, &to[i]));
    WEFT_TRY(wf_plan_group(&r->inner));
    WEFT_TRY(wf_plan_lower_groups(&r->inner));
    for (size_t i = 0; i < n_out; i++) {
        const wf_id id = s->region->outputs[i].val;
        wf_location from;
        if (!to[i].is_known)
            continue;
        WEFT_TRY(wf_plan_locate(&r->inner, id, &from));
        WEFT_TRY(wf_plan_add_copy(&r->inner, wf_graph_type(s->region, id)->dtype, &from, &to[i],
                                  false, wf_graph_value(s->region, id)->node));
    }
    return WEFT_OK;
}

// The buffer of a view in a step; what is added to its offset.
static int64_t resolve(const repeater *r, int64_t step, uint32_t *inout_buffer)
{
    for (size_t i = 0; i < r->n_stand_ins; i++) {
        const stand_in *one = &r->stand_ins[i];
        if (one->placeholder != *inout_buffer)
            continue;
        if (step == 0 && one->has_first) {
            *inout_buffer = one->first;
            return one->first_offset;
        }
        *inout_buffer = one->buffers[step & 1];
        return one->offset + step * one->step_offset;
    }
    return 0;
}

// The views of a step, and the accesses of the kernel that walks the last of them, n_own being the op's.
static weft_status copy_views(const repeater *r, int64_t step, size_t n, size_t n_own,
                              wf_view **inout_views, wf_access *accesses)
{
    wf_view *views;
    WEFT_TRY(wf_plan_take(r->p, n, sizeof *views, &views));
    if (n)
        memcpy(views, *inout_views, n * sizeof *views);
    for (size_t i = 0; i < n; i++) {
        const int64_t add = resolve(r, step, &views[i].buffer);
        views[i].offset += add;
        if (accesses && i >= n_own)
            accesses[i - n_own].offset += add;
    }
    *inout_views = views;
    return WEFT_OK;
}

static weft_status copy_accesses(const repeater *r, size_t n, wf_access **inout)
{
    wf_access *copy;
    WEFT_TRY(wf_plan_take(r->p, n, sizeof *copy, &copy));
    if (n)
        memcpy(copy, *inout, n * sizeof *copy);
    *inout = copy;
    return WEFT_OK;
}

// A kernel whose accesses may be changed; NULL of NULL.
static weft_status copy_kernel(const repeater *r, const wf_kernel *model, wf_kernel **out)
{
    *out = NULL;
    if (!model)
        return WEFT_OK;
    WEFT_TRY(wf_plan_take(r->p, 1, sizeof **out, out));
    **out = *model;
    WEFT_TRY(copy_accesses(r, model->n_inputs, &(*out)->inputs));
    return copy_accesses(r, model->n_outputs, &(*out)->outputs);
}

// Operands that are captured: what a device makes of them, packed panels say, may be made once.
static uint32_t find_steady(const repeater *r, const wf_task *model)
{
    const size_t first_captured = r->s.n_states + r->s.n_sequences;
    uint32_t steady = 0;
    for (size_t i = 0; i < model->n_inputs && i < 32; i++) {
        for (size_t k = first_captured; k < wf_scan_n_inputs(&r->s); k++) {
            if (r->stand_ins[k].placeholder == model->inputs[i].buffer)
                steady |= 1u << i;
        }
    }
    return steady;
}

// One task of one step.
static weft_status add_step_task(const repeater *r, const wf_task *model, int64_t step,
                                 uint32_t first_step)
{
    wf_task one = *model, *task;
    wf_kernel *kernel;
    WEFT_TRY(copy_kernel(r, model->epilogue ? model->epilogue : model->kernel, &kernel));
    wf_access *in = kernel ? kernel->inputs : NULL, *out = kernel ? kernel->outputs : NULL;
    const size_t n_own = model->epilogue ? model->node->n_inputs : 0;
    if (model->epilogue) {
        one.epilogue = kernel;
        in++; // the product is no operand of the task
    } else {
        one.kernel = kernel;
    }
    WEFT_TRY(copy_views(r, step, one.n_inputs, n_own, &one.inputs, in));
    WEFT_TRY(copy_views(r, step, one.n_outputs, 0, &one.outputs, out));
    one.first_step = first_step;
    one.steady_inputs = find_steady(r, model);
    WEFT_TRY(wf_plan_add_task(r->p, &task));
    *task = one;
    return WEFT_OK;
}

// The region's tasks, which stand from `first` on, become those of all steps.
static weft_status repeat_tasks(repeater *r, size_t first)
{
    wf_plan *plan = r->p->plan;
    const size_t n = plan->n_tasks - first;
    wf_task *models;
    WEFT_TRY(wf_plan_take(r->p, n, sizeof *models, &models));
    if (n)
        memcpy(models, plan->tasks + first, n * sizeof *models);
    plan->n_tasks = first;
    uint32_t *node;
    WEFT_TRY(wf_plan_take(r->p, 1, sizeof *node, &node));
    *node = r->node_idx;
    for (size_t i = 0; i < n; i++) {
        if (models[i].first_step == WF_NO_INDEX) // else of a scan inside, which has done it
            wf_plan_add_cost(&r->inner, &models[i]);
        models[i].nodes = node;
        models[i].n_nodes = 1;
    }
    for (int64_t step = 0; step < r->s.n_steps; step++) {
        for (size_t i = 0; i < n; i++)
            WEFT_TRY(add_step_task(r, &models[i], step, (uint32_t)(first + i)));
    }
    return WEFT_OK;
}

// The states behind the last step.
static void place_last(const repeater *r)
{
    const int64_t last = r->s.n_steps - 1;
    for (size_t i = 0; i < r->s.n_states; i++) {
        const wf_id id = r->node->first_output + (wf_id)i;
        const weft_type *t = wf_planner_type(r->p, id);
        wf_location *l = &r->p->locations[id];
        if (r->stack_of[i] == WF_NO_INDEX) {
            *l = wf_plan_dense(r->turns[i][last & 1], t, false);
            continue;
        }
        const wf_location *stack = &r->results[r->stack_of[i]];
        *l = wf_plan_dense(stack->buffer, t, false);
        l->at.offset = stack->at.offset + wf_scan_place(&r->s, last) * stack->at.strides[0];
    }
}

static weft_status run(repeater *r)
{
    wf_planner *p = r->p;
    const wf_scan *s = &r->s;
    const size_t n_in = wf_scan_n_inputs(s), n_out = s->region->n_outputs;
    WEFT_TRY(wf_plan_take(p, n_in, sizeof *r->outside, &r->outside));
    WEFT_TRY(wf_plan_take(p, n_out, sizeof *r->results, &r->results));
    WEFT_TRY(wf_plan_take(p, s->n_states, sizeof *r->stack_of, &r->stack_of));
    WEFT_TRY(wf_plan_take(p, s->n_states, sizeof *r->turns, &r->turns));
    WEFT_TRY(wf_plan_take(p, n_in + n_out, sizeof *r->stand_ins, &r->stand_ins));
    for (size_t i = 0; i < n_in; i++) {
        // A sequence may be a view: its elements then are, too.
        const bool is_sequence = i >= s->n_states && i < s->n_states + s->n_sequences;
        WEFT_TRY(is_sequence ? wf_plan_locate(p, r->node->inputs[i], &r->outside[i])
                             : wf_plan_locate_dense(p, r->node->inputs[i], WF_DENSE_ROW_MAJOR,
                                                    &r->outside[i]));
    }
    WEFT_TRY(place_results(r));
    const size_t first = p->plan->n_tasks;
    WEFT_TRY(plan_region(r));
    p->tasks_capacity = r->inner.tasks_capacity;
    WEFT_TRY(repeat_tasks(r, first));
    place_last(r);
    return WEFT_OK;
}

weft_status wf_plan_lower_scan(wf_planner *p, uint32_t node_idx)
{
    const wf_node *node = &p->g->nodes[node_idx];
    repeater r = {
        .p = p, .node_idx = node_idx, .node = node, .s = wf_scan_get(node->attrs, node->n_inputs)};
    r.inner = (wf_planner){.ctx = p->ctx,
                           .allocator = p->allocator,
                           .g = r.s.region,
                           .options = p->options,
                           .plan = p->plan,
                           .err = p->err,
                           .is_region = true,
                           .tasks_capacity = p->tasks_capacity};
    const weft_status status = run(&r);
    wf_planner_deinit(&r.inner);
    return status;
}
