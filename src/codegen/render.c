// The renderer: a wf_kernel in, source text with its launches and arguments out. See render.h.
#include "codegen/render.h"

#include <string.h>

#include "codegen/render_stages.h"
#include "math/sum.h"

// Partial states of a column kernel: every level of the tree.
static size_t column_workspace(const wf_kernel *k)
{
    int64_t outer = wf_kernel_outer(k);
    size_t bytes = 0;
    for (int64_t n = wf_kernel_inner(k); n > WF_SUM_COLUMN_CHUNK || bytes == 0;) {
        n = (n + WF_SUM_COLUMN_CHUNK - 1) / WF_SUM_COLUMN_CHUNK;
        if (n == 0)
            break;
        bytes += wf_stages_level_bytes(k, n, outer);
        if (bytes == 0)
            break; // no outer points, or no reductions
    }
    return bytes;
}

size_t wf_render_workspace(const wf_kernel *k, const wf_render_options *options)
{
    if (k->kind == WF_KERNEL_COLUMN)
        return column_workspace(k);
    if (k->kind != WF_KERNEL_ROW || !wf_row_is_staged(k, options))
        return 0;
    int64_t n_chunks = (wf_kernel_inner(k) + WF_SUM_ROW_CHUNK - 1) / WF_SUM_ROW_CHUNK;
    return wf_stages_level_bytes(k, n_chunks, wf_kernel_outer(k));
}

// Every size, stride and offset that the text refers to, in an order that the structure alone decides.
static void reserve_values(wf_renderer *r)
{
    const wf_kernel *k = r->k;
    r->points_value = wf_render_value(r, r->space.outer);
    r->inner_value = wf_render_value(r, r->space.inner);
    r->task_value = wf_render_value(r, r->task->idx);
    r->gated_value = wf_render_value(r, r->task->is_gated);
    for (int32_t i = 0; i < r->space.ndim; i++)
        r->dim_value[i] = wf_render_value(r, r->space.dims[i]);
    for (size_t p = 0; p < r->space.n_patterns; p++) {
        for (int32_t i = 0; i < r->space.ndim; i++) {
            int64_t stride = r->space.patterns[p].strides[i];
            if (stride == 0 || stride == 1)
                continue;
            r->stride_value[p * WEFT_MAX_DIM + (size_t)i] = wf_render_value(r, stride);
        }
    }
    for (size_t i = 0; i < k->n_insts; i++) {
        const wf_inst *inst = &k->insts[i];
        if (inst->kind == WF_INST_LOAD)
            r->offset_value[i] = wf_render_value(r, k->inputs[inst->operand].offset);
        if (inst->kind == WF_INST_STORE)
            r->offset_value[i] = wf_render_value(r, k->outputs[inst->operand].offset);
        if (inst->kind == WF_INST_CONST)
            wf_render_reserve_const(r, i);
        if (inst->kind == WF_INST_IOTA)
            r->offset_value[i] = wf_render_value(r, (int64_t)inst->bits);
    }
    if (r->out->has_workspace)
        wf_stages_open(r);
}

static bool iota_is_wide(const wf_kernel *k)
{
    for (size_t i = 0; i < k->n_insts; i++) {
        int64_t start = (int64_t)k->insts[i].bits;
        if (k->insts[i].kind == WF_INST_IOTA && (start > INT32_MAX / 2 || start < INT32_MIN / 2))
            return true;
    }
    return false;
}

static void render_text(wf_renderer *r)
{
    wf_render_formulas(r);
    if (r->status != WEFT_OK)
        return;
    wf_text_printf(r->text,
                   "typedef %s wf_idx;\ntypedef struct {\n    wf_idx v[%zu];\n} wf_values;\n",
                   r->out->is_wide ? "wf_i64" : "wf_i32", r->n_values);
    switch (r->k->kind) {
    case WF_KERNEL_MAP: wf_render_map(r); break;
    case WF_KERNEL_ROW: wf_render_row(r); break;
    case WF_KERNEL_COLUMN: wf_render_column(r); break;
    }
}

static weft_status render_into(wf_renderer *r)
{
    wf_render *out = r->out;
    size_t n = r->k->n_insts + 1;
    WEFT_TRY(wf_space_create(&out->memory, r->k, &r->space, r->err));
    r->stride_value =
        wf_arena_take(&out->memory, (r->space.n_patterns + 1) * WEFT_MAX_DIM * sizeof(uint32_t));
    r->offset_value = wf_arena_take(&out->memory, n * sizeof(uint32_t));
    r->needed = wf_arena_take(&out->memory, n * sizeof(bool));
    if (!r->stride_value || !r->offset_value || !r->needed) {
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "no memory to render a kernel");
    }
    out->workspace_bytes = wf_render_workspace(r->k, r->options);
    out->has_workspace = r->k->kind == WF_KERNEL_COLUMN ||
                         (r->k->kind == WF_KERNEL_ROW && wf_row_is_staged(r->k, r->options));
    int64_t work_end = r->task->workspace_offset + (int64_t)out->workspace_bytes;
    out->is_wide = r->space.is_wide || iota_is_wide(r->k) || work_end / WF_STATE_BYTES > INT32_MAX;
    if (r->space.outer == 0)
        return WEFT_OK;
    reserve_values(r);
    render_text(r);
    WEFT_TRY(r->status);
    out->n_values = r->n_values;
    for (size_t i = 0; i < out->n_launches; i++) {
        if (!out->launches[i].values)
            out->launches[i].values = r->values;
        if (out->launches[i].n_groups > INT32_MAX) {
            WEFT_FAIL(r->err, WEFT_ERR_UNSUPPORTED, "a kernel of more than 2^31 work-groups");
        }
    }
    return wf_text_status(&out->source, r->err);
}

weft_status wf_render_create(const wf_allocator *a, const wf_kernel *k,
                             const wf_render_options *options, const wf_render_task *task,
                             wf_render *out_render, weft_error *err)
{
    memset(out_render, 0, sizeof *out_render);
    wf_arena_init(&out_render->memory, a);
    wf_text_init(&out_render->source, a);
    wf_renderer r = {.k = k,
                     .options = options,
                     .task = task,
                     .text = &out_render->source,
                     .out = out_render,
                     .err = err};
    weft_status status = render_into(&r);
    if (status != WEFT_OK)
        wf_render_destroy(out_render);
    return status;
}

void wf_render_destroy(wf_render *render)
{
    wf_text_deinit(&render->source);
    wf_arena_deinit(&render->memory);
    memset(render, 0, sizeof *render);
}
