// First values of variables: what weft_variable's `init` describes, computed on the device, so that they
// have the same bits everywhere.
#include <string.h>

#include "run/run_internal.h"

enum { ATTR_NAME, ATTR_INIT }; // of a variable: see op/variable.c

// The graph of one first value. Everything up to it is copied; the pass `dead` takes the rest away.
static weft_status copy_init(const weft_graph *graph, wf_id init, weft_graph **out, weft_error *err)
{
    wf_rewrite rw;
    *out = NULL;
    WEFT_TRY(wf_rewrite_init(&rw, graph, err));
    const uint32_t last = wf_graph_value(graph, init)->node;
    for (uint32_t n = 0; n <= last; n++) {
        if (!(graph->nodes[n].op->flags & WF_OP_EFFECT))
            wf_rewrite_copy(&rw, n);
    }
    weft_output(rw.dst, "init", wf_rewrite_get(&rw, init));
    wf_free(&graph->context->allocator, rw.map);
    *out = rw.dst;
    return WEFT_OK;
}

static weft_status run_init(weft_state *state, const weft_graph *g, void *data, size_t bytes,
                            weft_error *err)
{
    weft_program *program;
    WEFT_TRY(weft_compile(state, g, NULL, &program, err));
    weft_status status = weft_program_run(program, err);
    if (status == WEFT_OK)
        status = weft_program_read(program, "init", data, bytes, err);
    weft_program_destroy(program);
    return status;
}

static weft_status initialise(weft_state *state, const weft_graph *graph, const wf_node *node,
                              weft_error *err)
{
    const wf_allocator *a = &graph->context->allocator;
    const char *name = node->attrs[ATTR_NAME].u.text;
    const weft_type *type = wf_graph_type(graph, node->first_output);
    const wf_id init = (wf_id)node->attrs[ATTR_INIT].u.i;
    const size_t bytes = (size_t)wf_type_count(type) * weft_dtype_size(type->dtype);
    weft_graph *g = NULL;
    void *data = NULL;
    if (init == 0) {
        WEFT_FAIL(err, WEFT_ERR_NAME, "variable %s is not in the state and has no first value",
                  name);
    }
    WEFT_TRY(wf_alloc(a, bytes, 1, &data, err));
    weft_status status = copy_init(graph, init, &g, err);
    if (status == WEFT_OK)
        status = run_init(state, g, data, bytes, err);
    if (status == WEFT_OK)
        status = weft_state_write(state, name, type, data, bytes, err);
    weft_graph_destroy(g);
    wf_free(a, data);
    return status;
}

static const wf_node *find_variable(const weft_graph *graph, const char *name)
{
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const wf_node *node = &graph->nodes[n];
        const bool is_variable = (node->op->flags & WF_OP_SOURCE) &&
                                 node->op->n_attrs > ATTR_INIT &&
                                 node->op->attrs[ATTR_NAME].kind == WF_ATTR_TEXT &&
                                 node->op->attrs[ATTR_INIT].kind == WF_ATTR_INT;
        if (is_variable && !strcmp(node->attrs[ATTR_NAME].u.text, name))
            return node;
    }
    return NULL;
}

weft_status wf_state_prepare(weft_state *state, const weft_graph *graph, const wf_plan *plan,
                             weft_error *err)
{
    for (size_t i = 0; i < plan->n_variables; i++) {
        const wf_plan_binding *b = &plan->variables[i];
        const wf_variable *v = wf_state_find(state, b->name);
        char have[WF_TYPE_TEXT], want[WF_TYPE_TEXT];
        if (v && !wf_type_equal(&v->type, &b->view.type)) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "variable %s is %s in the state, %s in the graph",
                      b->name, wf_type_text(&v->type, have), wf_type_text(&b->view.type, want));
        }
        if (v)
            continue;
        const wf_node *node = find_variable(graph, b->name);
        WEFT_ASSERT(node);
        WEFT_TRY(initialise(state, graph, node, err));
    }
    return WEFT_OK;
}
