// Optimisers and clipping against PyTorch, step by step; resuming; bad steps; frozen parameters; errors.
#include "nn_run.h"

#define N_STEPS 12

// sum(scale (p - target)^2) + sum(sin(3 p)) over two parameters of the golden file.
static weft_val build_loss(nn_run *r)
{
    weft_graph *g = r->g;
    weft_val total = weft_scalar(g, WEFT_F32, 0.0);
    for (int i = 0; i < 2; i++) {
        char name[2][32];
        snprintf(name[0], sizeof name[0], "target%d", i);
        snprintf(name[1], sizeof name[1], "scale%d", i);
        const wf_st_tensor *t = nn_get(r, name[0]), *s = nn_get(r, name[1]);
        char first[32];
        snprintf(first, sizeof first, "p%d", i);
        const wf_st_tensor *p0 = nn_get(r, first);
        const weft_val p = weft_parameter_create(
            r->nn, first, weft_constant(g, WEFT_F32, p0->dim, p0->ndim, p0->data), true);
        const weft_val d = weft_sub(g, p, weft_constant(g, WEFT_F32, t->dim, t->ndim, t->data));
        const weft_val scale = weft_constant(g, WEFT_F32, s->dim, s->ndim, s->data);
        const weft_val bowl = weft_mul(g, weft_mul(g, d, d), scale);
        const weft_val wave = weft_sin(g, weft_mul(g, p, weft_scalar(g, WEFT_F32, 3.0)));
        total = weft_add(g, total, weft_sum(g, weft_add(g, bowl, wave), NULL, 0, false));
    }
    return total;
}

static weft_schedule_options constant_lr(double lr)
{
    weft_schedule_options s = WEFT_SCHEDULE_OPTIONS_INIT;
    s.lr = lr;
    return s;
}

static void run_case(const char *name, const weft_optimizer_options *o, double lr)
{
    nn_run r;
    const weft_schedule_options s = constant_lr(lr);
    nn_begin(&r, "nn_optimizers", true);
    weft_train_step(r.nn, build_loss(&r), o, &s);
    for (size_t step = 0; step < N_STEPS; step++) {
        nn_go(&r);
        for (int i = 0; i < 2; i++) {
            char parameter[32], role[64], what[96];
            float got[12];
            snprintf(parameter, sizeof parameter, "p%d", i);
            snprintf(role, sizeof role, "%s.after%d", name, i);
            snprintf(what, sizeof what, "%s at step %zu", role, step);
            const wf_st_tensor *t = nn_get(&r, role);
            const size_t bytes = t->size_bytes / N_STEPS;
            assert_true(bytes <= sizeof got);
            NN_OK(weft_state_read(r.state, parameter, got, bytes, err));
            nn_near(what, got, (const char *)t->data + step * bytes, bytes / 4, 4e-6);
        }
    }
    nn_end(&r);
}

static void sgd_agrees(void **state)
{
    (void)state;
    run_case("sgd", NULL, 0.05);
}

static void sgd_with_decay_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.weight_decay = 0.1;
    run_case("sgd_decay", &o, 0.05);
}

static void momentum_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.momentum = 0.9;
    run_case("sgd_momentum", &o, 0.02);
}

static void nesterov_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.momentum = 0.8;
    o.is_nesterov = true;
    o.weight_decay = 0.05;
    run_case("sgd_nesterov", &o, 0.02);
}

static void adam_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.kind = WEFT_OPTIMIZER_ADAM;
    run_case("adam", &o, 0.1);
}

static void adam_with_decay_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.kind = WEFT_OPTIMIZER_ADAM;
    o.beta1 = 0.8;
    o.beta2 = 0.95;
    o.epsilon = 1e-6;
    o.weight_decay = 0.1;
    run_case("adam_decay", &o, 0.1);
}

static void adamw_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.kind = WEFT_OPTIMIZER_ADAMW;
    o.weight_decay = 0.2;
    run_case("adamw", &o, 0.1);
}

static void clipping_by_norm_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.clip_norm = 1.5;
    run_case("clip_norm", &o, 0.05);
}

static void clipping_by_value_agrees(void **state)
{
    (void)state;
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    o.clip_value = 0.5;
    run_case("clip_value", &o, 0.05);
}

