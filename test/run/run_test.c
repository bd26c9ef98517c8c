// Compiling and running: random graphs give ref's bits on cpu over several runs; a bad step changes no
// variable and is blamed by name; errors of binding; initial values; allocation failures.
// labels: sweep valgrind
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../graph/graph_kit.h"
#include "failing_alloc.h"
#include "run/run_internal.h"

typedef struct {
    weft_device *device;
    weft_state *state;
    weft_program *program;
} machine;

static machine start(weft_context *ctx, const char *id, const weft_graph *g)
{
    machine m = {0};
    weft_error err = {0};
    if (weft_device_open(ctx, id, NULL, &m.device, &err) != WEFT_OK ||
        weft_state_create(m.device, &m.state, &err) != WEFT_OK ||
        weft_compile(m.state, g, NULL, &m.program, &err) != WEFT_OK) {
        fail_msg("%s: %s", id, err.message);
    }
    return m;
}

static void stop(machine *m)
{
    weft_program_destroy(m->program);
    weft_state_destroy(m->state);
    weft_device_close(m->device);
}

static bool is_same(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(a[i]) && isnan(b[i]))
            continue;
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            return false;
    }
    return true;
}

static void expect_same_values(machine *a, machine *b, uint32_t seed)
{
    static const char *const names[] = {"a", "b", "c"};
    float x[120], y[120];
    assert_int_equal(weft_program_read(a->program, "out", x, sizeof x, NULL), WEFT_OK);
    assert_int_equal(weft_program_read(b->program, "out", y, sizeof y, NULL), WEFT_OK);
    if (!is_same(x, y, 120))
        fail_msg("seed %u: out differs", seed);
    assert_int_equal(weft_program_read(a->program, "sum", x, sizeof *x, NULL), WEFT_OK);
    assert_int_equal(weft_program_read(b->program, "sum", y, sizeof *y, NULL), WEFT_OK);
    if (!is_same(x, y, 1))
        fail_msg("seed %u: sum differs", seed);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(weft_state_read(a->state, names[i], x, sizeof x, NULL), WEFT_OK);
        assert_int_equal(weft_state_read(b->state, names[i], y, sizeof y, NULL), WEFT_OK);
        if (!is_same(x, y, 120))
            fail_msg("seed %u: variable %s differs", seed, names[i]);
    }
}

static void random_graphs_have_refs_bits(void **state)
{
    graph_kit *kit = *state;
    const uint32_t n = wf_test_is_full() ? 5000 : 200;
    for (uint32_t seed = 0; seed < n; seed++) {
        weft_graph *g;
        float x[120];
        assert_int_equal(weft_graph_create(kit->ctx, &g, NULL), WEFT_OK);
        graph_kit_build_random(g, seed);
        machine ref = start(kit->ctx, "ref", g), cpu = start(kit->ctx, "cpu", g);
        for (int run = 0; run < 3; run++) {
            for (int i = 0; i < 120; i++)
                x[i] = (float)((i * 37 + run * 11) % 101) * 0.05f - 2.0f;
            assert_int_equal(weft_program_write(ref.program, "x", x, sizeof x, NULL), WEFT_OK);
            assert_int_equal(weft_program_write(cpu.program, "x", x, sizeof x, NULL), WEFT_OK);
            assert_int_equal(weft_program_run(ref.program, NULL), WEFT_OK);
            assert_int_equal(weft_program_run(cpu.program, NULL), WEFT_OK);
            expect_same_values(&ref, &cpu, seed);
        }
        stop(&ref);
        stop(&cpu);
        weft_graph_destroy(g);
    }
}

static void run_step(machine *m, float x0)
{
    float x[2 * 64] = {0};
    const int32_t y[2] = {1, 4};
    for (int i = 0; i < 128; i++)
        x[i] = (float)(i % 7) - 3.0f;
    x[0] = x0;
    assert_int_equal(weft_program_write(m->program, "x", x, sizeof x, NULL), WEFT_OK);
    assert_int_equal(weft_program_write(m->program, "y", y, sizeof y, NULL), WEFT_OK);
    assert_int_equal(weft_program_run(m->program, NULL), WEFT_OK);
}

