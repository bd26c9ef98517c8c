// GUARD tasks: is every element finite, or every index inside its range? Stage: PLAN -> PROGRAM, RUN.
//
// Items look at parts; what they find goes into one flag, which the last phase writes out.
#include "device/cpu/cpu.h"

#include <string.h>

#define ITEM_ELEMS 65536
#define TILE_ELEMS 1024 // of a view that does not lie side by side

typedef struct guard_params {
    const wf_cpu_elementwise *elementwise;
    wf_cpu_operand x;
    int64_t n;
    bool is_index;
    weft_dtype dtype;
    int64_t size; // of the indices' range
    uint8_t *out; // bool
    wf_cpu_status *status;
    uint32_t task_idx;
    _Atomic bool *is_bad;
} guard_params;

static void run_start(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const guard_params *p = params;
    (void)item, (void)worker;
    atomic_store(p->is_bad, false);
}

static bool is_good(const guard_params *p, const char *data, int64_t n)
{
    if (!p->is_index) {
        const float *x = (const float *)(const void *)data;
        return p->elementwise->first_nonfinite(x, (size_t)n) == (size_t)n;
    }
    uint64_t bad = 0; // a negative index is a great unsigned one
    if (p->dtype == WEFT_I32) {
        const int32_t *idx = (const int32_t *)(const void *)data;
        for (int64_t i = 0; i < n; i++)
            bad |= (uint64_t)((uint64_t)(int64_t)idx[i] >= (uint64_t)p->size);
    } else {
        const int64_t *idx = (const int64_t *)(const void *)data;
        for (int64_t i = 0; i < n; i++)
            bad |= (uint64_t)((uint64_t)idx[i] >= (uint64_t)p->size);
    }
    return bad == 0;
}

static void run_part(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const guard_params *p = params;
    const int64_t end = wf_cpu_min((item + 1) * ITEM_ELEMS, p->n);
    for (int64_t i = item * ITEM_ELEMS; i < end;) {
        wf_cpu_tile t = {0, 1, i, end - i};
        int64_t pitch;
        const char *data = wf_cpu_operand_locate(&p->x, &t, &pitch);
        if (!data) {
            t.nb = wf_cpu_min(t.nb, TILE_ELEMS);
            wf_cpu_tile_gather(p->elementwise, worker->scratch, &p->x, &t);
            data = worker->scratch;
        }
        if (!is_good(p, data, t.nb)) {
            atomic_store(p->is_bad, true);
            wf_cpu_mark_bad(p->status, p->task_idx);
            return;
        }
        i += t.nb;
    }
}

static void run_end(const void *params, int64_t item, const wf_cpu_worker *worker)
{
    const guard_params *p = params;
    (void)item, (void)worker;
    *p->out = !atomic_load(p->is_bad);
}

static weft_status lower(wf_cpu_lower *q, weft_error *err)
{
    guard_params *p;
    const char *op = q->info.op->name;
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p, &p, err));
    WEFT_TRY(wf_cpu_take(q, 1, sizeof *p->is_bad, &p->is_bad, err));
    p->is_index = strcmp(op, "index_guard") == 0;
    if (!p->is_index && strcmp(op, "guard") != 0)
        WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED, "cpu: guard tasks of op %s are not known here", op);
    p->elementwise = q->kernels->elementwise;
    p->x = wf_cpu_view_operand(q, &q->task->inputs[0]);
    p->n = wf_type_count(&q->task->inputs[0].type);
    p->dtype = q->task->inputs[0].type.dtype;
    p->size = p->is_index ? q->info.attrs[0].u.i : 0;
    p->out = (uint8_t *)wf_cpu_view_data(q, &q->task->outputs[0]);
    p->status = q->status;
    p->task_idx = q->task_idx;
    wf_cpu_need_scratch(q, TILE_ELEMS * 8);
    WEFT_TRY(wf_cpu_add_phase(q, run_start, p, 1, err));
    WEFT_TRY(wf_cpu_add_phase(q, run_part, p, wf_cpu_div_up(p->n, ITEM_ELEMS), err));
    return wf_cpu_add_phase(q, run_end, p, 1, err);
}

const wf_cpu_lowering wf_cpu_lowering_guard = {.kind = WF_TASK_GUARD, .lower = lower};
