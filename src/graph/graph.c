// Building graphs: nodes, values, scopes, outputs, and the sticky first error.
#include "graph/graph.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "graph/op_info.h"

weft_status weft_graph_create(weft_context *ctx, weft_graph **out_graph, weft_error *err)
{
    WEFT_REQUIRE(err, out_graph, "graph: out_graph is NULL");
    *out_graph = NULL;
    WEFT_REQUIRE(err, ctx, "graph: context is NULL");
    weft_graph *g;
    WEFT_TRY(wf_alloc(&ctx->allocator, 1, sizeof *g, &g, err));
    g->context = ctx;
    wf_arena_init(&g->arena, &ctx->allocator);
    g->scopes[0] = "";
    weft_status status = wf_array_reserve(&ctx->allocator, &g->values, &g->values_capacity, 1,
                                          sizeof *g->values, err);
    if (status != WEFT_OK) {
        weft_graph_destroy(g);
        return status;
    }
    memset(&g->values[0], 0, sizeof g->values[0]);
    g->n_values = 1;
    *out_graph = g;
    return WEFT_OK;
}

void weft_graph_destroy(weft_graph *g)
{
    if (!g)
        return;
    wf_allocator a = g->context->allocator;
    for (size_t i = 0; i < g->n_regions; i++)
        weft_graph_destroy(g->regions[i]);
    wf_free(&a, g->regions);
    wf_arena_deinit(&g->arena);
    wf_free(&a, g->nodes);
    wf_free(&a, g->values);
    wf_free(&a, g->outputs);
    wf_free(&a, g);
}

weft_status weft_graph_status(const weft_graph *g, weft_error *err)
{
    WEFT_REQUIRE(err, g, "graph: is NULL");
    if (g->error.code != 0 && err)
        *err = g->error;
    return (weft_status)g->error.code;
}

void weft_graph_set_trap(weft_graph *g, bool trap)
{
    if (g)
        g->trap = trap;
}

weft_graph *weft_graph_at(weft_graph *g, const char *file, int32_t line, int32_t column)
{
    if (g)
        g->place = (wf_place){file, line, column};
    return g;
}

// Records text (without place and op) as the graph's error, unless it has one.
static void record(weft_graph *g, const char *op_name, weft_status code, const char *text)
{
    if (!wf_graph_is_ok(g))
        return;
    char place[300] = "";
    if (g->place.file && g->place.column > 0) {
        snprintf(place, sizeof place, "%s:%d:%d: ", g->place.file, g->place.line, g->place.column);
    } else if (g->place.file) {
        snprintf(place, sizeof place, "%s:%d: ", g->place.file, g->place.line);
    }
    const char *scope = g->scopes[g->scope_depth];
    wf_error_set(&g->error, code, "%s%s%s%s%s%s", place, scope, *scope ? "/" : "",
                 op_name ? op_name : "", op_name ? ": " : "", text);
    if (g->trap)
        WF_TRAP();
}

void wf_graph_fail(weft_graph *g, const wf_op *op, weft_status code, const char *format, ...)
{
    if (!wf_graph_is_ok(g))
        return;
    char text[800];
    va_list args;
    va_start(args, format);
    wf_text_vformat(text, sizeof text, format, args);
    va_end(args);
    record(g, op ? wf_op_name(op) : NULL, code, text);
}

void weft_scope_push(weft_graph *g, const char *name)
{
    if (!wf_graph_is_ok(g))
        return;
    if (!name || !*name || strpbrk(name, "/ \t\n")) {
        wf_graph_fail(g, NULL, WEFT_ERR_NAME,
                      "scope: name \"%s\" is not valid, expected a word without '/' or spaces",
                      name ? name : "");
        return;
    }
    if (g->scope_depth + 1 >= WF_MAX_SCOPE_DEPTH) {
        wf_graph_fail(g, NULL, WEFT_ERR_NAME, "scope: %s is nested deeper than %d", name,
                      WF_MAX_SCOPE_DEPTH);
        return;
    }
    const char *outer = g->scopes[g->scope_depth];
    size_t bytes = strlen(outer) + strlen(name) + 2;
    char *path = wf_arena_take(&g->arena, bytes);
    if (!path) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: scope %s", name);
        return;
    }
    snprintf(path, bytes, "%s%s%s", outer, *outer ? "/" : "", name);
    g->scopes[++g->scope_depth] = path;
}

