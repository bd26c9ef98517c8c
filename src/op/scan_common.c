// Building a scan: the caller's step becomes a region, products of sequences with captured weights move
// out of it, and what a gradient may want to know of each step is stacked beside the caller's results.
// What nobody reads of that is dropped by the pass `trim`.
#include <stdio.h>
#include <string.h>

#include "op/build.h"
#include "op/scan.h"

extern const wf_op wf_op_matmul;

weft_val wf_scan_region_input(weft_graph *region, const weft_type *type)
{
    char name[32];
    (void)snprintf(name, sizeof name, "i%zu", region->n_nodes);
    return weft_input(region, name, type->dtype, type->dims, type->ndim);
}

void wf_scan_output(weft_graph *region, weft_val val)
{
    char name[32];
    (void)snprintf(name, sizeof name, "o%zu", region->n_outputs);
    weft_output(region, name, val);
}

bool wf_scan_is_kept(const weft_graph *region, wf_id id)
{
    const wf_node *node = wf_graph_producer(region, id);
    const bool is_cheap = node->op->task == WF_TASK_NONE || node->op->task == WF_TASK_MAP ||
                          node->op->task == WF_TASK_GUARD;
    const bool is_named = node->op->kept_outputs & 1u << (id - node->first_output);
    return (is_named || (!is_cheap && node->n_outputs == 1)) &&
           wf_graph_type(region, id)->dtype == WEFT_F32;
}

static bool is_output(const weft_graph *region, size_t first, wf_id id)
{
    for (size_t i = first; i < region->n_outputs; i++) {
        if (region->outputs[i].val == id)
            return true;
    }
    return false;
}

void wf_scan_keep(weft_graph *region, size_t n_states)
{
    for (size_t i = 0; i < n_states && wf_graph_is_ok(region); i++) {
        const wf_id id = region->outputs[i].val;
        if (!is_output(region, n_states, id) && region->n_outputs < WF_OP_MAX_OUTPUTS)
            wf_scan_output(region, (weft_val){id});
    }
    for (wf_id id = 1; id < region->n_values && wf_graph_is_ok(region); id++) {
        if (wf_scan_is_kept(region, id) && !is_output(region, n_states, id) &&
            region->n_outputs < WF_OP_MAX_OUTPUTS) {
            wf_scan_output(region, (weft_val){id});
        }
    }
}

weft_val wf_scan_add(weft_graph *g, const wf_scan *s, const weft_val *in)
{
    const wf_attr list[WF_SCAN_N_ATTRS] = {[WF_SCAN_N_STATES] = wf_attr_int((int64_t)s->n_states),
                                           [WF_SCAN_N_SEQUENCES] =
                                               wf_attr_int((int64_t)s->n_sequences),
                                           [WF_SCAN_N_STEPS] = wf_attr_int(s->n_steps),
                                           [WF_SCAN_REVERSE] = wf_attr_int(s->is_reverse),
                                           [WF_SCAN_REGION] = wf_attr_graph(s->region)};
    return wf_graph_add(g, &wf_op_scan, in, wf_scan_n_inputs(s), list);
}

weft_status wf_scan_region_create(const weft_graph *g, weft_graph **out_region)
{
    WEFT_TRY(weft_graph_create(g->context, out_region, NULL));
    weft_graph *region = *out_region;
    region->is_region = true;
    region->place = g->place;
    const char *scope = wf_arena_strdup(&region->arena, g->scopes[g->scope_depth]);
    region->scopes[0] = scope ? scope : "";
    return WEFT_OK;
}

// A region's fault is the graph's: it has the scope and place of the node at fault already.
static void pass_error(weft_graph *g, const weft_graph *region)
{
    if (wf_graph_is_ok(g) && region->error.code != 0)
        g->error = region->error;
}

// ---- the caller's step
typedef struct {
    weft_graph *g;
    const weft_scan_spec *spec;
    weft_graph *body, *region;
    weft_val *in;            // operands of the node, hoisted products behind the sequences
    weft_val *body_in;       // the step's values for the spec's operands
    weft_val *results;       // of the step: next states, stacks
    const wf_node **hoisted; // matmuls of the body
    size_t n_hoisted;
    int64_t n_steps;
} builder;

static bool check_spec(weft_graph *g, const weft_scan_spec *spec)
{
    if (!spec || spec->struct_size < sizeof *spec || !spec->step) {
        wf_graph_fail(g, &wf_op_scan, WEFT_ERR_USAGE,
                      "spec.struct_size is %zu, expected %zu, and a step",
                      spec ? spec->struct_size : 0, sizeof *spec);
        return false;
    }
    return wf_build_ready(g, &wf_op_scan, spec->states, spec->n_states) &&
           wf_build_ready(g, &wf_op_scan, spec->sequences, spec->n_sequences) &&
           wf_build_ready(g, &wf_op_scan, spec->captured, spec->n_captured);
}

