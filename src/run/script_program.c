// A program node of a script: one program for each set of types it has met lately. Stage: RUN.
#include <string.h>

#include "run/script.h"

static void free_compiled(const weft_script *s, wf_script_compiled *c)
{
    weft_program_destroy(c->program);
    wf_free(&s->arena.allocator, c->types);
    *c = (wf_script_compiled){0};
}

void wf_script_program_deinit(const weft_script *s, wf_script_node *node)
{
    for (size_t i = 0; i < WF_SCRIPT_PROGRAMS; i++) {
        free_compiled(s, &node->compiled[i]);
    }
}

static bool fits(const weft_script *s, const wf_script_node *node, const wf_script_compiled *c)
{
    for (uint32_t i = 0; i < node->reads.n; i++) {
        if (!wf_type_equal(&c->types[i], &s->values[node->reads.v[i]].type))
            return false;
    }
    return true;
}

// The program for the types of now; else a free place, or that of the one which was used longest ago.
static wf_script_compiled *find(const weft_script *s, wf_script_node *node)
{
    wf_script_compiled *oldest = &node->compiled[0];
    for (size_t i = 0; i < WF_SCRIPT_PROGRAMS; i++) {
        wf_script_compiled *c = &node->compiled[i];
        if (c->program && fits(s, node, c))
            return c;
        if (c->used < oldest->used)
            oldest = c;
    }
    return oldest;
}

// Builds the node's graph for the types of now; writes are its outputs by name.
static weft_status build(const weft_script *s, const wf_script_node *node, weft_graph *g,
                         weft_val *vals, weft_error *err)
{
    weft_val *const writes = vals + node->reads.n;
    for (uint32_t i = 0; i < node->reads.n; i++) {
        const wf_script_value *v = &s->values[node->reads.v[i]];
        vals[i] = weft_input(g, v->name, v->type.dtype, v->type.dims, v->type.ndim);
    }
    WEFT_TRY(node->build(node->user, g, vals, writes, err));
    for (uint32_t i = 0; i < node->writes.n; i++) {
        weft_output(g, s->values[node->writes.v[i]].name, writes[i]);
    }
    return weft_graph_status(g, err);
}

static weft_status compile(const weft_script *s, const wf_script_node *node, wf_script_compiled *c,
                           weft_error *err)
{
    const wf_allocator *a = &s->arena.allocator;
    const size_t n = (size_t)node->reads.n + node->writes.n;
    weft_graph *g = NULL;
    weft_val *vals = NULL;
    weft_status status;
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *vals, &vals, err));
    WEFT_TRY_GOTO(wf_alloc(a, n, sizeof *c->types, &c->types, err));
    WEFT_TRY_GOTO(weft_graph_create(s->state->device->context, &g, err));
    WEFT_TRY_GOTO(build(s, node, g, vals, err));
    for (uint32_t i = 0; i < node->reads.n; i++) {
        c->types[i] = s->values[node->reads.v[i]].type;
    }
    for (uint32_t i = node->reads.n; i < n; i++) {
        c->types[i] = weft_val_type(g, vals[i]);
    }
    status = weft_compile(s->state, g, NULL, &c->program, err);
fail:
    wf_free(a, vals);
    weft_graph_destroy(g);
    return status;
}

static weft_status check_reads(const weft_script *s, const wf_script_node *node, weft_error *err)
{
    for (uint32_t i = 0; i < node->reads.n; i++) {
        const wf_script_value *v = &s->values[node->reads.v[i]];
        if (v->type.dtype == WEFT_DTYPE_NONE)
            WEFT_FAIL(err, WEFT_ERR_NAME, "'%s' has no value yet", v->name);
    }
    return WEFT_OK;
}

static weft_status write_inputs(const weft_script *s, const wf_script_node *node,
                                const wf_script_compiled *c, weft_error *err)
{
    for (uint32_t i = 0; i < node->reads.n; i++) {
        const wf_script_value *v = &s->values[node->reads.v[i]];
        WEFT_TRY(weft_program_write(c->program, v->name, v->data, v->size_bytes, err));
    }
    return WEFT_OK;
}

static weft_status read_outputs(weft_script *s, const wf_script_node *node,
                                const wf_script_compiled *c, weft_error *err)
{
    for (uint32_t i = 0; i < node->writes.n; i++) {
        wf_script_value *v = &s->values[node->writes.v[i]];
        WEFT_TRY(wf_script_value_reset(s, v, &c->types[node->reads.n + i], err));
        WEFT_TRY(weft_program_read(c->program, v->name, v->data, v->size_bytes, err));
    }
    return WEFT_OK;
}

weft_status wf_script_program_run(weft_script *s, wf_script_node *node, weft_error *err)
{
    WEFT_TRY(check_reads(s, node, err));
    wf_script_compiled *c = find(s, node);
    if (!c->program || !fits(s, node, c)) {
        free_compiled(s, c);
        const weft_status status = compile(s, node, c, err);
        if (status != WEFT_OK) {
            free_compiled(s, c);
            return status;
        }
    }
    c->used = ++s->n_runs;
    WEFT_TRY(write_inputs(s, node, c, err));
    WEFT_TRY(weft_program_run(c->program, err));
    WEFT_TRY(weft_program_check(c->program, err));
    return read_outputs(s, node, c, err);
}