// ---- w^2 by Adam from w = 1, lr 0.1
static void build_square(nn_run *r)
{
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    const weft_schedule_options s = constant_lr(0.1);
    o.kind = WEFT_OPTIMIZER_ADAM;
    const weft_val w = weft_parameter_create(r->nn, "w", weft_scalar(r->g, WEFT_F32, 1.0), true);
    weft_train_step(r->nn, weft_mul(r->g, w, w), &o, &s);
}

static float read_w(nn_run *r)
{
    float w = 0.0f;
    NN_OK(weft_state_read(r->state, "w", &w, sizeof w, err));
    return w;
}

static float after_steps(nn_run *r, int n)
{
    for (int i = 0; i < n; i++) {
        nn_go(r);
    }
    return read_w(r);
}

// Moves every variable of `from` but those named `without` to a new state, as a checkpoint would.
static void resume(nn_run *to, nn_run *from, const char *const without[3])
{
    nn_begin(to, NULL, true);
    for (size_t i = 0; i < weft_state_count(from->state); i++) {
        const char *name = weft_state_name(from->state, i);
        const weft_type t = weft_state_type(from->state, name);
        int64_t bits = 0; // every variable of this model is one element
        const size_t bytes = weft_dtype_size(t.dtype);
        bool is_lost = false;
        for (int k = 0; k < 3; k++) {
            is_lost |= without[k] && !strcmp(name, without[k]);
        }
        if (is_lost)
            continue;
        NN_OK(weft_state_read(from->state, name, &bits, bytes, err));
        NN_OK(weft_state_write(to->state, name, &t, &bits, bytes, err));
    }
    build_square(to);
}

// CodefyUI#118, metatrain#203, OneVision PR#65.
static void adam_resumes_to_the_same_bits(void **state)
{
    (void)state;
    static const char *const nothing[3] = {NULL, NULL, NULL};
    static const char *const everything[3] = {"w.m", "w.v", "step"};
    static const char *const count[3] = {"step", NULL, NULL};
    nn_run whole, half, rest;
    nn_begin(&whole, NULL, true);
    build_square(&whole);
    const float w = after_steps(&whole, 10);
    assert_true(fabs((double)w - 0.0762492) < 1e-6);
    nn_end(&whole);

    nn_begin(&half, NULL, true);
    build_square(&half);
    after_steps(&half, 5);
    resume(&rest, &half, nothing);
    const float resumed = after_steps(&rest, 5);
    assert_memory_equal(&resumed, &w, sizeof w);
    nn_end(&rest);
    // What losing a part of the state would give: the test sees it.
    resume(&rest, &half, everything);
    assert_true(fabs((double)after_steps(&rest, 5) - 0.0348952) < 1e-6);
    nn_end(&rest);
    resume(&rest, &half, count);
    assert_true(fabs((double)after_steps(&rest, 5) - -0.0775955) < 1e-6);
    nn_end(&rest);
    nn_end(&half);
}

// A loss that is NaN changes neither weights nor state nor the step count.
static void a_bad_loss_changes_nothing(void **state)
{
    (void)state;
    nn_run r;
    float x = 1.0f, w = 0.0f, m = 1.0f;
    int64_t step = 0;
    nn_begin(&r, NULL, true);
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    const weft_schedule_options s = constant_lr(0.1);
    o.momentum = 0.9;
    o.clip_norm = 10.0;
    const weft_val p = weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 2.0), true);
    const weft_val y = weft_mul(r.g, p, weft_input(r.g, "x", WEFT_F32, NULL, 0));
    weft_train_step(r.nn, weft_mul(r.g, y, y), &o, &s);
    nn_compile(&r);
    NN_OK(weft_program_write(r.program, "x", &x, sizeof x, err));
    NN_OK(weft_program_run(r.program, err));
    NN_OK(weft_program_check(r.program, err));
    NN_OK(weft_state_read(r.state, "w", &w, sizeof w, err));
    assert_true(fabsf(w - 1.6f) < 1e-6f);
    x = NAN;
    NN_OK(weft_program_write(r.program, "x", &x, sizeof x, err));
    NN_OK(weft_program_run(r.program, err));
    assert_int_equal(weft_program_check(r.program, NULL), WEFT_ERR_NONFINITE);
    const float before = w;
    NN_OK(weft_state_read(r.state, "w", &w, sizeof w, err));
    NN_OK(weft_state_read(r.state, "w.momentum", &m, sizeof m, err));
    NN_OK(weft_state_read(r.state, "step", &step, sizeof step, err));
    assert_true(w == before && isfinite(m));
    assert_int_equal(step, 1);
    nn_end(&r);
}

