// The gradient of a scan: a scan in the other direction, whose states are the gradients of the states.
//
// Its step is made of the forward step: that is copied (what is elementwise is computed again, what
// wf_scan_is_kept says comes from a stack of the forward scan), walked like any graph from the
// gradients of the next states and of the stacks, and trimmed to what is read. A captured matrix that
// products multiply from the right gets its gradient behind the loop, as one product over all steps:
// the step stacks the gradients of those products. The rest of a captured value's gradient is stacked
// and summed over the steps by the column rule. The parts add in this order: that sum, then the products
// in node order. At a value that is both a next state and a stack, the state's gradient comes first.
#include <string.h>

#include "grad/grad_internal.h"
#include "op/build.h"
#include "op/scan.h"

extern const wf_op wf_op_matmul;

// A product whose right operand is captured.
typedef struct {
    weft_val left, result; // in the draft
    size_t captured;
    bool is_transposed;
    weft_val left_outside;           // the stack of left operands, in the graph
    uint32_t grad_stack, left_stack; // results of the backward scan; NO_STACK: none
} product;

#define NO_STACK UINT32_MAX

typedef struct {
    const wf_grad_query *q;
    weft_graph *g;
    wf_scan s;
    wf_rewrite copy; // the region into the draft of the backward step
    weft_graph *draft;
    // Inputs of the draft, and what stands for them outside; none where there is none.
    weft_val *d_state, *before, *sequence, *kept, *d_stack, *captured, *others;
    product *products;
    size_t n_products;
    weft_val *outs, *seeds; // of the walk
    size_t n_outs;
    weft_val *results; // of the backward step: next states, stacks
    size_t n_states, n_results;
    uint32_t *sequence_stack, *other_stack; // results of the backward scan; NO_STACK: none
    wf_id *instead;                         // by the draft's value: read this input instead
    weft_val *in;                           // operands of the backward scan
    size_t n_in, n_in_sequences;
} backward;

static void fail_memory(const backward *b)
{
    wf_graph_fail(b->g, b->q->info->op, WEFT_ERR_MEMORY, "gradient: memory is not available");
}

static void *take(backward *b, size_t count, size_t size_bytes)
{
    void *ptr = wf_arena_take(&b->g->arena, count * size_bytes + 1);
    if (!ptr)
        fail_memory(b);
    return ptr;
}

static const weft_type *region_type(const backward *b, size_t input)
{
    return wf_graph_type(b->s.region, (wf_id)(input + 1));
}

static bool is_float(const weft_type *t)
{
    return wf_dtype_is_float(t->dtype);
}

static bool allocate(backward *b)
{
    const wf_scan *s = &b->s;
    const size_t n_in = wf_scan_n_inputs(s), n_nodes = s->region->n_nodes;
    b->d_state = take(b, s->n_states, sizeof(weft_val));
    b->before = take(b, s->n_states, sizeof(weft_val));
    b->sequence = take(b, s->n_sequences, sizeof(weft_val));
    b->kept = take(b, s->n_stacks, sizeof(weft_val));
    b->d_stack = take(b, s->n_stacks, sizeof(weft_val));
    b->captured = take(b, s->n_captured, sizeof(weft_val));
    b->others = take(b, s->n_captured, sizeof(weft_val));
    b->products = take(b, n_nodes, sizeof *b->products);
    b->outs = take(b, s->n_states + s->n_stacks, sizeof(weft_val));
    b->seeds = take(b, s->n_states + s->n_stacks, sizeof(weft_val));
    b->results = take(b, s->n_states + n_in + 2 * n_nodes, sizeof(weft_val));
    b->sequence_stack = take(b, s->n_sequences, sizeof(uint32_t));
    b->other_stack = take(b, s->n_captured, sizeof(uint32_t));
    b->in = take(b, 2 * s->n_states + s->n_sequences + 2 * s->n_stacks + s->n_captured,
                 sizeof(weft_val));
    return wf_graph_is_ok(b->g);
}

