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
static void dump_text(const compiler *c, const char *stage, char *text) {
    wf_context_log(c->ctx, WEFT_LOG_INFO, "---- %s", stage);
    for (char *line = text; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        wf_context_log(c->ctx, WEFT_LOG_INFO, "%s", line);
        line = end ? end + 1 : NULL;
    }
    weft_text_free(c->ctx, text);
}

static bool wants_dump(const compiler *c, const char *stage) {
    return c->options->dump && !strcmp(c->options->dump, stage);
}

static weft_status dump_graph(const compiler *c, const char *stage, const weft_graph *g) {
    char *text;
    if (!wants_dump(c, stage)) return WEFT_OK;
    WEFT_TRY(weft_graph_print(g, &text, c->err));
    dump_text(c, stage, text);
    return WEFT_OK;
}

// Runs all passes; *out_graph is a new graph, src stays as it is.
static weft_status run_passes(const compiler *c, const weft_graph *src, weft_graph **out_graph) {
    const weft_graph *current = src;
    weft_graph *owned = NULL, *next = NULL;
    weft_status status = WEFT_OK;
    *out_graph = NULL;
    for (size_t i = 0; i < wf_n_passes && status == WEFT_OK; i++) {
        char stage[64];
        const uint64_t start_ns = wf_clock_ns();
        snprintf(stage, sizeof stage, "pass:%s", wf_pass_list[i]->name);
        status = wf_pass_list[i]->run(current, &next, c->err);
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

static weft_status make_plan(const compiler *c, const weft_graph *src, wf_plan **out_plan) {
    weft_graph *g;
    *out_plan = NULL;
    WEFT_TRY(run_passes(c, src, &g));
    const wf_plan_options options = wf_device_plan_options(c->state->device);
    const uint64_t start_ns = wf_clock_ns();
    WEFT_TRY(wf_plan_create(c->ctx, g, &options, out_plan, c->err));
    weft_status status = wf_plan_check(*out_plan, &options, c->err);
    wf_context_log(c->ctx, WEFT_LOG_DEBUG, "plan: %zu tasks, arena %zu bytes, %.2f ms",
           (*out_plan)->n_tasks, (*out_plan)->arena_bytes,
           (double)(wf_clock_ns() - start_ns) * 1e-6);
    if (status == WEFT_OK && wants_dump(c, "plan")) {
        char *text;
        status = wf_plan_print(c->ctx, *out_plan, &text, c->err);
        if (status == WEFT_OK) dump_text(c, "plan", text);
    }
    if (status != WEFT_OK) {
        wf_plan_destroy(*out_plan);
        *out_plan = NULL;
    }
    return status;
}

static weft_status compile_graph(const compiler *c, const weft_graph *graph,
                                 weft_program **out_program);

// The first value of a variable, computed on the device by a program of its own.
static weft_status initialise(const compiler *c, const weft_graph *graph, const wf_node *node) {
    const char *name = node->attrs[0].u.text;
    const weft_type *type = wf_graph_type(graph, node->first_output);
    const wf_id init = (wf_id)node->attrs[1].u.i;
    const size_t bytes = (size_t)wf_type_count(type) * weft_dtype_size(type->dtype);
    if (init == 0) {
        WEFT_FAIL(c->err, WEFT_ERR_NAME, "variable %s is not in the state and has no first value",
                  name);
    }
    wf_rewrite rw;
    weft_graph *g = NULL;
    weft_program *program = NULL;
    void *data = NULL;
    const wf_allocator *a = &c->ctx->allocator;
    WEFT_TRY(wf_rewrite_init(&rw, graph, c->err));
    // Copying everything up to the first value is enough: pass `dead` takes the rest away.
    const uint32_t last = wf_graph_value(graph, init)->node;
    for (uint32_t n = 0; n <= last; n++) {
        if (!(graph->nodes[n].op->flags & WF_OP_EFFECT)) wf_rewrite_copy(&rw, n);
    }
    g = rw.dst;
    weft_output(g, "init", wf_rewrite_get(&rw, init));
    wf_free(a, rw.map);
    weft_status status = weft_graph_status(g, c->err);
    if (status == WEFT_OK) status = compile_graph(c, g, &program);
    if (status == WEFT_OK) status = weft_program_run(program, c->err);
    if (status == WEFT_OK) status = wf_alloc(a, bytes, 1, &data, c->err);
    if (status == WEFT_OK) status = weft_program_read(program, "init", data, bytes, c->err);
    weft_program_destroy(program);
    if (status == WEFT_OK) {
        status = weft_state_write(c->state, name, type, data, bytes, c->err);
    }
    wf_free(a, data);
    weft_graph_destroy(g);
    return status;
}

static bool is_variable(const wf_node *node) {
    return (node->op->flags & WF_OP_SOURCE) && node->op->n_attrs > 1 &&
           node->op->attrs[0].kind == WF_ATTR_TEXT && node->op->attrs[1].kind == WF_ATTR_INT;
}

// Variables of the plan that the state lacks get their first values; the others must agree.
static weft_status prepare_variables(const compiler *c, const weft_graph *graph,
                                     const wf_plan *plan) {
    for (size_t i = 0; i < plan->n_variables; i++) {
        const wf_plan_binding *b = &plan->variables[i];
        const wf_variable *v = wf_state_find(c->state, b->name);
        char have[WF_TYPE_TEXT], want[WF_TYPE_TEXT];
        if (v && !wf_type_equal(&v->type, &b->view.type)) {
            WEFT_FAIL(c->err, WEFT_ERR_SHAPE, "variable %s is %s in the state, %s in the graph",
                      b->name, wf_type_text(&v->type, have), wf_type_text(&b->view.type, want));
        }
        for (size_t n = 0; !v && n < graph->n_nodes; n++) {
            if (is_variable(&graph->nodes[n]) && !strcmp(graph->nodes[n].attrs[0].u.text, b->name)) {
                WEFT_TRY(initialise(c, graph, &graph->nodes[n]));
                break;
            }
        }
    }
    return WEFT_OK;
}

static weft_status check_limit(const compiler *c, const wf_plan *plan) {
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
                                 weft_program **out_program) {
    wf_plan *plan;
    WEFT_TRY(dump_graph(c, "graph", graph));
    WEFT_TRY(make_plan(c, graph, &plan));
    weft_status status = check_limit(c, plan);
    if (status == WEFT_OK) status = prepare_variables(c, graph, plan);
    if (status != WEFT_OK) {
        wf_plan_destroy(plan);
        return status;
    }
    const uint64_t start_ns = wf_clock_ns();
    WEFT_TRY(wf_program_create(c->state, plan, out_program, c->err));
    wf_context_log(c->ctx, WEFT_LOG_DEBUG, "program: %.2f ms", (double)(wf_clock_ns() - start_ns) * 1e-6);
    return WEFT_OK;
}

weft_status wf_compile_plan(weft_state *state, const weft_graph *graph, wf_plan **out_plan,
                            weft_error *err) {
    static const weft_compile_options defaults = WEFT_COMPILE_OPTIONS_INIT;
    *out_plan = NULL;
    WEFT_TRY(weft_graph_status(graph, err));
    const compiler c = {state, state->device->context, &defaults, err};
    return make_plan(&c, graph, out_plan);
}

weft_status weft_compile(weft_state *state, const weft_graph *graph,
                         const weft_compile_options *options, weft_program **out_program,
                         weft_error *err) {
    static const weft_compile_options defaults = WEFT_COMPILE_OPTIONS_INIT;
    WEFT_REQUIRE(err, state && graph && out_program, "compile: without state or graph");
    *out_program = NULL;
    if (!options) options = &defaults;
    WEFT_REQUIRE(err, options->struct_size == sizeof *options,
                 "compile: struct_size is %zu, expected %zu", options->struct_size,
                 sizeof *options);
    WEFT_TRY(weft_graph_status(graph, err));
    const compiler c = {state, state->device->context, options, err};
    return compile_graph(&c, graph, out_program);
}
