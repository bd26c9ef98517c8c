// Fused kernels on the cpu device: random MAP, ROW and COLUMN kernels over strided operands, on every
// instruction set that the machine has, against the values by definition (kernel_case.c), bit for bit.
// Each operand lies against a page that may not be touched: reading past an end is a crash. Some outputs
// replace an input in its own memory.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device/cpu/cpu.h"
#include "kernel_case.h"
#include "wf_test.h"

static weft_device *open_cpu(weft_context *ctx, const char *isa, uint32_t n_threads)
{
    weft_device_options options = WEFT_DEVICE_OPTIONS_INIT;
    weft_device *dev;
    weft_error err = {0};
    options.isa = isa;
    options.n_threads = n_threads;
    if (wf_driver_cpu.open(ctx, "", &options, &dev, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    return dev;
}

static bool is_same(const uint8_t *a, const uint8_t *b, weft_dtype dtype)
{
    if (memcmp(a, b, weft_dtype_size(dtype)) == 0)
        return true;
    float x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return dtype == WEFT_F32 && x != x && y != y;
}

// A plan of one task; operands are variables, each a buffer of its own.
typedef struct one_task {
    wf_task task;
    wf_buffer buffers[CASE_MAX_OPERANDS + 1];
    wf_view views[CASE_MAX_OPERANDS];
    wf_device_buffer memory[CASE_MAX_OPERANDS];
    wf_device_buffer *variables[CASE_MAX_OPERANDS];
    char *pages[CASE_MAX_OPERANDS];
    size_t n_page_bytes[CASE_MAX_OPERANDS];
    wf_plan plan;
} one_task;

// place[o]: the input whose memory output o takes over; WF_NO_INDEX: none.
typedef struct in_place {
    uint32_t place[CASE_MAX_OPERANDS];
} in_place;

static const wf_inst *find_inst(const kernel_case *c, wf_inst_kind kind, size_t operand)
{
    for (size_t i = 0; i < c->kernel.n_insts; i++) {
        if (c->insts[i].kind == kind && c->insts[i].operand == operand)
            return &c->insts[i];
    }
    return NULL;
}

// Lets outputs per point take over inputs per point, which are then read as the outputs are written.
static in_place choose_in_place(weft_context *ctx, kernel_case *c, uint64_t seed)
{
    in_place p;
    uint64_t state = seed;
    const size_t n_in = c->kernel.n_inputs;
    bool is_taken[CASE_MAX_OPERANDS] = {false};
    for (size_t o = 0; o < c->kernel.n_outputs; o++) {
        const size_t i = kernel_case_random(&state) % n_in, out = n_in + o;
        p.place[o] = WF_NO_INDEX;
        if (find_inst(c, WF_INST_STORE, o)->is_outer || find_inst(c, WF_INST_LOAD, i)->is_outer ||
            is_taken[i] || c->accesses[out].dtype != WEFT_F32)
            continue;
        is_taken[i] = true;
        p.place[o] = (uint32_t)i;
        c->accesses[i] = c->accesses[out];
        uint8_t *data = malloc((size_t)c->counts[out] * 4);
        assert_non_null(data);
        for (int64_t j = 0; j < c->counts[out]; j++)
            memcpy(data + 4 * j, c->data[i] + 4 * (j % c->counts[i]), 4);
        free(c->data[i]);
        c->data[i] = data;
        c->counts[i] = c->counts[out];
    }
    kernel_case_eval(ctx, c);
    return p;
}

#define PAGE ((size_t)4096)

// size_bytes that end (or begin) at a page without access.
static void map_operand(one_task *t, size_t i, size_t size_bytes, bool is_at_end)
{
    const size_t inside = wf_round_up(size_bytes, PAGE);
    t->n_page_bytes[i] = inside + 2 * PAGE;
    t->pages[i] =
        mmap(NULL, t->n_page_bytes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(t->pages[i] != MAP_FAILED);
    assert_int_equal(mprotect(t->pages[i], PAGE, PROT_NONE), 0);
    assert_int_equal(mprotect(t->pages[i] + PAGE + inside, PAGE, PROT_NONE), 0);
    t->memory[i] = (wf_device_buffer){t->pages[i] + PAGE + (is_at_end ? inside - size_bytes : 0),
                                      size_bytes, 0};
    t->variables[i] = &t->memory[i];
}

static void make_plan(weft_device *dev, kernel_case *c, const in_place *p, bool is_at_end,
                      one_task *t)
{
    static const wf_task_kind kinds[] = {WF_TASK_MAP, WF_TASK_ROW, WF_TASK_COLUMN};
    const size_t n = c->kernel.n_inputs + c->kernel.n_outputs;
    memset(t, 0, sizeof *t);
    t->task = (wf_task){.kind = kinds[c->kernel.kind],
                        .kernel = &c->kernel,
                        .n_inputs = c->kernel.n_inputs,
                        .inputs = t->views,
                        .n_outputs = c->kernel.n_outputs,
                        .outputs = t->views + c->kernel.n_inputs,
                        .workspace = WF_NO_INDEX};
    for (size_t i = 0; i < n; i++) {
        t->buffers[i] = (wf_buffer){.kind = WF_BUFFER_VARIABLE,
                                    .variable = (uint32_t)i,
                                    .size_bytes = (size_t)c->counts[i] * 4,
                                    .alias_of = WF_NO_INDEX};
        t->views[i].buffer = (uint32_t)i;
        t->views[i].offset = c->accesses[i].offset;
        t->views[i].type.dtype = c->accesses[i].dtype;
        map_operand(t, i, t->buffers[i].size_bytes, is_at_end);
        const uint32_t place =
            i < c->kernel.n_inputs ? WF_NO_INDEX : p->place[i - c->kernel.n_inputs];
        if (place != WF_NO_INDEX)
            t->views[i].buffer = place;
    }
    t->buffers[n] = (wf_buffer){.kind = WF_BUFFER_ARENA,
                                .alias_of = WF_NO_INDEX,
                                .size_bytes = wf_driver_cpu.task_workspace(dev, &t->task)};
    if (t->buffers[n].size_bytes)
        t->task.workspace = (uint32_t)n;
    t->plan = (wf_plan){.n_tasks = 1,
                        .tasks = &t->task,
                        .n_buffers = n + 1,
                        .buffers = t->buffers,
                        .arena_bytes = t->buffers[n].size_bytes};
}

static const uint32_t unset = 0x12345678u; // what an output's elements hold that are not written

static void compare(weft_device *dev, const kernel_case *c, const one_task *t, uint64_t seed)
{
    for (size_t i = 0; i < c->kernel.n_inputs + c->kernel.n_outputs; i++) {
        const size_t place = t->views[i].buffer;
        bool is_replaced = false;
        for (size_t o = c->kernel.n_inputs; o < c->kernel.n_inputs + c->kernel.n_outputs; o++)
            is_replaced = is_replaced || (o != i && t->views[o].buffer == i);
        for (int64_t j = 0; j < c->counts[i] && !is_replaced; j++) {
            const uint8_t *have = (const uint8_t *)t->memory[place].data + j * 4;
            const uint8_t *expected = c->data[i] + j * 4;
            if (place != i && memcmp(expected, &unset, 4) == 0)
                expected = c->data[place] + j * 4;
            if (is_same(have, expected, c->accesses[i].dtype))
                continue;
            uint32_t x, y;
            memcpy(&x, have, 4);
            memcpy(&y, expected, 4);
            char *text = NULL;
            (void)wf_kernel_print(dev->context, &c->kernel, &text, NULL);
            print_error("%s\n", text ? text : "");
            fail_msg("isa %s, seed %llu: operand %zu element %lld is %08x, expected %08x",
                     dev->caps.isa, (unsigned long long)seed, i, (long long)j, x, y);
        }
    }
}

static void run_case(weft_device *dev, kernel_case *c, const in_place *p, uint64_t seed)
{
    one_task t;
    make_plan(dev, c, p, seed % 2, &t);
    wf_program_memory memory = {.variables = t.variables};
    wf_device_program *program = NULL;
    weft_error err = {0};
    if (wf_driver_cpu.buffer_create(dev, t.plan.arena_bytes, &memory.arena, &err) != WEFT_OK ||
        wf_driver_cpu.program_create(dev, &t.plan, &memory, &program, &err) != WEFT_OK) {
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
    }
    // A second run finds the results of the first and must give the same.
    for (int run = 0; run < 2; run++) {
        for (size_t i = 0; i < c->kernel.n_inputs + c->kernel.n_outputs; i++) {
            for (int64_t j = 0; j < c->counts[i]; j++) {
                memcpy(t.memory[i].data + 4 * j,
                       i < c->kernel.n_inputs ? (const void *)(c->data[i] + 4 * j) : &unset, 4);
            }
        }
        assert_int_equal(wf_driver_cpu.enqueue(dev, program, 0, 1, &err), WEFT_OK);
        compare(dev, c, &t, seed);
    }
    for (size_t i = 0; i < c->kernel.n_inputs + c->kernel.n_outputs; i++)
        (void)munmap(t.pages[i], t.n_page_bytes[i]);
    wf_driver_cpu.program_destroy(dev, program);
    wf_driver_cpu.buffer_destroy(dev, memory.arena);
}

static void random_kernels(void **state)
{
    (void)state;
    weft_context *ctx;
    weft_device *devs[8];
    size_t n_devs = 0;
    assert_int_equal(weft_context_create(NULL, &ctx, NULL), WEFT_OK);
    for (size_t i = 0; i < wf_cpu_isa_count(); i++) {
        if (wf_cpu_isa_detect(WF_CPU_ISA_ALL) >> i & 1u)
            devs[n_devs++] = open_cpu(ctx, wf_cpu_isa_at(i)->name, i % 2 ? 3 : 1);
    }
    const uint64_t n = wf_test_is_full() ? 4000 : 300;
    for (uint64_t seed = 1; seed <= n; seed++) {
        kernel_case c;
        kernel_case_make(ctx, seed, 40000, &c);
        in_place p;
        memset(&p, 0xff, sizeof p);
        if (seed % 3 == 0)
            p = choose_in_place(ctx, &c, seed);
        for (size_t i = 0; i < n_devs; i++)
            run_case(devs[i], &c, &p, seed);
        kernel_case_free(&c);
    }
    for (size_t i = 0; i < n_devs; i++) {
        assert_int_equal(devs[i]->buffer_bytes, 0);
        wf_driver_cpu.close(devs[i]);
    }
    weft_context_destroy(ctx);
}

const struct CMUnitTest wf_tests_cpu_kernel[] = {cmocka_unit_test(random_kernels)};
const unsigned long wf_n_tests_cpu_kernel = WF_N_TESTS(wf_tests_cpu_kernel);