// ---- the draft
// Gradients of states, then values before the step, sequences, what is kept, gradients of stacks, then
// what is captured: once for the products, once for all else where a gradient is wanted.
static void add_inputs(backward *b)
{
    const wf_scan *s = &b->s;
    const size_t first_captured = s->n_states + s->n_sequences;
    for (size_t i = 0; i < s->n_states; i++) {
        if (is_float(region_type(b, i)))
            b->d_state[i] = wf_scan_region_input(b->draft, region_type(b, i));
    }
    for (size_t i = 0; i < s->n_states; i++)
        b->before[i] = wf_scan_region_input(b->draft, region_type(b, i));
    for (size_t i = 0; i < s->n_sequences; i++)
        b->sequence[i] = wf_scan_region_input(b->draft, region_type(b, s->n_states + i));
    for (size_t i = 0; i < s->n_stacks; i++) {
        const wf_id id = s->region->outputs[s->n_states + i].val;
        const weft_type *t = wf_graph_type(s->region, id);
        if (wf_scan_is_kept(s->region, id))
            b->kept[i] = wf_scan_region_input(b->draft, t);
        if (b->q->dout[s->n_states + i].id && is_float(t))
            b->d_stack[i] = wf_scan_region_input(b->draft, t);
    }
    for (size_t i = 0; i < s->n_captured; i++) {
        const weft_type *t = region_type(b, first_captured + i);
        b->captured[i] = wf_scan_region_input(b->draft, t);
        b->others[i] =
            b->q->need[first_captured + i] ? wf_scan_region_input(b->draft, t) : b->captured[i];
    }
}

// a [b,k] times a captured [k,n] or, transposed, [n,k], whose gradient is wanted.
static bool is_product(const backward *b, const wf_node *node, size_t *out_captured)
{
    const size_t first_captured = b->s.n_states + b->s.n_sequences;
    if (node->op != &wf_op_matmul || node->attrs[0].u.i ||
        wf_graph_type(b->s.region, node->inputs[1])->ndim != 2) {
        return false;
    }
    const size_t input = node->inputs[1] - (size_t)1, left = node->inputs[0] - (size_t)1;
    if (left >= first_captured && left < wf_scan_n_inputs(&b->s))
        return false; // the same product in every step
    *out_captured = input - first_captured;
    return input >= first_captured && input < wf_scan_n_inputs(&b->s) && b->q->need[input];
}

static void copy_step(backward *b)
{
    const wf_scan *s = &b->s;
    wf_id *map = b->copy.map;
    const size_t n_in = wf_scan_n_inputs(s);
    for (size_t i = 0; i < n_in; i++) {
        map[i + 1] = i < s->n_states ? b->before[i].id
                     : i < s->n_states + s->n_sequences
                         ? b->sequence[i - s->n_states].id
                         : b->others[i - s->n_states - s->n_sequences].id;
    }
    for (size_t n = n_in; n < s->region->n_nodes; n++) {
        const wf_node *node = &s->region->nodes[n];
        product one = {.grad_stack = NO_STACK, .left_stack = NO_STACK};
        if (!is_product(b, node, &one.captured)) {
            wf_rewrite_copy(&b->copy, (uint32_t)n);
            continue;
        }
        wf_rewrite_set_place(&b->copy, (uint32_t)n);
        one.left = wf_rewrite_get(&b->copy, node->inputs[0]);
        one.is_transposed = node->attrs[1].u.i != 0;
        one.result =
            weft_matmul(b->draft, one.left, b->captured[one.captured], false, one.is_transposed);
        map[node->first_output] = one.result.id;
        b->products[b->n_products++] = one;
    }
    for (size_t i = 0; i < s->region->n_outputs; i++) {
        const weft_val seed = i < s->n_states ? b->d_state[i] : b->d_stack[i - s->n_states];
        if (seed.id) {
            b->outs[b->n_outs] = wf_rewrite_get(&b->copy, s->region->outputs[i].val);
            b->seeds[b->n_outs++] = seed;
        }
    }
}

static uint32_t add_stack(backward *b, weft_val val)
{
    if (!val.id)
        return NO_STACK;
    for (size_t i = b->n_states; i < b->n_results; i++) {
        if (b->results[i].id == val.id)
            return (uint32_t)i; // of a sum, both operands' gradients are one value
    }
    b->results[b->n_results] = val;
    return (uint32_t)b->n_results++;
}

