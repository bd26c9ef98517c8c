// Elementwise values that one part of a step makes and a later part reads, as a backward pass does, are computed
// again there where the later part then reads less: a batch norm's differences and an activation's mask out of the
// convolution's result, which is read anyway. T. Chen et al., 2016, do so to save memory; here it saves the passes
// over it as well.
//
// A part is what may be one task at best: its stage is the number of products and reductions that lie before it, those
// over rows apart, which share a task with what comes behind them.
#include <stdlib.h>

#include "op/reduce.h"
#include "pass/pass.h"

extern const wf_op wf_op_add, wf_op_sub, wf_op_mul, wf_op_fma, wf_op_flush, wf_op_select,
    wf_op_less, wf_op_less_equal, wf_op_relu, wf_op_neg;

// Ops that cost less than reading their result.
static const wf_op *const cheap[] = {&wf_op_add,   &wf_op_sub,    &wf_op_mul,  &wf_op_fma,
                                     &wf_op_flush, &wf_op_select, &wf_op_less, &wf_op_less_equal,
                                     &wf_op_relu,  &wf_op_neg};

#define MIN_COUNT 4096 // smaller values stay in a cache
#define SMALL 16       // an operand with so many times fewer elements costs nothing
#define MAX_BASES 2
#define MAX_DEPTH 12

// What a value is made of by cheap ops: stored values of its size. n = 0: it is such a value itself.
typedef struct origin {
    uint32_t n, depth;
    wf_id bases[MAX_BASES];
} origin;

// A read of a value by a later stage; of a base also by others, which is_base says.
typedef struct reading {
    uint32_t stage;
    wf_id id;
    bool is_base, is_again;
} reading;

// What is known of a value of the graph.
typedef struct known {
    uint32_t stage; // where it is made
    bool is_kept;   // it lies in memory in any case
    origin from;
    uint32_t read_in; // the last stage that is known to read it, + 1
    wf_id copy;       // the newest, ...
    uint32_t made_in; // ... made for this stage, + 1
} known;

typedef struct again {
    wf_rewrite rw;
    known *known;  // by value
    reading *list; // ascending
    size_t n, capacity;
} again;

static bool is_cheap(const wf_node *node)
{
    for (size_t i = 0; i < WF_COUNT_OF(cheap); i++) {
        if (node->op == cheap[i])
            return true;
    }
    return false;
}

// Over trailing axes?
static bool is_over_rows(const weft_graph *g, const wf_node *node)
{
    const wf_attr *axes = &node->attrs[WF_REDUCE_AXES];
    const int64_t first = wf_graph_type(g, node->inputs[0])->ndim - (int64_t)axes->n;
    for (size_t i = 0; i < axes->n; i++) {
        if (axes->u.ints[i] != first + (int64_t)i)
            return false;
    }
    return true;
}

static double get_count(const weft_graph *g, wf_id id)
{
    return (double)wf_type_count(wf_graph_type(g, id));
}

static double get_bytes(const weft_graph *g, wf_id id)
{
    return get_count(g, id) * (double)weft_dtype_size(wf_graph_type(g, id)->dtype);
}

// The stage in which a node works: of elementwise work and of views also that of its result.
static uint32_t get_stage(const again *a, const wf_node *node)
{
    uint32_t stage = 0;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        if (a->known[node->inputs[i]].stage > stage)
            stage = a->known[node->inputs[i]].stage;
    }
    return stage;
}

static void find_stages(again *a)
{
    const weft_graph *g = a->rw.src;
    for (size_t n = 0; n < g->n_nodes; n++) {
        const wf_node *node = &g->nodes[n];
        const bool is_same = (wf_op_is_reduction(node->op) && is_over_rows(g, node)) ||
                             wf_op_is_map(node->op) ||
                             (node->op->flags & (WF_OP_VIEW | WF_OP_SOURCE));
        const uint32_t stage = get_stage(a, node) + (is_same ? 0 : 1);
        for (uint32_t i = 0; i < node->n_outputs; i++)
            a->known[node->first_output + i].stage = stage;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            a->known[node->inputs[i]].is_kept |=
                !wf_op_is_map(node->op) && !wf_op_is_reduction(node->op);
    }
    for (size_t i = 0; i < g->n_outputs; i++)
        a->known[g->outputs[i].val].is_kept = true;
}

