// A step taken apart: its graph with every result as an output, a part of the nodes at a time, each run from
// the variables and the batch that the step had. In: a trainer. Out: values by node.
#include <stdio.h>
#include <string.h>

#include "op/op.h"
#include "op/tensor.h"
#include "train/diff.h"

// Of results held at once: a part of a large step is a program of its own.
#define PART_BYTES ((size_t)256 << 20)

static size_t bytes_of(const weft_type *t)
{
    return (size_t)wf_type_count(t) * weft_dtype_size(t->dtype);
}

static weft_status take(wf_arena *memory, size_t bytes, void *out_ptr, weft_error *err)
{
    void *ptr = wf_arena_take(memory, bytes);
    memcpy(out_ptr, &ptr, sizeof ptr);
    if (!ptr)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "diff: %zu bytes are not available", bytes);
    return WEFT_OK;
}

static weft_status set_init(wf_tensor_set *set, const wf_allocator *a, size_t n, weft_error *err)
{
    memset(set, 0, sizeof *set);
    wf_arena_init(&set->memory, a);
    return take(&set->memory, n * sizeof *set->items, &set->items, err);
}

static weft_status set_add(wf_tensor_set *set, const char *name, const weft_type *type,
                           struct wf_named_tensor **out, weft_error *err)
{
    struct wf_named_tensor *t = &set->items[set->n];
    t->name = wf_arena_strdup(&set->memory, name);
    t->type = *type;
    t->size_bytes = bytes_of(type);
    WEFT_TRY(take(&set->memory, t->size_bytes, &t->data, err));
    if (!t->name)
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "diff: no room for a name");
    set->n++;
    *out = t;
    return WEFT_OK;
}

weft_status wf_tensor_set_of_state(const weft_state *state, wf_tensor_set *out, weft_error *err)
{
    const size_t n = weft_state_count(state);
    struct wf_named_tensor *t;
    WEFT_TRY(set_init(out, &state->device->context->allocator, n, err));
    for (size_t i = 0; i < n; i++) {
        const char *name = weft_state_name(state, i);
        const weft_type type = weft_state_type(state, name);
        WEFT_TRY(set_add(out, name, &type, &t, err));
        weft_state *readable = (weft_state *)(uintptr_t)state; // reading waits, but changes nothing
        WEFT_TRY(weft_state_read(readable, name, t->data, t->size_bytes, err));
    }
    return WEFT_OK;
}

weft_status wf_tensor_set_of_inputs(const weft_program *program, wf_tensor_set *out,
                                    weft_error *err)
{
    const wf_plan *plan = program->plan;
    weft_device *device = program->state->device;
    struct wf_named_tensor *t;
    WEFT_TRY(set_init(out, &device->context->allocator, plan->n_inputs, err));
    for (size_t i = 0; i < plan->n_inputs; i++) {
        const wf_view *view = &plan->inputs[i].view;
        WEFT_TRY(set_add(out, plan->inputs[i].name, &view->type, &t, err));
        WEFT_TRY(wf_device_get(device, program->memory.arena,
                               plan->buffers[view->buffer].offset_bytes, view->type.dtype,
                               (size_t)wf_type_count(&view->type), t->data, err));
    }
    return WEFT_OK;
}

void wf_tensor_set_deinit(wf_tensor_set *set)
{
    if (set->memory.allocator.reallocate)
        wf_arena_deinit(&set->memory);
    memset(set, 0, sizeof *set);
}

// ---- a part of a step
static bool is_computed(const wf_node *node)
{
    return !(node->op->flags & (WF_OP_SOURCE | WF_OP_EFFECT | WF_OP_VIEW));
}

// Makes the results of nodes from first_node on outputs, and lists them.
static weft_status add_outputs(wf_step_part *part, int64_t step, uint32_t first_node,
                               weft_error *err)
{
    weft_graph *g = part->graph;
    const uint32_t n_nodes = (uint32_t)g->n_nodes;
    size_t bytes = 0, n_values = 0;
    uint32_t end = first_node;
    for (; end < n_nodes && bytes < PART_BYTES; end++) {
        for (uint32_t k = 0; is_computed(&g->nodes[end]) && k < g->nodes[end].n_outputs; k++) {
            bytes += bytes_of(wf_graph_type(g, g->nodes[end].first_output + k));
            n_values++;
        }
    }
    part->next_node = end;
    part->is_last = end == n_nodes;
    WEFT_TRY(take(&part->memory, n_values * sizeof *part->values, &part->values, err));
    for (uint32_t n = first_node; n < end; n++) {
        const wf_node node = g->nodes[n];
        for (uint32_t k = 0; is_computed(&node) && k < node.n_outputs; k++) {
            wf_step_value *v = &part->values[part->n++];
            char name[512];
            (void)snprintf(name, sizeof name, "%lld/%05u.%u %s%s%s", (long long)step, n, k,
                           node.scope, *node.scope ? "/" : "", node.op->name);
            v->node = &g->nodes[n];
            v->type = *wf_graph_type(g, node.first_output + k);
            v->size_bytes = bytes_of(&v->type);
            v->name = wf_arena_strdup(&part->memory, name);
            WEFT_TRY(take(&part->memory, v->size_bytes, &v->data, err));
            if (!v->name)
                WEFT_FAIL(err, WEFT_ERR_MEMORY, "diff: no room for a name");
            weft_output(g, v->name, (weft_val){node.first_output + k});
        }
    }
    return weft_graph_status(g, err);
}

