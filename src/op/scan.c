// results = scan(states, sequences, captured): a region run a fixed number of times, with states that go
// from step to step. scan.h says how operands, region and results correspond.
//
// eval runs the region's nodes through their own eval, step by step: it defines the bits, and what the
// planner makes of a scan is held against it. The gradient is in grad/, which walks into regions.
#include "op/scan.h"

#include <string.h>

#include "op/build.h"
#include "op/check_case.h"
#include "op/tensor.h"

extern const wf_op wf_op_input;

static const wf_attr_spec attrs[] = {{"n_states", WF_ATTR_INT},
                                     {"n_sequences", WF_ATTR_INT},
                                     {"n_steps", WF_ATTR_INT},
                                     {"reverse", WF_ATTR_BOOL},
                                     {"region", WF_ATTR_GRAPH}};

wf_scan wf_scan_get(const wf_attr *list, size_t n_inputs)
{
    wf_scan s = {.region = list[WF_SCAN_REGION].u.graph,
                 .n_states = (size_t)list[WF_SCAN_N_STATES].u.i,
                 .n_sequences = (size_t)list[WF_SCAN_N_SEQUENCES].u.i,
                 .n_steps = list[WF_SCAN_N_STEPS].u.i,
                 .is_reverse = list[WF_SCAN_REVERSE].u.i != 0};
    s.n_captured = n_inputs - s.n_states - s.n_sequences;
    s.n_stacks = s.region->n_outputs - s.n_states;
    return s;
}

static uint32_t count_outputs(const wf_attr *list)
{
    return (uint32_t)list[WF_SCAN_REGION].u.graph->n_outputs;
}

weft_type wf_scan_element(const weft_type *sequence)
{
    return wf_type_make(sequence->dtype, sequence->ndim - 1, sequence->dims + 1);
}

weft_type wf_scan_stacked(const weft_type *element, int64_t n_steps)
{
    weft_type t = {element->dtype, element->ndim + 1, {n_steps}};
    memcpy(t.dims + 1, element->dims, (size_t)element->ndim * sizeof *t.dims);
    return t;
}

// Counts that fit each other, before anything is read by them.
static weft_status check_counts(const wf_node_info *info, weft_error *err)
{
    const wf_attr *list = info->attrs;
    const int64_t n_states = list[WF_SCAN_N_STATES].u.i;
    const int64_t n_sequences = list[WF_SCAN_N_SEQUENCES].u.i;
    const weft_graph *region = list[WF_SCAN_REGION].u.graph;
    const int64_t n_in = (int64_t)info->n_inputs, n_out = (int64_t)region->n_outputs;
    if (n_states < 0 || n_sequences < 0 || n_states > n_in || n_sequences > n_in - n_states) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "%lld states and %lld sequences of %lld operands",
                  (long long)n_states, (long long)n_sequences, (long long)n_in);
    }
    if (n_out < n_states || n_out < 1 || n_out > WF_OP_MAX_OUTPUTS) {
        WEFT_FAIL(err, WEFT_ERR_ATTR,
                  "the region has %lld results, expected %lld or more and at most %d",
                  (long long)n_out, (long long)(n_states > 0 ? n_states : 1), WF_OP_MAX_OUTPUTS);
    }
    if (list[WF_SCAN_N_STEPS].u.i < 1) {
        WEFT_FAIL(err, WEFT_ERR_SHAPE, "%lld steps, expected 1 or more",
                  (long long)list[WF_SCAN_N_STEPS].u.i);
    }
    return WEFT_OK;
}

// Inputs come first, one for each operand; no variables: what a step changes is a state.
static weft_status check_region(const weft_graph *region, size_t n_inputs, weft_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < region->n_nodes; i++) {
        const wf_op *op = region->nodes[i].op;
        const bool is_input = op == &wf_op_input;
        if (is_input && n++ != i)
            WEFT_FAIL(err, WEFT_ERR_ATTR, "the region has an input behind other nodes");
        const bool is_assign = (op->flags & WF_OP_EFFECT) && op->task == WF_TASK_NONE;
        const bool is_variable = (op->flags & WF_OP_SOURCE) && !op->eval && !is_input;
        if (is_assign || is_variable) {
            WEFT_FAIL(err, WEFT_ERR_UNSUPPORTED,
                      "the region has a node %s, expected it outside and its value captured",
                      op->name);
        }
    }
    if (n != n_inputs) {
        WEFT_FAIL(err, WEFT_ERR_ATTR, "the region has %zu inputs, expected %zu", n, n_inputs);
    }
    return WEFT_OK;
}

