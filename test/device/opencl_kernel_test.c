// Fused kernels on every exact OpenCL device: random MAP, ROW and COLUMN kernels over strided operands,
// against the values by definition (kernel_case.c), bit for bit.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "kernel_case.h"
#include "opencl_open.h"
#include "wf_test.h"

static bool is_same(const uint8_t *a, const uint8_t *b, weft_dtype dtype)
{
    if (memcmp(a, b, weft_dtype_size(dtype)) == 0) return true;
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return dtype == WEFT_F32 && x != x && y != y;
}

// One task over one arena; every operand has its own buffer there.
static void run_case(weft_device *dev, kernel_case *c, uint64_t seed)
{
    const wf_driver *driver = dev->driver;
    size_t n = c->kernel.n_inputs + c->kernel.n_outputs;
    wf_buffer buffers[CASE_MAX_OPERANDS + 1] = {0};
    wf_view views[CASE_MAX_OPERANDS] = {0};
    wf_task task = {.kind = (wf_task_kind[]){WF_TASK_MAP, WF_TASK_ROW, WF_TASK_COLUMN}[c->kernel.kind],
                    .kernel = &c->kernel, .n_inputs = c->kernel.n_inputs, .inputs = views,
                    .n_outputs = c->kernel.n_outputs, .outputs = views + c->kernel.n_inputs, .workspace = WF_NO_INDEX};
    size_t arena = 0;
    for (size_t i = 0; i <= n; i++) {
        buffers[i].kind = WF_BUFFER_ARENA;
        buffers[i].alias_of = WF_NO_INDEX;
        buffers[i].offset_bytes = arena;
        buffers[i].size_bytes = i < n ? (size_t)c->counts[i] * 4 : driver->task_workspace(dev, &task);
        if (i < n) {
            views[i].buffer = (uint32_t)i;
            views[i].offset = c->accesses[i].offset;
            views[i].type.dtype = c->accesses[i].dtype;
        }
        arena += wf_round_up(buffers[i].size_bytes, WF_BUFFER_ALIGN);
    }
    if (buffers[n].size_bytes) task.workspace = (uint32_t)n;
    wf_plan plan = {.n_tasks = 1, .tasks = &task, .n_buffers = n + 1, .buffers = buffers, .arena_bytes = arena};
    wf_program_memory memory = {0};
    wf_device_program *program = NULL;
    weft_error err = {0};
    if (driver->buffer_create(dev, arena, &memory.arena, &err) != WEFT_OK ||
        driver->program_create(dev, &plan, &memory, &program, &err) != WEFT_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
    }
    uint8_t *got = malloc(arena + 1);
    for (size_t i = 0; i < n; i++) {
        uint8_t *start = c->data[i];
        size_t bytes = (size_t)c->counts[i] * 4;
        if (i < c->kernel.n_inputs) memcpy(got + buffers[i].offset_bytes, start, bytes);
        for (size_t j = 0; i >= c->kernel.n_inputs && j < bytes / 4; j++) {
            memcpy(got + buffers[i].offset_bytes + 4 * j, &(uint32_t){0x12345678u}, 4);
        }
    }
    assert_int_equal(driver->buffer_write(dev, memory.arena, 0, got, arena, &err), WEFT_OK);
    assert_int_equal(driver->enqueue(dev, program, 0, 1, &err), WEFT_OK);
    assert_int_equal(driver->buffer_read(dev, memory.arena, 0, got, arena, &err), WEFT_OK);
    for (size_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < c->counts[i]; j++) {
            const uint8_t *have = got + buffers[i].offset_bytes + j * 4;
            if (is_same(have, c->data[i] + j * 4, c->accesses[i].dtype)) continue;
            uint32_t x, y;
            memcpy(&x, have, 4);
            memcpy(&y, c->data[i] + j * 4, 4);
            char *text = NULL;
            wf_kernel_print(dev->context, &c->kernel, &text, NULL);
            fail_msg("seed %llu: operand %zu element %lld is %08x, expected %08x\n%s", (unsigned long long)seed, i,
                     (long long)j, x, y, text);
        }
    }
    free(got);
    driver->program_destroy(dev, program);
    driver->buffer_destroy(dev, memory.arena);
}

static void random_kernels(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *dev = opencl_open_exact(&ctx);
    uint64_t n = wf_test_is_full() ? 400 : 60;
    for (uint64_t seed = 1; seed <= n; seed++) {
        kernel_case c;
        kernel_case_make(ctx, seed, &c);
        run_case(dev, &c, seed);
        kernel_case_free(&c);
    }
    assert_int_equal(dev->buffer_bytes, 4); // the status word
    dev->driver->close(dev);
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_opencl_kernel[] = {cmocka_unit_test(random_kernels)};
const unsigned long wf_n_tests_opencl_kernel = WF_N_TESTS(wf_tests_opencl_kernel);
