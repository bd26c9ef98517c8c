// Drops what scans stack and nobody reads, and operands that their regions do not read. A scan offers
// everything that a gradient may want; a program that only runs forward pays for none of it.
#include "op/scan.h"
#include "pass/pass.h"

typedef struct {
    const weft_graph *src;
    bool *is_read; // by value of src
    weft_error *err;
} trimmer;

static void mark_read(const trimmer *t)
{
    for (size_t n = 0; n < t->src->n_nodes; n++) {
        const wf_node *node = &t->src->nodes[n];
        for (uint32_t i = 0; i < node->n_inputs; i++)
            t->is_read[node->inputs[i]] = true;
    }
    for (size_t i = 0; i < t->src->n_outputs; i++)
        t->is_read[t->src->outputs[i].val] = true;
}

static bool stays(const trimmer *t, const wf_scan *s, const wf_node *node, size_t output)
{
    return output < s->n_states || t->is_read[node->first_output + output];
}

// By node of the region: does an output that stays need it?
static void mark_live(const trimmer *t, const wf_scan *s, const wf_node *scan, bool *is_live)
{
    const weft_graph *region = s->region;
    size_t n_kept = 0;
    for (size_t i = 0; i < region->n_outputs; i++) {
        if (stays(t, s, scan, i) || (i + 1 == region->n_outputs && n_kept == 0)) {
            is_live[wf_graph_value(region, region->outputs[i].val)->node] = true;
            n_kept++;
        }
    }
    for (size_t n = region->n_nodes; n-- > 0;) {
        const wf_node *node = &region->nodes[n];
        is_live[n] |= (node->op->flags & WF_OP_EFFECT) != 0 || n < s->n_states;
        for (uint32_t k = 0; is_live[n] && k < node->n_inputs; k++)
            is_live[wf_graph_value(region, node->inputs[k])->node] = true;
    }
}

// The scan again with what stays of its region, operands and results.
static weft_status rebuild(const trimmer *t, wf_rewrite *rw, const wf_node *node, const wf_scan *s,
                           const bool *is_live, weft_val *in)
{
    const size_t n_in = wf_scan_n_inputs(s);
    wf_rewrite inner;
    wf_scan trimmed = *s;
    size_t n = 0;
    trimmed.n_sequences = trimmed.n_captured = 0;
    WEFT_TRY(wf_rewrite_init(&inner, s->region, t->err));
    for (size_t i = 0; i < s->region->n_nodes; i++) {
        if (!is_live[i])
            continue;
        wf_rewrite_copy(&inner, (uint32_t)i);
        if (i >= n_in)
            continue;
        in[n++] = wf_rewrite_get(rw, node->inputs[i]);
        trimmed.n_sequences += i >= s->n_states && i < s->n_states + s->n_sequences;
        trimmed.n_captured += i >= s->n_states + s->n_sequences;
    }
    const size_t n_out = s->region->n_outputs;
    uint32_t n_kept = 0, place[WF_OP_MAX_OUTPUTS];
    for (size_t i = 0; i < n_out; i++) {
        const bool is_kept = stays(t, s, node, i) || (i + 1 == n_out && n_kept == 0);
        place[i] = is_kept ? n_kept++ : UINT32_MAX;
        if (is_kept)
            wf_scan_output(inner.dst, wf_rewrite_get(&inner, s->region->outputs[i].val));
    }
    trimmed.region = inner.dst;
    const weft_status status = weft_graph_status(inner.dst, t->err);
    if (status == WEFT_OK) {
        const weft_val first = wf_scan_add(rw->dst, &trimmed, in);
        for (size_t i = 0; i < n_out; i++) {
            if (place[i] != UINT32_MAX)
                rw->map[node->first_output + i] = wf_val_output(first, place[i]).id;
        }
    }
    wf_free(&t->src->context->allocator, inner.map);
    weft_graph_destroy(inner.dst);
    return status;
}

static weft_status trim_scan(const trimmer *t, wf_rewrite *rw, uint32_t idx)
{
    const wf_node *node = &t->src->nodes[idx];
    const wf_scan s = wf_scan_get(node->attrs, node->n_inputs);
    const wf_allocator *a = &t->src->context->allocator;
    bool *is_live;
    weft_val *in;
    WEFT_TRY(wf_alloc(a, s.region->n_nodes, sizeof *is_live, &is_live, t->err));
    weft_status status = wf_alloc(a, node->n_inputs + 1, sizeof *in, &in, t->err);
    if (status == WEFT_OK) {
        wf_rewrite_set_place(rw, idx);
        mark_live(t, &s, node, is_live);
        status = rebuild(t, rw, node, &s, is_live, in);
        wf_free(a, in);
    }
    wf_free(a, is_live);
    return status;
}

static weft_status run(const weft_graph *src, weft_graph **out_dst, weft_error *err)
{
    trimmer t = {.src = src, .err = err};
    const wf_allocator *a = &src->context->allocator;
    *out_dst = NULL;
    WEFT_TRY(wf_alloc(a, src->n_values, sizeof *t.is_read, &t.is_read, err));
    mark_read(&t);
    wf_rewrite rw;
    weft_status status = wf_rewrite_init(&rw, src, err);
    if (status == WEFT_OK) {
        for (size_t i = 0; i < src->n_nodes && status == WEFT_OK; i++) {
            if (src->nodes[i].op == &wf_op_scan)
                status = trim_scan(&t, &rw, (uint32_t)i);
            else
                wf_rewrite_copy(&rw, (uint32_t)i);
        }
        if (status == WEFT_OK) {
            status = wf_rewrite_finish(&rw, out_dst, err);
        } else {
            wf_free(a, rw.map);
            weft_graph_destroy(rw.dst);
        }
    }
    wf_free(a, t.is_read);
    return status;
}

const wf_pass wf_pass_trim = {"trim", "drops what scans stack and nobody reads", run};