static weft_status infer(const wf_node_info *info, weft_type *out, weft_error *err)
{
    WEFT_TRY(check_counts(info, err));
    const wf_scan s = wf_scan_get(info->attrs, info->n_inputs);
    char a[WF_TYPE_TEXT], b[WF_TYPE_TEXT];
    WEFT_TRY(check_region(s.region, info->n_inputs, err));
    for (size_t i = 0; i < info->n_inputs; i++) {
        const weft_type *t = wf_graph_type(s.region, (wf_id)(i + 1));
        weft_type want = info->in[i];
        if (i >= s.n_states && i < s.n_states + s.n_sequences) {
            if (want.ndim < 1 || want.dims[0] != s.n_steps) {
                WEFT_FAIL(err, WEFT_ERR_SHAPE, "sequence %zu is %s, expected [%lld,..]",
                          i - s.n_states, wf_type_text(&want, a), (long long)s.n_steps);
            }
            want = wf_scan_element(&info->in[i]);
        }
        if (!wf_type_equal(t, &want)) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "operand %zu is %s for a step, the region takes %s", i,
                      wf_type_text(&want, a), wf_type_text(t, b));
        }
    }
    for (size_t i = 0; i < s.region->n_outputs; i++) {
        out[i] = *wf_graph_type(s.region, s.region->outputs[i].val);
        if (i >= s.n_states) {
            if (out[i].ndim == WEFT_MAX_DIM) {
                WEFT_FAIL(err, WEFT_ERR_SHAPE, "result %zu is %s, a stack has one axis more", i,
                          wf_type_text(&out[i], a));
            }
            out[i] = wf_scan_stacked(&out[i], s.n_steps);
        } else if (!wf_type_equal(&out[i], &info->in[i])) {
            WEFT_FAIL(err, WEFT_ERR_SHAPE, "state %zu is %s, its next value is %s", i,
                      wf_type_text(&info->in[i], a), wf_type_text(&out[i], b));
        }
    }
    return WEFT_OK;
}

// ---- eval
typedef struct {
    wf_eval *q;
    wf_scan s;
    wf_arena memory;
    wf_tensor *vals; // by value of the region
    void **own_data; // by value: where a node writes
    void **state[2]; // by state: its value before the step, and behind it
    weft_error *err;
} runner;

static size_t tensor_bytes(const wf_tensor *t)
{
    return (size_t)wf_type_count(&t->type) * wf_tensor_elem_bytes(t);
}

static weft_status runner_init(runner *r)
{
    const weft_graph *region = r->s.region;
    const bool is_truth = r->q->out[0].is_truth;
    r->vals = wf_arena_take(&r->memory, region->n_values * sizeof *r->vals);
    r->own_data = wf_arena_take(&r->memory, region->n_values * sizeof *r->own_data);
    bool is_enough = r->vals && r->own_data;
    for (wf_id id = 1; is_enough && id < region->n_values; id++) {
        r->vals[id] = (wf_tensor){*wf_graph_type(region, id), NULL, is_truth};
        r->own_data[id] = wf_arena_take(&r->memory, tensor_bytes(&r->vals[id]) + 1);
        is_enough = r->own_data[id] != NULL;
    }
    for (int k = 0; k < 2 && is_enough; k++) {
        r->state[k] = wf_arena_take(&r->memory, (r->s.n_states + 1) * sizeof(void *));
        is_enough = r->state[k] != NULL;
        for (size_t i = 0; is_enough && i < r->s.n_states; i++) {
            const size_t bytes = tensor_bytes(&r->vals[i + 1]);
            r->state[k][i] = wf_arena_take(&r->memory, bytes + 1);
            is_enough = r->state[k][i] != NULL;
            if (is_enough && k == 0 && bytes)
                memcpy(r->state[0][i], r->q->in[i].data, bytes);
        }
    }
    if (!is_enough)
        WEFT_FAIL(r->err, WEFT_ERR_MEMORY, "scan: memory for a step is not available");
    return WEFT_OK;
}

// Did this node make the first value that is bad?
static void find_origin(const runner *r, const wf_eval *q, const wf_node *node, int64_t step)
{
    const int64_t elem = q->is_bad ? q->bad_elem : wf_tensor_find_nonfinite(&q->out[0]);
    bool is_first = elem >= 0;
    for (size_t i = 0; is_first && i < q->info->n_inputs; i++) {
        is_first = wf_tensor_find_nonfinite(&q->in[i]) < 0;
    }
    if (!is_first)
        return;
    *q->origin = (wf_eval_origin){
        .region = r->s.region, .node = node, .step = step, .elem = elem, .is_index = q->is_bad};
    if (!q->is_bad)
        q->origin->value = ((const float *)q->out[0].data)[elem];
}