static bool has_base(const origin *o, wf_id id)
{
    for (uint32_t i = 0; i < o->n; i++) {
        if (o->bases[i] == id)
            return true;
    }
    return false;
}

static bool add_base(origin *o, wf_id id)
{
    if (has_base(o, id))
        return true;
    if (o->n == MAX_BASES)
        return false;
    o->bases[o->n++] = id;
    return true;
}

static bool is_derived(const again *a, wf_id id)
{
    return a->known[id].from.n > 0;
}

// What the node's result is made of; n = 0 where that is not worth saying.
static origin find_origin(const again *a, const wf_node *node)
{
    const weft_graph *g = a->rw.src;
    const wf_id out = node->first_output;
    const weft_type *t = wf_graph_type(g, out);
    const origin none = {.n = 0};
    origin o = none;
    if (!is_cheap(node) || a->known[out].is_kept || get_count(g, out) < MIN_COUNT)
        return none;
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const wf_id id = node->inputs[i];
        const origin *from = &a->known[id].from;
        if (wf_op_stored_count(g, id) * SMALL <= get_count(g, out))
            continue;
        if (!wf_type_same_dims(wf_graph_type(g, id), t) ||
            (wf_graph_producer(g, id)->op->flags & WF_OP_VIEW))
            return none;
        o.depth = from->depth > o.depth ? from->depth : o.depth;
        for (uint32_t k = 0; k < from->n; k++) {
            if (!add_base(&o, from->bases[k]))
                return none;
        }
        if (from->n == 0 && !add_base(&o, id))
            return none;
    }
    return ++o.depth > MAX_DEPTH ? none : o;
}

static weft_status add_reading(again *a, uint32_t stage, wf_id id, bool is_base, weft_error *err)
{
    WEFT_TRY(wf_array_reserve(&a->rw.src->context->allocator, &a->list, &a->capacity, a->n + 1,
                              sizeof *a->list, err));
    a->list[a->n++] = (reading){stage, id, is_base, false};
    return WEFT_OK;
}

