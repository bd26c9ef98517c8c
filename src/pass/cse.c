// Common subexpressions: one node for all that have the same op, operands and attributes.
#include <string.h>

#include "pass/pass.h"

#define EMPTY UINT32_MAX

typedef struct {
    wf_rewrite rw;
    uint32_t *slots; // hash table of old node indices whose copy stands in dst
    size_t n_slots;
} table;

static uint64_t mix(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *p = data; // FNV-1a
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash_attr(uint64_t h, wf_attr_kind kind, const wf_attr *attr)
{
    switch (kind) {
    case WF_ATTR_TEXT: return attr->u.text ? mix(h, attr->u.text, strlen(attr->u.text)) : h;
    case WF_ATTR_INTS: return mix(h, attr->u.ints, attr->n * sizeof(int64_t));
    case WF_ATTR_DATA: return mix(h, attr->u.data, attr->n);
    case WF_ATTR_GRAPH: return h;
    default: return mix(h, &attr->u, sizeof attr->u);
    }
}

static bool is_same_attr(wf_attr_kind kind, const wf_attr *a, const wf_attr *b)
{
    switch (kind) {
    case WF_ATTR_TEXT:
        return (!a->u.text && !b->u.text) ||
               (a->u.text && b->u.text && !strcmp(a->u.text, b->u.text));
    case WF_ATTR_INTS: return a->n == b->n && !memcmp(a->u.ints, b->u.ints, a->n * sizeof(int64_t));
    case WF_ATTR_DATA: return a->n == b->n && !memcmp(a->u.data, b->u.data, a->n);
    case WF_ATTR_GRAPH: return false; // regions are not compared: a scan has no twin
    default: return !memcmp(&a->u, &b->u, sizeof a->u); // floats by bits: -0 is not +0
    }
}

static uint64_t hash_node(const table *t, const wf_node *node)
{
    uint64_t h = 0xcbf29ce484222325u;
    h = mix(h, &node->op, sizeof node->op);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        h = mix(h, &t->rw.map[node->inputs[i]], sizeof(wf_id));
    }
    for (size_t i = 0; i < node->op->n_attrs; i++) {
        h = hash_attr(h, node->op->attrs[i].kind, &node->attrs[i]);
    }
    return h;
}

static bool is_same_node(const table *t, const wf_node *a, const wf_node *b)
{
    if (a->op != b->op || a->n_inputs != b->n_inputs)
        return false;
    for (uint32_t i = 0; i < a->n_inputs; i++) {
        if (t->rw.map[a->inputs[i]] != t->rw.map[b->inputs[i]])
            return false;
    }
    for (size_t i = 0; i < a->op->n_attrs; i++) {
        if (!is_same_attr(a->op->attrs[i].kind, &a->attrs[i], &b->attrs[i]))
            return false;
    }
    return true;
}

static void visit(table *t, uint32_t idx)
{
    const wf_node *nodes = t->rw.src->nodes;
    const wf_node *node = &nodes[idx];
    if (node->op->flags & WF_OP_EFFECT) {
        wf_rewrite_copy(&t->rw, idx);
        return;
    }
    size_t slot = (size_t)hash_node(t, node) & (t->n_slots - 1);
    while (t->slots[slot] != EMPTY && !is_same_node(t, &nodes[t->slots[slot]], node)) {
        slot = (slot + 1) & (t->n_slots - 1);
    }
    if (t->slots[slot] == EMPTY) {
        t->slots[slot] = idx;
        wf_rewrite_copy(&t->rw, idx);
        return;
    }
    const wf_node *twin = &nodes[t->slots[slot]];
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        t->rw.map[node->first_output + i] = t->rw.map[twin->first_output + i];
    }
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    *out_dst = NULL;
    table t = {.n_slots = 64};
    while (t.n_slots < src->n_nodes * 2)
        t.n_slots *= 2;
    const wf_allocator *a = &src->context->allocator;
    WEFT_TRY(wf_alloc(a, t.n_slots, sizeof *t.slots, &t.slots, err));
    memset(t.slots, 0xff, t.n_slots * sizeof *t.slots);
    weft_status status = wf_rewrite_init(&t.rw, src, err);
    if (status == WEFT_OK) {
        for (size_t i = 0; i < src->n_nodes; i++)
            visit(&t, (uint32_t)i);
        status = wf_rewrite_finish(&t.rw, out_dst, err);
    }
    wf_free(a, t.slots);
    return status;
}

const wf_pass wf_pass_cse = {"cse", "computes equal nodes once", run};
