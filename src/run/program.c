// A compiled program: its memory, its inputs and outputs, its runs.
#include <string.h>

#include "run/run_internal.h"

static size_t ask_workspace(void *user, const wf_task *task)
{
    weft_device *dev = user;
    return dev->driver->task_workspace(dev, task);
}

static bool ask_keeps(void *user, const wf_task *task)
{
    weft_device *dev = user;
    return dev->driver->keeps_workspace && dev->driver->keeps_workspace(dev, task);
}

wf_plan_options wf_device_plan_options(weft_device *dev)
{
    wf_plan_options o = {.fuse = dev->caps.fuse,
                         .apart_rows = dev->caps.apart_rows,
                         .channels_last = dev->caps.channels_last,
                         .epilogues = dev->caps.epilogues,
                         .workspace = ask_workspace,
                         .keeps_workspace = ask_keeps,
                         .user = dev};
    memcpy(o.elem_bytes, dev->caps.elem_bytes, sizeof o.elem_bytes);
    return o;
}

static weft_status upload_constants(weft_program *p, weft_error *err)
{
    weft_device *dev = p->state->device;
    for (size_t i = 0; i < p->plan->n_buffers; i++) {
        const wf_buffer *b = &p->plan->buffers[i];
        if (b->kind != WF_BUFFER_CONSTANT)
            continue;
        const size_t count = b->size_bytes / dev->caps.elem_bytes[b->dtype];
        WEFT_TRY(wf_device_put(dev, p->memory.constants, b->offset_bytes, b->dtype, count, b->data,
                               err));
    }
    return WEFT_OK;
}

static weft_status bind_memory(weft_program *p, weft_error *err)
{
    weft_device *dev = p->state->device;
    const wf_plan *plan = p->plan;
    if (plan->arena_bytes > dev->caps.max_buffer_bytes) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY,
                  "device %s: the plan needs an arena of %zu bytes, its largest buffer is %zu",
                  dev->id, plan->arena_bytes, dev->caps.max_buffer_bytes);
    }
    WEFT_TRY(dev->driver->buffer_create(dev, plan->arena_bytes ? plan->arena_bytes : 1,
                                        &p->memory.arena, err));
    if (plan->constant_bytes) {
        WEFT_TRY(dev->driver->buffer_create(dev, plan->constant_bytes, &p->memory.constants, err));
        WEFT_TRY(upload_constants(p, err));
    }
    WEFT_TRY(wf_alloc(&dev->context->allocator, plan->n_variables, sizeof *p->memory.variables,
                      &p->memory.variables, err));
    for (size_t i = 0; i < plan->n_variables; i++) {
        const wf_variable *v = wf_state_find(p->state, plan->variables[i].name);
        WEFT_ASSERT(v);
        p->memory.variables[i] = v->buffer;
    }
    return WEFT_OK;
}

weft_status wf_program_create(weft_state *state, wf_plan *take_plan, weft_program **out,
                              weft_error *err)
{
    weft_device *dev = state->device;
    weft_program *p;
    *out = NULL;
    weft_status status = wf_alloc(&dev->context->allocator, 1, sizeof *p, &p, err);
    if (status != WEFT_OK) {
        wf_plan_destroy(take_plan);
        return status;
    }
    p->state = state;
    p->plan = take_plan;
    status = bind_memory(p, err);
    if (status == WEFT_OK) {
        status = dev->driver->program_create(dev, p->plan, &p->memory, &p->program, err);
    }
    if (status != WEFT_OK) {
        weft_program_destroy(p);
        return status;
    }
    *out = p;
    return WEFT_OK;
}

void weft_program_destroy(weft_program *p)
{
    if (!p)
        return;
    weft_device *dev = p->state->device;
    const wf_allocator a = dev->context->allocator;
    if (p->program)
        dev->driver->program_destroy(dev, p->program);
    dev->driver->buffer_destroy(dev, p->memory.arena);
    dev->driver->buffer_destroy(dev, p->memory.constants);
    wf_free(&a, p->memory.variables);
    wf_plan_destroy(p->plan);
    wf_free(&a, p);
}

static const wf_plan_binding *find_binding(const wf_plan_binding *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(list[i].name, name))
            return &list[i];
    }
    return NULL;
}

