// The independent checker of plans: it looks at the finished plan only and knows nothing of how it was
// made. For every task it marks which bytes are whose, and finds reads of what was not written or was
// overwritten, operands outside their buffers, and variables changed before their last reader.
#include <inttypes.h>
#include <string.h>

#include "op/op.h"
#include "plan/plan.h"

typedef struct {
    const wf_plan *plan;
    const wf_plan_options *options;
    bool *is_written; // by buffer
    weft_error *err;
} checker;

static const char *task_name(const wf_task *task)
{
    return task->node ? task->node->op->name : "copy";
}

// Lowest and highest element that strides reach.
static void reach(const wf_view *v, int64_t *lo, int64_t *hi)
{
    *lo = *hi = v->offset;
    for (int32_t i = 0; i < v->type.ndim; i++) {
        const int64_t span = v->strides[i] * (v->type.dims[i] - 1);
        if (v->type.dims[i] == 0) {
            *hi = *lo - 1;
            return;
        }
        *(span < 0 ? lo : hi) += span;
    }
}

static weft_status check_inside(const checker *c, uint32_t task, const wf_view *v)
{
    const wf_buffer *b = &c->plan->buffers[v->buffer];
    const int64_t elem = (int64_t)c->options->elem_bytes[v->type.dtype];
    int64_t lo, hi;
    reach(v, &lo, &hi);
    if (lo > hi)
        return WEFT_OK;
    if (lo < 0 || (hi + 1) * elem > (int64_t)b->size_bytes) {
        WEFT_FAIL(c->err, WEFT_ERR_INTERNAL,
                  "plan: task %u %s reaches elements %" PRId64 "..%" PRId64
                  " of buffer %u of %zu bytes",
                  task, task_name(&c->plan->tasks[task]), lo, hi, v->buffer, b->size_bytes);
    }
    return WEFT_OK;
}

static bool is_arena(const wf_buffer *b)
{
    return b->kind == WF_BUFFER_ARENA || b->kind == WF_BUFFER_INPUT || b->kind == WF_BUFFER_OUTPUT;
}

static bool overlaps(const wf_buffer *a, const wf_buffer *b)
{
    return is_arena(a) && is_arena(b) && a->offset_bytes < b->offset_bytes + b->size_bytes &&
           b->offset_bytes < a->offset_bytes + a->size_bytes;
}

// Writing a buffer takes the bytes away from all that overlap it.
static weft_status write_buffer(checker *c, uint32_t task, uint32_t buffer)
{
    const wf_buffer *b = &c->plan->buffers[buffer];
    if (is_arena(b) && b->offset_bytes + b->size_bytes > c->plan->arena_bytes) {
        WEFT_FAIL(c->err, WEFT_ERR_INTERNAL, "plan: buffer %u ends outside the arena", buffer);
    }
    if (b->kind == WF_BUFFER_CONSTANT || b->kind == WF_BUFFER_INPUT) {
        WEFT_FAIL(c->err, WEFT_ERR_INTERNAL, "plan: task %u %s writes a constant or an input", task,
                  task_name(&c->plan->tasks[task]));
    }
    for (uint32_t i = 0; i < c->plan->n_buffers; i++) {
        const wf_buffer *other = &c->plan->buffers[i];
        if (i == buffer || !overlaps(b, other))
            continue;
        if (other->kind == WF_BUFFER_INPUT ||
            (other->kind == WF_BUFFER_OUTPUT && c->is_written[i])) {
            WEFT_FAIL(c->err, WEFT_ERR_INTERNAL,
                      "plan: task %u %s writes buffer %u over buffer %u, which the host reads",
                      task, task_name(&c->plan->tasks[task]), buffer, i);
        }
        c->is_written[i] = false;
    }
    c->is_written[buffer] = true;
    return WEFT_OK;
}

static bool is_in_place_op(const wf_task *task)
{
    return !task->kernel && task->node && (task->node->op->flags & WF_OP_IN_PLACE);
}

// Result 0 in the place of operand 0, both walked alike.
static bool is_updated(const wf_task *task, size_t out, size_t in)
{
    const wf_view *a = &task->inputs[in], *b = &task->outputs[out];
    return is_in_place_op(task) && out == 0 && in == 0 && a->offset == b->offset &&
           !memcmp(a->strides, b->strides, sizeof a->strides);
}

// Do the elements that the two views reach lie apart? A scan writes one place of a stack and reads another.
static bool is_apart(const checker *c, const wf_view *a, const wf_view *b)
{
    const wf_buffer *x = &c->plan->buffers[a->buffer], *y = &c->plan->buffers[b->buffer];
    const int64_t x_elem = (int64_t)c->options->elem_bytes[a->type.dtype];
    const int64_t y_elem = (int64_t)c->options->elem_bytes[b->type.dtype];
    int64_t a_lo, a_hi, b_lo, b_hi;
    reach(a, &a_lo, &a_hi);
    reach(b, &b_lo, &b_hi);
    return (int64_t)x->offset_bytes + (a_hi + 1) * x_elem <=
               (int64_t)y->offset_bytes + b_lo * y_elem ||
           (int64_t)y->offset_bytes + (b_hi + 1) * y_elem <=
               (int64_t)x->offset_bytes + a_lo * x_elem;
}

