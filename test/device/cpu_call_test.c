// A caller's own op on the cpu device: its eval gets dense operands whatever the views, its verdict
// reaches the status word, its error the caller.
#include <string.h>

#include "device/cpu/cpu.h"
#include "wf_test.h"

// y = 2 x; bad where x is negative; fails where x is above 100.
static weft_status eval(wf_eval *q, weft_error *err)
{
    const float *x = q->in[0].data;
    float *y = q->out[0].data;
    for (int64_t i = 0; i < wf_type_count(&q->in[0].type); i++) {
        if (x[i] > 100.0f)
            WEFT_FAIL(err, WEFT_ERR_SYSTEM, "twice: %g is too much", (double)x[i]);
        q->is_bad = q->is_bad || x[i] < 0.0f;
        y[i] = 2.0f * x[i];
    }
    return WEFT_OK;
}

static const wf_op op_twice = {
    .name = "twice", .n_inputs = 1, .n_outputs = 1, .task = WF_TASK_CALL, .eval = eval};

// x [2,3] lies turned, with a gap; y is dense. One arena, 24 floats apart.
static void calls_eval(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev;
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    const int64_t dims[] = {2, 3};
    const weft_type type = wf_type_make(WEFT_F32, 2, dims);
    const wf_node node = {.op = &op_twice, .n_inputs = 1, .n_outputs = 1};
    wf_view views[] = {{0, type, 1, {1, 4}}, {1, type, 0, {3, 1}}};
    wf_buffer buffers[] = {{.kind = WF_BUFFER_ARENA, .size_bytes = 64},
                           {.kind = WF_BUFFER_ARENA, .size_bytes = 24, .offset_bytes = 256}};
    wf_task task = {.kind = WF_TASK_CALL,
                    .node = &node,
                    .n_inputs = 1,
                    .inputs = &views[0],
                    .n_outputs = 1,
                    .outputs = &views[1],
                    .workspace = WF_NO_INDEX};
    wf_plan plan = {.n_tasks = 1, .tasks = &task, .n_buffers = 2, .buffers = buffers};
    wf_program_memory memory = {0};
    wf_device_program *program;
    weft_error err;
    float x[12] = {0}, y[6];
    uint32_t word;
    assert_int_equal(weft_context_create(NULL, &ctx, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.open(ctx, "", &options, &dev, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.buffer_create(dev, 512, &memory.arena, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.program_create(dev, &plan, &memory, &program, &err), WEFT_OK);
    for (int i = 0; i < 12; i++)
        x[i] = (float)i;
    assert_int_equal(wf_driver_cpu.buffer_write(dev, memory.arena, 0, x, sizeof x, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.enqueue(dev, program, 0, 1, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.buffer_read(dev, memory.arena, 256, y, sizeof y, &err), WEFT_OK);
    const float expected[] = {2.0f, 10.0f, 18.0f, 4.0f, 12.0f, 20.0f};
    assert_memory_equal(y, expected, sizeof y);
    assert_int_equal(wf_driver_cpu.status_read(dev, program, &word, &err), WEFT_OK);
    assert_int_equal(word, WF_STATUS_GOOD);

    x[5] = -1.0f;
    assert_int_equal(wf_driver_cpu.buffer_write(dev, memory.arena, 0, x, sizeof x, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.enqueue(dev, program, 0, 1, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.status_read(dev, program, &word, &err), WEFT_OK);
    assert_int_equal(word, 0);

    x[5] = 101.0f;
    assert_int_equal(wf_driver_cpu.buffer_write(dev, memory.arena, 0, x, sizeof x, &err), WEFT_OK);
    assert_int_equal(wf_driver_cpu.enqueue(dev, program, 0, 1, &err), WEFT_ERR_SYSTEM);
    assert_string_equal(err.message, "twice: 101 is too much");

    wf_driver_cpu.program_destroy(dev, program);
    wf_driver_cpu.buffer_destroy(dev, memory.arena);
    wf_driver_cpu.close(dev);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_cpu_call[] = {cmocka_unit_test(calls_eval)};
const unsigned long wf_n_tests_cpu_call = WF_N_TESTS(wf_tests_cpu_call);