void weft_scope_pop(weft_graph *g)
{
    if (!wf_graph_is_ok(g))
        return;
    if (g->scope_depth == 0) {
        wf_graph_fail(g, NULL, WEFT_ERR_USAGE, "scope: pop without push");
        return;
    }
    g->scope_depth--;
}

weft_type weft_val_type(const weft_graph *g, weft_val val)
{
    weft_type none = {WEFT_DTYPE_NONE, 0, {0}};
    if (!wf_graph_is_ok(g) || val.id == 0 || val.id >= g->n_values)
        return none;
    return g->values[val.id].type;
}

int64_t weft_val_count(const weft_graph *g, weft_val val)
{
    weft_type t = weft_val_type(g, val);
    return t.dtype == WEFT_DTYPE_NONE ? 0 : wf_type_count(&t);
}

void weft_output(weft_graph *g, const char *name, weft_val val)
{
    if (!wf_graph_is_ok(g) || val.id == 0)
        return;
    if (!name || !*name || val.id >= g->n_values) {
        wf_graph_fail(g, NULL, WEFT_ERR_USAGE, "output: no name, or a value of another graph");
        return;
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        if (!strcmp(g->outputs[i].name, name)) {
            wf_graph_fail(g, NULL, WEFT_ERR_NAME, "output: name %s is taken", name);
            return;
        }
    }
    char *copy = wf_arena_strdup(&g->arena, name);
    if (!copy || wf_array_reserve(&g->context->allocator, &g->outputs, &g->outputs_capacity,
                                  g->n_outputs + 1, sizeof *g->outputs, NULL) != WEFT_OK) {
        wf_graph_fail(g, NULL, WEFT_ERR_MEMORY, "memory: output %s", name);
        return;
    }
    g->outputs[g->n_outputs++] = (wf_output){copy, val.id};
}

static bool copy_region(weft_graph *g, wf_attr *attr)
{
    weft_graph *copy;
    if (wf_array_reserve(&g->context->allocator, &g->regions, &g->regions_capacity,
                         g->n_regions + 1, sizeof(weft_graph *), NULL) != WEFT_OK ||
        wf_graph_clone(attr->u.graph, &copy, NULL) != WEFT_OK) {
        return false;
    }
    g->regions[g->n_regions++] = copy;
    attr->u.graph = copy;
    return true;
}

// Copies what an attribute points at into the graph's arena.
static bool copy_attr(weft_graph *g, wf_attr_kind kind, wf_attr *attr)
{
    if (kind == WF_ATTR_TEXT && attr->u.text) {
        attr->u.text = wf_arena_strdup(&g->arena, attr->u.text);
        return attr->u.text != NULL;
    }
    if (kind == WF_ATTR_GRAPH)
        return copy_region(g, attr);
    if (kind == WF_ATTR_INTS || kind == WF_ATTR_DATA) {
        size_t bytes = kind == WF_ATTR_INTS ? attr->n * sizeof(int64_t) : attr->n;
        void *copy = wf_arena_take(&g->arena, bytes);
        if (!copy)
            return false;
        if (bytes)
            memcpy(copy, attr->u.data, bytes);
        attr->u.data = copy;
    }
    return true;
}

// Room for one node with n_outputs values; nothing is counted yet.
static bool reserve_node(weft_graph *g, size_t n_outputs)
{
    const wf_allocator *a = &g->context->allocator;
    return wf_array_reserve(a, &g->nodes, &g->nodes_capacity, g->n_nodes + 1, sizeof *g->nodes,
                            NULL) == WEFT_OK &&
           wf_array_reserve(a, &g->values, &g->values_capacity, g->n_values + n_outputs,
                            sizeof *g->values, NULL) == WEFT_OK;
}

static bool check_inputs(weft_graph *g, const wf_op *op, const weft_val *inputs, size_t n_inputs)
{
    size_t expected = wf_op_n_inputs(op);
    bool variadic = wf_op_is_variadic(op);
    if (n_inputs < expected || (n_inputs > expected && !variadic)) {
        wf_graph_fail(g, op, WEFT_ERR_USAGE, "%zu operands, expected %zu%s", n_inputs, expected,
                      variadic ? " or more" : "");
        return false;
    }
    for (size_t i = 0; i < n_inputs; i++) {
        if (inputs[i].id >= g->n_values) {
            wf_graph_fail(g, op, WEFT_ERR_USAGE, "operand %zu is a value of another graph", i);
            return false;
        }
    }
    return true;
}

