// scan: values of a hand-written loop, text form, what the passes drop, gradients of gradients, scans in
// scans, plans that do not grow with the steps but for their tasks, messages.
#include "op_run.h"

#include "pass/pass.h"
#include "plan/plan.h"
#include "weft/weft.h"

// state' = state * w + x; what is stacked is the state before the step.
static void step_line(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    s->next_states[0] = weft_add(g, weft_mul(g, s->states[0], s->captured[0]), s->sequences[0]);
    s->stacks[0] = s->states[0];
}

static weft_scan_spec line_spec(const weft_val in[3])
{
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .states = in,
                                 .n_states = 1,
                                 .sequences = in + 1,
                                 .n_sequences = 1,
                                 .captured = in + 2,
                                 .n_captured = 1,
                                 .n_stacks = 1,
                                 .step = step_line};
    return spec;
}

static void line_inputs(weft_graph *g, weft_val in[3])
{
    static const float first[] = {1.0f, -1.0f}, x[] = {0.5f, 0.25f, 1.0f, 2.0f, -3.0f, 4.0f};
    static const float w[] = {2.0f, -0.5f};
    in[0] = weft_constant(g, WEFT_F32, OP_DIMS(2), first);
    in[1] = weft_constant(g, WEFT_F32, OP_DIMS(3, 2), x);
    in[2] = weft_constant(g, WEFT_F32, OP_DIMS(2), w);
}

static void runs_step_by_step(void **state)
{
    weft_graph *g = *state;
    weft_val in[3], last, stack;
    line_inputs(g, in);
    weft_scan_spec spec = line_spec(in);
    weft_scan(g, &spec, &last, &stack);
    static const float before[] = {1.0f, -1.0f, 2.5f, 0.75f, 6.0f, 1.625f};
    op_expect_f32(g, stack, before, OP_COUNT(before));
    // (1 * 2 + 0.5) * 2 + 1 = 6; 6 * 2 - 3 = 9
    op_expect_f32(g, last, (const float[]){9.0f, 3.1875f}, 2);
    spec.is_reverse = true;
    weft_scan(g, &spec, &last, &stack);
    // From the last element on: 1 * 2 - 3 = -1, -1 * 2 + 1 = -1, -1 * 2 + 0.5 = -1.5
    static const float reversed[] = {-1.0f, -0.25f, -1.0f, 4.5f, 1.0f, -1.0f};
    op_expect_f32(g, stack, reversed, OP_COUNT(reversed));
    op_expect_f32(g, last, (const float[]){-1.5f, 0.375f}, 2);
}

