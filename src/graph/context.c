// The context: allocator, log hook, and the ops by name.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "graph/graph.h"
#include "graph/registry.h"

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)

const char *weft_version(void)
{
    return STRINGIFY(WEFT_VERSION_MAJOR) "." STRINGIFY(WEFT_VERSION_MINOR) "." STRINGIFY(
        WEFT_VERSION_PATCH);
}

weft_status weft_context_create(const weft_context_options *options, weft_context **out_context,
                                weft_error *err)
{
    WEFT_REQUIRE(err, out_context, "context: out_context is NULL");
    *out_context = NULL;
    wf_allocator a = wf_allocator_default();
    if (options) {
        WEFT_REQUIRE(err, options->struct_size == sizeof *options,
                     "context: struct_size is %zu, expected %zu", options->struct_size,
                     sizeof *options);
        if (options->reallocate) {
            a.reallocate = options->reallocate;
            a.user = options->reallocate_user;
        }
    }
    weft_context *ctx;
    WEFT_TRY(wf_alloc(&a, 1, sizeof *ctx, &ctx, err));
    ctx->allocator = a;
    wf_arena_init(&ctx->own_ops, &a);
    ctx->log = options ? options->log : NULL;
    ctx->log_user = options ? options->log_user : NULL;
    weft_status status = wf_registry_fill(ctx, err);
    if (status != WEFT_OK) {
        weft_context_destroy(ctx);
        return status;
    }
    *out_context = ctx;
    return WEFT_OK;
}

void weft_context_destroy(weft_context *ctx)
{
    if (!ctx)
        return;
    wf_allocator a = ctx->allocator;
    wf_arena_deinit(&ctx->own_ops);
    wf_free(&a, ctx->ops);
    wf_free(&a, ctx);
}

void wf_context_log(const weft_context *ctx, weft_log_level level, const char *format, ...)
{
    if (!ctx->log)
        return;
    char line[2048];
    va_list args;
    va_start(args, format);
    wf_text_vformat(line, sizeof line, format, args);
    va_end(args);
    ctx->log(ctx->log_user, level, line);
}