// Dimensions that infer must never produce: negative, or a count that overflows.
static bool check_type(weft_graph *g, const wf_op *op, const weft_type *t)
{
    int64_t count = 1;
    char text[WF_TYPE_TEXT];
    for (int32_t i = 0; i < t->ndim; i++) {
        if (t->dims[i] < 0 || (t->dims[i] > 0 && count > INT64_MAX / 16 / t->dims[i])) {
            wf_graph_fail(g, op, WEFT_ERR_SHAPE, "result %s is too large or negative",
                          wf_type_text(t, text));
            return false;
        }
        count *= t->dims[i] ? t->dims[i] : 1;
    }
    return true;
}

weft_val wf_graph_add(weft_graph *g, const wf_op *op, const weft_val *inputs, size_t n_inputs,
                      const wf_attr *attrs)
{
    if (!wf_graph_is_ok(g))
        return WEFT_NONE;
    for (size_t i = 0; i < n_inputs; i++) {
        if (inputs[i].id == 0)
            return WEFT_NONE;
    }
    if (!check_inputs(g, op, inputs, n_inputs))
        return WEFT_NONE;

    size_t n_attrs = wf_op_n_attrs(op);
    wf_id *ids = wf_arena_take(&g->arena, n_inputs * sizeof *ids);
    weft_type *in_types = wf_arena_take(&g->arena, n_inputs * sizeof *in_types);
    wf_attr *attr_copy = wf_arena_take(&g->arena, n_attrs * sizeof *attr_copy);
    bool is_enough = ids && in_types && attr_copy;
    for (size_t i = 0; is_enough && i < n_attrs; i++) {
        attr_copy[i] = attrs[i];
        is_enough = copy_attr(g, wf_op_attr_kind(op, i), &attr_copy[i]);
    }
    const uint32_t n_outputs = is_enough ? wf_op_n_outputs(op, attr_copy) : 0;
    is_enough = is_enough && reserve_node(g, n_outputs);
    if (!is_enough) {
        wf_graph_fail(g, op, WEFT_ERR_MEMORY, "memory for a node is not available");
        return WEFT_NONE;
    }
    for (size_t i = 0; i < n_inputs; i++) {
        ids[i] = inputs[i].id;
        in_types[i] = g->values[inputs[i].id].type;
    }

    weft_type out_types[WF_OP_OUTPUT_LIMIT];
    memset(out_types, 0, sizeof out_types);
    weft_error infer_err = {0};
    weft_status status = wf_op_infer(op, in_types, n_inputs, attr_copy, out_types, &infer_err);
    if (status != WEFT_OK) {
        record(g, wf_op_name(op), status, infer_err.message);
        return WEFT_NONE;
    }
    // infer may have filled in attributes from memory of its own.
    for (size_t i = 0; i < n_attrs; i++) {
        if (attr_copy[i].u.text != (attrs ? attrs[i].u.text : NULL) &&
            wf_op_attr_kind(op, i) == WF_ATTR_TEXT) {
            copy_attr(g, WF_ATTR_TEXT, &attr_copy[i]);
        }
    }
    for (uint32_t i = 0; i < n_outputs; i++) {
        if (!check_type(g, op, &out_types[i]))
            return WEFT_NONE;
    }

    uint32_t node_idx = (uint32_t)g->n_nodes;
    wf_id first = (wf_id)g->n_values;
    g->nodes[g->n_nodes++] = (wf_node){op,        (uint32_t)n_inputs,        n_outputs, ids, first,
                                       attr_copy, g->scopes[g->scope_depth], g->place};
    for (uint32_t i = 0; i < n_outputs; i++) {
        g->values[g->n_values++] = (wf_value){node_idx, i, out_types[i]};
    }
    return (weft_val){first};
}

wf_attr *wf_node_region(const wf_node *node)
{
    for (size_t i = 0; i < wf_op_n_attrs(node->op); i++) {
        if (wf_op_attr_kind(node->op, i) == WF_ATTR_GRAPH)
            return &node->attrs[i];
    }
    return NULL;
}