// What is printed is read back to the same text.
static void is_printed_and_parsed(void **state)
{
    weft_graph *g = *state, *again;
    weft_val in[3], last, stack;
    char *text, *text_again;
    weft_error err = {0};
    line_inputs(g, in);
    const weft_scan_spec spec = line_spec(in);
    weft_scan(g, &spec, &last, &stack);
    weft_val grad;
    weft_grad(g, weft_sum(g, last, NULL, 0, false), &in[2], 1, &grad);
    weft_output(g, "grad", grad);
    assert_int_equal(wf_graph_verify(g, &err), WEFT_OK);
    assert_int_equal(weft_graph_print(g, &text, &err), WEFT_OK);
    assert_non_null(strstr(text, "region=("));
    if (weft_graph_parse(g->context, text, &again, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(wf_graph_verify(again, &err), WEFT_OK);
    assert_int_equal(weft_graph_print(again, &text_again, &err), WEFT_OK);
    assert_string_equal(text, text_again);
    // Cut short anywhere, it is refused and nothing leaks.
    const size_t n = strlen(text);
    for (size_t at = 0; at + 1 < n; at += 37) {
        weft_graph *broken = NULL;
        const char kept = text[at];
        text[at] = 0;
        (void)weft_graph_parse(g->context, text, &broken, &err);
        weft_graph_destroy(broken);
        text[at] = kept;
    }
    weft_graph_destroy(again);
    weft_text_free(g->context, text);
    weft_text_free(g->context, text_again);
}

static const wf_node *find_scan(const weft_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (!strcmp(g->nodes[i].op->name, "scan"))
            return &g->nodes[i];
    }
    fail_msg("no scan");
    return NULL;
}

extern const wf_pass wf_pass_trim;

// The state is stacked for a gradient; without one nobody reads that, nor what only it needs.
static void what_nobody_reads_is_dropped(void **state)
{
    weft_graph *g = *state, *trimmed, *again;
    weft_val in[3], last, stack;
    weft_error err = {0};
    line_inputs(g, in);
    const weft_scan_spec spec = line_spec(in);
    weft_scan(g, &spec, &last, &stack);
    weft_output(g, "last", last);
    assert_int_equal(find_scan(g)->n_outputs, 3); // last, stack of states before, of states behind
    assert_int_equal(wf_pass_run(&wf_pass_trim, g, &trimmed, &err), WEFT_OK);
    assert_int_equal(find_scan(trimmed)->n_outputs, 1);
    assert_int_equal(wf_graph_verify(trimmed, &err), WEFT_OK);
    assert_int_equal(wf_pass_run(&wf_pass_trim, trimmed, &again, &err), WEFT_OK);
    assert_int_equal(again->n_values, trimmed->n_values);
    weft_graph_destroy(trimmed);
    weft_graph_destroy(again);
}

// x W for all steps is a product of the outer graph.
static void step_hoist(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    const weft_val x = weft_matmul(g, s->sequences[0], s->captured[0], false, true);
    s->next_states[0] = weft_tanh(g, weft_add(g, s->states[0], x));
}

static void products_of_sequences_are_hoisted(void **state)
{
    weft_graph *g = *state;
    const weft_val in[] = {weft_input(g, "h", WEFT_F32, OP_DIMS(2, 3)),
                           weft_input(g, "x", WEFT_F32, OP_DIMS(5, 2, 4)),
                           weft_input(g, "w", WEFT_F32, OP_DIMS(3, 4))};
    weft_scan_spec spec = line_spec(in);
    spec.step = step_hoist;
    spec.n_stacks = 0;
    weft_val last;
    weft_scan(g, &spec, &last, NULL);
    assert_true(wf_graph_is_ok(g));
    const wf_node *scan = find_scan(g);
    const weft_graph *region = wf_node_region(scan)->u.graph;
    for (size_t i = 0; i < region->n_nodes; i++)
        assert_string_not_equal(region->nodes[i].op->name, "matmul");
    assert_int_equal(wf_graph_type(g, scan->inputs[2])->dims[2], 3); // [5,2,3]
}

// A scan whose step is a scan: the sum of all sums so far.
static void step_inner(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    s->next_states[0] = weft_add(g, weft_mul(g, s->states[0], s->captured[0]), s->sequences[0]);
}

static void step_outer(weft_graph *g, void *user, const weft_scan_step *s)
{
    const weft_scan_spec inner = {.struct_size = sizeof inner,
                                  .states = s->states,
                                  .n_states = 1,
                                  .sequences = s->sequences,
                                  .n_sequences = 1,
                                  .captured = s->captured,
                                  .n_captured = 1,
                                  .step = step_inner,
                                  .user = user};
    weft_scan(g, &inner, &s->next_states[0], NULL);
    s->stacks[0] = s->next_states[0];
}

static float run_nested(weft_context *ctx, const char *device, float grad[2])
{
    static const float x[] = {1.0f, 2.0f, 3.0f, 4.0f,  5.0f,  6.0f,
                              7.0f, 8.0f, 9.0f, 10.0f, 11.0f, 12.0f};
    weft_graph *g;
    weft_device *dev = NULL;
    weft_state *st = NULL;
    weft_program *p = NULL;
    weft_error err = {0};
    float loss = 0.0f;
    assert_int_equal(weft_graph_create(ctx, &g, &err), WEFT_OK);
    const weft_val in[] = {weft_fill(g, WEFT_F32, OP_DIMS(2), 0.5),
                           weft_constant(g, WEFT_F32, OP_DIMS(2, 3, 2), x),
                           weft_fill(g, WEFT_F32, OP_DIMS(2), 0.75)};
    weft_scan_spec spec = line_spec(in);
    spec.step = step_outer;
    weft_val last, stack, d;
    weft_scan(g, &spec, &last, &stack);
    const weft_val sum = weft_sum(g, weft_add(g, weft_mul(g, stack, stack), last), NULL, 0, false);
    weft_grad(g, sum, &in[2], 1, &d);
    weft_output(g, "loss", sum);
    weft_output(g, "grad", d);
    if (weft_device_open(ctx, device, NULL, &dev, &err) != WEFT_OK ||
        weft_state_create(dev, &st, &err) != WEFT_OK ||
        weft_compile(st, g, NULL, &p, &err) != WEFT_OK || weft_program_run(p, &err) != WEFT_OK ||
        weft_program_read(p, "loss", &loss, sizeof loss, &err) != WEFT_OK ||
        weft_program_read(p, "grad", grad, 2 * sizeof *grad, &err) != WEFT_OK) {
        fail_msg("%s: %s", device, err.message);
    }
    weft_program_destroy(p);
    weft_state_destroy(st);
    weft_device_close(dev);
    weft_graph_destroy(g);
    return loss;
}

static void scans_may_stand_in_scans(void **state)
{
    weft_graph *g = *state;
    float a[2], b[2];
    const float loss = run_nested(g->context, "ref", a);
    // By hand: h' = 0.75 h + x over six rows, the stack holds h behind rows 3 and 6.
    double h[2] = {0.5, 0.5}, want = 0.0;
    for (int row = 0; row < 6; row++) {
        for (int i = 0; i < 2; i++) {
            h[i] = 0.75 * h[i] + 2.0 * row + i + 1.0;
            want += row % 3 == 2 ? h[i] * h[i] : 0.0;
        }
    }
    want += 2.0 * (h[0] + h[1]); // stretched over the stack
    assert_float_equal(loss, (float)want, 1e-3f);
    assert_true(loss == run_nested(g->context, "cpu", b));
    assert_memory_equal(a, b, sizeof a);
}

// d/dw of (d loss / d w) where loss = last state of h' = h * w + x: a cubic in w.
static void gradients_have_gradients(void **state)
{
    weft_graph *g = *state;
    weft_val in[3], last, stack, first, second;
    line_inputs(g, in);
    const weft_scan_spec spec = line_spec(in);
    weft_scan(g, &spec, &last, &stack);
    weft_grad(g, weft_sum(g, last, NULL, 0, false), &in[2], 1, &first);
    weft_grad(g, weft_sum(g, first, NULL, 0, false), &in[2], 1, &second);
    // h w^3 + x0 w^2 + x1 w + x2: 3 h w^2 + 2 x0 w + x1, then 6 h w + 2 x0
    op_expect_f32(g, first, (const float[]){15.0f, 1.0f}, 2);
    op_expect_f32(g, second, (const float[]){13.0f, 3.5f}, 2);
}

static void step_none(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)g, (void)user, (void)s;
}
static void step_variable(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    s->next_states[0] = weft_variable(g, "v", weft_fill(g, WEFT_F32, OP_DIMS(2), 0.0));
}
static void step_other_type(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    s->next_states[0] = weft_sum(g, s->states[0], NULL, 0, false);
}
static void step_fails(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    weft_scope_push(g, "inside");
    s->next_states[0] = weft_matmul(g, s->states[0], s->states[0], false, false);
    weft_scope_pop(g);
}