static void frozen_parameters_stay(void **state)
{
    (void)state;
    nn_run r;
    float a = 0.0f, b = 0.0f;
    nn_begin(&r, NULL, true);
    const weft_schedule_options s = constant_lr(0.1);
    const weft_val p = weft_parameter_create(r.nn, "body.a", weft_scalar(r.g, WEFT_F32, 2.0), true);
    const weft_val q = weft_parameter_create(r.nn, "head.b", weft_scalar(r.g, WEFT_F32, 3.0), true);
    assert_int_equal(weft_nn_freeze(r.nn, "body."), 1);
    weft_train_step(r.nn, weft_mul(r.g, p, q), NULL, &s);
    nn_go(&r);
    NN_OK(weft_state_read(r.state, "body.a", &a, sizeof a, err));
    NN_OK(weft_state_read(r.state, "head.b", &b, sizeof b, err));
    assert_true(a == 2.0f && fabsf(b - 2.8f) < 1e-6f);
    nn_end(&r);
}

static void decay_leaves_biases_alone(void **state)
{
    (void)state;
    nn_run r;
    float a = 0.0f, b = 0.0f;
    nn_begin(&r, NULL, true);
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    const weft_schedule_options s = constant_lr(0.5);
    o.weight_decay = 0.5;
    const weft_val p = weft_parameter_create(r.nn, "weight", weft_scalar(r.g, WEFT_F32, 2.0), true);
    const weft_val q = weft_parameter_create(r.nn, "bias", weft_scalar(r.g, WEFT_F32, 3.0), false);
    const weft_val zero = weft_scalar(r.g, WEFT_F32, 0.0);
    weft_train_step(r.nn, weft_mul(r.g, weft_add(r.g, p, q), zero), &o, &s);
    nn_go(&r);
    NN_OK(weft_state_read(r.state, "weight", &a, sizeof a, err));
    NN_OK(weft_state_read(r.state, "bias", &b, sizeof b, err));
    assert_true(a == 1.5f && b == 3.0f);
    nn_end(&r);
}

static void refuses_momentum_of_one(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    weft_optimizer_options o = WEFT_OPTIMIZER_OPTIONS_INIT;
    const weft_schedule_options s = constant_lr(0.1);
    o.momentum = 1.0;
    const weft_val w = weft_parameter_create(r.nn, "w", weft_scalar(r.g, WEFT_F32, 2.0), true);
    weft_train_step(r.nn, weft_mul(r.g, w, w), &o, &s);
    nn_expect_error(
        &r, WEFT_ERR_ATTR,
        "optimizer: kind 0, momentum 1, beta1 0, beta2 0, epsilon 0, weight_decay 0, expected "
        "0 <= momentum < 1");
    nn_end(&r);
}

static void refuses_to_train_nothing(void **state)
{
    (void)state;
    nn_run r;
    nn_begin(&r, NULL, true);
    const weft_schedule_options s = constant_lr(0.1);
    weft_train_step(r.nn, weft_scalar(r.g, WEFT_F32, 1.0), NULL, &s);
    nn_expect_error(&r, WEFT_ERR_USAGE, "train_step: no parameter is trainable");
    nn_end(&r);
}

const struct CMUnitTest wf_tests_nn_optimizers[] = {
    cmocka_unit_test(sgd_agrees),
    cmocka_unit_test(sgd_with_decay_agrees),
    cmocka_unit_test(momentum_agrees),
    cmocka_unit_test(nesterov_agrees),
    cmocka_unit_test(adam_agrees),
    cmocka_unit_test(adam_with_decay_agrees),
    cmocka_unit_test(adamw_agrees),
    cmocka_unit_test(clipping_by_norm_agrees),
    cmocka_unit_test(clipping_by_value_agrees),
    cmocka_unit_test(adam_resumes_to_the_same_bits),
    cmocka_unit_test(a_bad_loss_changes_nothing),
    cmocka_unit_test(frozen_parameters_stay),
    cmocka_unit_test(decay_leaves_biases_alone),
    cmocka_unit_test(refuses_momentum_of_one),
    cmocka_unit_test(refuses_to_train_nothing),
};
const unsigned long wf_n_tests_nn_optimizers = WF_N_TESTS(wf_tests_nn_optimizers);
