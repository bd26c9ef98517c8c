// weft diff: a device whose kernel of one op is wrong from some step on is found out, with step, op, element
// and both values; against a device, a trace, and as a command.
// labels: notsan (train_run trains there)
#include "device/host_buffer.h"
#include "op/op.h"

#include "cases/case_command.h"
#include "train/train_tools.h"

#define TRACE_A TEMP("diff-a.safetensors")
#define TRACE_B TEMP("diff-b.safetensors")
#define WRONG_STEP 3
#define WRONG_ELEMENT 5

extern const wf_driver wf_driver_ref;

// ---- ref, whose gelu turns a bit of some elements around, once enough steps have run
typedef struct wrong_program {
    wf_device_program *program;
    const wf_plan *plan;
    const wf_program_memory *memory;
} wrong_program;
static wrong_program wrong_programs[64];
static int n_wrong_programs, n_steps_run;
static wf_driver wrong_driver;

static bool is_gelu(const wf_task *task)
{
    return task->node && !strcmp(task->node->op->name, "gelu");
}

static weft_status wrong_create(weft_device *dev, const wf_plan *plan,
                                const wf_program_memory *memory, wf_device_program **out,
                                weft_error *err)
{
    const weft_status status = wf_driver_ref.program_create(dev, plan, memory, out, err);
    wrong_programs[n_wrong_programs++ % 64] = (wrong_program){*out, plan, memory};
    return status;
}

static const wrong_program *find_program(const wf_device_program *program)
{
    for (int i = n_wrong_programs - 1; i >= 0; i--) {
        if (wrong_programs[i % 64].program == program)
            return &wrong_programs[i % 64];
    }
    fail_msg("a program that was not created");
    return NULL;
}

static weft_status wrong_enqueue(weft_device *dev, wf_device_program *program, size_t first,
                                 size_t n, weft_error *err)
{
    const wrong_program *p = find_program(program);
    for (size_t i = first; i < first + n; i++) {
        const wf_task *task = &p->plan->tasks[i];
        const weft_status status = wf_driver_ref.enqueue(dev, program, i, 1, err);
        if (status != WEFT_OK)
            return status;
        if (!is_gelu(task) || ++n_steps_run < WRONG_STEP)
            continue;
        const wf_buffer *b = &p->plan->buffers[task->outputs[0].buffer];
        // Several, so that dropout leaves one.
        for (size_t k = WRONG_ELEMENT; k < WRONG_ELEMENT + 20; k++)
            p->memory->arena->data[b->offset_bytes + k * sizeof(float) + 1] ^= 1;
    }
    return WEFT_OK;
}

typedef struct sides {
    weft_context *context;
    weft_recipe *recipe;
    weft_device *good, *wrong;
} sides;

