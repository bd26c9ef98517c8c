// Fills a context with the ops of this folder; the list is made from its file names.
#include <string.h>

#include "graph/registry.h"
#include "op/op.h"

#define WF_OP(name) extern const wf_op wf_op_##name;
#include "weft_generated/op_list.inc"
#undef WF_OP

static const wf_op *const built_in_ops[] = {
#define WF_OP(name) &wf_op_##name,
#include "weft_generated/op_list.inc"
#undef WF_OP
};

const wf_op *wf_op_find(const weft_context *ctx, const char *name)
{
    for (size_t i = 0; i < ctx->n_ops; i++) {
        if (!strcmp(ctx->ops[i]->name, name))
            return ctx->ops[i];
    }
    return NULL;
}

weft_status wf_registry_add(weft_context *ctx, const wf_op *op, weft_error *err)
{
    if (wf_op_find(ctx, op->name))
        WEFT_FAIL(err, WEFT_ERR_NAME, "op %s: name is taken", op->name);
    WEFT_TRY(wf_array_reserve(&ctx->allocator, &ctx->ops, &ctx->ops_capacity, ctx->n_ops + 1,
                              sizeof *ctx->ops, err));
    ctx->ops[ctx->n_ops++] = op;
    return WEFT_OK;
}

weft_status wf_registry_fill(weft_context *ctx, weft_error *err)
{
    for (size_t i = 0; i < WF_COUNT_OF(built_in_ops); i++) {
        WEFT_TRY(wf_registry_add(ctx, built_in_ops[i], err));
    }
    return WEFT_OK;
}
