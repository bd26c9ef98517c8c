// CALL tasks: a caller's own op, run by its eval on dense operands. Stage: PLAN -> PROGRAM, RUN.
//
// Views that are not dense are copied into dense tensors first, and results back. One item on
// the calling thread: an eval knows nothing of threads.
#include "device/cpu/cpu.h"

#include "device/cpu/cpu_fenv.h"

#include <string.h>

typedef struct call_operand {
    wf_cpu_operand memory;
    int64_t n;
    bool is_copied;
} call_operand;

typedef struct call_params {
    wf_node_info info;
    const wf_cpu_elementwise *elementwise;
    call_operand *operands; // inputs, then outputs
    wf_tensor *tensors;     // likewise
    wf_allocator allocator;
    wf_cpu_status *status;
    wf_cpu_failure *failure;
    uint32_t task_idx;
} call_params;

static void run_call(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const call_params *p = params;
    const size_t n_in = p->info.n_inputs, n = n_in + p->info.n_outputs;
    (void)item, (void)worker;
    for (size_t i = 0; i < n_in; i++) {
        const wf_cpu_tile all = {0, 1, 0, p->operands[i].n};
        if (p->operands[i].is_copied)
            wf_cpu_tile_gather(p->elementwise, p->tensors[i].data, &p->operands[i].memory, &all);
    }
    wf_eval eval = {
        .info = &p->info, .in = p->tensors, .out = p->tensors + n_in, .allocator = p->allocator};
    p->failure->code = p->info.op->eval(&eval, &p->failure->error);
    wf_cpu_fenv_set(); // foreign code may have changed the mode
    if (eval.is_bad)
        wf_cpu_mark_bad(p->status, p->task_idx);
    for (size_t i = n_in; i < n; i++) {
        const wf_cpu_tile all = {0, 1, 0, p->operands[i].n};
        if (p->operands[i].is_copied)
            wf_cpu_tile_scatter(p->elementwise, &p->operands[i].memory, p->tensors[i].data, &all);
    }
}

static weft_status set_operand(wf_cpu_lower *q, call_params *p, size_t i, const wf_view *view,
                               weft_error *err)
{
    call_operand *operand = &p->operands[i];
    operand->memory = wf_cpu_view_operand(q, view);
    operand->n = wf_type_count(&view->type);
    operand->is_copied = !wf_view_is_dense(view);
    p->tensors[i] = (wf_tensor){view->type, operand->memory.data, false};
    if (operand->is_copied) {
        WEFT_TRY(wf_cpu_take(q, (size_t)operand->n, weft_dtype_size(view->type.dtype),
                             &p->tensors[i].data, err));
    }
    return WEFT_OK;
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    const wf_task *task = q->task;
    call_params *p;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    p->info = q->info;
    p->elementwise = q->kernels->elementwise;
    p->allocator = q->allocator;
    p->status = q->status;
    p->failure = q->failure;
    p->task_idx = q->task_idx;
    const size_t n = task->n_inputs + task->n_outputs;
    WEFT_TRY(wf_cpu_take(q, n, sizeof *p->operands, &p->operands, err));
    WEFT_TRY(wf_cpu_take(q, n, sizeof *p->tensors, &p->tensors, err));
    for (size_t i = 0; i < task->n_inputs; i++)
        WEFT_TRY(set_operand(q, p, i, &task->inputs[i], err));
    for (size_t i = 0; i < task->n_outputs; i++)
        WEFT_TRY(set_operand(q, p, task->n_inputs + i, &task->outputs[i], err));
    return wf_cpu_add_caller_phase(q, run_call, p, err);
}

const wf_cpu_lowering wf_cpu_lowering_call = {.kind = WF_TASK_CALL, .lower = lower};