static void a_bad_step_changes_nothing(const char *id, graph_kit *kit)
{
    machine m = start(kit->ctx, id, kit->g);
    weft_error err = {0};
    int64_t step;
    float before[36], after[36];
    run_step(&m, 1.0f);
    assert_int_equal(weft_program_check(m.program, NULL), WEFT_OK);
    assert_int_equal(weft_state_read(m.state, "conv.weight", before, sizeof before, NULL), WEFT_OK);
    run_step(&m, NAN);
    assert_int_equal(weft_program_check(m.program, &err), WEFT_ERR_NONFINITE);
    assert_int_equal(weft_program_blame(m.program, &err), WEFT_ERR_NONFINITE);
    assert_string_equal(err.message, "input x holds NaN at element 0 of f32[2,1,8,8]");
    run_step(&m, INFINITY);
    assert_int_equal(weft_program_check(m.program, NULL), WEFT_ERR_NONFINITE);
    assert_int_equal(weft_state_read(m.state, "conv.weight", after, sizeof after, NULL), WEFT_OK);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(weft_state_read(m.state, "step", &step, sizeof step, NULL), WEFT_OK);
    assert_int_equal(step, 1);
    run_step(&m, 1.0f); // a good one goes on
    assert_int_equal(weft_program_check(m.program, NULL), WEFT_OK);
    assert_int_equal(weft_program_blame(m.program, NULL), WEFT_OK);
    stop(&m);
}

static void bad_steps_change_nothing(void **state)
{
    graph_kit *kit = *state;
    graph_kit_build_step(kit->g, 2);
    a_bad_step_changes_nothing("ref", kit);
    a_bad_step_changes_nothing("cpu", kit);
}

static void blame_names_the_first_op(void **state)
{
    graph_kit *kit = *state;
    weft_graph *g = kit->g;
    weft_scope_push(g, "block");
    weft_graph_at(g, NULL, 0, 0);
    const weft_val x = (weft_input)(g, "x", WEFT_F32, KIT_DIMS(4));
    const weft_val y = (weft_exp)(g, (weft_log)(g, x));
    weft_scope_pop(g);
    (weft_guard)(g, y);
    weft_output(g, "y", y);
    machine m = start(kit->ctx, "cpu", g);
    weft_error err = {0};
    const float bad[] = {1.0f, 2.0f, -1.0f, 4.0f};
    assert_int_equal(weft_program_write(m.program, "x", bad, sizeof bad, NULL), WEFT_OK);
    assert_int_equal(weft_program_run(m.program, NULL), WEFT_OK);
    assert_int_equal(weft_program_check(m.program, &err), WEFT_ERR_NONFINITE);
    assert_string_equal(err.message, "guard: a value is NaN or infinite");
    assert_int_equal(weft_program_blame(m.program, &err), WEFT_ERR_NONFINITE);
    assert_string_equal(err.message, "block/log: NaN at element 2 of f32[4]");
    stop(&m);
}

static void log_step(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    weft_scope_push(g, "gate");
    weft_graph_at(g, NULL, 0, 0);
    const weft_val y = (weft_exp)(g, (weft_log)(g, s->sequences[0]));
    weft_scope_pop(g);
    s->next_states[0] = (weft_add)(g, s->states[0], y);
}

