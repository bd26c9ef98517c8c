// lstm_cell: gradients and gradients of gradients against the same cell out of simple ops; in a scan the
// backward steps compute no gate again.
#include "op_run.h"

#include "weft/weft.h"

#define ROWS 3
#define UNITS 5
#define N_X (ROWS * 4 * UNITS)
#define N_C (ROWS * UNITS)

static weft_val part(weft_graph *g, weft_val x, int64_t k)
{
    const int64_t start[] = {0, k * UNITS}, stop[] = {ROWS, (k + 1) * UNITS};
    return weft_slice(g, x, start, stop, NULL);
}

static void simple_cell(weft_graph *g, weft_val x, weft_val p, weft_val c, weft_val *h,
                        weft_val *next)
{
    const weft_val s = weft_add(g, x, p);
    const weft_val i = weft_sigmoid(g, part(g, s, 0)), f = weft_sigmoid(g, part(g, s, 1));
    const weft_val o = weft_sigmoid(g, part(g, s, 3));
    *next = weft_add(g, weft_mul(g, f, c), weft_mul(g, i, weft_tanh(g, part(g, s, 2))));
    *h = weft_mul(g, o, weft_tanh(g, *next));
}

// Outputs "dx", "dc": gradients of sum(h * h + next); "ddx", "ddc": of sum(dx * dx) + sum(dc).
static void build(weft_graph *g, bool is_simple)
{
    float data[2 * N_X + N_C];
    for (size_t i = 0; i < OP_COUNT(data); i++)
        data[i] = 0.25f * (float)((i * 37) % 17) - 2.0f;
    const weft_val x = weft_constant(g, WEFT_F32, OP_DIMS(ROWS, 4 * UNITS), data),
                   p = weft_constant(g, WEFT_F32, OP_DIMS(ROWS, 4 * UNITS), data + N_X),
                   c = weft_constant(g, WEFT_F32, OP_DIMS(ROWS, UNITS), data + 2 * N_X);
    const weft_val wrt[] = {x, c};
    weft_val h, next, d[2], dd[2];
    if (is_simple)
        simple_cell(g, x, p, c, &h, &next);
    else
        weft_lstm_cell(g, x, p, c, &h, &next);
    weft_grad(g, weft_sum(g, weft_add(g, weft_mul(g, h, h), next), NULL, 0, false), wrt, 2, d);
    const weft_val again = weft_add(g, weft_sum(g, weft_mul(g, d[0], d[0]), NULL, 0, false),
                                    weft_sum(g, d[1], NULL, 0, false));
    weft_grad(g, again, wrt, 2, dd);
    weft_output(g, "dx", d[0]);
    weft_output(g, "dc", d[1]);
    weft_output(g, "ddx", dd[0]);
    weft_output(g, "ddc", dd[1]);
}

typedef struct results {
    float dx[N_X], dc[N_C], ddx[N_X], ddc[N_C];
} results;

static void run(weft_context *ctx, bool is_simple, results *r)
{
    weft_graph *g;
    weft_device *dev = NULL;
    weft_state *st = NULL;
    weft_program *p = NULL;
    weft_error err = {0};
    assert_int_equal(weft_graph_create(ctx, &g, &err), WEFT_OK);
    build(g, is_simple);
    if (weft_device_open(ctx, "cpu", NULL, &dev, &err) != WEFT_OK ||
        weft_state_create(dev, &st, &err) != WEFT_OK ||
        weft_compile(st, g, NULL, &p, &err) != WEFT_OK || weft_program_run(p, &err) != WEFT_OK ||
        weft_program_read(p, "dx", r->dx, sizeof r->dx, &err) != WEFT_OK ||
        weft_program_read(p, "dc", r->dc, sizeof r->dc, &err) != WEFT_OK ||
        weft_program_read(p, "ddx", r->ddx, sizeof r->ddx, &err) != WEFT_OK ||
        weft_program_read(p, "ddc", r->ddc, sizeof r->ddc, &err) != WEFT_OK) {
        fail_msg("%s", err.message);
    }
    weft_program_destroy(p);
    weft_state_destroy(st);
    weft_device_close(dev);
    weft_graph_destroy(g);
}

static void gradients_are_those_of_its_parts(void **state)
{
    weft_graph *g = *state;
    results want, got;
    run(g->context, true, &want);
    run(g->context, false, &got);
    const float *a = (const float *)&want, *b = (const float *)&got;
    for (size_t i = 0; i < sizeof want / sizeof *a; i++)
        assert_float_equal(a[i], b[i], 1e-5f);
}

static void step(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    const weft_val p = weft_matmul(g, s->states[0], s->captured[0], false, true);
    weft_lstm_cell(g, s->sequences[0], p, s->states[1], &s->next_states[0], &s->next_states[1]);
}

static void a_scan_keeps_its_gates(void **state)
{
    weft_graph *g = *state;
    const weft_val in[] = {weft_input(g, "h", WEFT_F32, OP_DIMS(2, 3)),
                           weft_input(g, "c", WEFT_F32, OP_DIMS(2, 3)),
                           weft_input(g, "x", WEFT_F32, OP_DIMS(7, 2, 12)),
                           weft_input(g, "w", WEFT_F32, OP_DIMS(12, 3))};
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .states = in,
                                 .n_states = 2,
                                 .sequences = in + 2,
                                 .n_sequences = 1,
                                 .captured = in + 3,
                                 .n_captured = 1,
                                 .step = step};
    weft_val last[2], dw;
    weft_scan(g, &spec, last, NULL);
    weft_grad(g, weft_sum(g, last[0], NULL, 0, false), &in[3], 1, &dw);
    assert_true(wf_graph_is_ok(g));
    const weft_graph *region = NULL;
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (wf_node_region(&g->nodes[i]))
            region = wf_node_region(&g->nodes[i])->u.graph; // the last: the backward one
    }
    for (size_t i = 0; i < region->n_nodes; i++) {
        assert_string_not_equal(region->nodes[i].op->name, "lstm_cell");
        assert_string_not_equal(region->nodes[i].op->name, "sigmoid");
    }
}

const struct CMUnitTest wf_tests_lstm_cell[] = {
    OP_TEST(gradients_are_those_of_its_parts),
    OP_TEST(a_scan_keeps_its_gates),
};
const unsigned long wf_n_tests_lstm_cell = WF_N_TESTS(wf_tests_lstm_cell);
