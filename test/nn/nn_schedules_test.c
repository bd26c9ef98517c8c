// Schedules against PyTorch and against their definition; resuming in the middle; errors.
#include "nn_run.h"

// Counts steps and gives the learning rate, as a training step does.
static void build(nn_run *r, const weft_schedule_options *o)
{
    const weft_val step = weft_nn_step(r->nn);
    weft_output(r->g, "lr", weft_schedule(r->g, step, o));
    weft_assign(r->g, step, weft_add(r->g, step, weft_scalar(r->g, WEFT_I64, 1.0)));
}

static void run_file(const char *file, const char *name, const weft_schedule_options *o)
{
    nn_run r;
    float got[128];
    nn_begin(&r, file, true);
    build(&r, o);
    const wf_st_tensor *t = nn_get(&r, name);
    const size_t n = t->size_bytes / 4;
    assert_true(n <= NN_COUNT(got));
    for (size_t i = 0; i < n; i++) {
        nn_go(&r);
        got[i] = nn_read_f32(&r, "lr");
        // Each rate by itself: small ones count as much as the peak.
        nn_near(name, &got[i], (const char *)t->data + 4 * i, 1, 2e-6);
    }
    nn_end(&r);
}

static void run_case(const char *name, const weft_schedule_options *o)
{
    run_file("nn_schedules", name, o);
}

static weft_schedule_options warmed(weft_schedule_kind kind)
{
    weft_schedule_options o = WEFT_SCHEDULE_OPTIONS_INIT;
    o.kind = kind;
    o.lr = 3e-4;
    o.warmup_steps = 10;
    o.total_steps = 100;
    return o;
}

static void one_cycle_agrees(void **state)
{
    (void)state;
    weft_schedule_options o = WEFT_SCHEDULE_OPTIONS_INIT;
    o.kind = WEFT_SCHEDULE_ONE_CYCLE;
    o.lr = 3e-3;
    o.total_steps = 101;
    run_case("one_cycle", &o);
    o.lr = 0.5;
    o.total_steps = 38;
    o.warmup_share = 0.1;
    o.initial_divisor = 10;
    o.final_divisor = 100;
    run_case("one_cycle_odd", &o);
}

static void steps_agree(void **state)
{
    (void)state;
    weft_schedule_options o = WEFT_SCHEDULE_OPTIONS_INIT;
    o.kind = WEFT_SCHEDULE_STEP;
    o.lr = 0.2;
    o.step_size = 7;
    o.gamma = 0.3;
    run_case("step", &o);
}

static void linear_agrees(void **state)
{
    (void)state;
    weft_schedule_options o = warmed(WEFT_SCHEDULE_LINEAR);
    o.final_fraction = 0.2;
    run_case("linear", &o);
}

static void constant_agrees(void **state)
{
    (void)state;
    const weft_schedule_options o = warmed(WEFT_SCHEDULE_CONSTANT);
    run_case("constant", &o);
}

static void cosine_agrees(void **state)
{
    (void)state;
    weft_schedule_options o = warmed(WEFT_SCHEDULE_COSINE);
    o.final_fraction = 0.1;
    run_case("cosine", &o);
}

static void wsd_agrees(void **state)
{
    (void)state;
    weft_schedule_options o = warmed(WEFT_SCHEDULE_WSD);
    run_file("nn_schedule_kinds", "wsd", &o);
    o.lr = 0.5;
    o.warmup_steps = 0;
    o.total_steps = 50;
    o.decay_share = 0.5;
    o.final_fraction = 0.1;
    run_file("nn_schedule_kinds", "wsd_final", &o);
    o.warmup_steps = 5;
    o.total_steps = 77;
    o.decay_share = 0.3;
    o.final_fraction = 0.05;
    o.is_sqrt_decay = true;
    run_file("nn_schedule_kinds", "wsd_sqrt", &o);
}

// lr(0) = 3e-5, lr(9) = lr(10) = 3e-4 exactly, lr(55) = 1.65e-4, lr(99) = 3.0082e-5; the same from a state that
// begins at 55.
static void cosine_resumes_on_its_curve(void **state)
{
    (void)state;
    nn_run r;
    float lr[100];
    weft_schedule_options o = warmed(WEFT_SCHEDULE_COSINE);
    o.final_fraction = 0.1;
    nn_begin(&r, NULL, true);
    build(&r, &o);
    for (int i = 0; i < 100; i++) {
        nn_go(&r);
        lr[i] = nn_read_f32(&r, "lr");
    }
    nn_end(&r);
    assert_true(fabs((double)lr[0] / 3e-5 - 1) < 1e-6);
    assert_true(lr[9] == 3e-4f && lr[10] == 3e-4f);
    assert_true(fabs((double)lr[55] / 1.65e-4 - 1) < 1e-6);
    assert_true(fabs((double)lr[99] / 3.0082e-5 - 1) < 1e-5);

    const weft_type t = {WEFT_I64, 0, {0}};
    const int64_t step = 55;
    nn_begin(&r, NULL, true);
    NN_OK(weft_state_write(r.state, "step", &t, &step, sizeof step, err));
    build(&r, &o);
    for (int i = 55; i < 100; i++) {
        nn_go(&r);
        const float again = nn_read_f32(&r, "lr");
        assert_memory_equal(&again, &lr[i], sizeof again);
    }
    nn_end(&r);
}