// Walks the draft; sets the results of the backward step.
static void walk_step(backward *b)
{
    const wf_scan *s = &b->s;
    const size_t n_in = wf_scan_n_inputs(s);
    const size_t n_wrt = n_in + b->n_products;
    weft_val *wrt = take(b, n_wrt, sizeof *wrt), *grads = take(b, n_wrt, sizeof *grads);
    if (!wrt || !grads)
        return;
    size_t *place = take(b, n_wrt, sizeof *place), n = 0;
    if (!place)
        return;
    for (size_t i = 0; i < n_in; i++) {
        const bool is_state = i < s->n_states;
        place[i] = SIZE_MAX;
        if (!is_float(region_type(b, i)) || (!is_state && !b->q->need[i]))
            continue;
        place[i] = n;
        wrt[n++] = (weft_val){b->copy.map[i + 1]};
    }
    for (size_t i = 0; i < b->n_products; i++)
        wrt[n++] = b->products[i].result;
    wf_grad_seeded(b->draft, b->outs, b->seeds, b->n_outs, wrt, n, grads);
    for (size_t i = 0; i < s->n_states; i++) {
        if (place[i] == SIZE_MAX)
            continue;
        const weft_type *t = region_type(b, i);
        weft_val d = grads[place[i]];
        b->results[b->n_results++] =
            d.id ? d : weft_fill(b->draft, t->dtype, t->dims, t->ndim, 0.0);
        b->n_states++;
    }
    for (size_t i = s->n_states; i < n_in; i++) {
        const size_t k = i - s->n_states;
        uint32_t *to =
            k < s->n_sequences ? &b->sequence_stack[k] : &b->other_stack[k - s->n_sequences];
        *to = place[i] == SIZE_MAX ? NO_STACK : add_stack(b, grads[place[i]]);
    }
    for (size_t i = 0; i < b->n_products; i++)
        b->products[i].grad_stack = add_stack(b, grads[n - b->n_products + i]);
}

// ---- outside
// The values before each step: the first, then the stack of the next ones without its last.
static weft_val stack_before(backward *b, size_t state)
{
    const wf_scan *s = &b->s;
    const weft_type *t = region_type(b, state);
    const weft_type one = wf_scan_stacked(t, 1);
    const weft_val first = weft_reshape(b->g, b->q->in[state], one.dims, one.ndim);
    if (s->n_steps == 1)
        return first;
    const wf_id next = s->region->outputs[state].val;
    for (size_t i = s->n_states; i < s->region->n_outputs; i++) {
        if (s->region->outputs[i].val != next)
            continue;
        const weft_type whole = *wf_graph_type(b->g, b->q->out[i].id);
        int64_t start[WEFT_MAX_DIM] = {s->is_reverse ? 1 : 0}, stop[WEFT_MAX_DIM];
        memcpy(stop, whole.dims, sizeof stop);
        stop[0] = start[0] + s->n_steps - 1;
        const weft_val rest = weft_slice(b->g, b->q->out[i], start, stop, NULL);
        const weft_val parts[] = {s->is_reverse ? rest : first, s->is_reverse ? first : rest};
        return weft_concat(b->g, parts, 2, 0);
    }
    wf_graph_fail(b->g, b->q->info->op, WEFT_ERR_GRADIENT,
                  "state %zu is not stacked: its gradient needs it", state);
    return WEFT_NONE;
}

// What stands outside for an input of the draft. Values before steps are made once.
static weft_val outside(backward *b, weft_val input, weft_val *before)
{
    const wf_scan *s = &b->s;
    for (size_t i = 0; i < s->n_states; i++) {
        if (b->d_state[i].id == input.id) {
            const weft_type *t = region_type(b, i);
            return b->q->dout[i].id ? b->q->dout[i]
                                    : weft_fill(b->g, t->dtype, t->dims, t->ndim, 0.0);
        }
        if (b->before[i].id == input.id) {
            if (!before[i].id)
                before[i] = stack_before(b, i);
            return before[i];
        }
    }
    for (size_t i = 0; i < s->n_sequences; i++) {
        if (b->sequence[i].id == input.id)
            return b->q->in[s->n_states + i];
    }
    for (size_t i = 0; i < s->n_stacks; i++) {
        if (b->kept[i].id == input.id)
            return b->q->out[s->n_states + i];
        if (b->d_stack[i].id == input.id)
            return b->q->dout[s->n_states + i];
    }
    for (size_t i = 0; i < s->n_captured; i++) {
        if (b->captured[i].id == input.id)
            return b->q->in[s->n_states + s->n_sequences + i];
    }
    return WEFT_NONE;
}