static weft_status run_node(runner *r, const wf_node *node, int64_t step)
{
    weft_type *in_types;
    const wf_allocator *a = &r->q->allocator;
    const size_t n = node->n_inputs;
    WEFT_TRY(wf_alloc(a, n, sizeof(wf_tensor) + sizeof *in_types, &in_types, r->err));
    wf_tensor *in = (wf_tensor *)(void *)(in_types + n);
    weft_type out_types[WF_OP_MAX_OUTPUTS];
    for (size_t i = 0; i < n; i++) {
        in[i] = r->vals[node->inputs[i]];
        in_types[i] = in[i].type;
    }
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        wf_tensor *out = &r->vals[node->first_output + i];
        out->data = r->own_data[node->first_output + i];
        out_types[i] = out->type;
    }
    const wf_node_info info = {node->op, n, in_types, node->n_outputs, out_types, node->attrs};
    wf_eval q = {&info, in, &r->vals[node->first_output], false, 0, *a, r->q->origin};
    weft_status (*eval)(wf_eval *, weft_error *) = node->op->eval;
    if (r->q->out[0].is_truth && node->op->eval_truth)
        eval = node->op->eval_truth;
    weft_status status = WEFT_OK;
    if (!eval) {
        status = wf_error_set(r->err, WEFT_ERR_UNSUPPORTED, "scan: %s has no eval", node->op->name);
    } else {
        status = eval(&q, r->err);
    }
    if (status == WEFT_OK && q.origin && !q.origin->node)
        find_origin(r, &q, node, step);
    if (q.is_bad && !r->q->is_bad) {
        r->q->is_bad = true;
        r->q->bad_elem = q.bad_elem;
    }
    wf_free(a, in_types);
    return status;
}

static weft_status run_step(runner *r, int64_t step)
{
    const wf_scan *s = &r->s;
    const size_t n_in = wf_scan_n_inputs(s);
    const size_t place = (size_t)wf_scan_place(s, step);
    for (size_t i = 0; i < n_in; i++) {
        wf_tensor *t = &r->vals[i + 1];
        t->data = i < s->n_states ? r->state[0][i] : r->q->in[i].data;
        if (i >= s->n_states && i < s->n_states + s->n_sequences)
            t->data = (char *)t->data + place * tensor_bytes(t);
    }
    for (size_t n = n_in; n < s->region->n_nodes; n++)
        WEFT_TRY(run_node(r, &s->region->nodes[n], (int64_t)place));
    for (size_t i = 0; i < s->region->n_outputs; i++) {
        const wf_tensor *t = &r->vals[s->region->outputs[i].val];
        const size_t bytes = tensor_bytes(t);
        char *to = i < s->n_states ? r->state[1][i] : (char *)r->q->out[i].data + place * bytes;
        if (bytes)
            memcpy(to, t->data, bytes);
    }
    void **before = r->state[0];
    r->state[0] = r->state[1];
    r->state[1] = before;
    return WEFT_OK;
}

static weft_status eval(wf_eval *q, weft_error *err)
{
    runner r = {.q = q, .s = wf_scan_get(q->info->attrs, q->info->n_inputs), .err = err};
    wf_arena_init(&r.memory, &q->allocator);
    weft_status status = runner_init(&r);
    for (int64_t step = 0; step < r.s.n_steps && status == WEFT_OK; step++)
        status = run_step(&r, step);
    for (size_t i = 0; i < r.s.n_states && status == WEFT_OK; i++) {
        const size_t bytes = tensor_bytes(&q->out[i]);
        if (bytes)
            memcpy(q->out[i].data, r.state[0][i], bytes);
    }
    wf_arena_deinit(&r.memory);
    return status;
}

static wf_cost cost(const wf_node_info *info)
{
    const wf_scan s = wf_scan_get(info->attrs, info->n_inputs);
    wf_cost sum = {0.0, wf_cost_bytes(info)};
    for (size_t n = 0; n < s.region->n_nodes; n++) {
        const wf_node *node = &s.region->nodes[n];
        weft_type in[8], out[WF_OP_MAX_OUTPUTS];
        if (!node->op->cost || node->n_inputs > WF_COUNT_OF(in))
            continue;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            in[i] = *wf_graph_type(s.region, node->inputs[i]);
        for (uint32_t i = 0; i < node->n_outputs; i++)
            out[i] = *wf_graph_type(s.region, node->first_output + i);
        const wf_node_info one = {node->op, node->n_inputs, in, node->n_outputs, out, node->attrs};
        sum.flops += node->op->cost(&one).flops * (double)s.n_steps;
    }
    return sum;
}

