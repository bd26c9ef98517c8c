// The reference device: runs a program node by node through the ops' eval, slow and obvious. It is
// the oracle that every other device must equal, bit for bit. As "ref:f64" it holds every float as
// double and runs eval_truth: what the tests take for true.
#include <stdio.h>
#include <string.h>

#include "device/host_buffer.h"

// One task, ready to be evaluated.
typedef struct {
    wf_node_info info;
    wf_tensor *in, *out;
    bool is_gated;
} step;

struct wf_device_program {
    wf_arena memory;
    step *steps;
    uint32_t status;
};

static void enumerate(weft_context *ctx, void (*found)(void *user, const weft_device_info *info),
                      void *user)
{
    (void)ctx;
    weft_device_info info = {.id = "ref",
                             .name = "the definition of every op, in plain C",
                             .kind = WEFT_DEVICE_CPU,
                             .usable = true,
                             .exact = WEFT_EXACT_NATIVE,
                             .compute_units = 1};
    found(user, &info);
}

static weft_status open_device(weft_context *ctx, const char *selector,
                               const weft_device_options *options, weft_device **out_device,
                               weft_error *err)
{
    extern const wf_driver wf_driver_ref;
    const bool is_truth = !strcmp(selector, "f64");
    weft_device *dev;
    *out_device = NULL;
    if (*selector && !is_truth) {
        WEFT_FAIL(err, WEFT_ERR_NAME, "device ref:%s is unknown, expected ref or ref:f64",
                  selector);
    }
    WEFT_TRY(wf_alloc(&ctx->allocator, 1, sizeof *dev, &dev, err));
    dev->driver = &wf_driver_ref;
    dev->context = ctx;
    dev->arithmetic = options->arithmetic;
    dev->caps = (wf_device_caps){.is_truth = is_truth,
                                 .max_buffer_bytes = SIZE_MAX,
                                 .n_threads = 1,
                                 .isa = is_truth ? "f64" : "c"};
    for (int d = 0; d < WEFT_N_DTYPES; d++) {
        const weft_dtype dtype = (weft_dtype)d;
        const bool is_wide = is_truth && wf_dtype_is_float(dtype);
        dev->caps.elem_bytes[d] = is_wide ? sizeof(double) : weft_dtype_size(dtype);
    }
    snprintf(dev->id, sizeof dev->id, "%s", is_truth ? "ref:f64" : "ref");
    snprintf(dev->name, sizeof dev->name, "the definition of every op, in plain C");
    *out_device = dev;
    return WEFT_OK;
}

static void close_device(weft_device *dev)
{
    wf_free(&dev->context->allocator, dev);
}

static size_t task_workspace(weft_device *dev, const wf_task *task)
{
    (void)dev;
    (void)task;
    return 0;
}

static void *place_of(const wf_plan *plan, const wf_program_memory *memory, uint32_t buffer)
{
    const wf_buffer *b = &plan->buffers[buffer];
    switch (b->kind) {
    case WF_BUFFER_VARIABLE: return memory->variables[b->variable]->data;
    case WF_BUFFER_CONSTANT: return memory->constants->data + b->offset_bytes;
    default: return memory->arena->data + b->offset_bytes;
    }
}

static weft_status prepare_step(weft_device *dev, wf_device_program *program, const wf_plan *plan,
                                const wf_program_memory *memory, size_t idx, weft_error *err)
{
    const wf_task *task = &plan->tasks[idx];
    step *s = &program->steps[idx];
    weft_type *types =
        wf_arena_take(&program->memory, (task->n_inputs + task->n_outputs) * sizeof *types);
    s->in = wf_arena_take(&program->memory, task->n_inputs * sizeof *s->in);
    s->out = wf_arena_take(&program->memory, task->n_outputs * sizeof *s->out);
    if (!types || !s->in || !s->out) {
        WEFT_FAIL(err, WEFT_ERR_MEMORY, "ref: memory for a program is not available");
    }
    for (size_t i = 0; i < task->n_inputs; i++) {
        types[i] = task->inputs[i].type;
        s->in[i] = (wf_tensor){types[i], place_of(plan, memory, task->inputs[i].buffer),
                               dev->caps.is_truth};
    }
    for (size_t i = 0; i < task->n_outputs; i++) {
        types[task->n_inputs + i] = task->outputs[i].type;
        s->out[i] =
            (wf_tensor){task->outputs[i].type, place_of(plan, memory, task->outputs[i].buffer),
                        dev->caps.is_truth};
    }
    s->info = (wf_node_info){task->node->op,  task->n_inputs,         types,
                             task->n_outputs, types + task->n_inputs, task->node->attrs};
    s->is_gated = task->is_gated;
    if (!task->node->op->eval) {
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "ref: %s has no eval", task->node->op->name);
    }
    return WEFT_OK;
}

static void program_destroy(weft_device *dev, wf_device_program *program)
{
    if (!program)
        return;
    wf_arena_deinit(&program->memory);
    wf_free(&dev->context->allocator, program);
}

static weft_status program_create(weft_device *dev, const wf_plan *plan,
                                  const wf_program_memory *memory, wf_device_program **out,
                                  weft_error *err)
{
    wf_device_program *program;
    *out = NULL;
    WEFT_TRY(wf_alloc(&dev->context->allocator, 1, sizeof *program, &program, err));
    wf_arena_init(&program->memory, &dev->context->allocator);
    program->status = WF_STATUS_GOOD;
    program->steps = wf_arena_take(&program->memory, plan->n_tasks * sizeof *program->steps);
    weft_status status =
        program->steps
            ? WEFT_OK
            : wf_error_set(err, WEFT_ERR_MEMORY, "ref: memory for a program is not available");
    for (size_t i = 0; i < plan->n_tasks && status == WEFT_OK; i++) {
        status = prepare_step(dev, program, plan, memory, i, err);
    }
    if (status != WEFT_OK) {
        program_destroy(dev, program);
        return status;
    }
    *out = program;
    return WEFT_OK;
}

static weft_status enqueue(weft_device *dev, wf_device_program *program, size_t first, size_t n,
                           weft_error *err)
{
    if (first == 0)
        program->status = WF_STATUS_GOOD;
    for (size_t i = first; i < first + n; i++) {
        step *s = &program->steps[i];
        if (s->is_gated && program->status != WF_STATUS_GOOD)
            continue;
        const wf_op *op = s->info.op;
        wf_eval q = {&s->info, s->in, s->out, false, 0, dev->context->allocator, NULL};
        WEFT_TRY((dev->caps.is_truth && op->eval_truth ? op->eval_truth : op->eval)(&q, err));
        if (q.is_bad && program->status == WF_STATUS_GOOD)
            program->status = (uint32_t)i;
    }
    return WEFT_OK;
}

static weft_status status_read(weft_device *dev, wf_device_program *program, uint32_t *out_word,
                               weft_error *err)
{
    (void)dev;
    (void)err;
    *out_word = program->status;
    return WEFT_OK;
}

const wf_driver wf_driver_ref = {
    .name = "ref",
    .enumerate = enumerate,
    .open = open_device,
    .close = close_device,
    .buffer_create = wf_host_buffer_create,
    .buffer_destroy = wf_host_buffer_destroy,
    .buffer_write = wf_host_buffer_write,
    .buffer_read = wf_host_buffer_read,
    .buffer_copy = wf_host_buffer_copy,
    .task_workspace = task_workspace,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .enqueue = enqueue,
    .wait = wf_host_wait,
    .status_read = status_read,
    .n_compiled = wf_host_n_compiled,
};
