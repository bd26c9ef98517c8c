// A plan as text: buffers with place and lifetime, tasks with operands and cost.
#include <inttypes.h>

#include "plan/plan.h"

static const char *const kind_names[WF_N_TASK_KINDS] = {
    [WF_TASK_NONE] = "none",           [WF_TASK_MAP] = "map",           [WF_TASK_ROW] = "row",
    [WF_TASK_COLUMN] = "column",       [WF_TASK_CONTRACT] = "contract", [WF_TASK_CONV] = "conv",
    [WF_TASK_WINDOW] = "window",       [WF_TASK_INDEX] = "index",       [WF_TASK_GUARD] = "guard",
    [WF_TASK_ATTENTION] = "attention", [WF_TASK_ORDER] = "order",       [WF_TASK_CALL] = "call",
    [WF_TASK_CHAIN] = "chain"};

const char *wf_task_kind_name(wf_task_kind kind)
{
    return kind_names[kind];
}

void wf_task_write_name(wf_text *text, const wf_task *task)
{
    const wf_node *node = task->node;
    wf_text_printf(text, "%s%s%s", node ? node->scope : "", node && *node->scope ? "/" : "",
                   node ? node->op->name : "copy");
}

static const char *const buffer_names[] = {[WF_BUFFER_ARENA] = "arena",
                                           [WF_BUFFER_INPUT] = "input",
                                           [WF_BUFFER_OUTPUT] = "output",
                                           [WF_BUFFER_CONSTANT] = "constant",
                                           [WF_BUFFER_VARIABLE] = "variable"};

static void print_views(wf_text *t, const wf_view *views, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char type[WF_TYPE_TEXT];
        wf_text_printf(t, "%s#%u:%s", i ? ", " : "", views[i].buffer,
                       wf_type_text(&views[i].type, type));
        if (!wf_view_is_dense(&views[i]))
            wf_text_append(t, "/strided");
    }
}

weft_status wf_plan_print(weft_context *ctx, const wf_plan *plan, char **out_text, weft_error *err)
{
    wf_text t;
    *out_text = NULL;
    wf_text_init(&t, &ctx->allocator);
    wf_text_printf(&t, "arena %zu bytes, constants %zu, variables %zu\n", plan->arena_bytes,
                   plan->constant_bytes, plan->variable_bytes);
    for (size_t i = 0; i < plan->n_buffers; i++) {
        const wf_buffer *b = &plan->buffers[i];
        wf_text_printf(&t, "#%zu %s %zu bytes at %zu, tasks %u..", i, buffer_names[b->kind],
                       b->size_bytes, b->offset_bytes, b->first_task);
        if (b->last_task == WF_NO_INDEX) {
            wf_text_append(&t, "end\n");
        } else {
            wf_text_printf(&t, "%u\n", b->last_task);
        }
    }
    for (size_t i = 0; i < plan->n_tasks; i++) {
        const wf_task *task = &plan->tasks[i];
        wf_text_printf(&t, "%zu %s%s ", i, wf_task_kind_name(task->kind),
                       task->is_gated ? " gated" : "");
        wf_task_write_name(&t, task);
        wf_text_append(&t, "(");
        print_views(&t, task->inputs, task->n_inputs);
        wf_text_append(&t, ") -> ");
        print_views(&t, task->outputs, task->n_outputs);
        wf_text_printf(&t, "  %zu nodes%s, %.3g flops, %.3g bytes\n", task->n_nodes,
                       task->epilogue ? " with epilogue" : "", task->cost.flops, task->cost.bytes);
    }
    weft_status status = wf_text_status(&t, err);
    if (status != WEFT_OK) {
        wf_text_deinit(&t);
        return status;
    }
    *out_text = t.data;
    return WEFT_OK;
}