// ---- cases
// A state that a product, a sequence and a captured row make; what is stacked is not the state.
static void step_product(weft_graph *g, void *user, const weft_scan_step *step)
{
    (void)user;
    const weft_val h = weft_matmul(g, step->states[0], step->captured[0], false, false);
    const weft_val sum = weft_add(g, weft_add(g, h, step->sequences[0]), step->captured[1]);
    step->next_states[0] = weft_tanh(g, sum);
    step->stacks[0] = weft_mul(g, sum, sum);
}

// p: reverse. in: state [b,n], sequence [t,b,n], weight [n,n], bias [n]
static weft_val build_product(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_val last, stack;
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .is_reverse = p[0] != 0,
                                 .states = in,
                                 .n_states = 1,
                                 .sequences = in + 1,
                                 .n_sequences = 1,
                                 .captured = in + 2,
                                 .n_captured = 2,
                                 .n_stacks = 1,
                                 .step = step_product};
    weft_scan(g, &spec, &last, &stack);
    return weft_add(g, weft_mul(g, last, last), weft_sum(g, stack, (const int32_t[]){0}, 1, false));
}

// Two states that change places, a product of the sequence that is hoisted, and a value of the step that
// is no state and no input: the running total stands in two stacks.
static void step_swap(weft_graph *g, void *user, const weft_scan_step *step)
{
    (void)user;
    const weft_val x = weft_matmul(g, step->sequences[0], step->captured[0], false, true);
    const weft_val total = weft_add(g, step->states[1], weft_sin(g, x));
    step->next_states[0] = total;
    step->next_states[1] = step->states[0];
    step->stacks[0] = total;
    step->stacks[1] = step->states[1];
}

// in: two states [b,n], sequence [t,b,k], weight [n,k]
static weft_val build_swap(weft_graph *g, const weft_val *in, const int64_t *p)
{
    weft_val last[2], stacks[2];
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .is_reverse = p[0] != 0,
                                 .states = in,
                                 .n_states = 2,
                                 .sequences = in + 2,
                                 .n_sequences = 1,
                                 .captured = in + 3,
                                 .n_captured = 1,
                                 .n_stacks = 2,
                                 .step = step_swap};
    weft_scan(g, &spec, last, stacks);
    const weft_val both = weft_add(g, weft_mul(g, stacks[0], stacks[1]), last[1]);
    return weft_sub(g, both, weft_exp(g, last[0]));
}

static void cases(wf_check_list *list)
{
    static const struct {
        const char *name;
        bool is_reverse;
        int64_t t, b, n;
    } table[] = {
        {"one step", false, 1, 3, 5},        {"4 steps", false, 4, 2, 3},
        {"7 steps, reverse", true, 7, 3, 9}, {"2 steps", false, 2, 33, 17},
        {"no rows", false, 3, 0, 5},
    };
    for (size_t i = 0; i < WF_COUNT_OF(table); i++) {
        const int64_t t = table[i].t, b = table[i].b, n = table[i].n;
        wf_check_add(
            list, (wf_check_case){.name = wf_check_name(list, "product, %s", table[i].name),
                                  .build = build_product,
                                  .params = {table[i].is_reverse},
                                  .n_inputs = 4,
                                  .inputs = {WF_CHECK_INPUT(WEFT_F32, b, n),
                                             WF_CHECK_INPUT(WEFT_F32, t, b, n),
                                             WF_CHECK_INPUT_FILL(WF_CHECK_UNIT, 0, WEFT_F32, n, n),
                                             WF_CHECK_INPUT(WEFT_F32, n)},
                                  .no_difference = b * n > 20,
                                  .bound = 1e4});
        wf_check_add(list, (wf_check_case){.name = wf_check_name(list, "swap, %s", table[i].name),
                                           .build = build_swap,
                                           .params = {table[i].is_reverse},
                                           .n_inputs = 4,
                                           .inputs = {WF_CHECK_INPUT(WEFT_F32, b, n),
                                                      WF_CHECK_INPUT(WEFT_F32, b, n),
                                                      WF_CHECK_INPUT(WEFT_F32, t, b, 4),
                                                      WF_CHECK_INPUT(WEFT_F32, n, 4)},
                                           .no_difference = b * n > 20,
                                           .bound = 1e3});
    }
}

const wf_op wf_op_scan = {
    .name = "scan",
    .n_inputs = 1,
    .n_outputs = 1,
    .flags = WF_OP_VARIADIC,
    .task = WF_TASK_SCAN,
    .attrs = attrs,
    .n_attrs = WF_COUNT_OF(attrs),
    .count_outputs = count_outputs,
    .infer = infer,
    .eval = eval,
    .cost = cost,
    .cases = cases,
};
