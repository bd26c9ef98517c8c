// scan: every allocation of building, differentiating, compiling and running one may fail, and nothing leaks.
#include "op_run.h"

#include "run/failing_alloc.h"

static void step(weft_graph *g, void *user, const weft_scan_step *s)
{
    (void)user;
    const weft_val h = weft_matmul(g, s->states[0], s->captured[0], false, false);
    const weft_val x = weft_matmul(g, s->sequences[0], s->captured[0], false, false);
    s->next_states[0] = weft_tanh(g, weft_add(g, h, x));
    s->stacks[0] = h;
}

static void build(weft_graph *g)
{
    const weft_val w = weft_variable(g, "w", weft_fill(g, WEFT_F32, OP_DIMS(2, 2), 0.3));
    const weft_val in[] = {weft_fill(g, WEFT_F32, OP_DIMS(3, 2), 0.5),
                           weft_fill(g, WEFT_F32, OP_DIMS(4, 3, 2), 0.25), w};
    const weft_scan_spec spec = {.struct_size = sizeof spec,
                                 .states = in,
                                 .n_states = 1,
                                 .sequences = in + 1,
                                 .n_sequences = 1,
                                 .captured = in + 2,
                                 .n_captured = 1,
                                 .n_stacks = 1,
                                 .step = step};
    weft_val last, stack, grad;
    weft_scan(g, &spec, &last, &stack);
    const weft_val sum =
        weft_add(g, weft_sum(g, last, NULL, 0, false), weft_sum(g, stack, NULL, 0, false));
    weft_grad(g, sum, &w, 1, &grad);
    weft_output(g, "grad", grad);
}

static weft_status build_and_run(const weft_context_options *options, const char *device_id)
{
    weft_context *ctx = NULL;
    weft_graph *g = NULL;
    weft_device *device = NULL;
    weft_state *st = NULL;
    weft_program *program = NULL;
    weft_device_options one_thread = WEFT_DEVICE_OPTIONS_INIT;
    one_thread.n_threads = 1;
    weft_status status = weft_context_create(options, &ctx, NULL);
    if (status == WEFT_OK)
        status = weft_graph_create(ctx, &g, NULL);
    if (status == WEFT_OK) {
        build(g);
        status = weft_graph_status(g, NULL);
    }
    if (status == WEFT_OK)
        status = weft_device_open(ctx, device_id, &one_thread, &device, NULL);
    if (status == WEFT_OK)
        status = weft_state_create(device, &st, NULL);
    if (status == WEFT_OK)
        status = weft_compile(st, g, NULL, &program, NULL);
    if (status == WEFT_OK)
        status = weft_program_run(program, NULL);
    weft_program_destroy(program);
    weft_state_destroy(st);
    weft_device_close(device);
    weft_graph_destroy(g);
    weft_context_destroy(ctx);
    return status;
}

// Every seventh on the cpu, all on ref: the two differ in what plans and runs only.
static void every_allocation_may_fail(void **state)
{
    (void)state;
    failing_alloc_sweep(build_and_run, "ref", 1);
    failing_alloc_sweep(build_and_run, "cpu", 7);
}

const struct CMUnitTest wf_tests_scan_fail[] = {
    cmocka_unit_test(every_allocation_may_fail),
};
const unsigned long wf_n_tests_scan_fail = WF_N_TESTS(wf_tests_scan_fail);