static bool find_steps(builder *b)
{
    const weft_scan_spec *spec = b->spec;
    char text[WF_TYPE_TEXT];
    b->n_steps = spec->n_steps;
    for (size_t i = 0; i < spec->n_sequences; i++) {
        const weft_type *t = wf_graph_type(b->g, spec->sequences[i].id);
        if (i == 0 && b->n_steps == 0 && t->ndim > 0)
            b->n_steps = t->dims[0];
        if (t->ndim < 1 || t->dims[0] != b->n_steps) {
            wf_graph_fail(b->g, &wf_op_scan, WEFT_ERR_SHAPE,
                          "sequence %zu is %s, expected [%lld,..]", i, wf_type_text(t, text),
                          (long long)b->n_steps);
            return false;
        }
    }
    if (b->n_steps < 1) {
        wf_graph_fail(b->g, &wf_op_scan, WEFT_ERR_SHAPE, "%lld steps, expected 1 or more",
                      (long long)b->n_steps);
        return false;
    }
    return true;
}

static weft_type operand_type(const builder *b, size_t i)
{
    const weft_scan_spec *spec = b->spec;
    if (i < spec->n_states)
        return *wf_graph_type(b->g, spec->states[i].id);
    i -= spec->n_states;
    if (i < spec->n_sequences) {
        return wf_scan_element(wf_graph_type(b->g, spec->sequences[i].id));
    }
    return *wf_graph_type(b->g, spec->captured[i - spec->n_sequences].id);
}

static bool call_step(builder *b)
{
    const weft_scan_spec *spec = b->spec;
    const size_t n_in = spec->n_states + spec->n_sequences + spec->n_captured;
    const size_t n_results = spec->n_states + spec->n_stacks;
    for (size_t i = 0; i < n_in; i++) {
        const weft_type t = operand_type(b, i);
        b->body_in[i] = wf_scan_region_input(b->body, &t);
    }
    const weft_scan_step step = {.states = b->body_in,
                                 .sequences = b->body_in + spec->n_states,
                                 .captured = b->body_in + spec->n_states + spec->n_sequences,
                                 .next_states = b->results,
                                 .stacks = b->results + spec->n_states};
    spec->step(b->body, spec->user, &step);
    pass_error(b->g, b->body);
    for (size_t i = 0; i < n_results && wf_graph_is_ok(b->g); i++) {
        if (b->results[i].id == 0 || b->results[i].id >= b->body->n_values) {
            const bool is_state = i < spec->n_states;
            wf_graph_fail(b->g, &wf_op_scan, WEFT_ERR_USAGE,
                          "the step gives no value for %s %zu, or one of another graph",
                          is_state ? "state" : "stack", is_state ? i : i - spec->n_states);
        }
    }
    return wf_graph_is_ok(b->g);
}

// ---- hoisting: x_t W for all t is one product, whose rows are the same bits
// The sequence and the captured value that a matmul of the body multiplies; false: it is no such one.
static bool can_hoist(const builder *b, const wf_node *node, size_t *out_sequence,
                      size_t *out_weight)
{
    const weft_scan_spec *spec = b->spec;
    const size_t first_captured = spec->n_states + spec->n_sequences;
    if (node->op != &wf_op_matmul || node->attrs[0].u.i)
        return false;
    const size_t x = node->inputs[0] - (size_t)1, w = node->inputs[1] - (size_t)1;
    if (x < spec->n_states || x >= first_captured || w < first_captured ||
        w >= first_captured + spec->n_captured ||
        wf_graph_type(b->body, node->inputs[0])->ndim != 2) {
        return false;
    }
    *out_sequence = x - spec->n_states;
    *out_weight = w - first_captured;
    return true;
}

static weft_val hoisted_product(const builder *b, const wf_node *node)
{
    weft_graph *g = b->g;
    size_t x, w;
    if (!can_hoist(b, node, &x, &w))
        return WEFT_NONE;
    const weft_type *t = wf_graph_type(g, b->spec->sequences[x].id);
    const int64_t rows[] = {t->dims[0] * t->dims[1], t->dims[2]};
    const weft_type element = *wf_graph_type(b->body, node->first_output);
    const weft_type whole = wf_scan_stacked(&element, b->n_steps);
    const weft_val flat = weft_reshape(g, b->spec->sequences[x], rows, 2);
    const weft_val y = weft_matmul(g, flat, b->spec->captured[w], false, node->attrs[1].u.i != 0);
    return weft_reshape(g, y, whole.dims, whole.ndim);
}