static void keeps_the_last_rate_beyond_the_end(void **state)
{
    (void)state;
    nn_run r;
    float at_end = 0.0f;
    weft_schedule_options o = WEFT_SCHEDULE_OPTIONS_INIT;
    o.kind = WEFT_SCHEDULE_ONE_CYCLE;
    o.lr = 1.0;
    o.total_steps = 5;
    nn_begin(&r, NULL, true);
    build(&r, &o);
    for (int i = 0; i < 8; i++) {
        nn_go(&r);
        const float lr = nn_read_f32(&r, "lr");
        assert_true(lr > 0.0f && lr <= 1.0f);
        if (i == 4)
            at_end = lr;
        if (i > 4)
            assert_true(lr == at_end);
    }
    assert_true(fabs((double)at_end / 4e-6 - 1) < 1e-5);
    nn_end(&r);
}

static void refuses_no_rate(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    weft_schedule(r.g, weft_nn_step(r.nn), NULL);
    nn_expect_error(&r, WEFT_ERR_ATTR,
                    "schedule: kind 0, lr 0, warmup_steps 0, total_steps 0, expected lr above 0");
    nn_end(&r);
}

// A run of `total` steps, of the first n rates.
static void rates_of(weft_schedule_options o, int64_t total, size_t n, float *out)
{
    nn_run r;
    o.total_steps = total;
    nn_begin(&r, NULL, true);
    build(&r, &o);
    for (size_t i = 0; i < n; i++) {
        nn_go(&r);
        out[i] = nn_read_f32(&r, "lr");
    }
    nn_end(&r);
}

// Up to its warm-up's end a run has the rates of every longer one, bit for bit, whatever comes behind.
static void a_short_run_is_all_warm_up(void **state)
{
    static const weft_schedule_kind kinds[] = {WEFT_SCHEDULE_CONSTANT, WEFT_SCHEDULE_LINEAR,
                                               WEFT_SCHEDULE_COSINE, WEFT_SCHEDULE_STEP,
                                               WEFT_SCHEDULE_WSD};
    (void)state;
    for (size_t k = 0; k < NN_COUNT(kinds); k++) {
        float expected[10], got[12];
        weft_schedule_options o = warmed(kinds[k]);
        o.step_size = 3;
        o.final_fraction = 0.25;
        rates_of(o, 100, 10, expected);
        assert_true(fabs((double)expected[0] / 3e-5 - 1) < 1e-6 && expected[9] == 3e-4f);
        for (int64_t total = 1; total <= 11; total++) {
            rates_of(o, total, 12, got);
            assert_memory_equal(got, expected, sizeof expected);
            // Asked for more than its length it is at its end: the final fraction, where there is one.
            const bool has_end =
                kinds[k] != WEFT_SCHEDULE_CONSTANT && kinds[k] != WEFT_SCHEDULE_STEP;
            assert_true(got[11] == (has_end ? 7.5e-5f : 3e-4f));
        }
    }
}

// The shortest runs have rates, too, of every kind: above 0, at most the peak.
static void the_shortest_runs_have_rates(void **state)
{
    (void)state;
    for (int kind = WEFT_SCHEDULE_CONSTANT; kind <= WEFT_SCHEDULE_WSD; kind++) {
        for (int64_t total = 1; total <= 4; total++) {
            float lr[4];
            weft_schedule_options o = WEFT_SCHEDULE_OPTIONS_INIT;
            o.kind = (weft_schedule_kind)kind;
            o.lr = 0.5;
            o.step_size = 1;
            rates_of(o, total, (size_t)total, lr);
            for (int64_t i = 0; i < total; i++)
                assert_true(lr[i] > 0.0f && lr[i] <= 0.5f);
        }
    }
}

static void refuses_no_length(void **state)
{
    (void)state;
    nn_run r;
    weft_schedule_options o = warmed(WEFT_SCHEDULE_COSINE);
    o.total_steps = 0;
    nn_begin(&r, NULL, true);
    weft_schedule(r.g, weft_nn_step(r.nn), &o);
    nn_expect_error(&r, WEFT_ERR_ATTR,
                    "schedule: kind 2, lr 0.0003, warmup_steps 10, total_steps 0, expected "
                    "total_steps of 1 or more");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_schedules[] = {
    cmocka_unit_test(one_cycle_agrees),
    cmocka_unit_test(steps_agree),
    cmocka_unit_test(linear_agrees),
    cmocka_unit_test(constant_agrees),
    cmocka_unit_test(cosine_agrees),
    cmocka_unit_test(wsd_agrees),
    cmocka_unit_test(cosine_resumes_on_its_curve),
    cmocka_unit_test(keeps_the_last_rate_beyond_the_end),
    cmocka_unit_test(refuses_no_rate),
    cmocka_unit_test(a_short_run_is_all_warm_up),
    cmocka_unit_test(the_shortest_runs_have_rates),
    cmocka_unit_test(refuses_no_length),
};
const unsigned long wf_n_tests_nn_schedules = WF_N_TESTS(wf_tests_nn_schedules);