// Outputs must not touch what the task reads, but for in-place results.
static weft_status check_aliasing(const checker *c, uint32_t task_idx)
{
    const wf_task *task = &c->plan->tasks[task_idx];
    for (size_t o = 0; o < task->n_outputs; o++) {
        const wf_buffer *out = &c->plan->buffers[task->outputs[o].buffer];
        for (size_t i = 0; i < task->n_inputs; i++) {
            const wf_buffer *in = &c->plan->buffers[task->inputs[i].buffer];
            const bool is_same = task->inputs[i].buffer == task->outputs[o].buffer;
            if ((!is_same && !overlaps(out, in)) ||
                (is_same && is_apart(c, &task->inputs[i], &task->outputs[o])))
                continue;
            const wf_access *from = wf_task_input_access(task, i);
            const bool is_map = from && (task->kind == WF_TASK_MAP || task->epilogue) &&
                                !memcmp(from, wf_task_output_access(task, o), sizeof *from);
            const bool is_alike = (is_map || is_updated(task, o, i)) &&
                                  (is_same || out->offset_bytes == in->offset_bytes);
            // A gated copy into a variable may be from the variable itself, unfused.
            if (!is_alike && !(task->is_gated && !c->options->fuse)) {
                WEFT_FAIL(c->err, WEFT_ERR_INTERNAL,
                          "plan: task %u %s writes buffer %u while it reads buffer %u", task_idx,
                          task_name(task), task->outputs[o].buffer, task->inputs[i].buffer);
            }
        }
    }
    return WEFT_OK;
}

static weft_status check_task(checker *c, uint32_t task_idx)
{
    const wf_task *task = &c->plan->tasks[task_idx];
    for (size_t i = 0; i < task->n_inputs; i++) {
        const uint32_t buffer = task->inputs[i].buffer;
        WEFT_TRY(check_inside(c, task_idx, &task->inputs[i]));
        if (!c->is_written[buffer]) {
            WEFT_FAIL(c->err, WEFT_ERR_INTERNAL,
                      "plan: task %u %s reads buffer %u, which holds nothing or was overwritten",
                      task_idx, task_name(task), buffer);
        }
    }
    WEFT_TRY(check_aliasing(c, task_idx));
    if (task->workspace != WF_NO_INDEX) {
        WEFT_TRY(write_buffer(c, task_idx, task->workspace));
        for (size_t i = 0; i < task->n_inputs; i++) {
            if (!c->is_written[task->inputs[i].buffer]) {
                WEFT_FAIL(c->err, WEFT_ERR_INTERNAL,
                          "plan: task %u %s has a workspace over an operand", task_idx,
                          task_name(task));
            }
        }
    }
    for (size_t i = 0; i < task->n_outputs; i++) {
        WEFT_TRY(check_inside(c, task_idx, &task->outputs[i]));
        WEFT_TRY(write_buffer(c, task_idx, task->outputs[i].buffer));
    }
    if (task->is_gated)
        return WEFT_OK;
    for (size_t i = 0; i < task->n_outputs; i++) {
        if (c->plan->buffers[task->outputs[i].buffer].kind == WF_BUFFER_VARIABLE) {
            WEFT_FAIL(c->err, WEFT_ERR_INTERNAL, "plan: task %u %s writes a variable ungated",
                      task_idx, task_name(task));
        }
    }
    return WEFT_OK;
}

// Does the task read the old value of the variable that an in-place task has changed? Its new value is the
// update's result, through views; a copy names the node whose value it copies.
static bool reads_old_value(const checker *c, const wf_task *task, const wf_task *update)
{
    const weft_graph *g = c->plan->graph;
    for (size_t n = 0; n < task->n_nodes; n++) {
        const wf_node *node = &g->nodes[task->nodes[n]];
        if (node == update->node)
            continue;
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            wf_id id = node->inputs[i];
            while ((wf_graph_producer(g, id)->op->flags & WF_OP_VIEW) &&
                   wf_graph_producer(g, id)->n_inputs == 1)
                id = wf_graph_producer(g, id)->inputs[0];
            if (id == update->node->inputs[0])
                return true;
        }
    }
    return false;
}

static weft_status check_readers(const checker *c, uint32_t t)
{
    const wf_task *task = &c->plan->tasks[t];
    for (size_t i = 0; i < task->n_inputs; i++) {
        if (c->plan->buffers[task->inputs[i].buffer].kind != WF_BUFFER_VARIABLE)
            continue;
        for (uint32_t k = 0; k < t; k++) {
            const wf_task *earlier = &c->plan->tasks[k];
            for (size_t o = 0; earlier->is_gated && o < earlier->n_outputs; o++) {
                if (earlier->outputs[o].buffer != task->inputs[i].buffer ||
                    (is_in_place_op(earlier) && !reads_old_value(c, task, earlier)))
                    continue;
                WEFT_FAIL(c->err, WEFT_ERR_INTERNAL,
                          "plan: task %u %s reads a variable that task %u has changed", t,
                          task_name(task), k);
            }
        }
    }
    return WEFT_OK;
}

