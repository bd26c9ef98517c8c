// A program of the cpu device, and the lowering of its tasks.
#ifndef WF_CPU_LOWER_H
#define WF_CPU_LOWER_H

#include "device/cpu/cpu.h"

typedef struct wf_cpu_task {
    size_t first_phase;
    size_t n_phases;
    bool is_gated;
} wf_cpu_task;

typedef struct wf_cpu_phase {
    wf_cpu_job job;
    wf_cpu_kept *kept; // what it makes, if the next run may find it there; or NULL
} wf_cpu_phase;

struct wf_device_program {
    wf_arena memory; // parameters of phases
    wf_cpu_task *tasks;
    size_t n_tasks;
    wf_cpu_phase *phases;
    size_t n_phases, phases_capacity;
    size_t scratch_bytes;
    wf_cpu_status status;
    wf_cpu_failure failure;
    const wf_plan *plan; // and where its operands live; the caller's
    const wf_program_memory *plan_memory;
};

size_t wf_cpu_task_workspace(const wf_cpu_device *dev, const wf_task *task);
bool wf_cpu_task_keeps_workspace(const wf_cpu_device *dev, const wf_task *task);
// Adds the phases of q->task to q->program.
weft_status wf_cpu_lower_task(wf_cpu_lower *q, weft_error *err);

#endif
