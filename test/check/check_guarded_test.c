// Tasks of every kind on the cpu device stay inside their operands: `weft check` (every op, random graphs, trainings)
// with each buffer between pages that may not be touched, for each instruction set.
// labels: sweep notsan noasan (seconds become minutes, for what the pages already tell)
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_session.h"
#include "device/cpu/cpu_isa.h"
#include "device/guarded_device.h"
#include "run/run_internal.h"

static weft_device *open_guarded(weft_context *ctx, const char *isa, bool is_at_end)
{
    weft_device *device;
    weft_error err;
    weft_device_options o = WEFT_DEVICE_OPTIONS_INIT;
    o.isa = isa;
    if (weft_device_open(ctx, "cpu", &o, &device, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    guarded_device_wrap(device, is_at_end);
    return device;
}

static void check_all(bool is_at_end)
{
    const uint32_t isas = wf_cpu_isa_detect(WF_CPU_ISA_ALL);
    for (size_t i = 0; i < wf_cpu_isa_count(); i++) {
        weft_context *ctx;
        weft_check_options c = WEFT_CHECK_OPTIONS_INIT;
        if (!(isas >> i & 1u))
            continue;
        c.every = wf_test_is_full() ? 1 : 4;
        c.n_random = wf_test_is_full() ? 200 : 20;
        assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
        weft_device *device = open_guarded(ctx, wf_cpu_isa_at(i)->name, is_at_end);
        assert_int_equal(check_device(ctx, device, &c).n_skipped, 0);
        weft_device_close(device);
        weft_context_destroy(ctx);
    }
}

static void up_to_the_end(void **state)
{
    (void)state;
    check_all(true);
}

static void from_the_start(void **state)
{
    (void)state;
    check_all(false);
}

// y = x, and one element more than there is.
static weft_status reach(wf_eval *q, weft_error *err)
{
    const float *x = q->in[0].data;
    volatile float *y = q->out[0].data;
    (void)err;
    for (int64_t i = 0; i <= wf_type_count(&q->in[0].type); i++)
        y[i] = x[0];
    return WEFT_OK;
}

static weft_status infer_same(const wf_node_info *info, weft_type *out, weft_error *err)
{
    (void)err;
    *out = info->in[0];
    return WEFT_OK;
}

static void reach_too_far(void)
{
    static const wf_op op_reach = {.name = "reach",
                                   .n_inputs = 1,
                                   .n_outputs = 1,
                                   .task = WF_TASK_CALL,
                                   .infer = infer_same,
                                   .eval = reach};
    const int64_t dims[] = {5};
    weft_context *ctx;
    weft_state *state;
    weft_graph *g;
    weft_program *program;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    weft_device *device = open_guarded(ctx, NULL, true);
    assert_int_equal(weft_state_create(device, &state, NULL), WEFT_OK);
    assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
    const weft_val x = weft_input(g, "x", WEFT_F32, dims, 1);
    weft_output(g, "y", wf_graph_add(g, &op_reach, &x, 1, NULL));
    assert_int_equal(weft_compile(state, g, NULL, &program, NULL), WEFT_OK);
    assert_int_equal(weft_program_run(program, NULL), WEFT_OK);
}

// The pages are there: an op that writes one element too many ends its process.
static void bites(void **state)
{
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)signal(SIGSEGV, SIG_DFL);
        reach_too_far();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

const struct CMUnitTest wf_tests_check_guarded[] = {
    cmocka_unit_test(bites), cmocka_unit_test(up_to_the_end), cmocka_unit_test(from_the_start)};
const unsigned long wf_n_tests_check_guarded = WF_N_TESTS(wf_tests_check_guarded);
