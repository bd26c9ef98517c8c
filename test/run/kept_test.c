// What products make of weights that a program never writes is kept from run to run on the cpu device, and made again
// when the weights change: written by the host, or by another program on the same state.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../graph/graph_kit.h"
#include "device/cpu/cpu_isa.h"
#include "device/host_buffer.h"
#include "run/run_internal.h"

#define N_OUT 70

static weft_val make_filter(weft_graph *g)
{
    return weft_variable(g, "filter", weft_fill(g, WEFT_F32, KIT_DIMS(50, 8, 3, 3), 0.25));
}

static weft_val make_weight(weft_graph *g)
{
    return weft_variable(g, "weight", weft_fill(g, WEFT_F32, KIT_DIMS(N_OUT, 50 * 16), 0.5));
}

// y [1, N_OUT] of one picture.
static void build_answer(weft_graph *g)
{
    const weft_val x = weft_input(g, "x", WEFT_F32, KIT_DIMS(1, 8, 6, 6));
    const weft_val h = weft_relu(g, weft_conv(g, x, make_filter(g), NULL));
    const weft_val flat = weft_reshape(g, h, KIT_DIMS(1, 50 * 16));
    weft_output(g, "y", weft_matmul(g, flat, make_weight(g), false, true));
}

static void build_change(weft_graph *g)
{
    const weft_val filter = make_filter(g), weight = make_weight(g);
    weft_assign(g, filter, weft_mul(g, filter, weft_scalar(g, WEFT_F32, -0.75)));
    weft_assign(g, weight, weft_add(g, weight, weft_scalar(g, WEFT_F32, 0.125)));
}

typedef struct machine {
    weft_device *device;
    weft_state *state;
    weft_program *answer, *change;
} machine;

static weft_program *compile(weft_context *ctx, weft_state *state, void (*build)(weft_graph *g))
{
    weft_graph *g;
    weft_program *program;
    weft_error err;
    assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
    build(g);
    if (weft_compile(state, g, NULL, &program, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    weft_graph_destroy(g);
    return program;
}

static machine start(weft_context *ctx, const char *id, const char *isa)
{
    machine m;
    weft_device_options o = WEFT_DEVICE_OPTIONS_INIT;
    float x[8 * 36];
    o.isa = isa;
    assert_int_equal(weft_device_open(ctx, id, &o, &m.device, NULL), WEFT_OK);
    assert_int_equal(weft_state_create(m.device, &m.state, NULL), WEFT_OK);
    m.answer = compile(ctx, m.state, build_answer);
    m.change = compile(ctx, m.state, build_change);
    for (int i = 0; i < 8 * 36; i++)
        x[i] = (float)(i * 7 % 31) * 0.125f - 1.5f;
    assert_int_equal(weft_program_write(m.answer, "x", x, sizeof x, NULL), WEFT_OK);
    return m;
}

static void stop(machine *m)
{
    weft_program_destroy(m->answer);
    weft_program_destroy(m->change);
    weft_state_destroy(m->state);
    weft_device_close(m->device);
}

static void ask(machine *m, float y[N_OUT])
{
    assert_int_equal(weft_program_run(m->answer, NULL), WEFT_OK);
    assert_int_equal(weft_program_read(m->answer, "y", y, N_OUT * sizeof *y, NULL), WEFT_OK);
}

static void expect_same(machine *ref, machine *cpu, const char *isa, const char *when)
{
    float want[N_OUT], got[N_OUT];
    ask(ref, want);
    for (int i = 0; i < 2; i++) { // made, then kept
        ask(cpu, got);
        if (memcmp(want, got, sizeof want) != 0)
            fail_msg("%s, %s, run %d: another result than ref's", isa, when, i);
    }
}

static void write_weight(machine *m, float value)
{
    const size_t n = (size_t)N_OUT * 50 * 16;
    float *w = malloc(n * sizeof *w);
    assert_non_null(w);
    for (size_t i = 0; i < n; i++)
        w[i] = value * (float)(i % 13);
    const weft_type type = weft_state_type(m->state, "weight");
    assert_int_equal(weft_state_write(m->state, "weight", &type, w, n * sizeof *w, NULL), WEFT_OK);
    free(w);
}

static size_t count_kept(const weft_program *program)
{
    size_t n = 0;
    for (size_t i = 0; i < program->plan->n_tasks; i++)
        n += program->plan->tasks[i].keeps_workspace;
    return n;
}

static void follows_the_weights(void **state)
{
    weft_context *ctx = ((graph_kit *)*state)->ctx;
    const uint32_t isas = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    for (size_t i = 0; i < wf_cpu_isa_count(); i++) {
        const char *isa = wf_cpu_isa_at(i)->name;
        if (!(isas >> i & 1u))
            continue;
        machine ref = start(ctx, "ref", NULL), cpu = start(ctx, "cpu", isa);
        assert_int_equal(count_kept(cpu.answer), 2);
        assert_int_equal(count_kept(cpu.change), 0);
        expect_same(&ref, &cpu, isa, "at the start");
        write_weight(&ref, 0.0625f);
        write_weight(&cpu, 0.0625f);
        expect_same(&ref, &cpu, isa, "after a write");
        for (int k = 0; k < 2; k++) {
            assert_int_equal(weft_program_run(ref.change, NULL), WEFT_OK);
            assert_int_equal(weft_program_run(cpu.change, NULL), WEFT_OK);
            expect_same(&ref, &cpu, isa, "after another program");
        }
        stop(&ref);
        stop(&cpu);
    }
}

// Weights that are changed behind the device's back stay what they were: so they are not read again.
static void is_not_made_again(void **state)
{
    machine m = start(((graph_kit *)*state)->ctx, "cpu", NULL);
    float before[N_OUT], after[N_OUT];
    ask(&m, before);
    for (size_t i = 0; i < m.answer->plan->n_variables; i++)
        memset(m.answer->memory.variables[i]->data, 0, m.answer->memory.variables[i]->size_bytes);
    ask(&m, after);
    assert_memory_equal(before, after, sizeof before);
    stop(&m);
}

const struct CMUnitTest wf_tests_kept[] = {KIT_TEST(follows_the_weights),
                                           KIT_TEST(is_not_made_again)};
const unsigned long wf_n_tests_kept = WF_N_TESTS(wf_tests_kept);
