// Finding the first op that went wrong: the step is repeated on the host, node by node through ref,
// with the same inputs and variables (a bad step has changed none), and each result is looked at.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op/op.h"
#include "run/run_internal.h"

typedef struct {
    weft_program *program;
    const weft_graph *g;
    const wf_allocator *a;
    void **data;      // by value; NULL: not computed, or no longer needed
    uint32_t *n_uses; // by value: readers still to come
    bool *is_needed;  // by node; NULL: all are, and each result is looked at
    weft_error *err;
} replay;

static size_t value_bytes(const weft_type *t)
{
    return (size_t)wf_type_count(t) * weft_dtype_size(t->dtype);
}

// An input or variable from the device, a constant from the graph.
static weft_status fetch_source(replay *r, const wf_node *node, void *data)
{
    weft_program *p = r->program;
    const weft_type *t = wf_graph_type(r->g, node->first_output);
    const wf_plan *plan = p->plan;
    const char *name = node->op->attrs[0].kind == WF_ATTR_TEXT ? node->attrs[0].u.text : NULL;
    if (!name) {
        const wf_attr *last = &node->attrs[node->op->n_attrs - 1];
        if (last->n)
            memcpy(data, last->u.data, last->n);
        return WEFT_OK;
    }
    if (wf_state_find(p->state, name)) {
        return weft_state_read(p->state, name, data, value_bytes(t), r->err);
    }
    for (size_t i = 0; i < plan->n_inputs; i++) {
        if (strcmp(plan->inputs[i].name, name) != 0)
            continue;
        return wf_device_get(p->state->device, p->memory.arena,
                             plan->buffers[plan->inputs[i].view.buffer].offset_bytes, t->dtype,
                             (size_t)wf_type_count(t), data, r->err);
    }
    WEFT_FAIL(r->err, WEFT_ERR_INTERNAL, "blame: source %s is not bound", name);
}

static const char *bad_name(float x)
{
    return isnan(x) ? "NaN" : "infinity";
}

// step: " in step 3" of the scan that the node is in, or "".
static weft_status report(replay *r, const weft_graph *g, const wf_node *node, weft_status code,
                          const char *what, int64_t elem, const char *step)
{
    char type[WF_TYPE_TEXT], place[300] = "";
    if (node->place.file) {
        snprintf(place, sizeof place, " (%s:%d)", node->place.file, node->place.line);
    }
    return wf_error_set(r->err, code, "%s%s%s%s: %s at element %" PRId64 " of %s%s", node->scope,
                        *node->scope ? "/" : "", node->op->name, place, what, elem,
                        wf_type_text(wf_graph_type(g, node->first_output), type), step);
}

static weft_status report_origin(replay *r, const wf_eval_origin *o)
{
    char step[48];
    snprintf(step, sizeof step, ", in step %" PRId64 " of its scan", o->step);
    return o->is_index ? report(r, o->region, o->node, WEFT_ERR_INDEX, "an index is out of range",
                                o->elem, step)
                       : report(r, o->region, o->node, WEFT_ERR_NONFINITE, bad_name(o->value),
                                o->elem, step);
}

// The first of a node's indices that is out of range; false when all are inside.
static bool report_index(replay *r, const wf_node_info *info, const wf_node *node,
                         const wf_tensor *in)
{
    char type[WF_TYPE_TEXT];
    if (!info->op->index_range)
        return false;
    const wf_index_range range = info->op->index_range(info);
    const wf_tensor *t = &in[range.input];
    const int64_t count = wf_type_count(&t->type);
    int64_t i = 0;
    while (i < count && wf_tensor_get_int(t, i) >= range.low &&
           wf_tensor_get_int(t, i) <= range.high)
        i++;
    if (i == count)
        return false;
    (void)wf_error_set(r->err, WEFT_ERR_INDEX,
                       "%s%s%s: index %" PRId64 " is out of range [%" PRId64 ",%" PRId64
                       "], at element %" PRId64 " of %s",
                       node->scope, *node->scope ? "/" : "", node->op->name,
                       wf_tensor_get_int(t, i), range.low, range.high, i,
                       wf_type_text(&t->type, type));
    return true;
}

