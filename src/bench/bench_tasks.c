// Where a program's time goes: each task run and waited for by itself, in the program's order, so that it finds
// the caches as it does in a run. Stage: beside the pipeline.
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "bench/bench.h"
#include "op/op.h"

// Tasks that are alike; the first stands for them.
typedef struct alike {
    const wf_task *task;
    uint64_t n_tasks;
    double seconds, flops, bytes; // of all
} alike;

static bool views_are_alike(const wf_view *a, const wf_view *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!wf_type_equal(&a[i].type, &b[i].type) ||
            wf_view_is_dense(&a[i]) != wf_view_is_dense(&b[i]))
            return false;
    }
    return true;
}

static bool tasks_are_alike(const wf_task *a, const wf_task *b)
{
    return a->kind == b->kind && a->n_inputs == b->n_inputs && a->n_outputs == b->n_outputs &&
           a->n_nodes == b->n_nodes && a->cost.flops == b->cost.flops &&
           a->cost.bytes == b->cost.bytes && !a->node == !b->node &&
           (!a->node || a->node->op == b->node->op) &&
           views_are_alike(a->inputs, b->inputs, a->n_inputs) &&
           views_are_alike(a->outputs, b->outputs, a->n_outputs);
}

static weft_status run_task(weft_program *program, size_t idx, double *inout_seconds,
                            weft_error *err)
{
    weft_device *dev = program->state->device;
    const uint64_t start = wf_clock_ns();
    WEFT_TRY(dev->driver->enqueue(dev, program->program, idx, 1, err));
    WEFT_TRY(dev->driver->wait(dev, err));
    *inout_seconds += (double)(wf_clock_ns() - start) * 1e-9;
    return WEFT_OK;
}

static int compare_alike(const void *a, const void *b)
{
    const alike *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

static size_t gather(const weft_program *program, double *windows, uint64_t n_runs, alike *out)
{
    size_t n = 0;
    for (size_t i = 0; i < program->plan->n_tasks; i++) {
        const wf_task *task = &program->plan->tasks[i];
        double *own = windows + i * WF_BENCH_N_WINDOWS;
        size_t k = 0;
        while (k < n && !tasks_are_alike(out[k].task, task))
            k++;
        if (k == n)
            out[n++] = (alike){.task = task};
        wf_bench_sort(own, WF_BENCH_N_WINDOWS);
        out[k].n_tasks++;
        out[k].seconds += own[WF_BENCH_N_WINDOWS / 2] / (double)n_runs;
        out[k].flops += task->cost.flops;
        out[k].bytes += task->cost.bytes;
    }
    qsort(out, n, sizeof *out, compare_alike);
    return n;
}

static void write_types(wf_text *t, const wf_view *views, size_t n)
{
    char type[WF_TYPE_TEXT];
    for (size_t i = 0; i < n; i++)
        wf_text_printf(t, "%s%s", i ? " " : "", wf_type_text(&views[i].type, type));
}

// Of a fused task the results only: its operands are many. Of a product with an epilogue the product.
static void write_shape(wf_text *t, const wf_task *task)
{
    if (!task->kernel) {
        write_types(t, task->inputs, task->epilogue ? task->node->n_inputs : task->n_inputs);
        wf_text_append(t, " -> ");
    }
    if (task->epilogue)
        write_types(t, wf_task_product(task), 1);
    else
        write_types(t, task->outputs, task->n_outputs);
}

static void write_name(wf_text *t, const wf_task *task)
{
    wf_task_write_name(t, task);
    if (task->n_nodes > 1)
        wf_text_printf(t, " and %zu more", task->n_nodes - 1);
}

static weft_status tell(const weft_program *program, const alike *list, size_t n,
                        const weft_bench_options *options, weft_error *err)
{
    double total = 0.0;
    wf_text name, shape;
    weft_status status = WEFT_OK;
    for (size_t i = 0; i < n; i++)
        total += list[i].seconds;
    wf_text_init(&name, &program->state->device->context->allocator);
    wf_text_init(&shape, &program->state->device->context->allocator);
    for (size_t i = 0; i < n && status == WEFT_OK; i++) {
        wf_text_clear(&name);
        wf_text_clear(&shape);
        write_name(&name, list[i].task);
        write_shape(&shape, list[i].task);
        status = wf_text_status(&name, err);
        if (status == WEFT_OK)
            status = wf_text_status(&shape, err);
        const weft_bench_task one = {.kind = wf_task_kind_name(list[i].task->kind),
                                     .name = wf_text_str(&name),
                                     .shape = wf_text_str(&shape),
                                     .n_tasks = list[i].n_tasks,
                                     .ms = list[i].seconds * 1e3,
                                     .share = total > 0.0 ? list[i].seconds / total : 0.0,
                                     .flops = list[i].flops,
                                     .bytes = list[i].bytes};
        if (status == WEFT_OK)
            options->task(options->user, &one);
    }
    wf_text_deinit(&name);
    wf_text_deinit(&shape);
    return status;
}

weft_status wf_bench_tasks(weft_program *program, const weft_bench_options *options, double once,
                           weft_error *err)
{
    const wf_allocator *a = &program->state->device->context->allocator;
    const size_t n_tasks = program->plan->n_tasks;
    const uint64_t n_runs = wf_bench_window_runs(options, once);
    weft_status status = WEFT_OK;
    double *windows = NULL; // by task, then by window
    alike *list = NULL;
    WEFT_TRY_GOTO(wf_alloc(a, n_tasks * WF_BENCH_N_WINDOWS, sizeof *windows, &windows, err));
    WEFT_TRY_GOTO(wf_alloc(a, n_tasks, sizeof *list, &list, err));
    for (size_t w = 0; w < WF_BENCH_N_WINDOWS; w++) {
        for (uint64_t r = 0; r < n_runs; r++) {
            for (size_t i = 0; i < n_tasks; i++)
                WEFT_TRY_GOTO(run_task(program, i, &windows[i * WF_BENCH_N_WINDOWS + w], err));
        }
    }
    const size_t n = gather(program, windows, n_runs, list);
    status = tell(program, list, n, options, err);
fail:
    wf_free(a, windows);
    wf_free(a, list);
    return status;
}