// Also inside a scan, with the step.
static void blame_looks_into_scans(void **state)
{
    graph_kit *kit = *state;
    weft_graph *g = kit->g;
    const weft_val sequence = weft_input(g, "x", WEFT_F32, KIT_DIMS(3, 2));
    const weft_val first = weft_input(g, "first", WEFT_F32, KIT_DIMS(2));
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .states = &first,
                                 .n_states = 1,
                                 .sequences = &sequence,
                                 .n_sequences = 1,
                                 .step = log_step};
    weft_val last;
    weft_scan(g, &spec, &last, NULL);
    weft_guard(g, last);
    weft_output(g, "y", last);
    machine m = start(kit->ctx, "cpu", g);
    weft_error err = {0};
    const float bad[] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, -6.0f}, zero[2] = {0};
    assert_int_equal(weft_program_write(m.program, "x", bad, sizeof bad, NULL), WEFT_OK);
    assert_int_equal(weft_program_write(m.program, "first", zero, sizeof zero, NULL), WEFT_OK);
    assert_int_equal(weft_program_run(m.program, NULL), WEFT_OK);
    assert_int_equal(weft_program_check(m.program, &err), WEFT_ERR_NONFINITE);
    assert_int_equal(weft_program_blame(m.program, &err), WEFT_ERR_NONFINITE);
    assert_string_equal(err.message, "gate/log: NaN at element 1 of f32[2], in step 2 of its scan");
    stop(&m);
}

static void a_bad_index_is_blamed(void **state)
{
    graph_kit *kit = *state;
    graph_kit_build_step(kit->g, 2);
    machine m = start(kit->ctx, "cpu", kit->g);
    weft_error err = {0};
    float x[128] = {0};
    const int32_t y[] = {0, 5};
    assert_int_equal(weft_program_write(m.program, "x", x, sizeof x, NULL), WEFT_OK);
    assert_int_equal(weft_program_write(m.program, "y", y, sizeof y, NULL), WEFT_OK);
    assert_int_equal(weft_program_run(m.program, NULL), WEFT_OK);
    assert_int_equal(weft_program_check(m.program, &err), WEFT_ERR_INDEX);
    assert_int_equal(weft_program_blame(m.program, &err), WEFT_ERR_INDEX);
    assert_non_null(strstr(err.message, "index 5 is out of range [0,"));
    stop(&m);
}

static void binding_errors_are_named(void **state)
{
    graph_kit *kit = *state;
    weft_graph *g = kit->g;
    weft_output(g, "y", weft_relu(g, weft_input(g, "x", WEFT_F32, KIT_DIMS(4))));
    machine m = start(kit->ctx, "cpu", g);
    weft_error err = {0};
    float x[5] = {0};
    assert_int_equal(weft_program_write(m.program, "z", x, 16, &err), WEFT_ERR_NAME);
    assert_string_equal(err.message, "input z is not in the program");
    assert_int_equal(weft_program_write(m.program, "x", x, 20, &err), WEFT_ERR_SHAPE);
    assert_string_equal(err.message, "input x: 20 bytes, expected 16 for f32[4]");
    assert_int_equal(weft_program_read(m.program, "x", x, 16, &err), WEFT_ERR_NAME);
    assert_int_equal(weft_state_read(m.state, "w", x, 16, &err), WEFT_ERR_NAME);
    assert_string_equal(err.message, "variable w is not in the state");
    stop(&m);
}