static bool copy_body(builder *b, wf_rewrite *rw)
{
    const weft_scan_spec *spec = b->spec;
    const size_t n_in = spec->n_states + spec->n_sequences + spec->n_captured;
    const size_t first_captured = spec->n_states + spec->n_sequences;
    b->region = rw->dst;
    b->region->is_region = true;
    b->region->place = b->g->place;
    size_t n = 0;
    for (size_t i = 0; i < n_in; i++) {
        for (size_t h = 0; i == first_captured && h < b->n_hoisted; h++) {
            b->in[n++] = hoisted_product(b, b->hoisted[h]);
            rw->map[b->hoisted[h]->first_output] =
                wf_scan_region_input(b->region, wf_graph_type(b->body, b->hoisted[h]->first_output))
                    .id;
        }
        const weft_type t = operand_type(b, i);
        b->in[n++] = i < spec->n_states   ? spec->states[i]
                     : i < first_captured ? spec->sequences[i - spec->n_states]
                                          : spec->captured[i - first_captured];
        rw->map[b->body_in[i].id] = wf_scan_region_input(b->region, &t).id;
    }
    for (size_t i = n_in; i < b->body->n_nodes; i++) {
        if (!rw->map[b->body->nodes[i].first_output])
            wf_rewrite_copy(rw, (uint32_t)i);
    }
    for (size_t i = 0; i < spec->n_states + spec->n_stacks; i++)
        wf_scan_output(b->region, wf_rewrite_get(rw, b->results[i].id));
    wf_scan_keep(b->region, spec->n_states);
    pass_error(b->g, b->region);
    return wf_graph_is_ok(b->g);
}

static weft_val finish(builder *b)
{
    const weft_scan_spec *spec = b->spec;
    const size_t n_in = spec->n_states + spec->n_sequences + spec->n_captured;
    wf_rewrite rw;
    for (size_t i = n_in; i < b->body->n_nodes; i++) {
        size_t x, w;
        if (can_hoist(b, &b->body->nodes[i], &x, &w))
            b->hoisted[b->n_hoisted++] = &b->body->nodes[i];
    }
    b->in = wf_arena_take(&b->g->arena, (n_in + b->n_hoisted + 1) * sizeof *b->in);
    if (!b->in || wf_rewrite_init(&rw, b->body, NULL) != WEFT_OK) {
        wf_graph_fail(b->g, &wf_op_scan, WEFT_ERR_MEMORY, "memory for a region is not available");
        return WEFT_NONE;
    }
    weft_val first = WEFT_NONE;
    if (copy_body(b, &rw)) {
        const wf_scan s = {.region = b->region,
                           .n_states = spec->n_states,
                           .n_sequences = spec->n_sequences + b->n_hoisted,
                           .n_captured = spec->n_captured,
                           .n_steps = b->n_steps,
                           .is_reverse = spec->is_reverse};
        first = wf_scan_add(b->g, &s, b->in);
    }
    wf_free(&b->g->context->allocator, rw.map);
    weft_graph_destroy(rw.dst);
    return first;
}

// The body's nodes and values live in its own graph; the lists here in the caller's arena.
static weft_val build(builder *b)
{
    const weft_scan_spec *spec = b->spec;
    const size_t n_in = spec->n_states + spec->n_sequences + spec->n_captured;
    const size_t n_results = spec->n_states + spec->n_stacks;
    wf_arena *arena = &b->g->arena;
    b->body_in = wf_arena_take(arena, (n_in + 1) * sizeof *b->body_in);
    b->results = wf_arena_take(arena, (n_results + 1) * sizeof *b->results);
    if (!b->body_in || !b->results || wf_scan_region_create(b->g, &b->body) != WEFT_OK) {
        wf_graph_fail(b->g, &wf_op_scan, WEFT_ERR_MEMORY, "memory for a region is not available");
        return WEFT_NONE;
    }
    weft_val first = WEFT_NONE;
    if (call_step(b)) {
        b->hoisted = wf_arena_take(arena, (b->body->n_nodes + 1) * sizeof *b->hoisted);
        if (b->hoisted) {
            first = finish(b);
        } else {
            wf_graph_fail(b->g, &wf_op_scan, WEFT_ERR_MEMORY,
                          "memory for a region is not available");
        }
    }
    weft_graph_destroy(b->body);
    return first;
}

void weft_scan(weft_graph *g, const weft_scan_spec *spec, weft_val *out_states,
               weft_val *out_stacks)
{
    builder b = {.g = g, .spec = spec};
    weft_val first = WEFT_NONE;
    if (wf_graph_is_ok(g) && check_spec(g, spec)) {
        bool is_complete = true;
        for (size_t i = 0; i < spec->n_states; i++)
            is_complete &= spec->states[i].id != 0;
        for (size_t i = 0; i < spec->n_sequences; i++)
            is_complete &= spec->sequences[i].id != 0;
        for (size_t i = 0; i < spec->n_captured; i++)
            is_complete &= spec->captured[i].id != 0;
        if (is_complete && find_steps(&b))
            first = build(&b);
    }
    for (size_t i = 0; spec && out_states && i < spec->n_states; i++)
        out_states[i] = wf_val_output(first, (uint32_t)i);
    for (size_t i = 0; spec && out_stacks && i < spec->n_stacks; i++)
        out_stacks[i] = wf_val_output(first, (uint32_t)(spec->n_states + i));
}