// Left operands of the products: a stack that is there already, or one more of the backward step.
static void find_lefts(backward *b, size_t n_draft_inputs, weft_val *before)
{
    for (size_t i = 0; i < b->n_products && wf_graph_is_ok(b->g); i++) {
        product *one = &b->products[i];
        if (one->grad_stack == NO_STACK)
            continue;
        const wf_id kept = b->instead[one->left.id];
        const weft_val left = kept ? (weft_val){kept} : one->left;
        if (wf_graph_value(b->draft, left.id)->node < n_draft_inputs)
            one->left_outside = outside(b, left, before);
        else
            one->left_stack = add_stack(b, left);
    }
}

// ---- the backward region: what is live of the draft
static bool *find_live(backward *b)
{
    const weft_graph *draft = b->draft;
    bool *is_live = take(b, draft->n_nodes, sizeof *is_live);
    for (size_t i = 0; is_live && i < b->n_results; i++) {
        const wf_id kept = b->instead[b->results[i].id];
        is_live[wf_graph_value(draft, kept ? kept : b->results[i].id)->node] = true;
    }
    for (size_t n = draft->n_nodes; is_live && n-- > 0;) {
        const wf_node *node = &draft->nodes[n];
        for (uint32_t k = 0; is_live[n] && k < node->n_inputs; k++) {
            const wf_id kept = b->instead[node->inputs[k]];
            is_live[wf_graph_value(draft, kept ? kept : node->inputs[k])->node] = true;
        }
    }
    // Both names of what is captured become one input.
    for (size_t i = 0; is_live && i < b->s.n_captured; i++) {
        is_live[wf_graph_value(draft, b->captured[i].id)->node] |=
            is_live[wf_graph_value(draft, b->others[i].id)->node];
    }
    return is_live;
}

static void copy_live(backward *b, wf_rewrite *rw, size_t n_draft_inputs, const bool *is_live,
                      weft_val *before)
{
    const weft_graph *draft = b->draft;
    for (size_t n = 0; n < n_draft_inputs; n++) {
        const weft_val input = {draft->nodes[n].first_output};
        if (n >= b->n_states && !is_live[n])
            continue;
        const weft_val val = outside(b, input, before);
        if (!val.id)
            continue; // the second name of what is captured
        b->in[b->n_in++] = val;
        b->n_in_sequences +=
            n >= b->n_states && (b->s.n_captured == 0 || input.id < b->captured[0].id);
        rw->map[input.id] = wf_scan_region_input(rw->dst, wf_graph_type(draft, input.id)).id;
    }
    for (size_t i = 0; i < b->s.n_captured; i++)
        rw->map[b->others[i].id] = rw->map[b->captured[i].id];
    for (wf_id id = 1; id < draft->n_values; id++) {
        if (b->instead[id])
            rw->map[id] = rw->map[b->instead[id]];
    }
    for (size_t n = n_draft_inputs; n < draft->n_nodes; n++) {
        if (is_live[n])
            wf_rewrite_copy(rw, (uint32_t)n);
    }
    for (size_t i = 0; i < b->n_results; i++)
        wf_scan_output(rw->dst, wf_rewrite_get(rw, b->results[i].id));
    wf_scan_keep(rw->dst, b->n_states);
}

static weft_val add_scan(backward *b, size_t n_draft_inputs)
{
    weft_val *before = take(b, b->s.n_states, sizeof *before);
    b->instead = take(b, b->draft->n_values, sizeof *b->instead);
    if (!before || !b->instead)
        return WEFT_NONE;
    for (size_t i = 0; i < b->s.n_stacks; i++) {
        if (b->kept[i].id)
            b->instead[b->copy.map[b->s.region->outputs[b->s.n_states + i].val]] = b->kept[i].id;
    }
    find_lefts(b, n_draft_inputs, before);
    const bool *is_live = find_live(b);
    wf_rewrite rw;
    if (!is_live || !wf_graph_is_ok(b->g))
        return WEFT_NONE;
    if (wf_rewrite_init(&rw, b->draft, NULL) != WEFT_OK) {
        fail_memory(b);
        return WEFT_NONE;
    }
    rw.dst->is_region = true;
    copy_live(b, &rw, n_draft_inputs, is_live, before);
    weft_val first = WEFT_NONE;
    if (rw.dst->error.code != 0) {
        if (wf_graph_is_ok(b->g))
            b->g->error = rw.dst->error;
    } else {
        const wf_scan s = {.region = rw.dst,
                           .n_states = b->n_states,
                           .n_sequences = b->n_in_sequences,
                           .n_captured = b->n_in - b->n_states - b->n_in_sequences,
                           .n_steps = b->s.n_steps,
                           .is_reverse = !b->s.is_reverse};
        first = wf_scan_add(b->g, &s, b->in);
    }
    wf_free(&b->g->context->allocator, rw.map);
    weft_graph_destroy(rw.dst);
    return first;
}