static void says_what_is_wrong(void **state)
{
    weft_context *ctx = ((weft_graph *)*state)->context;
    static const struct {
        void (*step)(weft_graph *, void *, const weft_scan_step *);
        int64_t n_steps;
        const char *message;
    } table[] = {
        {step_none, 0, "scan: the step gives no value for state 0, or one of another graph"},
        {step_variable, 0,
         "scan: the region has a node variable, expected it outside and its value captured"},
        {step_other_type, 0, "scan: state 0 is f32[2], its next value is f32[]"},
        {step_fails, 0, "inside/matmul: a is [2], b is [2], expected 2 axes or more"},
        {step_hoist, 4, "scan: sequence 0 is f32[3,2], expected [4,..]"},
    };
    for (size_t i = 0; i < OP_COUNT(table); i++) {
        weft_graph *g;
        weft_val in[3], last;
        weft_error err = {0};
        assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
        line_inputs(g, in);
        weft_scan_spec spec = line_spec(in);
        spec.step = table[i].step;
        spec.n_steps = table[i].n_steps;
        spec.n_stacks = 0;
        weft_scan(g, &spec, &last, NULL);
        assert_int_equal(last.id, 0);
        assert_int_not_equal(weft_graph_status(g, &err), WEFT_OK);
        assert_string_equal(err.message, table[i].message);
        weft_graph_destroy(g);
    }
}

const struct CMUnitTest wf_tests_scan[] = {
    OP_TEST(runs_step_by_step),
    OP_TEST(is_printed_and_parsed),
    OP_TEST(what_nobody_reads_is_dropped),
    OP_TEST(products_of_sequences_are_hoisted),
    OP_TEST(scans_may_stand_in_scans),
    OP_TEST(gradients_have_gradients),
    OP_TEST(says_what_is_wrong),
};
const unsigned long wf_n_tests_scan = WF_N_TESTS(wf_tests_scan);
