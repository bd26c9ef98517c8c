// The pipeline: graph -> passes -> plan -> program, one call per stage, each followed by a verifier,
// an optional dump and a timing.
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "pass/pass.h"
#include "run/run_internal.h"

typedef struct {
    weft_state *state;
    weft_context *ctx;
    const weft_compile_options *options;
    weft_error *err;
} compiler;

// Logs the text of a stage, line by line, when --dump asks for it. Frees it.
static void dump_text(const compiler *c, const char *stage, char *text)
{
    wf_context_log(c->ctx, WEFT_LOG_INFO, "---- %s", stage);
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        wf_context_log(c->ctx, WEFT_LOG_INFO, "%s", line);
        line = end ? end + 1 : NULL;
    }
    weft_text_free(c->ctx, text);
}

static bool wants_dump(const compiler *c, const char *stage)
{
    return c->options->dump && !strcmp(c->options->dump, stage);
}

static weft_status dump_graph(const compiler *c, const char *stage, const weft_graph *g)
{
    char *text;
    if (!wants_dump(c, stage))
        return WEFT_OK;
    WEFT_TRY(weft_graph_print(g, &text, c->err));
    dump_text(c, stage, text);
    return WEFT_OK;
}

// Runs all passes; *out_graph is a new graph, src stays as it is.
static weft_status run_passes(const compiler *c, const weft_graph *src, weft_graph **out_graph)
{
    const weft_graph *current = src;
    weft_graph *owned = NULL, *next = NULL;
    weft_status status = WEFT_OK;
    *out_graph = NULL;
    for (size_t i = 0; i < wf_n_passes && status == WEFT_OK; i++) {
        char stage[64];
        const uint64_t start_ns = wf_clock_ns();
        snprintf(stage, sizeof stage, "pass:%s", wf_pass_list[i]->name);
        status = wf_pass_run(wf_pass_list[i], current, &next, c->err);
        if (status == WEFT_OK) {
            weft_graph_destroy(owned);
            current = owned = next;
            status = wf_graph_verify(owned, c->err);
        }
        if (status != WEFT_OK) {
            wf_error_prefix(c->err, "pass %s", wf_pass_list[i]->name);
            break;
        }
        wf_context_log(c->ctx, WEFT_LOG_DEBUG, "%s: %zu nodes, %.2f ms", stage, owned->n_nodes,
                       (double)(wf_clock_ns() - start_ns) * 1e-6);
        status = dump_graph(c, stage, owned);
    }
    if (status != WEFT_OK) {
        weft_graph_destroy(owned);
        return status;
    }
    *out_graph = owned;
    return WEFT_OK;
}

static weft_status make_plan(const compiler *c, const weft_graph *src, wf_plan **out_plan)
{
    weft_graph *g;
    *out_plan = NULL;
    WEFT_TRY(run_passes(c, src, &g));
    wf_plan_options options = wf_device_plan_options(c->state->device);
    if (c->options->memory_limit_bytes)
        options.keeps_workspace = NULL; // it saves time, not memory
    const uint64_t start_ns = wf_clock_ns();
    WEFT_TRY(wf_plan_create(c->ctx, g, &options, out_plan, c->err));
    weft_status status = wf_plan_check(*out_plan, &options, c->err);
    wf_context_log(c->ctx, WEFT_LOG_DEBUG, "plan: %zu tasks, arena %zu bytes, %.2f ms",
                   (*out_plan)->n_tasks, (*out_plan)->arena_bytes,
                   (double)(wf_clock_ns() - start_ns) * 1e-6);
    if (status == WEFT_OK && wants_dump(c, "plan")) {
        char *text;
        status = wf_plan_print(c->ctx, *out_plan, &text, c->err);
        if (status == WEFT_OK)
            dump_text(c, "plan", text);
    }
    if (status != WEFT_OK) {
        wf_plan_destroy(*out_plan);
        *out_plan = NULL;
    }
    return status;
}

static weft_status check_limit(const compiler *c, const wf_plan *plan)
{
    const uint64_t limit = c->options->memory_limit_bytes;
    const uint64_t need = plan->arena_bytes + plan->constant_bytes + plan->variable_bytes +
                          c->state->device->caps.program_bytes;
    if (limit && need > limit) {
        WEFT_FAIL(c->err, WEFT_ERR_MEMORY, "plan: needs %llu bytes, the limit is %llu",
                  (unsigned long long)need, (unsigned long long)limit);
    }
    return WEFT_OK;
}

static weft_status compile_graph(const compiler *c, const weft_graph *graph,
                                 weft_program **out_program)
{
    wf_plan *plan;
    WEFT_TRY(dump_graph(c, "graph", graph));
    WEFT_TRY(make_plan(c, graph, &plan));
    weft_status status = check_limit(c, plan);
    if (status == WEFT_OK)
        status = wf_state_prepare(c->state, graph, plan, c->err);
    if (status != WEFT_OK) {
        wf_plan_destroy(plan);
        return status;
    }
    const uint64_t start_ns = wf_clock_ns();
    WEFT_TRY(wf_program_create(c->state, plan, out_program, c->err));
    wf_context_log(c->ctx, WEFT_LOG_DEBUG, "program: %.2f ms",
                   (double)(wf_clock_ns() - start_ns) * 1e-6);
    return WEFT_OK;
}

weft_status wf_compile_plan(weft_state *state, const weft_graph *graph, wf_plan **out_plan,
                            weft_error *err)
{
    static const weft_compile_options defaults = WEFT_COMPILE_OPTIONS_INIT;
    *out_plan = NULL;
    WEFT_TRY(weft_graph_status(graph, err));
    const compiler c = {state, state->device->context, &defaults, err};
    return make_plan(&c, graph, out_plan);
}

weft_status weft_compile(weft_state *state, const weft_graph *graph,
                         const weft_compile_options *options, weft_program **out_program,
                         weft_error *err)
{
    static const weft_compile_options defaults = WEFT_COMPILE_OPTIONS_INIT;
    WEFT_REQUIRE(err, state && graph && out_program, "compile: without state or graph");
    *out_program = NULL;
    if (!options)
        options = &defaults;
    WEFT_REQUIRE(err, options->struct_size == sizeof *options,
                 "compile: struct_size is %zu, expected %zu", options->struct_size,
                 sizeof *options);
    WEFT_TRY(weft_graph_status(graph, err));
    const compiler c = {state, state->device->context, options, err};
    return compile_graph(&c, graph, out_program);
}