static int compare(const void *x, const void *y)
{
    const reading *a = x, *b = y;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static weft_status find_readings(again *a, weft_error *err)
{
    const weft_graph *g = a->rw.src;
    size_t n = 0;
    for (size_t k = 0; k < g->n_nodes; k++) {
        const wf_node *node = &g->nodes[k];
        a->known[node->first_output].from = find_origin(a, node);
        const uint32_t stage = get_stage(a, node);
        for (uint32_t i = 0;
             i < node->n_inputs && (wf_op_is_map(node->op) || wf_op_is_reduction(node->op)); i++) {
            const wf_id id = node->inputs[i];
            if (!is_derived(a, id) || a->known[id].stage < stage)
                WEFT_TRY(add_reading(a, stage, id, !is_derived(a, id), err));
        }
    }
    if (a->n)
        qsort(a->list, a->n, sizeof *a->list, compare);
    for (size_t i = 0; i < a->n; i++) {
        if (n == 0 || compare(&a->list[n - 1], &a->list[i]) != 0)
            a->list[n++] = a->list[i];
    }
    a->n = n;
    return WEFT_OK;
}

// Bytes of bases that the stage does not read yet.
static double get_cost(const again *a, const reading *r)
{
    const origin *o = &a->known[r->id].from;
    double bytes = 0.0;
    for (uint32_t i = 0; i < o->n; i++)
        bytes +=
            a->known[o->bases[i]].read_in == r->stage + 1 ? 0.0 : get_bytes(a->rw.src, o->bases[i]);
    return bytes;
}

// Bytes that need not be written and read if all that the stage reads of these bases is made again.
static double get_gain(const again *a, const reading *r, const reading *first, const reading *end)
{
    const origin *o = &a->known[r->id].from;
    double bytes = 0.0;
    for (const reading *other = first; other < end; other++) {
        const origin *made_of = &a->known[other->id].from;
        bool is_within = !other->is_base;
        for (uint32_t i = 0; i < made_of->n; i++)
            is_within &= has_base(o, made_of->bases[i]);
        bytes += is_within ? 2.0 * get_bytes(a->rw.src, other->id) : 0.0;
    }
    return bytes;
}

// The readings of one stage: first of values that are made of one base, then of the others.
static void choose(again *a, reading *first, reading *end)
{
    for (reading *r = first; r < end; r++) {
        if (r->is_base)
            a->known[r->id].read_in = r->stage + 1;
    }
    for (uint32_t n = 1; n <= MAX_BASES; n++) {
        for (reading *r = first; r < end; r++) {
            const origin *o = &a->known[r->id].from;
            const double gain =
                n == 1 ? get_gain(a, r, first, end) : 2.0 * get_bytes(a->rw.src, r->id);
            if (r->is_base || o->n != n || get_cost(a, r) >= gain)
                continue;
            r->is_again = true;
            for (uint32_t i = 0; i < n; i++)
                a->known[o->bases[i]].read_in = r->stage + 1;
        }
    }
}

static bool is_made_again(const again *a, uint32_t stage, wf_id id)
{
    const reading key = {.stage = stage, .id = id};
    if (!is_derived(a, id) || a->known[id].stage >= stage || a->n == 0)
        return false;
    const reading *r = bsearch(&key, a->list, a->n, sizeof key, compare);
    return r && r->is_again;
}

// Copies a node; what it reads is made again where that was chosen, or, for a copy in a later stage (is_again), as far
// as the bases.
static void copy_node(again *a, uint32_t idx, uint32_t stage, bool is_again);

static wf_id make_again(again *a, wf_id id, uint32_t stage)
{
    if (a->known[id].made_in != stage + 1) {
        const wf_id home = a->rw.map[id];
        copy_node(a, wf_graph_value(a->rw.src, id)->node, stage, true);
        a->known[id].copy = a->rw.map[id];
        a->known[id].made_in = stage + 1;
        a->rw.map[id] = home;
    }
    return a->known[id].copy;
}

static void copy_node(again *a, uint32_t idx, uint32_t stage, bool is_again)
{
    const wf_node *node = &a->rw.src->nodes[idx];
    wf_id home[3], copies[3];
    const bool may_change = wf_op_is_map(node->op) || wf_op_is_reduction(node->op);
    const uint32_t most = node->n_inputs < 3 ? node->n_inputs : 3; // cheap ops have no more
    const uint32_t n = may_change ? most : 0;
    for (uint32_t i = 0; i < n; i++) {
        const wf_id id = node->inputs[i];
        const bool wants = is_again ? is_derived(a, id) : is_made_again(a, stage, id);
        copies[i] = wants ? make_again(a, id, stage) : a->rw.map[id];
    }
    for (uint32_t i = 0; i < n; i++)
        home[i] = a->rw.map[node->inputs[i]];
    for (uint32_t i = 0; i < n; i++)
        a->rw.map[node->inputs[i]] = copies[i];
    wf_rewrite_copy(&a->rw, idx);
    for (uint32_t i = 0; i < n; i++)
        a->rw.map[node->inputs[i]] = home[i];
}

static weft_status rewrite(again *a, const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    WEFT_TRY(wf_alloc(&src->context->allocator, src->n_values, sizeof *a->known, &a->known, err));
    find_stages(a);
    WEFT_TRY(find_readings(a, err));
    for (size_t i = 0, end; i < a->n; i = end) {
        for (end = i; end < a->n && a->list[end].stage == a->list[i].stage;)
            end++;
        choose(a, a->list + i, a->list + end);
    }
    WEFT_TRY(wf_rewrite_init(&a->rw, src, err));
    for (uint32_t n = 0; n < src->n_nodes; n++)
        copy_node(a, n, get_stage(a, &src->nodes[n]), false);
    return wf_rewrite_finish(&a->rw, out_dst, err);
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    const wf_allocator *m = &src->context->allocator;
    again a = {.rw = {.src = src}};
    *out_dst = NULL;
    if (src->is_region) // what its steps keep is chosen by their gradient
        return wf_graph_clone(src, out_dst, err);
    const weft_status status = rewrite(&a, src, out_dst, err);
    wf_free(m, a.known);
    wf_free(m, a.list);
    return status;
}

const wf_pass wf_pass_again = {"again", "makes again what is cheaper to make than to keep", run};