static void open_sides(sides *s)
{
    weft_error err = {0};
    tiny_data();
    assert_int_equal(weft_context_create(NULL, &s->context, NULL), WEFT_OK);
    if (weft_recipe_read(s->context, tiny_write(tiny_recipe), NULL, 0, &s->recipe, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(weft_device_open(s->context, "cpu", NULL, &s->good, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(s->context, "ref", NULL, &s->wrong, NULL), WEFT_OK);
    wrong_driver = wf_driver_ref;
    wrong_driver.program_create = wrong_create;
    wrong_driver.enqueue = wrong_enqueue;
    s->wrong->driver = &wrong_driver;
    n_wrong_programs = n_steps_run = 0;
}

static void close_sides(sides *s)
{
    weft_device_close(s->good);
    weft_device_close(s->wrong);
    weft_recipe_destroy(s->recipe);
    weft_context_destroy(s->context);
}

static weft_diff_result diff(const sides *s, weft_diff_side a, weft_diff_side b, int64_t n_steps)
{
    weft_diff_result result;
    weft_error err = {0};
    if (weft_diff_run(s->recipe, &a, &b, n_steps, NULL, &result, &err) != WEFT_OK)
        fail_msg("%s", err.message);
    return result;
}

static void expect_gelu(const weft_diff_result *r)
{
    assert_int_equal(r->kind, WEFT_DIFF_OP);
    assert_int_equal(r->step, WRONG_STEP);
    assert_int_equal(r->n_steps, WRONG_STEP);
    assert_string_equal(r->op, "gelu");
    assert_int_equal(r->element, WRONG_ELEMENT);
    assert_int_equal(r->a_bits ^ r->b_bits, 0x100);
    assert_true(r->a_value != r->b_value);
    assert_int_equal(r->type.dtype, WEFT_F32);
    assert_int_equal(r->type.ndim, 2);
}

static void finds_a_wrong_kernel(void **state)
{
    sides s;
    (void)state;
    open_sides(&s);
    const weft_diff_result r =
        diff(&s, (weft_diff_side){s.good, NULL}, (weft_diff_side){s.wrong, NULL}, 5);
    expect_gelu(&r);
    assert_non_null(strstr(r.scope, "gelu"));
    close_sides(&s);
}

// The short batch at the epoch's end is a program of its own.
static void says_nothing_where_nothing_differs(void **state)
{
    sides s;
    (void)state;
    open_sides(&s);
    s.wrong->driver = &wf_driver_ref;
    const weft_diff_result r =
        diff(&s, (weft_diff_side){s.good, NULL}, (weft_diff_side){s.wrong, NULL}, 8);
    assert_int_equal(r.kind, WEFT_DIFF_NONE);
    assert_int_equal(r.n_steps, 8);
    close_sides(&s);
}

static void finds_it_in_traces(void **state)
{
    sides s;
    weft_error err = {0};
    (void)state;
    open_sides(&s);
    assert_int_equal(weft_trace_write(s.recipe, s.good, 4, TRACE_A, NULL, &err), WEFT_OK);
    weft_diff_result r =
        diff(&s, (weft_diff_side){NULL, TRACE_A}, (weft_diff_side){s.wrong, NULL}, 9);
    // Every step runs twice there: as it is, and taken apart.
    assert_int_equal(r.kind, WEFT_DIFF_OP);
    assert_int_equal(r.step, (WRONG_STEP + 1) / 2);
    assert_string_equal(r.op, "gelu");
    n_steps_run = 0;
    assert_int_equal(weft_trace_write(s.recipe, s.wrong, 4, TRACE_B, NULL, &err), WEFT_OK);
    r = diff(&s, (weft_diff_side){NULL, TRACE_A}, (weft_diff_side){NULL, TRACE_B}, 9);
    assert_int_equal(r.kind, WEFT_DIFF_OP);
    assert_string_equal(r.op, "gelu");
    assert_int_equal(r.element, WRONG_ELEMENT);
    r = diff(&s, (weft_diff_side){s.good, NULL}, (weft_diff_side){NULL, TRACE_A}, 9);
    assert_int_equal(r.kind, WEFT_DIFF_NONE);
    assert_int_equal(r.n_steps, 4);
    close_sides(&s);
}

static void refuses_other_traces(void **state)
{
    sides s;
    weft_error err = {0};
    weft_diff_result r;
    const char *const settings[] = {"seed=4"};
    (void)state;
    open_sides(&s);
    assert_int_equal(weft_trace_write(s.recipe, s.good, 1, TRACE_A, NULL, &err), WEFT_OK);
    weft_recipe_destroy(s.recipe);
    assert_int_equal(
        weft_recipe_read(s.context, tiny_write(tiny_recipe), settings, 1, &s.recipe, &err),
        WEFT_OK);
    const weft_diff_side a = {s.good, NULL}, b = {NULL, TRACE_A};
    assert_int_equal(weft_diff_run(s.recipe, &a, &b, 1, NULL, &r, &err), WEFT_ERR_FORMAT);
    assert_non_null(strstr(err.message, "a trace of other recipe"));
    close_sides(&s);
}

static void is_a_command(void **state)
{
    static case_said said;
    char line[1024];
    (void)state;
    tiny_data();
    const char *recipe = tiny_write(tiny_recipe);
    snprintf(line, sizeof line, "$WEFT diff cpu ref %s --steps 2 --json --save %s", recipe,
             TRACE_B);
    case_command(&said, line);
    assert_int_equal(said.code, 0);
    assert_non_null(strstr(said.text,
                           "{\"event\":\"diff\",\"a\":\"cpu\",\"b\":\"ref\",\"equal\":true,"
                           "\"steps\":2}"));
    snprintf(line, sizeof line, "$WEFT diff cpu tpu %s", recipe);
    case_command(&said, line);
    assert_int_equal(said.code, 3);
    case_command(&said, "$WEFT diff cpu");
    assert_int_equal(said.code, 2);
}

const struct CMUnitTest wf_tests_diff[] = {
    cmocka_unit_test(finds_a_wrong_kernel), cmocka_unit_test(says_nothing_where_nothing_differs),
    cmocka_unit_test(finds_it_in_traces),   cmocka_unit_test(refuses_other_traces),
    cmocka_unit_test(is_a_command),
};
const unsigned long wf_n_tests_diff = WF_N_TESTS(wf_tests_diff);