static weft_status run_part(wf_trainer *t, weft_program *program, const wf_tensor_set *before,
                            const wf_tensor_set *inputs, wf_step_part *part, weft_error *err)
{
    for (size_t i = 0; i < before->n; i++) {
        const struct wf_named_tensor *v = &before->items[i];
        WEFT_TRY(weft_state_write(t->state, v->name, &v->type, v->data, v->size_bytes, err));
    }
    for (size_t i = 0; i < inputs->n; i++) {
        const struct wf_named_tensor *v = &inputs->items[i];
        WEFT_TRY(weft_program_write(program, v->name, v->data, v->size_bytes, err));
    }
    WEFT_TRY(weft_program_run(program, err));
    for (size_t i = 0; i < part->n; i++) {
        const wf_step_value *v = &part->values[i];
        WEFT_TRY(weft_program_read(program, v->name, v->data, v->size_bytes, err));
    }
    return WEFT_OK;
}

weft_status wf_step_part_run(wf_trainer *t, int64_t step, int64_t batch,
                             const wf_tensor_set *before, const wf_tensor_set *inputs,
                             uint32_t first_node, wf_step_part *out, weft_error *err)
{
    weft_program *program = NULL;
    memset(out, 0, sizeof *out);
    wf_arena_init(&out->memory, &t->allocator);
    WEFT_TRY(wf_program_graph(&t->programs, WF_PROGRAM_TRAIN, batch, &out->graph, err));
    WEFT_TRY(add_outputs(out, step, first_node, err));
    WEFT_TRY(weft_compile(t->state, out->graph, NULL, &program, err));
    const weft_status status = run_part(t, program, before, inputs, out, err);
    weft_program_destroy(program);
    return status;
}

void wf_step_part_deinit(wf_step_part *part)
{
    if (!part->memory.allocator.reallocate)
        return;
    weft_graph_destroy(part->graph);
    wf_arena_deinit(&part->memory);
    memset(part, 0, sizeof *part);
}

weft_status wf_step_walk(wf_trainer *t, wf_step_visit *visit, void *user, weft_error *err)
{
    wf_tensor_set before = {{{0}, 0}, 0, NULL}, inputs = {{{0}, 0}, 0, NULL};
    wf_step_part part = {.is_last = false};
    weft_program *program;
    weft_status status;
    bool is_enough = false;
    WEFT_TRY_GOTO(wf_tensor_set_of_state(t->state, &before, err));
    WEFT_TRY_GOTO(wf_trainer_step(t, err));
    WEFT_TRY_GOTO(wf_program_get(&t->programs, WF_PROGRAM_TRAIN, t->n_samples, &program, err));
    WEFT_TRY_GOTO(wf_tensor_set_of_inputs(program, &inputs, err));
    while (!part.is_last && !is_enough) {
        const uint32_t next = part.next_node;
        wf_step_part_deinit(&part);
        WEFT_TRY_GOTO(
            wf_step_part_run(t, t->step, t->n_samples, &before, &inputs, next, &part, err));
        WEFT_TRY_GOTO(visit(user, &part, &is_enough, err));
    }
fail:
    wf_step_part_deinit(&part);
    wf_tensor_set_deinit(&before);
    wf_tensor_set_deinit(&inputs);
    return status;
}

// ---- elements
void wf_read_element(const weft_type *type, const void *data, int64_t i, uint64_t *out_bits,
                     double *out_value)
{
    const size_t size = weft_dtype_size(type->dtype);
    *out_bits = 0;
    memcpy(out_bits, (const char *)data + (size_t)i * size, size);
    *out_value = wf_scalar_decode(type->dtype, out_bits, 0); // data may stand anywhere in a file
}

int64_t wf_find_difference(const weft_type *type, const void *a, const void *b)
{
    const int64_t count = wf_type_count(type);
    const bool is_float = wf_dtype_is_float(type->dtype);
    if (count == 0 || memcmp(a, b, bytes_of(type)) == 0)
        return -1;
    for (int64_t i = 0; i < count; i++) {
        uint64_t x, y;
        double u, v;
        wf_read_element(type, a, i, &x, &u);
        wf_read_element(type, b, i, &y, &v);
        if (x != y && !(is_float && u != u && v != v))
            return i;
    }
    return -1;
}
