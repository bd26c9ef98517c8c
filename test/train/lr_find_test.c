// The range test of learning rates: one curve on every device, files, an early end, wrong use.
#include "train/train_tools.h"

#include <math.h>

#define DIR_A TEMP("lr-find-a")
#define DIR_B TEMP("lr-find-b")

typedef struct seen {
    weft_lr_point points[128];
    int64_t n;
} seen;

static void keep(void *user, const weft_lr_point *p)
{
    seen *s = user;
    if (s->n < 128)
        s->points[s->n++] = *p;
}

static bool stop(void *user)
{
    return ((const seen *)user)->n >= 3;
}

static weft_status find(const char *device, weft_lr_find_options *o, weft_lr_find_result *out,
                        weft_error *err)
{
    weft_context *context;
    weft_device *opened;
    weft_recipe *recipe;
    tiny_data();
    assert_int_equal(weft_context_create(NULL, &context, NULL), WEFT_OK);
    assert_int_equal(weft_device_open(context, device, NULL, &opened, NULL), WEFT_OK);
    assert_int_equal(weft_recipe_read(context, tiny_write(tiny_recipe), NULL, 0, &recipe, NULL),
                     WEFT_OK);
    const weft_status status = weft_lr_find_run(recipe, opened, o, out, err);
    weft_recipe_destroy(recipe);
    weft_device_close(opened);
    weft_context_destroy(context);
    return status;
}

static void finds_one_curve_on_every_device(void **state)
{
    static seen cpu, ref;
    weft_lr_find_options o = WEFT_LR_FIND_OPTIONS_INIT;
    weft_lr_find_result a, b;
    (void)state;
    cpu.n = ref.n = 0;
    tiny_remove(DIR_A);
    tiny_remove(DIR_B);
    o.point = keep;
    o.n_steps = 40;
    o.least = 1e-5;
    o.most = 1e3;
    o.user = &cpu;
    o.dir = DIR_A;
    assert_int_equal(find("cpu", &o, &a, NULL), WEFT_OK);
    o.user = &ref;
    o.dir = DIR_B;
    assert_int_equal(find("ref", &o, &b, NULL), WEFT_OK);
    assert_int_equal(cpu.n, ref.n);
    assert_true(a.suggested == b.suggested && a.n_steps == cpu.n);
    assert_true(tiny_same_file(DIR_A, DIR_B, "lr-find.jsonl"));
    assert_true(tiny_same_file(DIR_A, DIR_B, "lr-find.png"));
    // From least, by one factor a step.
    const double factor = pow(1e8, 1.0 / 39.0);
    for (int64_t i = 0; i < cpu.n; i++) {
        const double expected = 1e-5 * pow(factor, (double)i);
        assert_true(fabs((double)cpu.points[i].lr / expected - 1.0) < 1e-4);
        assert_int_equal(cpu.points[i].step, i + 1);
    }
    assert_true(fabs(cpu.points[0].smoothed / (double)cpu.points[0].loss - 1.0) < 1e-12);
    // AdamW at a rate of hundreds: it explodes, and the suggestion lies well below.
    assert_true(a.is_diverged && a.n_steps < 40);
    assert_true(a.suggested > 1e-5 && a.suggested < 1.0);
    assert_true(fabs(a.suggested / a.lr_at_least - 0.1) < 1e-9);
}

static void can_be_interrupted(void **state)
{
    static seen s;
    weft_lr_find_options o = WEFT_LR_FIND_OPTIONS_INIT;
    weft_lr_find_result result;
    weft_error err = {0};
    (void)state;
    s.n = 0;
    o.point = keep;
    o.wants_stop = stop;
    o.user = &s;
    o.dir = DIR_A;
    assert_int_equal(find("cpu", &o, &result, &err), WEFT_ERR_INTERRUPTED);
    assert_string_equal(err.message, "interrupted at step 3");
}

static void refuses_falling_rates(void **state)
{
    weft_lr_find_options o = WEFT_LR_FIND_OPTIONS_INIT;
    weft_lr_find_result result;
    weft_error err = {0};
    (void)state;
    o.least = 1.0;
    o.most = 0.5;
    assert_int_equal(find("cpu", &o, &result, &err), WEFT_ERR_USAGE);
    assert_string_equal(err.message, "lr-find: rates from 1 to 0.5 in 100 steps, expected rising "
                                     "ones above 0 in 10 steps or more");
}

const struct CMUnitTest wf_tests_lr_find[] = {
    cmocka_unit_test(finds_one_curve_on_every_device),
    cmocka_unit_test(can_be_interrupted),
    cmocka_unit_test(refuses_falling_rates),
};
const unsigned long wf_n_tests_lr_find = WF_N_TESTS(wf_tests_lr_find);