static void a_variable_of_another_type_is_refused(void **state)
{
    graph_kit *kit = *state;
    weft_graph *g = kit->g;
    weft_device *device;
    weft_state *st;
    weft_program *program;
    weft_error err = {0};
    weft_output(g, "y", weft_variable(g, "w", weft_fill(g, WEFT_F32, KIT_DIMS(4), 1.0)));
    assert_int_equal(weft_device_open(kit->ctx, "ref", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(device, &st, NULL), WEFT_OK);
    const weft_type other = {WEFT_F32, 1, {3}};
    const float data[3] = {1, 2, 3};
    assert_int_equal(weft_state_write(st, "w", &other, data, sizeof data, NULL), WEFT_OK);
    assert_int_equal(weft_compile(st, g, NULL, &program, &err), WEFT_ERR_SHAPE);
    assert_string_equal(err.message, "variable w is f32[3] in the state, f32[4] in the graph");
    weft_state_destroy(st);
    weft_device_close(device);
}

static void too_little_memory_is_refused(void **state)
{
    graph_kit *kit = *state;
    weft_device *device;
    weft_state *st;
    weft_program *program;
    weft_compile_options options = WEFT_COMPILE_OPTIONS_INIT;
    weft_error err = {0};
    weft_output(kit->g, "y", weft_relu(kit->g, weft_input(kit->g, "x", WEFT_F32, KIT_DIMS(1024))));
    assert_int_equal(weft_device_open(kit->ctx, "cpu", NULL, &device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(device, &st, NULL), WEFT_OK);
    options.memory_limit_bytes = 1000;
    assert_int_equal(weft_compile(st, kit->g, &options, &program, &err), WEFT_ERR_MEMORY);
    assert_string_equal(err.message, "plan: needs 8192 bytes, the limit is 1000");
    weft_state_destroy(st);
    weft_device_close(device);
}

// ---- every allocation may fail
static weft_status build_and_run(const weft_context_options *options, const char *device_id)
{
    weft_context *ctx = NULL;
    weft_graph *g = NULL;
    weft_device *device = NULL;
    weft_state *st = NULL;
    weft_program *program = NULL;
    const float x[128] = {0};
    const int32_t y[2] = {0, 1};
    weft_status status = weft_context_create(options, &ctx, NULL);
    if (status == WEFT_OK)
        status = weft_graph_create(ctx, &g, NULL);
    if (status == WEFT_OK) {
        // A small step, built without asserting: construction may fail anywhere.
        const weft_val in = weft_input(g, "x", WEFT_F32, (const int64_t[]){2, 64}, 2);
        const weft_val w =
            weft_variable(g, "w", weft_fill(g, WEFT_F32, (const int64_t[]){64, 3}, 2, 0.1));
        const weft_val labels = weft_input(g, "y", WEFT_I32, (const int64_t[]){2}, 1);
        const weft_val loss =
            weft_mean(g, weft_softmax_cross_entropy(g, weft_matmul(g, in, w, false, false), labels),
                      NULL, 0, false);
        weft_val dw = WEFT_NONE;
        weft_grad(g, loss, &w, 1, &dw);
        weft_assign(g, w, weft_sub(g, w, dw));
        weft_output(g, "loss", loss);
        status = weft_graph_status(g, NULL);
    }
    if (status == WEFT_OK)
        status = weft_device_open(ctx, device_id, NULL, &device, NULL);
    if (status == WEFT_OK)
        status = weft_state_create(device, &st, NULL);
    if (status == WEFT_OK)
        status = weft_compile(st, g, NULL, &program, NULL);
    if (status == WEFT_OK)
        status = weft_program_write(program, "x", x, sizeof x, NULL);
    if (status == WEFT_OK)
        status = weft_program_write(program, "y", y, sizeof y, NULL);
    if (status == WEFT_OK)
        status = weft_program_run(program, NULL);
    weft_program_destroy(program);
    weft_state_destroy(st);
    weft_device_close(device);
    weft_graph_destroy(g);
    weft_context_destroy(ctx);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    failing_alloc_sweep(build_and_run, "cpu", 1);
}

const struct CMUnitTest wf_tests_run[] = {
    KIT_TEST(random_graphs_have_refs_bits),
    KIT_TEST(bad_steps_change_nothing),
    KIT_TEST(blame_names_the_first_op),
    KIT_TEST(a_bad_index_is_blamed),
    KIT_TEST(blame_looks_into_scans),
    KIT_TEST(binding_errors_are_named),
    KIT_TEST(a_variable_of_another_type_is_refused),
    KIT_TEST(too_little_memory_is_refused),
    cmocka_unit_test(every_allocation_may_fail),
};
const unsigned long wf_n_tests_run = WF_N_TESTS(wf_tests_run);
