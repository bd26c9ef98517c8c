// Running a script: one node after the other, blocks by the value of their scalar. Stage: RUN.
#include "run/script.h"

static weft_status run_range(weft_script *s, uint32_t first, uint32_t last, weft_error *err)
{
    for (uint32_t at = first; at < last;) {
        WEFT_TRY(s->nodes[at].kind->run(s, at, &at, err));
    }
    return WEFT_OK;
}

// The error of this node itself, not of one inside it.
static weft_status blame(const wf_script_node *node, weft_status status, weft_error *err)
{
    if (status != WEFT_OK)
        wf_error_prefix(err, "script: %s %s", node->kind->name, node->name);
    return status;
}

static weft_status run_program(weft_script *s, uint32_t at, uint32_t *out_next, weft_error *err)
{
    *out_next = at + 1;
    return blame(&s->nodes[at], wf_script_program_run(s, &s->nodes[at], err), err);
}

static weft_status call_host(weft_script *s, const wf_script_node *node, weft_error *err)
{
    s->running = node;
    const weft_status status = node->function(node->user, s, err);
    s->running = NULL;
    WEFT_TRY(status);
    for (uint32_t i = 0; i < node->writes.n; i++) {
        const wf_script_value *v = &s->values[node->writes.v[i]];
        if (v->type.dtype == WEFT_DTYPE_NONE)
            WEFT_FAIL(err, WEFT_ERR_NAME, "it did not write '%s'", v->name);
    }
    return WEFT_OK;
}

static weft_status run_host(weft_script *s, uint32_t at, uint32_t *out_next, weft_error *err)
{
    *out_next = at + 1;
    return blame(&s->nodes[at], call_host(s, &s->nodes[at], err), err);
}

// The scalar that a block goes by.
static weft_status block_number(const weft_script *s, const wf_script_node *node, int64_t *out,
                                weft_error *err)
{
    return blame(node, wf_script_value_number(&s->values[node->reads.v[0]], out, err), err);
}

static weft_status run_if(weft_script *s, uint32_t at, uint32_t *out_next, weft_error *err)
{
    const uint32_t behind = s->nodes[at].behind;
    const bool has_else = behind < s->n_nodes && s->nodes[behind].kind == &wf_script_kind_else;
    const uint32_t end = has_else ? s->nodes[behind].behind : behind;
    int64_t condition;
    WEFT_TRY(block_number(s, &s->nodes[at], &condition, err));
    *out_next = end;
    if (condition)
        return run_range(s, at + 1, behind, err);
    return has_else ? run_range(s, behind + 1, end, err) : WEFT_OK;
}

static weft_status run_loop(weft_script *s, uint32_t at, uint32_t *out_next, weft_error *err)
{
    static const weft_type scalar = {.dtype = WEFT_I64};
    const wf_script_node *node = &s->nodes[at];
    int64_t count;
    *out_next = node->behind;
    WEFT_TRY(block_number(s, node, &count, err));
    for (int64_t i = 0; i < count; i++) {
        wf_script_value *round = &s->values[node->writes.v[0]];
        WEFT_TRY(wf_script_value_reset(s, round, &scalar, err));
        *(int64_t *)round->data = i;
        WEFT_TRY(run_range(s, at + 1, node->behind, err));
    }
    return WEFT_OK;
}

static weft_status run_while(weft_script *s, uint32_t at, uint32_t *out_next, weft_error *err)
{
    const wf_script_node *node = &s->nodes[at];
    *out_next = node->behind;
    for (;;) {
        int64_t condition;
        WEFT_TRY(block_number(s, node, &condition, err));
        if (!condition)
            return WEFT_OK;
        WEFT_TRY(run_range(s, at + 1, node->behind, err));
    }
}

const wf_script_kind wf_script_kind_program = {"program", false, run_program};
const wf_script_kind wf_script_kind_host = {"host", false, run_host};
const wf_script_kind wf_script_kind_if = {"if", true, run_if};
const wf_script_kind wf_script_kind_else = {"else", true, NULL}; // its if runs what it holds
const wf_script_kind wf_script_kind_loop = {"loop", true, run_loop};
const wf_script_kind wf_script_kind_while = {"while", true, run_while};

static weft_status check_built(const weft_script *s, weft_error *err)
{
    WEFT_TRY(wf_script_status(s, err));
    if (s->n_open > 0) {
        const wf_script_node *node = &s->nodes[s->open[s->n_open - 1]];
        WEFT_FAIL(err, WEFT_ERR_USAGE, "script: %s %s has no end", node->kind->name, node->name);
    }
    return WEFT_OK;
}

weft_status weft_script_run(weft_script *s, weft_error *err)
{
    WEFT_REQUIRE(err, s, "script: run without script");
    WEFT_REQUIRE(err, !s->is_running, "script: a node runs the script that it is in");
    WEFT_TRY(check_built(s, err));
    s->is_running = true;
    const weft_status status = run_range(s, 0, (uint32_t)s->n_nodes, err);
    s->is_running = false;
    return status;
}