static weft_status check_binding(const wf_plan_binding *b, const char *what, const char *name,
                                 size_t size_bytes, weft_error *err)
{
    char text[WF_TYPE_TEXT];
    if (!b)
        WEFT_FAIL(err, WEFT_ERR_NAME, "%s %s is not in the program", what, name);
    const weft_type *t = &b->view.type;
    const size_t expected = (size_t)wf_type_count(t) * weft_dtype_size(t->dtype);
    if (size_bytes != expected) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "%s %s: %zu bytes, expected %zu for %s", what, name,
                  size_bytes, expected, wf_type_text(t, text));
    }
    return WEFT_OK;
}

weft_status weft_program_write(weft_program *p, const char *input, const void *data,
                               size_t size_bytes, weft_error *err)
{
    WEFT_REQUIRE(err, p && input && (data || !size_bytes), "program: write without name or data");
    const wf_plan_binding *b = find_binding(p->plan->inputs, p->plan->n_inputs, input);
    WEFT_TRY(check_binding(b, "input", input, size_bytes, err));
    return wf_device_put(p->state->device, p->memory.arena,
                         p->plan->buffers[b->view.buffer].offset_bytes, b->view.type.dtype,
                         (size_t)wf_type_count(&b->view.type), data, err);
}

weft_status weft_program_run(weft_program *p, weft_error *err)
{
    WEFT_REQUIRE(err, p, "program: run without program");
    weft_device *dev = p->state->device;
    return dev->driver->enqueue(dev, p->program, 0, p->plan->n_tasks, err);
}

// Where a bound value's elements are, whatever kind its buffer is.
static wf_device_buffer *buffer_of(const weft_program *p, const wf_view *v, size_t *out_offset)
{
    const wf_buffer *b = &p->plan->buffers[v->buffer];
    *out_offset = b->offset_bytes;
    switch (b->kind) {
    case WF_BUFFER_VARIABLE: *out_offset = 0; return p->memory.variables[b->variable];
    case WF_BUFFER_CONSTANT: return p->memory.constants;
    default: return p->memory.arena;
    }
}

weft_status weft_program_read(weft_program *p, const char *output, void *data, size_t size_bytes,
                              weft_error *err)
{
    WEFT_REQUIRE(err, p && output && (data || !size_bytes), "program: read without name or data");
    const wf_plan_binding *b = find_binding(p->plan->outputs, p->plan->n_outputs, output);
    WEFT_TRY(check_binding(b, "output", output, size_bytes, err));
    size_t offset;
    wf_device_buffer *buffer = buffer_of(p, &b->view, &offset);
    return wf_device_get(p->state->device, buffer, offset, b->view.type.dtype,
                         (size_t)wf_type_count(&b->view.type), data, err);
}

weft_status weft_program_check(weft_program *p, weft_error *err)
{
    WEFT_REQUIRE(err, p, "program: check without program");
    weft_device *dev = p->state->device;
    uint32_t word = WF_STATUS_GOOD;
    WEFT_TRY(dev->driver->status_read(dev, p->program, &word, err));
    if (word == WF_STATUS_GOOD)
        return WEFT_OK;
    WEFT_REQUIRE(err, word < p->plan->n_tasks, "device %s: its status word %u names no task",
                 dev->id, word);
    const wf_node *node = p->plan->tasks[word].node;
    const bool is_guard = node->op->task == WF_TASK_GUARD &&
                          wf_graph_type(p->plan->graph, node->inputs[0])->dtype == WEFT_F32;
    if (!is_guard)
        return wf_program_blame_index(p, node, err);
    WEFT_FAIL(err, WEFT_ERR_NONFINITE, "%s%s%s: a value is NaN or infinite", node->scope,
              *node->scope ? "/" : "", node->op->name);
}

uint64_t weft_program_planned_bytes(const weft_program *p)
{
    return p->plan->arena_bytes + p->plan->constant_bytes + p->plan->variable_bytes +
           p->state->device->caps.program_bytes;
}

uint64_t weft_program_flops(const weft_program *p)
{
    double flops = 0.0;
    for (size_t i = 0; i < p->plan->n_tasks; i++)
        flops += p->plan->tasks[i].cost.flops;
    return (uint64_t)flops;
}

size_t weft_program_n_tasks(const weft_program *p)
{
    return p->plan->n_tasks;
}
