// The plan's promise about memory: a device's buffers never hold more bytes than the plans say, and many
// batch sizes in one process leave memory and compiled kernels as they were.
// labels: sweep opencl noasan (its own memory grows)
#include <stdio.h>
#include <string.h>

#include "../device/opencl_open.h"
#include "../graph/graph_kit.h"
#include "run/run_internal.h"

static uint64_t resident_bytes(void)
{
    unsigned long long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f)
        return 0;
    const int n = fscanf(f, "%llu %llu", &pages, &resident);
    fclose(f);
    return n == 2 ? resident * 4096u : 0;
}

static void run_batch(weft_state *st, weft_context *ctx, int64_t batch, uint64_t *out_planned)
{
    weft_graph *g;
    weft_program *program;
    weft_error err = {0};
    float x[64 * 40] = {0};
    int32_t y[40] = {0};
    assert_true(batch <= 40);
    assert_int_equal(weft_graph_create(ctx, &g, NULL), WEFT_OK);
    graph_kit_build_step(g, batch);
    if (weft_compile(st, g, NULL, &program, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    const size_t n = (size_t)batch;
    assert_int_equal(weft_program_write(program, "x", x, n * 64 * sizeof *x, NULL), WEFT_OK);
    assert_int_equal(weft_program_write(program, "y", y, n * sizeof *y, NULL), WEFT_OK);
    if (weft_program_run(program, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(weft_program_check(program, NULL), WEFT_OK);
    *out_planned = weft_program_planned_bytes(program);
    weft_program_destroy(program);
    weft_graph_destroy(g);
}

static void buffers_stay_within_the_plan(weft_context *ctx, const char *id)
{
    weft_device *device;
    weft_state *st;
    weft_error err = {0};
    uint64_t planned = 0;
    if (weft_device_open(ctx, id, NULL, &device, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(weft_state_create(device, &st, NULL), WEFT_OK);
    run_batch(st, ctx, 32, &planned);
    if (weft_device_peak_bytes(device) > planned) {
        fail_msg("%s: %llu bytes of buffers, the plan says %llu", id,
                 (unsigned long long)weft_device_peak_bytes(device), (unsigned long long)planned);
    }
    weft_state_destroy(st);
    weft_device_close(device);
}

static void many_batch_sizes_leave_nothing(weft_context *ctx, const char *id, int n_sizes)
{
    weft_device *device;
    weft_state *st;
    weft_error err = {0};
    uint64_t planned, before = 0;
    size_t n_compiled = 0;
    if (weft_device_open(ctx, id, NULL, &device, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(weft_state_create(device, &st, NULL), WEFT_OK);
    for (int i = 0; i < n_sizes; i++) {
        run_batch(st, ctx, 2 + (i * 7) % 39, &planned);
        if (i == 40) { // warm: every size and kernel has been there
            before = resident_bytes();
            n_compiled = device->driver->n_compiled(device);
        }
    }
    assert_int_equal(device->driver->n_compiled(device), n_compiled);
    const uint64_t after = resident_bytes();
    if (after > before + ((uint64_t)8 << 20)) {
        fail_msg("%s: %llu bytes resident after the warm-up, %llu at the end", id,
                 (unsigned long long)before, (unsigned long long)after);
    }
    weft_state_destroy(st);
    weft_device_close(device);
}

static void cpu_stays_within_the_plan(void **state)
{
    buffers_stay_within_the_plan(((graph_kit *)*state)->ctx, "cpu");
}

static void opencl_stays_within_the_plan(void **state)
{
    weft_context *ctx;
    weft_device_close(opencl_open_exact(&ctx)); // or a skip
    weft_context_destroy(ctx);
    buffers_stay_within_the_plan(((graph_kit *)*state)->ctx, "opencl");
}

static void cpu_takes_many_batch_sizes(void **state)
{
    many_batch_sizes_leave_nothing(((graph_kit *)*state)->ctx, "cpu", wf_test_is_full() ? 500 : 80);
}

static void opencl_takes_many_batch_sizes(void **state)
{
    weft_context *ctx;
    weft_device_close(opencl_open_exact(&ctx)); // or a skip
    weft_context_destroy(ctx);
    many_batch_sizes_leave_nothing(((graph_kit *)*state)->ctx, "opencl",
                                   wf_test_is_full() ? 500 : 80);
}

const struct CMUnitTest wf_tests_memory[] = {
    KIT_TEST(cpu_stays_within_the_plan),
    KIT_TEST(opencl_stays_within_the_plan),
    KIT_TEST(cpu_takes_many_batch_sizes),
    KIT_TEST(opencl_takes_many_batch_sizes),
};
const unsigned long wf_n_tests_memory = WF_N_TESTS(wf_tests_memory);
