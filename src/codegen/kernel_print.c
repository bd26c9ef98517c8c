// The kernel IR as text, one instruction a line, and its counts of points. Stage: PLAN.
#include <inttypes.h>

#include "base/text.h"
#include "codegen/kernel.h"

static int64_t count_points(const wf_kernel *k, bool is_inner)
{
    int64_t n = 1;
    for (int32_t i = 0; i < k->ndim; i++) {
        if ((k->kind != WF_KERNEL_MAP && k->is_inner[i]) == is_inner)
            n *= k->dims[i];
    }
    return n;
}

int64_t wf_kernel_outer(const wf_kernel *k)
{
    return count_points(k, false);
}

int64_t wf_kernel_inner(const wf_kernel *k)
{
    return count_points(k, true);
}

static const char *const kernel_names[] = {"map", "row", "column"};
static const char *const reduce_names[] = {"sum", "max", "min", "argmax", "moments"};
static const char *const random_names[] = {"bits", "uniform", "normal"};

static void print_access(wf_text *t, const wf_kernel *k, const char *what, size_t i,
                         const wf_access *a)
{
    wf_text_printf(t, "  %s%zu %s offset %" PRId64 " strides [", what, i, weft_dtype_name(a->dtype),
                   a->offset);
    for (int32_t d = 0; d < k->ndim; d++) {
        wf_text_printf(t, "%s%" PRId64, d ? "," : "", a->strides[d]);
    }
    wf_text_append(t, "]\n");
}

static void print_args(wf_text *t, const wf_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_args; i++) {
        wf_text_printf(t, "%sv%u", i ? ", " : " ", inst->args[i]);
    }
}

static void print_inst(wf_text *t, size_t i, const wf_inst *inst)
{
    if (inst->kind == WF_INST_STORE) {
        wf_text_printf(t, "  out%u =", inst->operand);
        print_args(t, inst);
        wf_text_append(t, inst->is_outer ? " (outer)\n" : "\n");
        return;
    }
    wf_text_printf(t, "  v%zu %s =", i, weft_dtype_name(inst->dtype));
    switch (inst->kind) {
    case WF_INST_LOAD: wf_text_printf(t, " in%u", inst->operand); break;
    case WF_INST_CONST: wf_text_printf(t, " bits 0x%" PRIx64, inst->bits); break;
    case WF_INST_IOTA:
        wf_text_printf(t, " iota axis %d from %" PRId64, inst->axis, (int64_t)inst->bits);
        break;
    case WF_INST_RANDOM:
        wf_text_printf(t, " random_%s stream %u", random_names[inst->random], inst->stream);
        break;
    case WF_INST_APPLY: wf_text_printf(t, " %s", inst->op->name); break;
    case WF_INST_CAST: wf_text_append(t, " cast"); break;
    case WF_INST_SELECT: wf_text_append(t, " select"); break;
    case WF_INST_REDUCE: wf_text_printf(t, " reduce_%s", reduce_names[inst->reduce]); break;
    case WF_INST_SECOND: wf_text_append(t, " second"); break;
    case WF_INST_STORE: break;
    }
    print_args(t, inst);
    if (inst->is_outer)
        wf_text_append(t, " (outer)");
    if (inst->level)
        wf_text_printf(t, " level %d", inst->level);
    wf_text_append_char(t, '\n');
}

weft_status wf_kernel_print(weft_context *ctx, const wf_kernel *k, char **out_text, weft_error *err)
{
    *out_text = NULL;
    wf_text t;
    wf_text_init(&t, &ctx->allocator);
    wf_text_printf(&t, "%s [", kernel_names[k->kind]);
    for (int32_t d = 0; d < k->ndim; d++) {
        bool is_inner = k->kind != WF_KERNEL_MAP && k->is_inner[d];
        wf_text_printf(&t, "%s%s%" PRId64, d ? "," : "", is_inner ? "/" : "", k->dims[d]);
    }
    wf_text_append(&t, "]\n");
    for (size_t i = 0; i < k->n_inputs; i++)
        print_access(&t, k, "in", i, &k->inputs[i]);
    for (size_t i = 0; i < k->n_outputs; i++)
        print_access(&t, k, "out", i, &k->outputs[i]);
    for (size_t i = 0; i < k->n_insts; i++)
        print_inst(&t, i, &k->insts[i]);
    weft_status status = wf_text_status(&t, err);
    if (status != WEFT_OK) {
        wf_text_deinit(&t);
        return status;
    }
    // An empty text has no memory yet; a kernel never prints as one.
    *out_text = t.data;
    return WEFT_OK;
}