static weft_status replay_node(replay *r, uint32_t idx)
{
    const wf_node *node = &r->g->nodes[idx];
    wf_tensor in[256], out[WF_OP_MAX_OUTPUTS];
    weft_type in_types[256], out_types[WF_OP_MAX_OUTPUTS];
    bool inputs_finite = true;
    if (node->n_inputs > WF_COUNT_OF(in)) {
        WEFT_FAIL(r->err, WEFT_ERR_UNSUPPORTED, "blame: %s has %u operands", node->op->name,
                  node->n_inputs);
    }
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        in_types[i] = *wf_graph_type(r->g, node->inputs[i]);
        in[i] = (wf_tensor){in_types[i], r->data[node->inputs[i]], false};
        inputs_finite &= wf_tensor_find_nonfinite(&in[i]) < 0;
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const wf_id id = node->first_output + i;
        out_types[i] = *wf_graph_type(r->g, id);
        WEFT_TRY(wf_alloc(r->a, value_bytes(&out_types[i]), 1, &r->data[id], r->err));
        out[i] = (wf_tensor){out_types[i], r->data[id], false};
    }
    if (node->op->flags & WF_OP_SOURCE) {
        if (!node->op->eval)
            return fetch_source(r, node, out[0].data);
        if (node->op->n_attrs && node->op->attrs[node->op->n_attrs - 1].kind == WF_ATTR_DATA) {
            return fetch_source(r, node, out[0].data);
        }
    }
    const wf_node_info info = {node->op,        node->n_inputs, in_types,
                               node->n_outputs, out_types,      node->attrs};
    wf_eval_origin origin = {.node = NULL};
    wf_eval q = {&info, in, out, false, 0, *r->a, &origin};
    WEFT_TRY(node->op->eval(&q, r->err));
    if (r->is_needed)
        return WEFT_OK;
    if (q.is_bad && inputs_finite) {
        if (origin.node)
            return report_origin(r, &origin);
        if (report_index(r, &info, node, in))
            return WEFT_ERR_INDEX;
        return report(r, r->g, node, WEFT_ERR_INDEX, "an index is out of range", q.bad_elem, "");
    }
    for (uint32_t i = 0; i < node->n_outputs && inputs_finite; i++) {
        const int64_t elem = wf_tensor_find_nonfinite(&out[i]);
        if (elem >= 0 && origin.node)
            return report_origin(r, &origin);
        if (elem >= 0)
            return report(r, r->g, node, WEFT_ERR_NONFINITE,
                          bad_name(((const float *)out[i].data)[elem]), elem, "");
    }
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const wf_id id = node->inputs[i];
        if (--r->n_uses[id] == 0) {
            wf_free(r->a, r->data[id]);
            r->data[id] = NULL;
        }
    }
    return WEFT_OK;
}

// A source that is not finite to begin with: named before any op is.
static weft_status check_source(replay *r, const wf_node *node)
{
    if (!(node->op->flags & WF_OP_SOURCE) || node->op->attrs[0].kind != WF_ATTR_TEXT) {
        return WEFT_OK;
    }
    const wf_id id = node->first_output;
    const wf_tensor t = {*wf_graph_type(r->g, id), r->data[id], false};
    const int64_t elem = wf_tensor_find_nonfinite(&t);
    char type[WF_TYPE_TEXT];
    if (elem < 0)
        return WEFT_OK;
    WEFT_FAIL(r->err, WEFT_ERR_NONFINITE, "%s %s holds %s at element %" PRId64 " of %s",
              node->op->name, node->attrs[0].u.text, bad_name(((const float *)t.data)[elem]), elem,
              wf_type_text(&t.type, type));
}