// ---- gradients of the operands
// [n,b,k] -> [n*b,k]
static weft_val flat_rows(weft_graph *g, weft_val x)
{
    if (!wf_graph_is_ok(g))
        return WEFT_NONE;
    const weft_type *t = wf_graph_type(g, x.id);
    const int64_t dims[] = {t->dims[0] * t->dims[1], t->dims[2]};
    return weft_reshape(g, x, dims, 2);
}

static void accumulate(weft_graph *g, weft_val *to, weft_val val)
{
    *to = to->id ? weft_add(g, *to, val) : val;
}

static void set_gradients(backward *b, weft_val first)
{
    const wf_scan *s = &b->s;
    weft_graph *g = b->g;
    static const int32_t steps = 0;
    uint32_t state = 0;
    for (size_t i = 0; i < s->n_states; i++) {
        if (!is_float(region_type(b, i)))
            continue;
        if (b->q->need[i])
            b->q->din[i] = wf_val_output(first, state);
        state++;
    }
    for (size_t i = 0; i < s->n_sequences; i++) {
        if (b->sequence_stack[i] != NO_STACK)
            b->q->din[s->n_states + i] = wf_val_output(first, b->sequence_stack[i]);
    }
    weft_val *d_captured = &b->q->din[s->n_states + s->n_sequences];
    for (size_t i = 0; i < s->n_captured; i++) {
        if (b->other_stack[i] != NO_STACK) {
            accumulate(g, &d_captured[i],
                       weft_sum(g, wf_val_output(first, b->other_stack[i]), &steps, 1, false));
        }
    }
    for (size_t i = 0; i < b->n_products; i++) {
        const product *one = &b->products[i];
        if (one->grad_stack == NO_STACK)
            continue;
        const weft_val dc = flat_rows(g, wf_val_output(first, one->grad_stack));
        const weft_val a =
            flat_rows(g, one->left_stack == NO_STACK ? one->left_outside
                                                     : wf_val_output(first, one->left_stack));
        accumulate(g, &d_captured[one->captured],
                   weft_flush(g, one->is_transposed ? weft_matmul(g, dc, a, true, false)
                                                    : weft_matmul(g, a, dc, true, false)));
    }
}

void wf_grad_scan(const wf_grad_query *q)
{
    backward b = {.q = q, .g = q->g, .s = wf_scan_get(q->info->attrs, q->info->n_inputs)};
    for (size_t i = 0; i < q->info->n_inputs; i++)
        q->din[i] = WEFT_NONE;
    if (!allocate(&b))
        return;
    if (wf_rewrite_init(&b.copy, b.s.region, NULL) != WEFT_OK) {
        fail_memory(&b);
        return;
    }
    b.draft = b.copy.dst;
    b.draft->scopes[0] = q->g->scopes[q->g->scope_depth];
    add_inputs(&b);
    const size_t n_draft_inputs = b.draft->n_nodes;
    copy_step(&b);
    if (wf_graph_is_ok(b.draft))
        walk_step(&b);
    weft_val first = WEFT_NONE;
    if (wf_graph_is_ok(b.draft) && wf_graph_is_ok(b.g)) {
        first = add_scan(&b, n_draft_inputs);
    } else if (wf_graph_is_ok(b.g)) {
        b.g->error = b.draft->error;
    }
    if (first.id)
        set_gradients(&b, first);
    wf_free(&b.g->context->allocator, b.copy.map);
    weft_graph_destroy(b.draft);
}