// Same indices, same range: both go bad or none does.
static bool is_bad_alike(const wf_task *a, const wf_task *b)
{
    weft_type types[2][4];
    wf_index_range range[2];
    const wf_task *tasks[2] = {a, b};
    for (int k = 0; k < 2; k++) {
        const wf_task *t = tasks[k];
        if (!t->node || !t->node->op->index_range || t->n_inputs > 3 || t->n_outputs != 1)
            return false;
        for (size_t i = 0; i < t->n_inputs; i++)
            types[k][i] = t->inputs[i].type;
        types[k][3] = t->outputs[0].type;
        const wf_node_info info = {t->node->op, t->n_inputs,  types[k],
                                   1,           &types[k][3], t->node->attrs};
        range[k] = t->node->op->index_range(&info);
    }
    return a->node->inputs[range[0].input] == b->node->inputs[range[1].input] &&
           range[0].low == range[1].low && range[0].high == range[1].high;
}

// Gated tasks change variables, so a task that is not gated may not come after one: it would read
// new weights, and a bad index it finds would come too late. But a cache updated in place is read behind
// its update, and what goes bad only when that update does comes early enough.
static weft_status check_gates(const checker *c)
{
    const wf_task *gate = NULL;
    for (uint32_t t = 0; t < c->plan->n_tasks; t++) {
        const wf_task *task = &c->plan->tasks[t];
        const bool may_go_bad = task->kind == WF_TASK_GUARD || task->kind == WF_TASK_INDEX;
        if (gate && !task->is_gated)
            WEFT_TRY(check_readers(c, t));
        if (gate && may_go_bad && !is_bad_alike(gate, task)) {
            WEFT_FAIL(c->err, WEFT_ERR_INTERNAL, "plan: task %u %s comes behind a gated task", t,
                      task_name(task));
        }
        if (!gate && task->is_gated)
            gate = task;
    }
    return WEFT_OK;
}

// What a task keeps from run to run lies where nothing else does, and is made of what no task writes.
static weft_status check_kept(const checker *c, uint32_t task_idx)
{
    const wf_plan *plan = c->plan;
    const wf_task *task = &plan->tasks[task_idx];
    for (uint32_t i = 0; i < plan->n_buffers; i++) {
        if (wf_plan_root(plan, i) != wf_plan_root(plan, task->workspace) &&
            overlaps(&plan->buffers[i], &plan->buffers[task->workspace])) {
            WEFT_FAIL(c->err, WEFT_ERR_INTERNAL,
                      "plan: buffer %u lies over what task %u %s keeps between runs", i, task_idx,
                      task_name(task));
        }
    }
    for (uint32_t t = 0; t < plan->n_tasks; t++) {
        for (size_t o = 0; o < plan->tasks[t].n_outputs; o++) {
            for (size_t i = 0; i < task->n_inputs; i++) {
                if (!(task->fixed_inputs >> i & 1u) ||
                    plan->tasks[t].outputs[o].buffer != task->inputs[i].buffer)
                    continue;
                WEFT_FAIL(
                    c->err, WEFT_ERR_INTERNAL,
                    "plan: task %u %s keeps what is made of operand %zu, which task %u writes",
                    task_idx, task_name(task), i, t);
            }
        }
    }
    return WEFT_OK;
}

weft_status wf_plan_check(const wf_plan *plan, const wf_plan_options *options, weft_error *err)
{
    checker c = {plan, options, NULL, err};
    const wf_allocator *a = &plan->graph->context->allocator;
    WEFT_TRY(wf_alloc(a, plan->n_buffers, sizeof *c.is_written, &c.is_written, err));
    for (size_t i = 0; i < plan->n_buffers; i++) {
        const wf_buffer_kind kind = plan->buffers[i].kind;
        c.is_written[i] =
            kind == WF_BUFFER_INPUT || kind == WF_BUFFER_CONSTANT || kind == WF_BUFFER_VARIABLE;
    }
    weft_status status = WEFT_OK;
    for (uint32_t t = 0; t < plan->n_tasks && status == WEFT_OK; t++)
        status = check_task(&c, t);
    for (size_t i = 0; i < plan->n_outputs && status == WEFT_OK; i++) {
        if (!c.is_written[plan->outputs[i].view.buffer]) {
            status = wf_error_set(err, WEFT_ERR_INTERNAL, "plan: output %s was overwritten",
                                  plan->outputs[i].name);
        }
    }
    if (status == WEFT_OK)
        status = check_gates(&c);
    for (uint32_t t = 0; t < plan->n_tasks && status == WEFT_OK; t++) {
        if (plan->tasks[t].keeps_workspace)
            status = check_kept(&c, t);
    }
    wf_free(a, c.is_written);
    return status;
}