static weft_status replay_init(replay *r, weft_program *p, weft_error *err)
{
    const weft_graph *g = p->plan->graph;
    *r = (replay){.program = p, .g = g, .a = &g->context->allocator, .err = err};
    WEFT_TRY(wf_alloc(r->a, g->n_values, sizeof *r->data, &r->data, err));
    WEFT_TRY(wf_alloc(r->a, g->n_values, sizeof *r->n_uses, &r->n_uses, err));
    for (size_t n = 0; n < g->n_nodes; n++) {
        for (uint32_t i = 0; i < g->nodes[n].n_inputs; i++)
            r->n_uses[g->nodes[n].inputs[i]]++;
    }
    return WEFT_OK;
}

static void replay_deinit(replay *r)
{
    for (size_t v = 0; r->data && v < r->g->n_values; v++)
        wf_free(r->a, r->data[v]);
    wf_free(r->a, r->data);
    wf_free(r->a, r->n_uses);
    wf_free(r->a, r->is_needed);
}

weft_status weft_program_blame(weft_program *p, weft_error *err)
{
    WEFT_REQUIRE(err, p, "program: blame without program");
    replay r;
    weft_status status = replay_init(&r, p, err);
    for (uint32_t n = 0; n < r.g->n_nodes && status == WEFT_OK; n++) {
        status = replay_node(&r, n);
        if (status == WEFT_OK)
            status = check_source(&r, &r.g->nodes[n]);
    }
    replay_deinit(&r);
    return status;
}

// The indices of one node, computed from the program's inputs and variables.
static weft_status compute_indices(replay *r, const wf_node *node, wf_id indices)
{
    WEFT_TRY(wf_alloc(r->a, r->g->n_nodes, sizeof *r->is_needed, &r->is_needed, r->err));
    r->is_needed[wf_graph_value(r->g, indices)->node] = true;
    for (size_t n = r->g->n_nodes; n-- > 0;) {
        const wf_node *one = &r->g->nodes[n];
        for (uint32_t i = 0; r->is_needed[n] && i < one->n_inputs; i++)
            r->is_needed[wf_graph_value(r->g, one->inputs[i])->node] = true;
    }
    for (uint32_t n = 0; &r->g->nodes[n] != node; n++) {
        if (r->is_needed[n])
            WEFT_TRY(replay_node(r, n));
    }
    return WEFT_OK;
}

weft_status wf_program_blame_index(weft_program *p, const wf_node *node, weft_error *err)
{
    weft_type in_types[WF_OP_MAX_OUTPUTS], out_types[WF_OP_MAX_OUTPUTS];
    wf_tensor in[WF_OP_MAX_OUTPUTS] = {{.data = NULL}};
    replay r;
    weft_status status = replay_init(&r, p, err);
    const bool is_known = node->op->index_range && node->n_inputs <= WF_COUNT_OF(in) &&
                          node->n_outputs <= WF_COUNT_OF(out_types);
    if (status == WEFT_OK && is_known) {
        for (uint32_t i = 0; i < node->n_inputs; i++)
            in_types[i] = *wf_graph_type(r.g, node->inputs[i]);
        for (uint32_t i = 0; i < node->n_outputs; i++)
            out_types[i] = *wf_graph_type(r.g, node->first_output + i);
        const wf_node_info info = {node->op,        node->n_inputs, in_types,
                                   node->n_outputs, out_types,      node->attrs};
        const size_t input = node->op->index_range(&info).input;
        status = compute_indices(&r, node, node->inputs[input]);
        in[input] = (wf_tensor){in_types[input], r.data[node->inputs[input]], false};
        if (status == WEFT_OK && report_index(&r, &info, node, in))
            status = WEFT_ERR_INDEX;
    }
    replay_deinit(&r);
    if (status != WEFT_OK)
        return status;
    // The host has written other inputs since.
    WEFT_FAIL(err, WEFT_ERR_INDEX, "%s%s%s: an index is out of range", node->scope,
              *node->scope ? "/" : "", node->op->name);
}
